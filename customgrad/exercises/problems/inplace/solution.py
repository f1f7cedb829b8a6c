"""The inplace exercise, solved."""

# --8<-- [start:solution]
import torch


class Scale_(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, factor):
        ctx.factor = factor
        x.mul_(factor)
        ctx.mark_dirty(x)
        return x

    @staticmethod
    def backward(ctx, grad_output):
        return ctx.factor * grad_output, None


# --8<-- [end:solution]
