"""Backward adds a term that is not multiplied by the second output's cotangent.

Even a cotangent of zero gives a gradient.

Source: https://github.com/pytorch/pytorch/blob/v2.13.0/torch/testing/_internal/autograd_function_db.py
"""

# ruff: noqa: D101, D102
import torch


# --8<-- [start:broken]
class Broken(torch.autograd.Function):
    generate_vmap_rule = True

    @staticmethod
    def forward(input):
        return input**3, 3 * input**2

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs, output[1])

    @staticmethod
    def backward(ctx, grad_output, grad_slope):
        input, slope = ctx.saved_tensors
        return grad_output * slope.conj() + 6 * input.conj()


# --8<-- [end:broken]


# --8<-- [start:repaired]
class Repaired(torch.autograd.Function):
    generate_vmap_rule = True

    @staticmethod
    def forward(input):
        return input**3, 3 * input**2

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs, output[1])

    @staticmethod
    def backward(ctx, grad_output, grad_slope):
        input, slope = ctx.saved_tensors
        # Each term has the cotangent of the output it comes from.
        first = grad_output * slope.conj()
        return first + grad_slope * 6 * input.conj()


# --8<-- [end:repaired]


def sample_inputs() -> tuple[object, ...]:
    """Return inputs as a user would give them."""
    return (torch.randn(3, 4, dtype=torch.float64, requires_grad=True),)
