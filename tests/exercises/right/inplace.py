# === marked before the change
import torch


class Scale_(torch.autograd.Function):
    @staticmethod
    def forward(ctx, h, factor):
        ctx.mark_dirty(h)
        ctx.f = factor
        h *= factor
        return h

    @staticmethod
    def backward(ctx, g):
        return g * ctx.f, None


# === setup_context, copy_
import torch
from torch.autograd import Function


class Scale_(Function):
    @staticmethod
    def forward(x, factor):
        x.copy_(x * factor)
        return x

    @staticmethod
    def setup_context(ctx, inputs, output):
        x, ctx.factor = inputs
        ctx.mark_dirty(x)

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output.mul(ctx.factor), None


# === returned by the operation in place, once differentiable
import torch
from torch.autograd.function import once_differentiable


class Scale_(torch.autograd.Function):
    @staticmethod
    def forward(ctx, tensor, factor):
        ctx.mark_dirty(tensor)
        ctx.factor = factor
        return tensor.mul_(factor)

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        grad = grad_output.clone()
        grad *= ctx.factor
        return grad, None
