# === the combined style, the slope saved
import torch


class Affine(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, scale, shift, mode):
        inner = x * scale + shift
        ctx.scale = scale
        ctx.square = mode == "square"
        ctx.save_for_backward(inner)
        return inner**2 if ctx.square else inner

    @staticmethod
    def backward(ctx, g):
        (inner,) = ctx.saved_tensors
        if ctx.square:
            g = 2 * inner * g
        return ctx.scale * g, None, None, None


# === saves only where it must, returns a tuple
import torch
from torch.autograd import Function


class Affine(Function):
    @staticmethod
    def forward(ctx, x, scale=1.0, shift=0.0, mode="plain"):
        y = torch.add(torch.mul(x, scale), shift)
        ctx.args = (scale, shift, mode)
        if mode == "square":
            ctx.save_for_backward(x)
            return y.square()
        return y

    @staticmethod
    def backward(ctx, grad_output):
        scale, shift, mode = ctx.args
        grads = [None] * 4
        grads[0] = grad_output * scale
        if mode == "square":
            (x,) = ctx.saved_tensors
            grads[0] = grads[0] * (2 * scale * x + 2 * shift)
        return tuple(grads)


# === setup_context, in place on a clone
import torch


class Affine(torch.autograd.Function):
    @staticmethod
    def forward(x, scale, shift, mode):
        y = x.clone().mul_(scale).add_(shift)
        if mode == "square":
            y.pow_(2)
        return y

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(inputs[0])
        ctx.scale, ctx.shift, ctx.mode = inputs[1:]

    @staticmethod
    def backward(ctx, dy):
        x = ctx.saved_tensors[0]
        s, t = ctx.scale, ctx.shift
        slope = 2 * s * (s * x + t) if ctx.mode == "square" else s
        return dy * slope, None, None, None
