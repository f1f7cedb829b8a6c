"""The cube: used, and differentiated twice, once wrongly."""

# --8<-- [start:base]
import torch
from customgrad.functions import Cube

# --8<-- [end:base]


def use():
    # --8<-- [start:use]
    import torch
    from customgrad.functions import Cube

    x = torch.tensor([-2.0, 0.0, 2.0], requires_grad=True)
    y = Cube.apply(x)
    y.sum().backward()
    print(y)
    print(x.grad)
    # --8<-- [end:use]


def conventions():
    # --8<-- [start:conventions]
    import torch
    from customgrad.functions import cube

    inf, nan = torch.inf, torch.nan
    for call in (cube, lambda x: torch.pow(x, 3)):
        x = torch.tensor([-inf, -1e-30, 0.0, inf, nan])
        x.requires_grad_()
        y = call(x)
        y.sum().backward()
        print(y.tolist(), x.grad.tolist())
    # --8<-- [end:conventions]


def kept():
    # --8<-- [start:kept]
    import torch
    from customgrad.functions import cube

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

    print("cube     ", kept(cube), "bytes")
    print("composed ", kept(lambda x: x * x * x), "bytes")
    # --8<-- [end:kept]


def wrong():
    # --8<-- [start:wrong]
    import torch
    from torch.autograd import grad
    from customgrad.lessons.functions.twice import (
        CubeOnCtx,
    )

    x = torch.tensor(2.0, requires_grad=True)
    y = CubeOnCtx.apply(x).square()
    (g,) = grad(y, x, create_graph=True)
    (second,) = grad(g, x)
    print("y'", g.item(), "y''", second.item())
    # --8<-- [end:wrong]


def right():
    # --8<-- [start:right]
    import torch
    from torch.autograd import grad
    from customgrad.functions import (
        Cube,
    )

    x = torch.tensor(2.0, requires_grad=True)
    y = Cube.apply(x).square()
    (g,) = grad(y, x, create_graph=True)
    (second,) = grad(g, x)
    print("y'", g.item(), "y''", second.item())
    # --8<-- [end:right]


def forward():
    # --8<-- [start:forward]
    import torch
    from customgrad.functions import CubeForwardMode

    x = torch.tensor([1.0, 2.0])
    tangent = torch.tensor([1.0, 10.0])
    call = CubeForwardMode.apply
    print(torch.func.jvp(call, (x,), (tangent,))[1])
    # --8<-- [end:forward]


def main():
    use()
    conventions()
    kept()
    wrong()
    right()
    forward()


if __name__ == "__main__":
    main()
