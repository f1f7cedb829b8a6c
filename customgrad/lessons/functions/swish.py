"""Swish with a learned beta: used, beta's gradient where squares overflow, measured, differentiated twice."""


def use():
    # --8<-- [start:use]
    import torch
    from customgrad.functions import Swish

    x = torch.tensor([-2.0, 0.0, 2.0], requires_grad=True)
    beta = torch.tensor(1.5, requires_grad=True)
    y = Swish.apply(x, beta)
    y.sum().backward()
    print(y)
    print(x.grad)
    print(beta.grad)
    # --8<-- [end:use]


def squared():
    # --8<-- [start:squared]
    import torch

    x = torch.tensor([-2.0, 300.0])
    x = x.half()
    beta = torch.tensor(1.0).half()
    s = torch.sigmoid(beta * x)
    grad = (x * x * s * (1 - s)).sum()
    print(f"{grad.item():.3f}")
    # --8<-- [end:squared]


def split():
    # --8<-- [start:split]
    import torch
    from customgrad.functions import swish

    x = torch.tensor([-2.0, 300.0])
    x = x.half()
    beta = torch.tensor(1.0).half()
    beta.requires_grad_()
    swish(x, beta).sum().backward()
    print(f"{beta.grad.item():.3f}")
    # --8<-- [end:split]


def conventions():
    # --8<-- [start:conventions]
    import torch
    from customgrad.functions import swish

    x = torch.tensor([-2.0, 0.0, 2.0])
    for value in (0.0, 1.0, 100.0):
        print(swish(x, torch.tensor(value)))
    # --8<-- [end:conventions]


def kept():
    # --8<-- [start:kept]
    import torch
    from customgrad.functions import swish

    def kept(call, n=1000):
        """Bytes per element that forward keeps for backward."""
        sizes = {}

        def pack(tensor):
            if tensor.numel() == n:
                sizes[tensor.data_ptr()] = tensor.nbytes, tensor
            return tensor

        x = torch.ones(n, requires_grad=True)
        beta = torch.tensor(1.5, requires_grad=True)
        hooks = torch.autograd.graph.saved_tensors_hooks
        with hooks(pack, lambda tensor: tensor):
            call(x, beta)
        return sum(size for size, _ in sizes.values()) / n

    print("swish   ", kept(swish), "bytes")
    composed = kept(lambda x, beta: x * torch.sigmoid(beta * x))
    print("composed", composed, "bytes")
    # --8<-- [end:kept]


def twice():
    # --8<-- [start:twice]
    import torch
    from customgrad.functions import swish

    def composed(x, beta):
        return x * torch.sigmoid(beta * x)

    for call in (composed, swish):
        x = torch.tensor([1.0, -2.0], requires_grad=True)
        beta = torch.tensor(1.5, requires_grad=True)
        y = call(x, beta).sum()
        (slope,) = torch.autograd.grad(y, x, create_graph=True)
        slope.square().sum().backward()
        print(x.grad, beta.grad)
    # --8<-- [end:twice]


def main():
    use()
    conventions()
    squared()
    split()
    kept()
    twice()


if __name__ == "__main__":
    main()
