"""The leaky exercise, solved."""

# --8<-- [start:solution]
import torch


class LeakyReLU(torch.autograd.Function):
    @staticmethod
    def forward(x, slope):
        return torch.where(x > 0, x, slope * x)

    @staticmethod
    def setup_context(ctx, inputs, output):
        x, slope = inputs
        ctx.save_for_backward(x)
        ctx.slope = slope

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        scaled = grad_output * ctx.slope
        return torch.where(x > 0, grad_output, scaled), None


# --8<-- [end:solution]
