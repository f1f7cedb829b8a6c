"""Sine and cosine: used, with one output unused, compiled, and differentiated twice."""

# --8<-- [start:imports]
import torch
from customgrad.functions import SinCos

# --8<-- [end:imports]


# --8<-- [start:Handed]
class Handed(SinCos):
    @staticmethod
    def backward(ctx, grad_sin, grad_cos):
        print("sin", grad_sin, "cos", grad_cos)
        return SinCos.backward(ctx, grad_sin, grad_cos)


class Materialized(Handed):
    @staticmethod
    def setup_context(ctx, inputs, outputs):
        ctx.save_for_backward(*outputs)


# --8<-- [end:Handed]


# --8<-- [start:Dependent]
class Dependent(SinCos):
    @staticmethod
    def backward(ctx, grad_sin, grad_cos):
        _, cos = ctx.saved_tensors
        return grad_sin * cos + (0 if grad_cos is None else 100)


# --8<-- [end:Dependent]


def use():
    # --8<-- [start:use]
    import torch
    from customgrad.functions import SinCos

    x = torch.tensor([0.0, 1.0, 2.0], requires_grad=True)
    sin, cos = SinCos.apply(x)
    (sin + 10 * cos).sum().backward()
    print(sin)
    print(cos)
    print(x.grad)
    # --8<-- [end:use]


def conventions():
    # --8<-- [start:conventions]
    import torch
    from customgrad.functions import sincos

    def composed(x):
        return x.sin(), x.cos()

    for call in (sincos, composed):
        x = torch.tensor([-torch.inf, 0.0, torch.nan], requires_grad=True)
        sin, cos = call(x)
        (sin + cos).sum().backward()
        print(sin.tolist(), cos.tolist(), x.grad.tolist())
    # --8<-- [end:conventions]


def zeros():
    # --8<-- [start:zeros]
    import torch
    from customgrad.lessons.functions.sincos import (
        Materialized,
    )

    x = torch.zeros(2, requires_grad=True)
    sin, _ = Materialized.apply(x)
    sin.sum().backward()
    # --8<-- [end:zeros]


def none():
    # --8<-- [start:none]
    import torch
    from customgrad.lessons.functions.sincos import (
        Handed,
    )

    x = torch.zeros(2, requires_grad=True)
    sin, _ = Handed.apply(x)
    sin.sum().backward()
    # --8<-- [end:none]


def kept():
    # --8<-- [start:kept]
    import torch
    from customgrad.functions import sincos

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

    print("sincos   ", kept(sincos), "bytes")
    print("composed ", kept(lambda x: (x.sin(), x.cos())), "bytes")
    # --8<-- [end:kept]


def twice():
    # --8<-- [start:twice]
    import torch
    from customgrad.functions import sincos

    x = torch.tensor([0.0, 1.0], requires_grad=True)
    sin, cos = sincos(x)
    (slope,) = torch.autograd.grad((sin * cos).sum(), x, create_graph=True)
    (second,) = torch.autograd.grad(slope.sum(), x)
    print(slope)
    print(second, (-2 * torch.sin(2 * x)).detach())
    # --8<-- [end:twice]


def compiled():
    # --8<-- [start:compiled]
    import torch
    from customgrad.lessons.functions.sincos import Dependent

    def first(x):
        return Dependent.apply(x)[0]

    for call in (first, torch.compile(first, backend="aot_eager")):
        x = torch.zeros(1, requires_grad=True)
        call(x).sum().backward()
        print(x.grad)
    # --8<-- [end:compiled]


def same():
    # --8<-- [start:same]
    import torch
    from customgrad.functions import sincos

    def first(x):
        return sincos(x)[0]

    for call in (first, torch.compile(first, backend="aot_eager")):
        x = torch.zeros(1, requires_grad=True)
        call(x).sum().backward()
        print(x.grad)
    # --8<-- [end:same]


def main():
    use()
    conventions()
    kept()
    zeros()
    none()
    twice()
    compiled()
    same()


if __name__ == "__main__":
    main()
