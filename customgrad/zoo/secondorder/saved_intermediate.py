"""save_for_backward keeps an intermediate, which is neither input nor output, and so has no graph.

Half of the second derivative is there, through the output; the other half is lost.

Source: https://github.com/pytorch/pytorch/issues/104040
"""

# ruff: noqa: D101, D102
import torch


# --8<-- [start:broken]
class Broken(torch.autograd.Function):
    @staticmethod
    def forward(ctx, input):
        inner = torch.tanh(input)
        output = torch.exp(inner)
        ctx.save_for_backward(inner, output)
        return output

    @staticmethod
    def backward(ctx, grad_output):
        inner, output = ctx.saved_tensors
        slope = output * (1 - inner * inner)
        return grad_output * slope.conj()


# --8<-- [end:broken]


# --8<-- [start:repaired]
class Repaired(torch.autograd.Function):
    @staticmethod
    def forward(ctx, input):
        inner = torch.tanh(input)
        output = torch.exp(inner)
        ctx.save_for_backward(input, output)
        return output

    @staticmethod
    def backward(ctx, grad_output):
        input, output = ctx.saved_tensors
        inner = torch.tanh(input)  # made again, now with a graph
        slope = output * (1 - inner * inner)
        return grad_output * slope.conj()


# --8<-- [end:repaired]


def sample_inputs() -> tuple[object, ...]:
    """Return inputs as a user would give them."""
    return (torch.randn(3, 4, dtype=torch.float64, requires_grad=True),)
