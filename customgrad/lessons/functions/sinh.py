"""The hyperbolic sine: used, with and without its second output, and differentiated twice."""


def use():
    # --8<-- [start:use]
    import torch
    from customgrad.functions import Sinh

    x = torch.tensor([-1.0, 0.0, 1.0], requires_grad=True)
    y, _ = Sinh.apply(x)
    y.sum().backward()
    print(y)
    print(x.grad)
    # --8<-- [end:use]


def wrapped():
    # --8<-- [start:wrapped]
    import torch
    from customgrad.functions import sinh

    x = torch.tensor([-1.0, 0.0, 1.0], requires_grad=True)
    print(sinh(x))
    # --8<-- [end:wrapped]


def conventions():
    # --8<-- [start:conventions]
    import torch
    from customgrad.functions import sinh

    def composed(x):
        return (x.exp() - (-x).exp()) / 2

    x = torch.tensor([1e-6, 89.0, torch.inf, torch.nan])
    for call in (composed, sinh, torch.sinh):
        print([f"{y:.3g}" for y in call(x).tolist()])
    # --8<-- [end:conventions]


def kept():
    # --8<-- [start:kept]
    import torch
    from customgrad.functions import sinh

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

    print("sinh        ", kept(sinh), "bytes")
    print("torch's own ", kept(torch.sinh), "bytes")
    # --8<-- [end:kept]


def wrong():
    # --8<-- [start:wrong]
    import torch
    from torch.autograd import grad
    from customgrad.lessons.functions.twice import (
        SinhSaved,
    )

    x = torch.tensor(2.0).log().requires_grad_()
    y = SinhSaved.apply(x).square()
    (g,) = grad(y, x, create_graph=True)
    (second,) = grad(g, x)
    print(f"y' {g.item():.3f}")
    print(f"y'' {second.item():.3f}")
    # --8<-- [end:wrong]


def right():
    # --8<-- [start:right]
    import torch
    from torch.autograd import grad
    from customgrad.functions import (
        Sinh,
    )

    x = torch.tensor(2.0).log().requires_grad_()
    y = Sinh.apply(x)[0].square()
    (g,) = grad(y, x, create_graph=True)
    (second,) = grad(g, x)
    print(f"y' {g.item():.3f}")
    print(f"y'' {second.item():.3f}")
    # --8<-- [end:right]


def compiled():
    # --8<-- [start:compiled]
    import torch
    from customgrad.functions import sinh

    for call in (sinh, torch.compile(sinh, backend="aot_eager")):
        x = torch.tensor([1.0, torch.inf], requires_grad=True)
        call(x).sum().backward()
        print(x.grad)
    # --8<-- [end:compiled]


def main():
    use()
    wrapped()
    conventions()
    kept()
    wrong()
    right()
    compiled()


if __name__ == "__main__":
    main()
