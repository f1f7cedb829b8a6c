"""The norm's backward divides by the norm: at a row of zeros 0 / 0, NaN.

Source: https://github.com/pytorch/pytorch/issues/2421
"""

# ruff: noqa: D101, D102
import torch


# --8<-- [start:broken]
class Broken(torch.autograd.Function):
    generate_vmap_rule = True

    @staticmethod
    def forward(input):
        return torch.linalg.vector_norm(input, dim=-1, keepdim=True)

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs, output)

    @staticmethod
    def backward(ctx, grad_output):
        input, output = ctx.saved_tensors
        return grad_output / output * input


# --8<-- [end:broken]


# --8<-- [start:repaired]
class Repaired(torch.autograd.Function):
    generate_vmap_rule = True

    @staticmethod
    def forward(input):
        return torch.linalg.vector_norm(input, dim=-1, keepdim=True)

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs, output)

    @staticmethod
    def backward(ctx, grad_output):
        input, output = ctx.saved_tensors
        # Zero is a subgradient there, and torch's own choice.
        zero = output == 0
        scale = grad_output / torch.where(zero, 1, output)
        return torch.where(zero, 0, scale) * input


# --8<-- [end:repaired]


def sample_inputs() -> tuple[object, ...]:
    """Return inputs as a user would give them."""
    return (torch.randn(3, 4, dtype=torch.float64, requires_grad=True),)
