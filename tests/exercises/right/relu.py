# === torch.where, input saved
import torch


class CustomReLU(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return torch.where(x > 0, x, torch.zeros_like(x))

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return torch.where(x > 0, g, torch.zeros_like(g))


# === a mask saved
import torch
from torch.autograd import Function


class CustomReLU(Function):
    @staticmethod
    def forward(ctx, input):
        mask = input > 0
        ctx.save_for_backward(mask)
        return input * mask

    @staticmethod
    def backward(ctx, grad_output):
        (mask,) = ctx.saved_tensors
        return grad_output * mask


# === output saved, setup_context, in place on a clone
import torch


class CustomReLU(torch.autograd.Function):
    @staticmethod
    def forward(x):
        return torch.maximum(x, x.new_zeros(()))

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(output)

    @staticmethod
    def backward(ctx, grad_output):
        y = ctx.saved_tensors[0]
        grad_input = grad_output.clone()
        grad_input[y == 0] = 0
        return grad_input


def custom_relu_demo():
    x = torch.arange(-2.0, 3.0).requires_grad_()
    y = CustomReLU.apply(x)
    (g,) = torch.autograd.grad(y.sum(), x)
    return dict(output=y.detach().tolist(), grad=g.tolist())


# === compare and multiply, with a test of its own below
import torch


class CustomReLU(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return (x + x.abs()) / 2

    @staticmethod
    def backward(ctx, g):
        x = ctx.saved_tensors[0]
        return g * (x > 0).to(g.dtype)


if __name__ == "__main__":
    x = torch.randn(5)
    print(torch.equal(CustomReLU.apply(x), torch.relu(x)))
