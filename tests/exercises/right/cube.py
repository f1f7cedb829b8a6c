# === the combined style, powers
import torch


class Cube(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x**3

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        return 3 * x**2 * grad_output


# === products
import torch
from torch.autograd import Function


class Cube(Function):
    @staticmethod
    def forward(ctx, input):
        ctx.save_for_backward(input)
        return torch.mul(torch.mul(input, input), input)

    @staticmethod
    def backward(ctx, g):
        input = ctx.saved_tensors[0]
        if not ctx.needs_input_grad[0]:
            return None
        return g * input * input * 3.0


# === a Function of its own for the gradient
import torch


class CubeBackward(torch.autograd.Function):
    @staticmethod
    def forward(ctx, g, x):
        ctx.save_for_backward(g, x)
        return 3 * g * x.pow(2)

    @staticmethod
    def backward(ctx, v):
        g, x = ctx.saved_tensors
        return 3 * v * x.pow(2), 6 * v * g * x


class Cube(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.pow(3)

    @staticmethod
    def backward(ctx, g):
        return CubeBackward.apply(g, *ctx.saved_tensors)


# === in place on a clone, torch.square
import torch


class Cube(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        y = x.clone()
        y.mul_(x)
        y.mul_(x)
        return y

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        grad_x = grad_output.clone()
        return grad_x.mul(torch.square(x)).mul(3)


# === setup_context, einsum
import torch


class Cube(torch.autograd.Function):
    generate_vmap_rule = True

    @staticmethod
    def forward(x):
        return torch.einsum("...,...,...->...", x, x, x)

    @staticmethod
    def setup_context(ctx, inputs, output):
        (x,) = inputs
        ctx.save_for_backward(x, output)

    @staticmethod
    def backward(ctx, grad_output):
        x, y = ctx.saved_tensors
        slope = torch.addcmul(torch.zeros_like(x), x, x, value=3)
        return grad_output * slope


if __name__ == "__main__":
    x = torch.randn(4, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(Cube.apply, x)
    assert torch.autograd.gradgradcheck(Cube.apply, x)
