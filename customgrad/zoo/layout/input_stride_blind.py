"""Backward reads the saved input's memory as if it were contiguous.

Source: https://github.com/pytorch/pytorch/issues/32705
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
        memory = input.as_strided((input.numel(),), (1,))
        slope = 3 * (memory**2).conj()
        return slope.reshape(input.shape) * grad_output


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
        # The caller's layout is not the kernel's.
        memory = input.contiguous().as_strided((input.numel(),), (1,))
        slope = 3 * (memory**2).conj()
        return slope.reshape(input.shape) * grad_output


# --8<-- [end:repaired]


def sample_inputs() -> tuple[object, ...]:
    """Return inputs as a user would give them."""
    return (torch.randn(3, 4, dtype=torch.float64, requires_grad=True),)
