"""LeakyReLU: used, its slope where the output tells nothing, and what a chain of layers keeps."""

# --8<-- [start:imports]
import torch
from torch.nn import functional as F

# --8<-- [end:imports]


# --8<-- [start:Unchecked]
class Unchecked(torch.autograd.Function):
    @staticmethod
    def forward(input, negative_slope):
        return F.leaky_relu(input, negative_slope)

    @staticmethod
    def setup_context(ctx, inputs, output):
        _, ctx.negative_slope = inputs
        ctx.save_for_backward(output)

    @staticmethod
    def backward(ctx, grad_output):
        (output,) = ctx.saved_tensors
        below = ctx.negative_slope * grad_output
        return torch.where(output > 0, grad_output, below), None


# --8<-- [end:Unchecked]


def use():
    # --8<-- [start:use]
    import torch
    from customgrad.functions import LeakyReLU

    x = torch.tensor([-2.0, 0.0, 3.0], requires_grad=True)
    y = LeakyReLU.apply(x, 0.1)
    y.backward(torch.tensor([10.0, 20.0, 30.0]))
    print(y)
    print(x.grad)
    # --8<-- [end:use]


def unchecked():
    # --8<-- [start:unchecked]
    import torch
    from customgrad.lessons.functions.leaky import (
        Unchecked,
    )

    x = torch.tensor([-2.0, 3.0])
    x.requires_grad_()
    Unchecked.apply(x, -0.5).sum().backward()
    print(x.grad)
    # --8<-- [end:unchecked]


def builtin():
    # --8<-- [start:builtin]
    import torch
    from torch.nn import functional as F

    x = torch.tensor([-2.0, 3.0])
    x.requires_grad_()
    F.leaky_relu(x, -0.5).sum().backward()
    print(x.grad)
    # --8<-- [end:builtin]


def refused():
    # --8<-- [start:refused]
    import torch
    from customgrad.functions import leaky_relu

    try:
        leaky_relu(torch.ones(2), negative_slope=-0.5)
    except ValueError as error:
        print(*str(error).split("; "), sep=";\n")
    # --8<-- [end:refused]


def conventions():
    # --8<-- [start:conventions]
    import torch
    from torch.nn import functional as F
    from customgrad.functions import leaky_relu

    inf, nan = torch.inf, torch.nan
    for call in (leaky_relu, F.leaky_relu):
        x = torch.tensor([-inf, -200.0, -0.0, 0.0, inf, nan])
        x.requires_grad_()
        y = call(x, negative_slope=0.5)
        y.sum().backward()
        print(y.tolist(), x.grad.tolist())
    # --8<-- [end:conventions]


def chain():
    # --8<-- [start:chain]
    from functools import partial

    import torch
    from torch.nn import functional as F
    from customgrad.functions import leaky_relu

    eight = [torch.nn.Linear(64, 64) for _ in range(8)]
    layers = torch.nn.Sequential(*eight)

    def kept(activation):
        """Bytes kept for backward, beside input and parameters."""
        x = torch.ones(32, 64)
        own = [t.data_ptr() for t in (x, *layers.parameters())]
        sizes = {}

        def pack(tensor):
            storage = tensor.untyped_storage()
            if storage.data_ptr() not in own:
                sizes[storage.data_ptr()] = storage.nbytes()
            return tensor

        hooks = torch.autograd.graph.saved_tensors_hooks
        with hooks(pack, lambda tensor: tensor):
            for layer in layers:
                x = activation(layer(x))
        return sum(sizes.values())

    ours = kept(leaky_relu)
    builtin = kept(F.leaky_relu)
    in_place = kept(partial(F.leaky_relu, inplace=True))
    print("leaky_relu            ", ours, "bytes")
    print("torch's own           ", builtin, "bytes")
    print("torch's own, in place ", in_place, "bytes")
    print("torch's own keeps", builtin / ours, "times as much")
    # --8<-- [end:chain]


def changed():
    # --8<-- [start:changed]
    import torch
    from customgrad.functions import leaky_relu

    x = torch.tensor([-2.0, 3.0], requires_grad=True)
    y = leaky_relu(x)
    y.add_(1)
    try:
        y.sum().backward()
    except RuntimeError as error:
        print(str(error).partition(" by ")[0])
    # --8<-- [end:changed]


def twice():
    # --8<-- [start:twice]
    import torch
    from torch.autograd import grad
    from customgrad.functions import leaky_relu

    x = torch.tensor([-2.0, 3.0], requires_grad=True)
    y = leaky_relu(x, negative_slope=0.5) ** 3
    (slope,) = grad(y.sum(), x, create_graph=True)
    (second,) = grad(slope.sum(), x)
    print(slope.tolist(), second.tolist())
    # --8<-- [end:twice]


def main():
    use()
    unchecked()
    builtin()
    refused()
    conventions()
    chain()
    changed()
    twice()


if __name__ == "__main__":
    main()
