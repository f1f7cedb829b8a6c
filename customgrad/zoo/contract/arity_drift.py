"""A third argument was added to forward, and backward still returns two gradients.

Source: https://github.com/1zb/pytorch-image-comp-rnn/issues/4
"""

# ruff: noqa: D101, D102
import torch


# --8<-- [start:broken]
class Broken(torch.autograd.Function):
    generate_vmap_rule = True

    @staticmethod
    def forward(input, slope, threshold):
        shifted = input - threshold
        return torch.where(shifted > 0, shifted, slope * shifted)

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(output)
        _, ctx.slope, _ = inputs

    @staticmethod
    def backward(ctx, grad_output):
        (output,) = ctx.saved_tensors
        low = ctx.slope * grad_output
        return torch.where(output > 0, grad_output, low), None


# --8<-- [end:broken]


# --8<-- [start:repaired]
class Repaired(torch.autograd.Function):
    generate_vmap_rule = True

    @staticmethod
    def forward(input, slope, threshold):
        shifted = input - threshold
        return torch.where(shifted > 0, shifted, slope * shifted)

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(output)
        _, ctx.slope, _ = inputs

    @staticmethod
    def backward(ctx, grad_output):
        (output,) = ctx.saved_tensors
        low = ctx.slope * grad_output
        # One gradient for each argument of forward.
        return torch.where(output > 0, grad_output, low), None, None


# --8<-- [end:repaired]


def sample_inputs() -> tuple[object, ...]:
    """Return inputs as a user would give them."""
    return (torch.randn(3, 4, dtype=torch.float64, requires_grad=True), 0.1, 0.5)
