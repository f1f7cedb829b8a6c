"""An epsilon in backward, which forward does not have, outweighs a small norm.

It was to prevent a division by zero. A row of size 1e-7 gets a tenth of its gradient.

Source: https://github.com/pytorch/pytorch/issues/6394
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
        return grad_output / (output + 1e-6) * input


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
        # Only an exact zero needs help.
        zero = output == 0
        scale = grad_output / torch.where(zero, 1, output)
        return torch.where(zero, 0, scale) * input


# --8<-- [end:repaired]


def sample_inputs() -> tuple[object, ...]:
    """Return inputs as a user would give them."""
    return (torch.randn(3, 4, dtype=torch.float64, requires_grad=True),)
