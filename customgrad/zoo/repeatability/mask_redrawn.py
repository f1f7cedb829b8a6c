"""Backward draws the dropout mask anew, and gets another one than forward had.

Source: https://github.com/RobinBruegger/RevTorch/issues/3
"""

# ruff: noqa: D101, D102
import torch


# --8<-- [start:broken]
class Broken(torch.autograd.Function):
    @staticmethod
    def forward(ctx, input, seed):
        made = torch.Generator().manual_seed(seed)
        mask = torch.rand(input.shape, generator=made) < 0.5
        return input * mask * 2

    @staticmethod
    def backward(ctx, grad_output):
        mask = torch.rand(grad_output.shape) < 0.5
        return grad_output * mask * 2, None


# --8<-- [end:broken]


# --8<-- [start:repaired]
class Repaired(torch.autograd.Function):
    @staticmethod
    def forward(ctx, input, seed):
        made = torch.Generator().manual_seed(seed)
        mask = torch.rand(input.shape, generator=made) < 0.5
        ctx.save_for_backward(mask)
        return input * mask * 2

    @staticmethod
    def backward(ctx, grad_output):
        (mask,) = ctx.saved_tensors  # forward's own
        return grad_output * mask * 2, None


# --8<-- [end:repaired]


def sample_inputs() -> tuple[object, ...]:
    """Return inputs as a user would give them."""
    return (torch.randn(3, 4, dtype=torch.float64, requires_grad=True), 7)
