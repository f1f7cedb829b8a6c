"""Backward returns a gradient for an argument that is a Python number.

Source: https://github.com/pytorch/pytorch/issues/74725
"""

# ruff: noqa: D101, D102
import torch


# --8<-- [start:broken]
class Broken(torch.autograd.Function):
    generate_vmap_rule = True

    @staticmethod
    def forward(input, slope):
        return torch.where(input > 0, input, slope * input)

    @staticmethod
    def setup_context(ctx, inputs, output):
        input, ctx.slope = inputs
        ctx.save_for_backward(input)

    @staticmethod
    def backward(ctx, grad_output):
        (input,) = ctx.saved_tensors
        low = ctx.slope * grad_output
        grad_input = torch.where(input > 0, grad_output, low)
        grad_slope = (grad_output * input.clamp(max=0)).sum()
        return grad_input, grad_slope


# --8<-- [end:broken]


# --8<-- [start:repaired]
class Repaired(torch.autograd.Function):
    generate_vmap_rule = True

    @staticmethod
    def forward(input, slope):
        return torch.where(input > 0, input, slope * input)

    @staticmethod
    def setup_context(ctx, inputs, output):
        input, ctx.slope = inputs
        ctx.save_for_backward(input)

    @staticmethod
    def backward(ctx, grad_output):
        (input,) = ctx.saved_tensors
        low = ctx.slope * grad_output
        grad_input = torch.where(input > 0, grad_output, low)
        # A number has no gradient.
        return grad_input, None


# --8<-- [end:repaired]


def sample_inputs() -> tuple[object, ...]:
    """Return inputs as a user would give them."""
    return (torch.randn(3, 4, dtype=torch.float64, requires_grad=True), 0.1)
