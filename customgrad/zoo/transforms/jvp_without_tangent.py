"""jvp returns the derivative, and not the derivative times the tangent.

Source: https://github.com/pytorch/functorch/issues/207
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
        ctx.save_for_backward(*inputs)
        ctx.save_for_forward(*inputs)

    @staticmethod
    def backward(ctx, grad_output):
        (input,) = ctx.saved_tensors
        return 3 * (input**2).conj() * grad_output

    @staticmethod
    def jvp(ctx, tangent):
        (input,) = ctx.saved_tensors
        return 3 * input**2


# --8<-- [end:broken]


# --8<-- [start:repaired]
class Repaired(torch.autograd.Function):
    generate_vmap_rule = True

    @staticmethod
    def forward(input):
        return input**3

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs)
        ctx.save_for_forward(*inputs)

    @staticmethod
    def backward(ctx, grad_output):
        (input,) = ctx.saved_tensors
        return 3 * (input**2).conj() * grad_output

    @staticmethod
    def jvp(ctx, tangent):
        (input,) = ctx.saved_tensors
        # The output's tangent is linear in the input's.
        return 3 * input**2 * tangent


# --8<-- [end:repaired]


def sample_inputs() -> tuple[object, ...]:
    """Return inputs as a user would give them."""
    return (torch.randn(3, 4, dtype=torch.float64, requires_grad=True),)
