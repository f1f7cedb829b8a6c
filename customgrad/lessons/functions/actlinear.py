"""GELU and linear in one: used, recomputed in the wrong way, measured, differentiated twice."""

# --8<-- [start:imports]
import torch
from torch.nn import functional as F

# --8<-- [end:imports]


# --8<-- [start:TwoKinds]
class TwoKinds(torch.autograd.Function):
    """GELU by tanh in forward, and not in backward."""

    @staticmethod
    def forward(ctx, z, weight):
        ctx.save_for_backward(z, weight)
        return F.linear(F.gelu(z, approximate="tanh"), weight)

    @staticmethod
    def backward(ctx, grad_output):
        z, weight = ctx.saved_tensors
        kernel = torch.ops.aten.gelu_backward
        grad_z = kernel(grad_output @ weight, z)
        return grad_z, grad_output.T @ F.gelu(z)


# --8<-- [end:TwoKinds]


def use():
    # --8<-- [start:use]
    import torch
    from customgrad.functions import GELULinear

    z = torch.tensor([[-1.0, 0.0, 2.0]], requires_grad=True)
    weight = torch.tensor([[1.0, 1.0, 1.0], [0.0, 3.0, 1.0]])
    weight.requires_grad_()
    y = GELULinear.apply(z, weight, torch.zeros(2), "none")
    y.sum().backward()
    print(y)
    print(z.grad)
    print(weight.grad)
    # --8<-- [end:use]


def mixed():
    # --8<-- [start:mixed]
    import torch
    from torch.autograd import gradcheck
    from customgrad.lessons.functions import (
        actlinear as lesson,
    )

    z = torch.tensor([[2.0]]).double()
    w = torch.tensor([[1.0]]).double()
    z.requires_grad_()
    f = lesson.TwoKinds.apply
    f(z, w).sum().backward()
    print(f"{z.grad.item():.5f}")
    quiet = {"raise_exception": False}
    for tol in (1e-3, 1e-6):
        how = {"rtol": tol, **quiet}
        print(gradcheck(f, (z, w), **how))
    # --8<-- [end:mixed]


def alike():
    # --8<-- [start:alike]
    import torch
    from torch.autograd import gradcheck
    from customgrad.functions import (
        gelu_linear,
    )

    z = torch.tensor([[2.0]]).double()
    w = torch.tensor([[1.0]]).double()
    z.requires_grad_()
    tanh = {"approximate": "tanh"}
    f = lambda *x: gelu_linear(*x, **tanh)
    f(z, w).sum().backward()
    print(f"{z.grad.item():.5f}")
    for tol in (1e-3, 1e-6):
        how = {"rtol": tol}
        print(gradcheck(f, (z, w), **how))
    # --8<-- [end:alike]


def kept():
    # --8<-- [start:kept]
    import torch
    from torch.nn import functional as F
    from customgrad.functions import gelu_linear

    def two(z, weight):
        return F.linear(F.gelu(z), weight)

    def kept(call):
        """Values that forward of 8 layers keeps, as multiples of x."""
        sizes = {}

        def pack(tensor):
            if tensor.shape == x.shape and tensor is not x:
                sizes[tensor.data_ptr()] = tensor
            return tensor

        hooks = torch.autograd.graph.saved_tensors_hooks
        with hooks(pack, lambda tensor: tensor):
            z = F.linear(x, weights[0])
            for weight in weights[1:]:
                z = call(z, weight)
            F.gelu(z)
        return len(sizes)

    x = torch.ones(32, 4)
    weights = torch.ones(8, 4, 4, requires_grad=True).unbind()
    print("gelu_linear", kept(gelu_linear))
    print("two layers ", kept(two))
    # --8<-- [end:kept]


def twice():
    # --8<-- [start:twice]
    import torch
    from torch.nn import functional as F
    from customgrad.functions import gelu_linear

    def two(z, weight):
        return F.linear(F.gelu(z), weight)

    weight = torch.tensor([[2.0]])
    for call in (two, gelu_linear):
        z = torch.tensor([1.0], requires_grad=True)
        y = call(z, weight)
        (slope,) = torch.autograd.grad(y, z, create_graph=True)
        (second,) = torch.autograd.grad(slope, z)
        print(slope.detach(), second)
    # --8<-- [end:twice]


def main():
    use()
    mixed()
    alike()
    kept()
    twice()


if __name__ == "__main__":
    main()
