"""The exponential: used, kept on ctx, and differentiated twice."""

# --8<-- [start:imports]
import torch

# --8<-- [end:imports]


# --8<-- [start:base]
import torch
from customgrad.functions import Exp

# --8<-- [end:base]


# --8<-- [start:ExpOnCtx]
class ExpOnCtx(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.y = x.exp()
        return ctx.y

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output * ctx.y


# --8<-- [end:ExpOnCtx]


def use():
    # --8<-- [start:use]
    import torch
    from customgrad.functions import Exp

    x = torch.tensor([-1.0, 0.0, 1.0], requires_grad=True)
    y = Exp.apply(x)
    y.sum().backward()
    print(y)
    print(x.grad)
    # --8<-- [end:use]


def conventions():
    # --8<-- [start:conventions]
    import torch
    from customgrad.functions import exp

    inf, nan = torch.inf, torch.nan
    for call in (exp, torch.exp):
        x = torch.tensor([-inf, -200.0, 0.0, 200.0, inf, nan])
        x.requires_grad_()
        y = call(x)
        y.sum().backward()
        print(y.tolist(), x.grad.tolist())
    # --8<-- [end:conventions]


def changed():
    # --8<-- [start:changed]
    import torch
    from customgrad.functions import exp

    y = exp(torch.tensor([0.0, 1.0], requires_grad=True))
    y.mul_(2)
    try:
        y.sum().backward()
    except RuntimeError as error:
        print("modified by an inplace operation" in str(error))
    # --8<-- [end:changed]


def kept():
    # --8<-- [start:kept]
    import torch
    from customgrad.functions import exp

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

    print("exp         ", kept(exp), "bytes")
    print("torch's own ", kept(torch.exp), "bytes")
    # --8<-- [end:kept]


def leak():
    # --8<-- [start:leak]
    import weakref
    import torch
    from customgrad.lessons.functions.exp import (
        ExpOnCtx,
    )

    x = torch.ones(9, requires_grad=True)
    y = ExpOnCtx.apply(x)
    y.sum().backward()
    seen = weakref.ref(y)
    del y
    print("freed:", seen() is None)
    # --8<-- [end:leak]


def freed():
    # --8<-- [start:freed]
    import weakref
    import torch
    from customgrad.functions import (
        Exp,
    )

    x = torch.ones(9, requires_grad=True)
    y = Exp.apply(x)
    y.sum().backward()
    seen = weakref.ref(y)
    del y
    print("freed:", seen() is None)
    # --8<-- [end:freed]


def wrong():
    # --8<-- [start:wrong]
    import torch
    from torch.autograd import grad
    from customgrad.lessons.functions.twice import (
        ExpDetached,
    )

    x = torch.tensor(0.0, requires_grad=True)
    y = ExpDetached.apply(x).square()
    (g,) = grad(y, x, create_graph=True)
    (second,) = grad(g, x)
    print("y'", g.item(), "y''", second.item())
    # --8<-- [end:wrong]


def right():
    # --8<-- [start:right]
    import torch
    from torch.autograd import grad
    from customgrad.functions import (
        Exp,
    )

    x = torch.tensor(0.0, requires_grad=True)
    y = Exp.apply(x).square()
    (g,) = grad(y, x, create_graph=True)
    (second,) = grad(g, x)
    print("y'", g.item(), "y''", second.item())
    # --8<-- [end:right]


def forward():
    # --8<-- [start:forward]
    import torch
    from customgrad.functions import ExpForwardMode

    x = torch.tensor([0.0, 1.0])
    tangent = torch.tensor([1.0, 10.0])
    call = ExpForwardMode.apply
    print(torch.func.jvp(call, (x,), (tangent,))[1])
    # --8<-- [end:forward]


def main():
    use()
    conventions()
    changed()
    kept()
    leak()
    freed()
    wrong()
    right()
    forward()


if __name__ == "__main__":
    main()
