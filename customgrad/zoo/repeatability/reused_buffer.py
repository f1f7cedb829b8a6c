"""Backward writes each gradient into one buffer and returns it; ``.grad`` is that buffer from then on.

Three backwards through one graph accumulate to the wrong sum, and a gradient that was kept from an
earlier one changes under its owner's hands.

Source: https://github.com/pytorch/pytorch/pull/119334
"""

# ruff: noqa: D101, D102
import torch


# --8<-- [start:broken]
class Broken(torch.autograd.Function):
    @staticmethod
    def forward(ctx, input):
        ctx.save_for_backward(input)
        ctx.buffer = torch.zeros_like(input)
        return torch.special.erf(input)

    @staticmethod
    def backward(ctx, grad_output):
        (input,) = ctx.saved_tensors
        slope = 2 / torch.pi**0.5 * torch.exp(-input * input)
        if torch.is_grad_enabled():
            return grad_output * slope
        ctx.buffer.copy_(grad_output * slope)
        return ctx.buffer.view_as(input)


# --8<-- [end:broken]


# --8<-- [start:repaired]
class Repaired(torch.autograd.Function):
    @staticmethod
    def forward(ctx, input):
        ctx.save_for_backward(input)
        return torch.special.erf(input)

    @staticmethod
    def backward(ctx, grad_output):
        (input,) = ctx.saved_tensors
        slope = 2 / torch.pi**0.5 * torch.exp(-input * input)
        # New memory each time: the engine keeps what it is given.
        return grad_output * slope


# --8<-- [end:repaired]


def sample_inputs() -> tuple[object, ...]:
    """Return inputs as a user would give them."""
    return (torch.randn(3, 4, dtype=torch.float64, requires_grad=True),)
