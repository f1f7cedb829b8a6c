"""GELU: used, mixed up with its other approximation, and what it keeps."""

# --8<-- [start:imports]
import torch
from torch.nn import functional as F

# --8<-- [end:imports]


# --8<-- [start:base]
import torch
from customgrad.functions import GELU

# --8<-- [end:base]


# --8<-- [start:Mixed]
class Mixed(torch.autograd.Function):
    @staticmethod
    def forward(ctx, input):
        ctx.save_for_backward(input)
        return F.gelu(input, approximate="tanh")

    @staticmethod
    def backward(ctx, grad_output):
        (input,) = ctx.saved_tensors
        return torch.ops.aten.gelu_backward(grad_output, input)


# --8<-- [end:Mixed]


def use():
    # --8<-- [start:use]
    import torch
    from customgrad.functions import GELU

    x = torch.tensor([-2.0, 0.0, 2.0], requires_grad=True)
    y = GELU.apply(x, "tanh")
    y.sum().backward()
    print(y)
    print(x.grad)
    # --8<-- [end:use]


def formula():
    # --8<-- [start:formula]
    import math
    import torch
    from customgrad.functions import gelu

    x = torch.tensor([-2.0, 1.0, 3.0])
    u = math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)
    print("written out", x * (1 + torch.tanh(u)) / 2)
    print("tanh       ", gelu(x, approximate="tanh"))
    print("exact      ", gelu(x))
    # --8<-- [end:formula]


def mixed():
    # --8<-- [start:mixed]
    import torch
    from customgrad.lessons.functions.gelu import (
        Mixed,
    )

    x = torch.tensor(2.0)
    x.requires_grad_()
    Mixed.apply(x).backward()
    print(x.grad)
    # --8<-- [end:mixed]


def right():
    # --8<-- [start:right]
    import torch
    from customgrad.functions import gelu

    x = torch.tensor(2.0)
    x.requires_grad_()
    gelu(x, approximate="tanh").backward()
    print(x.grad)
    # --8<-- [end:right]


def checked():
    # --8<-- [start:checked]
    import torch
    from torch.autograd import gradcheck
    from customgrad.lessons.functions.gelu import Mixed

    x = torch.tensor([1.0, 2.0, 3.0], dtype=torch.float64)
    x.requires_grad_()
    print("default ", gradcheck(Mixed.apply, x))
    tight = {"rtol": 1e-6, "raise_exception": False}
    print("tight   ", gradcheck(Mixed.apply, x, **tight))
    # --8<-- [end:checked]


def conventions():
    # --8<-- [start:conventions]
    import torch
    from torch.nn import functional as F
    from customgrad.functions import gelu

    for call in (gelu, F.gelu):
        x = torch.tensor([-200.0, -0.0, 0.0, 200.0, torch.nan])
        x.requires_grad_()
        y = call(x)
        y.sum().backward()
        print(y.tolist(), x.grad.tolist())
    # --8<-- [end:conventions]


def kept():
    # --8<-- [start:kept]
    import torch
    from customgrad.functions import gelu

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
        return 0.5 * x * (1 + torch.erf(x / 2**0.5))

    print("gelu     ", kept(gelu), "bytes")
    print("composed ", kept(composed), "bytes")
    # --8<-- [end:kept]


def twice():
    # --8<-- [start:twice]
    import torch
    from torch.autograd import grad
    from customgrad.functions import gelu

    x = torch.tensor([0.0, 2.0], requires_grad=True)
    for approximate in ("none", "tanh"):
        y = gelu(x, approximate=approximate)
        (slope,) = grad(y.sum(), x, create_graph=True)
        (second,) = grad(slope.sum(), x)
        print(approximate, second)
    # --8<-- [end:twice]


def forward():
    # --8<-- [start:forward]
    import torch
    from customgrad.functions import GELUForwardMode

    def call(x):
        return GELUForwardMode.apply(x, "tanh")

    x, tangent = torch.tensor(2.0), torch.tensor(10.0)
    print(torch.func.jvp(call, (x,), (tangent,))[1])
    # --8<-- [end:forward]


def main():
    use()
    formula()
    mixed()
    right()
    checked()
    conventions()
    kept()
    twice()
    forward()


if __name__ == "__main__":
    main()
