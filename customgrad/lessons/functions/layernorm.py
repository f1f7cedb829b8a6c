"""LayerNorm by torch's kernels: used, compared, in bfloat16, and differentiated twice."""


def use():
    # --8<-- [start:use]
    import torch
    from customgrad.functions import LayerNorm

    x = torch.tensor([[1.0, 2.0, 6.0]], requires_grad=True)
    weight = torch.ones(3, requires_grad=True)
    bias = torch.zeros(3, requires_grad=True)
    y, mean, _ = LayerNorm.apply(x, weight, bias)
    y[0, 0].backward()
    print(mean.item(), y.detach())
    print(x.grad)
    # --8<-- [end:use]


def rounded():
    # --8<-- [start:rounded]
    import torch
    from torch.nn import functional as F

    x = torch.tensor([[100.0, 100.5]])
    x = x.to(torch.bfloat16)
    x.requires_grad_()
    w = torch.ones(2).to(torch.bfloat16)
    y = F.layer_norm(x, (2,), w, eps=0.01)
    y[0, 0].backward()
    print(x.grad[0].tolist())
    # --8<-- [end:rounded]


def widened():
    # --8<-- [start:widened]
    import torch
    from customgrad.functions import layer_norm

    x = torch.tensor([[100.0, 100.5]])
    x = x.to(torch.bfloat16)
    x.requires_grad_()
    w = torch.ones(2).to(torch.bfloat16)
    y = layer_norm(x, w, eps=0.01)
    y[0, 0].backward()
    print(x.grad[0].tolist())
    # --8<-- [end:widened]


def exact():
    # --8<-- [start:exact]
    import torch
    from torch.nn import functional as F

    x = torch.tensor([[100.0, 100.5]], dtype=torch.float64)
    x.requires_grad_()
    F.layer_norm(x, (2,), eps=0.01)[0, 0].backward()
    print([round(g, 2) for g in x.grad[0].tolist()])
    # --8<-- [end:exact]


def kept():
    # --8<-- [start:kept]
    import torch
    from torch.nn import functional as F
    from customgrad.functions import layer_norm

    def kept(call, n=1000):
        """Numbers that forward keeps for backward, in 4 rows of n."""
        sizes = {}

        def pack(tensor):
            storage = tensor.untyped_storage()
            sizes[storage.data_ptr()] = storage.nbytes() // 4
            return tensor

        hooks = torch.autograd.graph.saved_tensors_hooks
        with hooks(pack, lambda tensor: tensor):
            call(torch.ones(4, n, requires_grad=True))
        return sum(sizes.values())

    def builtin(x):
        return F.layer_norm(x, x.shape[-1:])

    print("layer_norm   ", kept(layer_norm))
    print("F.layer_norm ", kept(builtin))
    # --8<-- [end:kept]


def twice():
    # --8<-- [start:twice]
    import torch
    from torch.nn import functional as F
    from customgrad.functions import layer_norm

    for call in (layer_norm, lambda x: F.layer_norm(x, (3,))):
        x = torch.tensor([1.0, 2.0, 6.0], requires_grad=True)
        y = call(x)
        (g,) = torch.autograd.grad(y[0], x, create_graph=True)
        g.square().sum().backward()
        print(x.grad)
    # --8<-- [end:twice]


def main():
    use()
    rounded()
    widened()
    exact()
    kept()
    twice()


if __name__ == "__main__":
    main()
