"""A mask of float dtype is returned as if it had a gradient, and any loss made of it gets zeros.

Source: https://github.com/pytorch/pytorch/issues/38148
"""

# ruff: noqa: D101, D102
import torch


# --8<-- [start:broken]
class Broken(torch.autograd.Function):
    generate_vmap_rule = True

    @staticmethod
    def forward(input, threshold):
        mask = (input.abs() > threshold).to(input.dtype)
        return input * mask, mask

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(output[1])

    @staticmethod
    def backward(ctx, grad_kept, grad_mask):
        (mask,) = ctx.saved_tensors
        return grad_kept * mask, None


# --8<-- [end:broken]


# --8<-- [start:repaired]
class Repaired(torch.autograd.Function):
    generate_vmap_rule = True

    @staticmethod
    def forward(input, threshold):
        mask = (input.abs() > threshold).to(input.dtype)
        return input * mask, mask

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(output[1])
        # A loss made of the mask is now an error.
        ctx.mark_non_differentiable(output[1])

    @staticmethod
    def backward(ctx, grad_kept, grad_mask):
        (mask,) = ctx.saved_tensors
        return grad_kept * mask, None


# --8<-- [end:repaired]


def sample_inputs() -> tuple[object, ...]:
    """Return inputs as a user would give them."""
    return (torch.randn(3, 4, dtype=torch.float64, requires_grad=True), 0.5)
