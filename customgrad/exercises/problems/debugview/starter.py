"""The starter of the exercise debugview, made from its solution: `make outputs`."""

# --8<-- [start:starter]
import torch


class Softsign(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        values = x.view(-1)
        output = values / (1 + values.abs())
        return output.view(x.shape)

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        slope = 1 / (1 + x.view(-1).abs()) ** 2
        grad = grad_output.view(-1) * slope
        return grad.view(x.shape)


# --8<-- [end:starter]
