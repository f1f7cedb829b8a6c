"""The input is an attribute of ctx: backward frees nothing, and sees later changes of the input.

Source: https://github.com/asappresearch/sru/pull/171
"""

# ruff: noqa: D101, D102
import torch


# --8<-- [start:broken]
class Broken(torch.autograd.Function):
    generate_vmap_rule = True

    @staticmethod
    def forward(input):
        return input**3

    @staticmethod
    def setup_context(ctx, inputs, output):
        (ctx.input,) = inputs

    @staticmethod
    def backward(ctx, grad_output):
        return 3 * (ctx.input**2).conj() * grad_output


# --8<-- [end:broken]


# --8<-- [start:repaired]
class Repaired(torch.autograd.Function):
    generate_vmap_rule = True

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
        return 3 * (input**2).conj() * grad_output


# --8<-- [end:repaired]


def sample_inputs() -> tuple[object, ...]:
    """Return inputs as a user would give them."""
    return (torch.randn(3, 4, dtype=torch.float64, requires_grad=True),)
