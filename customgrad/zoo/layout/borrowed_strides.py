"""Backward walks the saved input with the cotangent's strides, channels-last ones for instance.

Source: https://github.com/pytorch/pytorch/issues/64039
"""

# ruff: noqa: D101, D102
import torch


# --8<-- [start:broken]
class Broken(torch.autograd.Function):
    @staticmethod
    def forward(input):
        return input * input

    @staticmethod
    def setup_context(ctx, inputs, output):
        (input,) = inputs
        ctx.save_for_backward(input)

    @staticmethod
    def backward(ctx, grad_output):
        (input,) = ctx.saved_tensors
        strides = grad_output.stride()
        memory = input.as_strided(input.shape, strides)
        return 2 * memory.conj() * grad_output


# --8<-- [end:broken]


# --8<-- [start:repaired]
class Repaired(torch.autograd.Function):
    @staticmethod
    def forward(input):
        return input * input

    @staticmethod
    def setup_context(ctx, inputs, output):
        (input,) = inputs
        ctx.save_for_backward(input)

    @staticmethod
    def backward(ctx, grad_output):
        (input,) = ctx.saved_tensors
        # One set of strides needs one layout for both.
        input = input.contiguous()
        strides = grad_output.contiguous().stride()
        memory = input.as_strided(input.shape, strides)
        return 2 * memory.conj() * grad_output


# --8<-- [end:repaired]


def sample_inputs() -> tuple[object, ...]:
    """Return inputs as a user would give them."""
    shape = (1, 3, 2, 2)
    return (torch.randn(shape, dtype=torch.float64, requires_grad=True),)
