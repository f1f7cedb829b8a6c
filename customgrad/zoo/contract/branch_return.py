"""The ``return`` of forward stands inside ``if input.requires_grad``: without a gradient there is no output.

Source: https://github.com/fangwei123456/spikingjelly/issues/296
"""

# ruff: noqa: D101, D102
import torch


# --8<-- [start:broken]
class Broken(torch.autograd.Function):
    @staticmethod
    def forward(ctx, input):
        if input.requires_grad:
            ctx.save_for_backward(input)
            return torch.special.erf(input)

    @staticmethod
    def backward(ctx, grad_output):
        (input,) = ctx.saved_tensors
        slope = 2 / torch.pi**0.5 * torch.exp(-input * input)
        return grad_output * slope


# --8<-- [end:broken]


# --8<-- [start:repaired]
class Repaired(torch.autograd.Function):
    @staticmethod
    def forward(ctx, input):
        if input.requires_grad:
            ctx.save_for_backward(input)
        return torch.special.erf(input)  # in every case

    @staticmethod
    def backward(ctx, grad_output):
        (input,) = ctx.saved_tensors
        slope = 2 / torch.pi**0.5 * torch.exp(-input * input)
        return grad_output * slope


# --8<-- [end:repaired]


def sample_inputs() -> tuple[object, ...]:
    """Return inputs as a user would give them."""
    return (torch.randn(3, 4, dtype=torch.float64, requires_grad=True),)
