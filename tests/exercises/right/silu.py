# === the combined style, a quotient in forward
import torch


class SiLU(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x / (1 + torch.exp(-x))

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        s = x.sigmoid()
        return grad_output * s + grad_output * x * s * (1 - s)


# === from the output, computed again
import torch
from torch.autograd import Function
from torch.autograd.function import once_differentiable


class SiLU(Function):
    @staticmethod
    def forward(ctx, input):
        ctx.save_for_backward(input.detach())
        return torch.mul(input, torch.sigmoid(input))

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        (input,) = ctx.saved_tensors
        sig = torch.sigmoid(input)
        out = input * sig
        return g * (out + sig * (1 - out))


# === run again under enable_grad
import torch
import torch.nn.functional as F


class SiLU(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return F.silu(x)

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        with torch.enable_grad():
            x = x.detach().requires_grad_()
            y = F.silu(x)
        return torch.autograd.grad(y, x, g)[0]


# === in place on a clone, where
import torch


def stable_sigmoid(x):
    e = torch.exp(-x.abs())
    return torch.where(x >= 0, 1 / (1 + e), e / (1 + e))


class SiLU(torch.autograd.Function):
    generate_vmap_rule = True

    @staticmethod
    def forward(x):
        return stable_sigmoid(x) * x

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(inputs[0])

    @staticmethod
    def backward(ctx, grad_output):
        x = ctx.saved_tensors[0]
        s = stable_sigmoid(x)
        slope = (1 - s).mul_(x).add_(1).mul_(s)
        return slope.mul_(grad_output)


# === tanh, with a call of its own
import torch


class SiLU(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return 0.5 * x * (1 + torch.tanh(0.5 * x))

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        t = torch.tanh(0.5 * x)
        return grad_output * (0.5 * (1 + t) + 0.25 * x * (1 - t * t))


def silu(x):
    return SiLU.apply(x)


if __name__ == "__main__":
    x = torch.randn(5, dtype=torch.float64, requires_grad=True)
    print(torch.autograd.gradcheck(silu, x))
