"""Backward flattens the cotangent with view, which raises for a transposed or expanded one.

Source: https://github.com/pytorch/pytorch/issues/64529
"""

# ruff: noqa: D101, D102
import torch


# --8<-- [start:broken]
class Broken(torch.autograd.Function):
    generate_vmap_rule = True

    @staticmethod
    def forward(input):
        return input.reshape(-1).cumsum(0).reshape(input.shape)

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.shape = output.shape

    @staticmethod
    def backward(ctx, grad_output):
        last_first = grad_output.view(-1).flip(0)
        return last_first.cumsum(0).flip(0).reshape(ctx.shape)


# --8<-- [end:broken]


# --8<-- [start:repaired]
class Repaired(torch.autograd.Function):
    generate_vmap_rule = True

    @staticmethod
    def forward(input):
        return input.reshape(-1).cumsum(0).reshape(input.shape)

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.shape = output.shape

    @staticmethod
    def backward(ctx, grad_output):
        # reshape copies where it must.
        last_first = grad_output.reshape(-1).flip(0)
        return last_first.cumsum(0).flip(0).reshape(ctx.shape)


# --8<-- [end:repaired]


def sample_inputs() -> tuple[object, ...]:
    """Return inputs as a user would give them."""
    return (torch.randn(3, 4, dtype=torch.float64, requires_grad=True),)
