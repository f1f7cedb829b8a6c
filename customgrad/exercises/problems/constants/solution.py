"""The constants exercise, solved."""

# --8<-- [start:solution]
import torch


class Affine(torch.autograd.Function):
    @staticmethod
    def forward(x, scale, shift, mode):
        y = scale * x + shift
        return y * y if mode == "square" else y

    @staticmethod
    def setup_context(ctx, inputs, output):
        x, ctx.scale, ctx.shift, ctx.mode = inputs
        ctx.save_for_backward(x)

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        grad_x = ctx.scale * grad_output
        if ctx.mode == "square":
            grad_x = grad_x * 2 * (ctx.scale * x + ctx.shift)
        return grad_x, None, None, None


# --8<-- [end:solution]
