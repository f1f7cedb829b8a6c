"""Backward multiplies every row by the first row's cotangent.

Written for a loss that is one number, and used with one loss a row.

Source: https://github.com/linkedin/Liger-Kernel/issues/584
"""

# ruff: noqa: D101, D102
import torch


# --8<-- [start:broken]
class Broken(torch.autograd.Function):
    generate_vmap_rule = True

    @staticmethod
    def forward(input):
        if input.dim() != 2:
            raise ValueError("expected (rows, columns)")
        return torch.nn.functional.softplus(input).sum(-1)

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs)

    @staticmethod
    def backward(ctx, grad_output):
        (input,) = ctx.saved_tensors
        scale = grad_output.reshape(-1)[:1].sum()
        return torch.sigmoid(input) * scale


# --8<-- [end:broken]


# --8<-- [start:repaired]
class Repaired(torch.autograd.Function):
    generate_vmap_rule = True

    @staticmethod
    def forward(input):
        if input.dim() != 2:
            raise ValueError("expected (rows, columns)")
        return torch.nn.functional.softplus(input).sum(-1)

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs)

    @staticmethod
    def backward(ctx, grad_output):
        (input,) = ctx.saved_tensors
        # Every row has a cotangent of its own.
        scale = grad_output.unsqueeze(-1)
        return torch.sigmoid(input) * scale


# --8<-- [end:repaired]


def sample_inputs() -> tuple[object, ...]:
    """Return inputs as a user would give them."""
    return (torch.randn(3, 4, dtype=torch.float64, requires_grad=True),)
