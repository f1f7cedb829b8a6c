"""Batch norm and LeakyReLU in one: used, compared, refused, measured."""


def use():
    # --8<-- [start:use]
    import torch
    from customgrad.functions import ActivatedNorm

    x = torch.tensor([[1.0, 2.0], [2.0, 6.0], [6.0, 1.0]])
    x.requires_grad_()
    weight = torch.tensor([1.0, -2.0], requires_grad=True)
    bias = torch.tensor([0.0, 1.0], requires_grad=True)
    y, mean, r = ActivatedNorm.apply(x, weight, bias, 0.01, 1e-5)
    y.square().sum().backward()
    print(y)
    print(mean, r.detach())
    print(x.grad)
    print(weight.grad, bias.grad)
    # --8<-- [end:use]


def conventions():
    # --8<-- [start:conventions]
    import torch
    from torch.nn import functional as F
    from customgrad.functions import activated_norm

    def two(x, weight, bias, running_mean, running_var):
        running = running_mean, running_var
        y = F.batch_norm(x, *running, weight, bias, training=True)
        return F.leaky_relu(y)

    def one(x, weight, bias, mean, var):
        running = {"running_mean": mean, "running_var": var}
        return activated_norm(x, weight, bias, **running)

    torch.manual_seed(0)
    x = torch.randn(8, 2, 5, 5)
    for call in (two, one):
        weight = torch.tensor([2.0, -0.5], requires_grad=True)
        bias = torch.tensor([0.0, 1.0], requires_grad=True)
        running = torch.zeros(2), torch.ones(2)
        call(x, weight, bias, *running).square().mean().backward()
        print(weight.grad, bias.grad)
        print(*running)
    # --8<-- [end:conventions]


def relu():
    # --8<-- [start:relu]
    import torch

    z = torch.tensor([-1.0, 0.0, 2.0])
    y = torch.relu(z)
    back = y  # no number gives -1 back
    print(back.tolist())
    # --8<-- [end:relu]


def leaky():
    # --8<-- [start:leaky]
    import torch
    from torch.nn.functional import leaky_relu

    z = torch.tensor([-1.0, 0.0, 2.0])
    y = leaky_relu(z, 0.25)
    back = leaky_relu(y, 1 / 0.25)
    print(back.tolist())
    # --8<-- [end:leaky]


def refused():
    # --8<-- [start:refused]
    import torch
    from customgrad.functions import activated_norm

    x = torch.ones(4, 2)
    try:
        activated_norm(x, weight=torch.tensor([1.0, 0.0]))
    except ValueError as error:
        print(error)
    # --8<-- [end:refused]


def kept():
    # --8<-- [start:kept]
    import torch
    from torch.nn import functional as F
    from customgrad.functions import activated_norm

    def two(x):
        return F.leaky_relu(F.batch_norm(x, None, None, training=True))

    def kept(call):
        """Values that forward of 3 layers keeps, as multiples of x."""
        sizes = {}

        def pack(tensor):
            if tensor.shape == x.shape and tensor is not x:
                sizes[tensor.data_ptr()] = tensor
            return tensor

        y = x
        hooks = torch.autograd.graph.saved_tensors_hooks
        with hooks(pack, lambda tensor: tensor):
            for kernel in kernels:
                y = call(F.conv2d(y, kernel, padding=1))
        return len(sizes)

    x = torch.ones(2, 4, 8, 8)
    kernels = torch.ones(3, 4, 4, 3, 3, requires_grad=True)
    print("activated_norm", kept(activated_norm))
    print("two layers    ", kept(two))
    # --8<-- [end:kept]


def twice():
    # --8<-- [start:twice]
    import torch
    from torch.nn import functional as F
    from customgrad.functions import activated_norm

    def two(x):
        return F.leaky_relu(F.batch_norm(x, None, None, training=True))

    x = torch.tensor([[1.0], [2.0], [6.0]], requires_grad=True)
    for call in (two, activated_norm):
        y = call(x).pow(3).sum()
        (g,) = torch.autograd.grad(y, x, create_graph=True)
        (second,) = torch.autograd.grad(g.square().sum(), x)
        print(second.flatten())
    # --8<-- [end:twice]


def main():
    use()
    conventions()
    relu()
    leaky()
    refused()
    kept()
    twice()


if __name__ == "__main__":
    main()
