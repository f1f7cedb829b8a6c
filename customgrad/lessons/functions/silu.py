"""SiLU: used, compared with autograd, and differentiated twice."""

# --8<-- [start:imports]
import torch
from torch.nn import functional as F

# --8<-- [end:imports]


# --8<-- [start:base]
import torch
from customgrad.functions import SiLU

# --8<-- [end:base]


# --8<-- [start:KernelOnly]
class KernelOnly(torch.autograd.Function):
    @staticmethod
    def forward(input):
        return F.silu(input)

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs)

    @staticmethod
    def backward(ctx, grad_output):
        (input,) = ctx.saved_tensors
        return torch.ops.aten.silu_backward(grad_output, input)


# --8<-- [end:KernelOnly]


def use():
    # --8<-- [start:use]
    import torch
    from customgrad.functions import SiLU

    x = torch.tensor([-2.0, 0.0, 2.0], requires_grad=True)
    y = SiLU.apply(x)
    y.sum().backward()
    print(y)
    print(x.grad)
    # --8<-- [end:use]


def conventions():
    # --8<-- [start:conventions]
    import torch
    from torch.nn import functional as F
    from customgrad.functions import silu

    inf, nan = torch.inf, torch.nan
    for call in (silu, F.silu):
        x = torch.tensor([-inf, -200.0, 0.0, 200.0, inf, nan])
        x.requires_grad_()
        y = call(x)
        y.sum().backward()
        print(y.tolist(), x.grad.tolist())
    # --8<-- [end:conventions]


def kept():
    # --8<-- [start:kept]
    import torch
    from customgrad.functions import silu

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
        return x * torch.sigmoid(x)

    print("silu     ", kept(silu), "bytes")
    print("composed ", kept(composed), "bytes")
    # --8<-- [end:kept]


def kernel():
    # --8<-- [start:kernel]
    import torch
    from torch.autograd import grad
    from customgrad.lessons.functions.silu import (
        KernelOnly,
    )

    x = torch.tensor([0.0, 1.0])
    x.requires_grad_()
    y = KernelOnly.apply(x).sum()
    (g,) = grad(y, x, create_graph=True)
    try:
        g.sum().backward()
    except RuntimeError as error:
        words = str(error).split(" is ")
        print(*words, sep="\nis ")
    # --8<-- [end:kernel]


def twice():
    # --8<-- [start:twice]
    import torch
    from torch.autograd import grad
    from customgrad.functions import silu

    x = torch.tensor([0.0, 1.0])
    x.requires_grad_()
    y = silu(x).sum()
    (g,) = grad(y, x, create_graph=True)
    g.sum().backward()
    print(x.grad)
    # --8<-- [end:twice]


def forward():
    # --8<-- [start:forward]
    import torch
    from customgrad.functions import SiLUForwardMode

    x = torch.tensor([0.0, 1.0])
    tangent = torch.tensor([1.0, 10.0])
    call = SiLUForwardMode.apply
    print(torch.func.jvp(call, (x,), (tangent,))[1])
    # --8<-- [end:forward]


def main():
    use()
    conventions()
    kept()
    kernel()
    twice()
    forward()


if __name__ == "__main__":
    main()
