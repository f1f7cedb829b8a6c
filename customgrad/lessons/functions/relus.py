"""ReLUs that keep different things: used, measured, and what goes wrong with a mask and in place."""

# --8<-- [start:imports]
import torch

# --8<-- [end:imports]


# --8<-- [start:Product]
class Product(torch.autograd.Function):
    @staticmethod
    def forward(ctx, input):
        ctx.save_for_backward(input > 0)
        return input.clamp(min=0)

    @staticmethod
    def backward(ctx, grad_output):
        (mask,) = ctx.saved_tensors
        return grad_output * mask


# --8<-- [end:Product]


# --8<-- [start:Unmarked]
class Unmarked(torch.autograd.Function):
    @staticmethod
    def forward(ctx, input):
        ctx.save_for_backward(input > 0)
        return input.relu_()

    @staticmethod
    def backward(ctx, grad_output):
        (mask,) = ctx.saved_tensors
        return grad_output.masked_fill(~mask, 0)


# --8<-- [end:Unmarked]


def use():
    # --8<-- [start:use]
    import torch
    from customgrad.functions import ReLUFromOutput, relu

    x = torch.tensor([-2.0, 0.0, 3.0], requires_grad=True)
    y = ReLUFromOutput.apply(x)
    y.backward(torch.tensor([10.0, 20.0, 30.0]))
    print(y)
    print(x.grad)
    print(relu(x, keep="bits"))
    # --8<-- [end:use]


def unmarked():
    # --8<-- [start:unmarked]
    import torch
    from customgrad.lessons.functions.relus import (
        Unmarked,
    )

    x = torch.tensor([-1.0, 2.0])
    x.requires_grad_()
    z = x * 1
    Unmarked.apply(z)
    z.sum().backward()
    print(x.grad)
    # --8<-- [end:unmarked]


def in_place():
    # --8<-- [start:in_place]
    import torch
    from customgrad.functions import (
        ReLUInPlace,
    )

    x = torch.tensor([-1.0, 2.0])
    x.requires_grad_()
    z = x * 1
    ReLUInPlace.apply(z)
    z.sum().backward()
    print(x.grad)
    # --8<-- [end:in_place]


def product():
    # --8<-- [start:product]
    import torch
    from customgrad.lessons.functions.relus import (
        Product,
    )

    x = torch.tensor([-1.0, 2.0])
    x.requires_grad_()
    y = Product.apply(x)
    y.backward(torch.tensor([torch.inf, 5]))
    print(x.grad)
    # --8<-- [end:product]


def masked():
    # --8<-- [start:masked]
    import torch
    from customgrad.functions import (
        ReLUFromMask,
    )

    x = torch.tensor([-1.0, 2.0])
    x.requires_grad_()
    y = ReLUFromMask.apply(x)
    y.backward(torch.tensor([torch.inf, 5]))
    print(x.grad)
    # --8<-- [end:masked]


def conventions():
    # --8<-- [start:conventions]
    import torch
    from customgrad.functions import relu

    inf, nan = torch.inf, torch.nan
    x = torch.tensor([-inf, -1.0, -0.0, 0.0, inf, nan])
    g = torch.tensor([10.0, inf, 30.0, nan, 50.0, 60.0])
    x.requires_grad_()

    def gradient(y):
        return torch.autograd.grad(y, x, g)[0].tolist()

    print("torch ", gradient(torch.relu(x)))
    for keep in ("output", "input", "mask", "bits"):
        print(f"{keep:6}", gradient(relu(x, keep=keep)))
    # --8<-- [end:conventions]


def kept():
    # --8<-- [start:kept]
    from functools import partial

    import torch
    from customgrad.functions import relu

    layer = torch.nn.Linear(64, 64)

    def kept(call):
        """Bytes kept per element, beside x and parameters."""
        x = torch.ones(32, 64)
        own = {t.data_ptr() for t in (x, *layer.parameters())}
        sizes = {}

        def pack(tensor):
            storage = tensor.untyped_storage()
            if storage.data_ptr() not in own:
                sizes[storage.data_ptr()] = storage.nbytes()
            return tensor

        hooks = torch.autograd.graph.saved_tensors_hooks
        with hooks(pack, lambda tensor: tensor):
            call(x)
        return sum(sizes.values()) / x.numel()

    calls = {"torch": torch.relu}
    for keep in ("output", "input", "mask", "bits"):
        calls[keep] = partial(relu, keep=keep)
    print("bytes  layers   residual")
    for name, call in calls.items():
        layers = kept(lambda x, f=call: layer(f(layer(x))))
        residual = kept(lambda x, f=call: x + f(layer(x)))
        print(f"{name:6} {layers:6} {residual:10}")
    # --8<-- [end:kept]


def twice():
    # --8<-- [start:twice]
    import torch
    from torch.autograd import grad
    from customgrad.functions import relu

    x = torch.tensor([-2.0, 3.0], requires_grad=True)
    y = relu(x, keep="bits") ** 3
    (slope,) = grad(y.sum(), x, create_graph=True)
    (second,) = grad(slope.sum(), x)
    print(slope.tolist(), second.tolist())
    # --8<-- [end:twice]


def main():
    use()
    unmarked()
    in_place()
    conventions()
    product()
    masked()
    kept()
    twice()


if __name__ == "__main__":
    main()
