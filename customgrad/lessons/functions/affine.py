"""Scale and shift: with both parameters, with one, and what backward must return for an absent one."""

# --8<-- [start:imports]
import torch

# --8<-- [end:imports]


# --8<-- [start:Filtered]
class Filtered(torch.autograd.Function):
    @staticmethod
    def forward(ctx, input, weight, bias):
        ctx.save_for_backward(weight)
        ctx.bias = bias is not None
        output = input * weight
        return output + bias if ctx.bias else output

    @staticmethod
    def backward(ctx, grad_output):
        (weight,) = ctx.saved_tensors
        grads = [grad_output * weight, None]
        if ctx.bias:
            grads.append(grad_output.sum_to_size(weight.shape))
        return tuple(grads)


# --8<-- [end:Filtered]


# --8<-- [start:Reduced]
class Reduced(torch.autograd.Function):
    @staticmethod
    def forward(ctx, input, bias):
        return input + bias

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output, grad_output.sum(-1)


# --8<-- [end:Reduced]


def use():
    # --8<-- [start:use]
    import torch
    from customgrad.functions import Affine

    x = torch.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    weight = torch.tensor([10.0, 100.0], requires_grad=True)
    y = Affine.apply(x, weight, None)
    y.sum().backward()
    print(y)
    print(x.grad)
    print(weight.grad)
    # --8<-- [end:use]


def wrapped():
    # --8<-- [start:wrapped]
    import torch
    from customgrad.functions import affine

    image = torch.ones(2, 3, 4, 4)
    bias = torch.zeros(3, 1, 1, requires_grad=True)
    affine(image, bias=bias).sum().backward()
    print(bias.grad.shape, bias.grad.flatten())
    # --8<-- [end:wrapped]


def wrong():
    # --8<-- [start:wrong]
    import torch
    from customgrad.lessons.functions.affine import (
        Reduced,
    )

    x = torch.zeros(2, 2)
    bias = torch.zeros(2, requires_grad=True)
    y = Reduced.apply(x, bias)
    g = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
    y.backward(g)
    print(bias.grad)
    # --8<-- [end:wrong]


def right():
    # --8<-- [start:right]
    import torch
    from customgrad.functions import (
        Affine,
    )

    x = torch.zeros(2, 2)
    bias = torch.zeros(2, requires_grad=True)
    y = Affine.apply(x, None, bias)
    g = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
    y.backward(g)
    print(bias.grad)
    # --8<-- [end:right]


def filtered():
    # --8<-- [start:filtered]
    import torch
    from customgrad.lessons.functions.affine import (
        Filtered,
    )

    x = torch.ones(2, requires_grad=True)
    y = Filtered.apply(x, 2 * x.detach(), None)
    try:
        y.sum().backward()
    except RuntimeError as error:
        said = str(error).split(" of ")
        print(said[-1])
    # --8<-- [end:filtered]


def returned():
    # --8<-- [start:returned]
    import torch
    from customgrad.functions import (
        Affine,
    )

    x = torch.ones(2, requires_grad=True)
    y = Affine.apply(x, 2 * x.detach(), None)
    y.sum().backward()
    print(x.grad)
    # --8<-- [end:returned]


def kept():
    # --8<-- [start:kept]
    import torch
    from customgrad.functions import affine

    def kept(frozen=(), **options):
        """Tensors that forward keeps, by their shapes."""
        found = []

        def pack(tensor):
            found.append(tuple(tensor.shape))
            return tensor

        x = torch.ones(5, 3, requires_grad="input" not in frozen)
        hooks = torch.autograd.graph.saved_tensors_hooks
        with hooks(pack, lambda tensor: tensor):
            affine(x, **options)
        return found

    weight = torch.ones(3, requires_grad=True)
    bias = torch.ones(3, requires_grad=True)
    print("weight and bias", kept(weight=weight, bias=bias))
    print("weight frozen  ", kept(weight=weight.detach(), bias=bias))
    print("input frozen   ", kept(["input"], weight=weight, bias=bias))
    print("bias alone     ", kept(bias=bias))
    # --8<-- [end:kept]


def twice():
    # --8<-- [start:twice]
    import torch
    from customgrad.functions import affine

    x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
    weight = torch.tensor(4.0, requires_grad=True)
    y = affine(x, weight).square().sum()
    (slope,) = torch.autograd.grad(y, weight, create_graph=True)
    (second,) = torch.autograd.grad(slope, weight)
    print(slope.item(), second.item())
    # --8<-- [end:twice]


def main():
    use()
    wrapped()
    wrong()
    right()
    filtered()
    returned()
    kept()
    twice()


if __name__ == "__main__":
    main()
