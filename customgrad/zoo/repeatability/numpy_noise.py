"""Backward adds a little noise from NumPy's global generator, against divisions by zero.

No two runs agree in the last digits, and whatever else draws from NumPy, the order of the data say,
depends on how often backward ran.

Source: https://github.com/PaddlePaddle/Paddle/pull/72364
"""

# ruff: noqa: D101, D102
import numpy as np
import torch


# --8<-- [start:broken]
class Broken(torch.autograd.Function):
    @staticmethod
    def forward(input):
        return torch.special.erf(input)

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs)

    @staticmethod
    def backward(ctx, grad_output):
        (input,) = ctx.saved_tensors
        moved = input + 1e-9 * np.random.random()
        slope = 2 / torch.pi**0.5 * torch.exp(-moved * moved)
        return grad_output * slope


# --8<-- [end:broken]


# --8<-- [start:repaired]
class Repaired(torch.autograd.Function):
    generate_vmap_rule = True

    @staticmethod
    def forward(input):
        return torch.special.erf(input)

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs)

    @staticmethod
    def backward(ctx, grad_output):
        (input,) = ctx.saved_tensors
        # Nothing here divides: no noise is needed.
        slope = 2 / torch.pi**0.5 * torch.exp(-input * input)
        return grad_output * slope


# --8<-- [end:repaired]


def sample_inputs() -> tuple[object, ...]:
    """Return inputs as a user would give them."""
    return (torch.randn(3, 4, dtype=torch.float64, requires_grad=True),)
