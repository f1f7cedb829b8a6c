"""Backward divides by the input, and a cube whose gradient is 0 gets 0/0, which is NaN.

Source: https://github.com/Theano/Theano/issues/1780
"""

# ruff: noqa: D101, D102
import torch


# --8<-- [start:broken]
class Broken(torch.autograd.Function):
    generate_vmap_rule = True

    @staticmethod
    def forward(input, exponent):
        if not input.is_floating_point() or exponent < 2:
            raise ValueError("expected a float tensor, exponent >= 2")
        return input.abs() ** exponent

    @staticmethod
    def setup_context(ctx, inputs, output):
        input, ctx.exponent = inputs
        ctx.save_for_backward(input)

    @staticmethod
    def backward(ctx, grad_output):
        (input,) = ctx.saved_tensors
        p = ctx.exponent
        slope = p * input.abs() ** p / input
        return grad_output * slope, None


# --8<-- [end:broken]


# --8<-- [start:repaired]
class Repaired(torch.autograd.Function):
    generate_vmap_rule = True

    @staticmethod
    def forward(input, exponent):
        if not input.is_floating_point() or exponent < 2:
            raise ValueError("expected a float tensor, exponent >= 2")
        return input.abs() ** exponent

    @staticmethod
    def setup_context(ctx, inputs, output):
        input, ctx.exponent = inputs
        ctx.save_for_backward(input)

    @staticmethod
    def backward(ctx, grad_output):
        (input,) = ctx.saved_tensors
        p = ctx.exponent
        # No division, so nothing to go wrong at zero.
        slope = p * input.abs() ** (p - 2) * input
        return grad_output * slope, None


# --8<-- [end:repaired]


def sample_inputs() -> tuple[object, ...]:
    """Return inputs as a user would give them."""
    return (torch.randn(3, 4, dtype=torch.float64, requires_grad=True), 3)
