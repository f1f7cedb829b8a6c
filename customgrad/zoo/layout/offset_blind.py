"""Backward reads the cotangent's memory from its start, though a part of a cat begins later.

Source: https://github.com/pytorch/pytorch/issues/194719
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
        grad_output = grad_output.contiguous()
        memory = grad_output.as_strided(slope.shape, (1,), 0)
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
        grad_output = grad_output.contiguous()
        # From the tensor's own offset on.
        memory = grad_output.as_strided(slope.shape, (1,))
        return (slope * memory).reshape(input.shape)


# --8<-- [end:repaired]


def sample_inputs() -> tuple[object, ...]:
    """Return inputs as a user would give them."""
    return (torch.randn(3, 4, dtype=torch.float64, requires_grad=True),)
