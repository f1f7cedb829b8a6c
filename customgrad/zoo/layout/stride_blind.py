"""Backward reads the cotangent's memory as if it were contiguous.

Source: https://github.com/Dao-AILab/flash-attention/issues/355
"""

# ruff: noqa: D101, D102
import torch


# --8<-- [start:broken]
class Broken(torch.autograd.Function):
    @staticmethod
    def forward(input):
        return input**3

    @staticmethod
    def setup_context(ctx, inputs, output):
        (input,) = inputs
        ctx.save_for_backward(input)

    @staticmethod
    def backward(ctx, grad_output):
        (input,) = ctx.saved_tensors
        slope = 3 * (input.reshape(-1) ** 2).conj()
        memory = grad_output.as_strided(slope.shape, (1,))
        return (slope * memory).reshape(input.shape)


# --8<-- [end:broken]


# --8<-- [start:repaired]
class Repaired(torch.autograd.Function):
    @staticmethod
    def forward(input):
        return input**3

    @staticmethod
    def setup_context(ctx, inputs, output):
        (input,) = inputs
        ctx.save_for_backward(input)

    @staticmethod
    def backward(ctx, grad_output):
        (input,) = ctx.saved_tensors
        slope = 3 * (input.reshape(-1) ** 2).conj()
        # A cotangent can come in any layout.
        grad_output = grad_output.contiguous()
        memory = grad_output.as_strided(slope.shape, (1,))
        return (slope * memory).reshape(input.shape)


# --8<-- [end:repaired]


def sample_inputs() -> tuple[object, ...]:
    """Return inputs as a user would give them."""
    return (torch.randn(3, 4, dtype=torch.float64, requires_grad=True),)
