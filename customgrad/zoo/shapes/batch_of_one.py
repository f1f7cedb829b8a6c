"""squeeze takes the batch away as well when it holds one row, and backward raises.

Source: https://github.com/pytorch/pytorch/issues/4778
"""

# ruff: noqa: D101, D102
import torch


# --8<-- [start:broken]
class Broken(torch.autograd.Function):
    generate_vmap_rule = True

    @staticmethod
    def forward(input):
        if input.ndim != 2:
            raise ValueError("expected rows of features")
        return input.mean(1, keepdim=True).squeeze()

    @staticmethod
    def setup_context(ctx, inputs, output):
        (input,) = inputs
        ctx.shape = input.shape

    @staticmethod
    def backward(ctx, grad_output):
        _, features = ctx.shape
        return (grad_output[:, None] / features).expand(ctx.shape)


# --8<-- [end:broken]


# --8<-- [start:repaired]
class Repaired(torch.autograd.Function):
    generate_vmap_rule = True

    @staticmethod
    def forward(input):
        if input.ndim != 2:
            raise ValueError("expected rows of features")
        # One named dimension, and no other.
        return input.mean(1, keepdim=True).squeeze(1)

    @staticmethod
    def setup_context(ctx, inputs, output):
        (input,) = inputs
        ctx.shape = input.shape

    @staticmethod
    def backward(ctx, grad_output):
        _, features = ctx.shape
        return (grad_output[:, None] / features).expand(ctx.shape)


# --8<-- [end:repaired]


def sample_inputs() -> tuple[object, ...]:
    """Return inputs as a user would give them."""
    return (torch.randn(3, 4, dtype=torch.float64, requires_grad=True),)
