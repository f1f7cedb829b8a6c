"""The starter of the exercise debugsecond, made from its solution: `make outputs`."""

# --8<-- [start:starter]
import torch


class Swish(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        ctx.s = torch.sigmoid(x)
        return x * ctx.s

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        s = ctx.s
        return grad_output * s * (1 + x * (1 - s))


# --8<-- [end:starter]
