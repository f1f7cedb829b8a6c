"""Backward returns a gradient for an integer index; the engine accepts it and drops it.

Source: https://github.com/pytorch/pytorch/issues/74725
"""

# ruff: noqa: D101, D102
import torch


# --8<-- [start:broken]
class Broken(torch.autograd.Function):
    generate_vmap_rule = True

    @staticmethod
    def forward(input, index):
        return input.gather(-1, index)

    @staticmethod
    def setup_context(ctx, inputs, output):
        input, index = inputs
        ctx.save_for_backward(index)
        ctx.shape = input.shape

    @staticmethod
    def backward(ctx, grad_output):
        (index,) = ctx.saved_tensors
        empty = grad_output.new_zeros(ctx.shape)
        grad_input = empty.scatter_add(-1, index, grad_output)
        return grad_input, torch.zeros_like(index)


# --8<-- [end:broken]


# --8<-- [start:repaired]
class Repaired(torch.autograd.Function):
    generate_vmap_rule = True

    @staticmethod
    def forward(input, index):
        return input.gather(-1, index)

    @staticmethod
    def setup_context(ctx, inputs, output):
        input, index = inputs
        ctx.save_for_backward(index)
        ctx.shape = input.shape

    @staticmethod
    def backward(ctx, grad_output):
        (index,) = ctx.saved_tensors
        empty = grad_output.new_zeros(ctx.shape)
        grad_input = empty.scatter_add(-1, index, grad_output)
        # An index has no gradient, not even a zero one.
        return grad_input, None


# --8<-- [end:repaired]


def sample_inputs() -> tuple[object, ...]:
    """Return inputs as a user would give them."""
    return (
        torch.randn(3, 4, dtype=torch.float64, requires_grad=True),
        torch.tensor([[0, 2], [1, 1], [3, 0]]),
    )
