# === the combined style, a power
import torch


class Square(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x**2

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        return grad_output * 2 * x


# === the derivative saved instead of the input
import torch
from torch.autograd import Function


class Square(Function):
    @staticmethod
    def forward(ctx, input):
        ctx.save_for_backward(2.0 * input)
        return input.pow(2)

    @staticmethod
    def backward(ctx, g):
        return g * ctx.saved_tensors[0]


# === in place on a clone, an addition, a shape asked before
import torch


class Square(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        y = x.clone()
        y.mul_(x)
        ctx.save_for_backward(x)
        return y

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        grad = grad_output.clone()
        grad *= x + x
        if not ctx.needs_input_grad[0]:
            return None
        return grad


# === once differentiable, torch.square, a helper and a test of its own
import torch
from torch import Tensor
from torch.autograd.function import once_differentiable


def slope(x: Tensor) -> Tensor:
    """The derivative of x squared."""
    return torch.mul(x, 2)


class Square(torch.autograd.Function):
    """x squared."""

    @staticmethod
    def forward(ctx, x: Tensor) -> Tensor:
        ctx.save_for_backward(x)
        return torch.square(x)

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output: Tensor) -> Tensor:
        (x,) = ctx.saved_tensors
        return torch.mul(slope(x), grad_output)


if __name__ == "__main__":
    x = torch.randn(4, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(Square.apply, x)


# === setup_context, with a vmap rule made for it
import torch


class Square(torch.autograd.Function):
    generate_vmap_rule = True

    @staticmethod
    def forward(x):
        return torch.mul(x, x)

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(inputs[0])
        ctx.shape = inputs[0].shape

    @staticmethod
    def backward(ctx, *grads):
        x = ctx.saved_tensors[0]
        return (2 * grads[0] * x).reshape(ctx.shape)
