"""Backward scales a saved gradient in place, and the next backward scales it again.

The loss is linear, so forward can save its gradient. Backward writes through ``.data``, as a kernel
writes to memory, so the version counter sees nothing; with a cotangent of 1 nobody does.

Source: https://github.com/linkedin/Liger-Kernel/issues/272
"""

# ruff: noqa: D101, D102
import torch


# --8<-- [start:broken]
class Broken(torch.autograd.Function):
    @staticmethod
    def forward(ctx, input):
        weights = torch.linspace(1, 2, input.numel()).to(input.dtype)
        weights = weights.view(input.shape)
        ctx.save_for_backward(weights)
        return (input * weights).sum()

    @staticmethod
    def backward(ctx, grad_output):
        (weights,) = ctx.saved_tensors
        weights.data.mul_(grad_output)
        return weights.clone()


# --8<-- [end:broken]


# --8<-- [start:repaired]
class Repaired(torch.autograd.Function):
    @staticmethod
    def forward(ctx, input):
        weights = torch.linspace(1, 2, input.numel()).to(input.dtype)
        weights = weights.view(input.shape)
        ctx.save_for_backward(weights)
        return (input * weights).sum()

    @staticmethod
    def backward(ctx, grad_output):
        (weights,) = ctx.saved_tensors
        # What is saved stays as it was.
        return weights * grad_output


# --8<-- [end:repaired]


def sample_inputs() -> tuple[object, ...]:
    """Return inputs as a user would give them."""
    return (torch.randn(3, 4, dtype=torch.float64, requires_grad=True),)
