"""The starter of the exercise debugshape, made from its solution: `make outputs`."""

# --8<-- [start:starter]
import torch


class Gain(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, gain):
        ctx.save_for_backward(x, gain)
        return x * gain

    @staticmethod
    def backward(ctx, grad_output):
        x, gain = ctx.saved_tensors
        grad_x = grad_output * gain
        grad_gain = grad_output * x
        return (
            grad_x,
            grad_gain.sum(0),
        )


# --8<-- [end:starter]
