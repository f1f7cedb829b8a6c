# === a mask of factors, the combined style
import torch


class LeakyReLU(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, slope):
        factor = torch.where(x > 0, torch.ones_like(x), torch.full_like(x, slope))
        ctx.save_for_backward(factor)
        return x * factor

    @staticmethod
    def backward(ctx, g):
        (factor,) = ctx.saved_tensors
        return g * factor, None


# === clamp above and below
import torch
from torch.autograd import Function


class LeakyReLU(Function):
    @staticmethod
    def forward(ctx, x, slope):
        ctx.save_for_backward(x)
        ctx.negative_slope = slope
        return x.clamp(min=0) + slope * x.clamp(max=0)

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        mask = (x > 0).to(grad_output.dtype)
        return grad_output * (mask + ctx.negative_slope * (1 - mask)), None


# === in place on clones, a bool mask saved
import torch


class LeakyReLU(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, slope=0.01):
        mask = x <= 0
        out = x.clone()
        out[mask] *= slope
        ctx.save_for_backward(mask)
        ctx.slope = slope
        return out

    @staticmethod
    def backward(ctx, grad_output):
        mask = ctx.saved_tensors[0]
        grad = grad_output.clone()
        grad[mask] *= ctx.slope
        return grad, None


# === the slope as a tensor that is saved, setup_context
import torch


class LeakyReLU(torch.autograd.Function):
    @staticmethod
    def forward(x, slope):
        return torch.relu(x) - slope * torch.relu(-x)

    @staticmethod
    def setup_context(ctx, inputs, output):
        x, slope = inputs
        ctx.save_for_backward(x, torch.tensor(slope, dtype=x.dtype))

    @staticmethod
    def backward(ctx, dy):
        x, slope = ctx.saved_tensors
        dx = torch.where(x > 0, dy, dy * slope)
        return dx, None
