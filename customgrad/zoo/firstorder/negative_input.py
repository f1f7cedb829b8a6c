"""Backward leaves out the input's own sign, and is wrong for every negative input.

Tests with positive numbers pass.

Source: https://github.com/chalk-lab/Mooncake.jl/issues/1195
"""

# ruff: noqa: D101, D102
import torch


# --8<-- [start:broken]
class Broken(torch.autograd.Function):
    generate_vmap_rule = True

    @staticmethod
    def forward(input, sign):
        return torch.copysign(input, sign)

    @staticmethod
    def setup_context(ctx, inputs, output):
        input, ctx.sign = inputs
        ctx.save_for_backward(input)

    @staticmethod
    def backward(ctx, grad_output):
        (input,) = ctx.saved_tensors
        one = torch.ones_like(input)
        return grad_output * one.copysign(ctx.sign), None


# --8<-- [end:broken]


# --8<-- [start:repaired]
class Repaired(torch.autograd.Function):
    generate_vmap_rule = True

    @staticmethod
    def forward(input, sign):
        return torch.copysign(input, sign)

    @staticmethod
    def setup_context(ctx, inputs, output):
        input, ctx.sign = inputs
        ctx.save_for_backward(input)

    @staticmethod
    def backward(ctx, grad_output):
        (input,) = ctx.saved_tensors
        one = torch.ones_like(input)
        # sign(input) times sign: 1 where the two agree.
        slope = input.sign() * one.copysign(ctx.sign)
        return grad_output * slope, None


# --8<-- [end:repaired]


def sample_inputs() -> tuple[object, ...]:
    """Return inputs as a user would give them."""
    return (torch.rand(3, 4, dtype=torch.float64, requires_grad=True), 1.0)
