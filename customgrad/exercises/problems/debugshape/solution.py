"""The exercise on the shape of a gradient, solved."""

# --8<-- [start:solution]
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
            grad_x.sum_to_size(x.shape),
            grad_gain.sum_to_size(gain.shape),
        )


# --8<-- [end:solution]
