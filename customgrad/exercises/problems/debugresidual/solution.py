"""The exercise on a gradient beside a shortcut, solved."""

# --8<-- [start:solution]
import torch


class HardTanh(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.clamp(-1, 1)

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        return grad_output.masked_fill(x.abs() > 1, 0)


# --8<-- [end:solution]
