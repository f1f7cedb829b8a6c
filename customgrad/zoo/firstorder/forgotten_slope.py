"""Backward uses a slope of its own instead of the one that forward was given.

Source: https://github.com/deeplearning4j/deeplearning4j/issues/8178
"""

# ruff: noqa: D101, D102
import torch


# --8<-- [start:broken]
class Broken(torch.autograd.Function):
    generate_vmap_rule = True

    @staticmethod
    def forward(input, slope=0.01):
        return torch.where(input > 0, input, slope * input)

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(inputs[0])

    @staticmethod
    def backward(ctx, grad_output):
        (input,) = ctx.saved_tensors
        low = 0.01 * grad_output
        return torch.where(input > 0, grad_output, low), None


# --8<-- [end:broken]


# --8<-- [start:repaired]
class Repaired(torch.autograd.Function):
    generate_vmap_rule = True

    @staticmethod
    def forward(input, slope=0.01):
        return torch.where(input > 0, input, slope * input)

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(inputs[0])
        ctx.slope = inputs[1]  # the caller's

    @staticmethod
    def backward(ctx, grad_output):
        (input,) = ctx.saved_tensors
        low = ctx.slope * grad_output
        return torch.where(input > 0, grad_output, low), None


# --8<-- [end:repaired]


def sample_inputs() -> tuple[object, ...]:
    """Return inputs as a user would give them."""
    return (torch.randn(3, 4, dtype=torch.float64, requires_grad=True), 0.2)
