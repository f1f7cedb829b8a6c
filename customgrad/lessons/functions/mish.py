"""Mish: used, its usual forms beside it, and differentiated twice."""


def use():
    # --8<-- [start:use]
    import torch
    from customgrad.functions import Mish

    x = torch.tensor([-2.0, 0.0, 2.0], requires_grad=True)
    y = Mish.apply(x)
    y.sum().backward()
    print(y)
    print(x.grad)
    # --8<-- [end:use]


def naive():
    # --8<-- [start:naive]
    import torch

    x = torch.tensor([2.0, 100.0])
    x.requires_grad_()
    e = torch.log(1 + torch.exp(x))
    y = x * torch.tanh(e)
    y.sum().backward()
    print(y.detach())
    print(x.grad)
    # --8<-- [end:naive]


def right():
    # --8<-- [start:right]
    import torch
    from customgrad.functions import mish

    x = torch.tensor([2.0, 100.0])
    x.requires_grad_()

    y = mish(x)
    y.sum().backward()
    print(y.detach())
    print(x.grad)
    # --8<-- [end:right]


def conventions():
    # --8<-- [start:conventions]
    import torch
    from torch.nn import functional as F
    from customgrad.functions import mish

    for call in (mish, F.mish):
        x = torch.tensor([-200.0, -0.0, 0.0, 200.0, torch.nan])
        x.requires_grad_()
        y = call(x)
        y.sum().backward()
        print(y.tolist(), [f"{g:.4f}" for g in x.grad])
    # --8<-- [end:conventions]


def kept():
    # --8<-- [start:kept]
    import torch
    from torch.nn import functional as F
    from customgrad.functions import mish

    def kept(call, n=1000):
        """Bytes per element that forward keeps for backward."""
        sizes = {}

        def pack(tensor):
            storage = tensor.untyped_storage()
            sizes[storage.data_ptr()] = storage.nbytes()
            return tensor

        hooks = torch.autograd.graph.saved_tensors_hooks
        with hooks(pack, lambda tensor: tensor):
            call(torch.ones(n, requires_grad=True))
        return sum(sizes.values()) / n

    def composed(x):
        return x * torch.tanh(F.softplus(x))

    print("mish     ", kept(mish), "bytes")
    print("composed ", kept(composed), "bytes")
    # --8<-- [end:kept]


def twice():
    # --8<-- [start:twice]
    import torch
    from torch.autograd import grad
    from customgrad.functions import mish

    x = torch.tensor([0.0, 2.0], requires_grad=True)
    (slope,) = grad(mish(x).sum(), x, create_graph=True)
    (second,) = grad(slope.sum(), x)
    print(slope.detach(), second)
    # --8<-- [end:twice]


def main():
    use()
    naive()
    right()
    conventions()
    kept()
    twice()


if __name__ == "__main__":
    main()
