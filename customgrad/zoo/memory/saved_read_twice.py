"""Backward reads ctx.saved_tensors twice, which activation checkpointing refuses.

Source: https://github.com/state-spaces/mamba/issues/909
"""

# ruff: noqa: D101, D102
import torch


# --8<-- [start:broken]
class Broken(torch.autograd.Function):
    generate_vmap_rule = True

    @staticmethod
    def forward(input):
        return input * input.exp()

    @staticmethod
    def setup_context(ctx, inputs, output):
        (input,) = inputs
        ctx.save_for_backward(input, output)

    @staticmethod
    def backward(ctx, grad_output):
        slope = ctx.saved_tensors[0].exp() + ctx.saved_tensors[1]
        return grad_output * slope.conj()


# --8<-- [end:broken]


# --8<-- [start:repaired]
class Repaired(torch.autograd.Function):
    generate_vmap_rule = True

    @staticmethod
    def forward(input):
        return input * input.exp()

    @staticmethod
    def setup_context(ctx, inputs, output):
        (input,) = inputs
        ctx.save_for_backward(input, output)

    @staticmethod
    def backward(ctx, grad_output):
        # Each read unpacks every saved tensor again.
        input, output = ctx.saved_tensors
        slope = input.exp() + output
        return grad_output * slope.conj()


# --8<-- [end:repaired]


def sample_inputs() -> tuple[object, ...]:
    """Return inputs as a user would give them."""
    return (torch.randn(3, 4, dtype=torch.float64, requires_grad=True),)
