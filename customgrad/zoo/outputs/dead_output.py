"""A mask is returned as a differentiable output, whose gradient is always zero.

Source: https://github.com/pytorch/pytorch/issues/38148
"""

# ruff: noqa: D101, D102
import torch


# --8<-- [start:broken]
class Broken(torch.autograd.Function):
    generate_vmap_rule = True

    @staticmethod
    def forward(input):
        active = (input > 0).to(input.dtype)
        return input.clamp(min=0), active

    @staticmethod
    def setup_context(ctx, inputs, output):
        _, active = output
        ctx.save_for_backward(active)

    @staticmethod
    def backward(ctx, grad_output, grad_active):
        (active,) = ctx.saved_tensors
        return grad_output * active


# --8<-- [end:broken]


# --8<-- [start:repaired]
class Repaired(torch.autograd.Function):
    generate_vmap_rule = True

    @staticmethod
    def forward(input):
        active = (input > 0).to(input.dtype)
        return input.clamp(min=0), active

    @staticmethod
    def setup_context(ctx, inputs, output):
        _, active = output
        # The mask does not require grad.
        ctx.mark_non_differentiable(active)
        ctx.save_for_backward(active)

    @staticmethod
    def backward(ctx, grad_output, grad_active):
        (active,) = ctx.saved_tensors
        return grad_output * active


# --8<-- [end:repaired]


def sample_inputs() -> tuple[object, ...]:
    """Return inputs as a user would give them."""
    return (torch.randn(3, 4, dtype=torch.float64, requires_grad=True),)
