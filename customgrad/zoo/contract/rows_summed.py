"""Backward returns a gradient for every row, and the engine sums the rows without a word.

The bias is added before a mean, so its gradient is the cotangent. Backward hands back one cotangent
per row instead; the engine reduces that to the bias's shape by a sum, which is too large by the
number of rows.

Source: https://github.com/pytorch/pytorch/issues/65244
"""

# ruff: noqa: D101, D102
import torch


# --8<-- [start:broken]
class Broken(torch.autograd.Function):
    generate_vmap_rule = True

    @staticmethod
    def forward(input, bias):
        if input.dim() != 2 or bias.shape != input.shape[1:]:
            raise ValueError("expected (rows, columns) and (columns,)")
        return input.mean(0) + bias

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.rows = inputs[0].shape[0]

    @staticmethod
    def backward(ctx, grad_output):
        grad_input = grad_bias = None
        rows = grad_output.expand(ctx.rows, -1)
        if ctx.needs_input_grad[0]:
            grad_input = rows / ctx.rows
        if ctx.needs_input_grad[1]:
            grad_bias = rows.clone()
        return grad_input, grad_bias


# --8<-- [end:broken]


# --8<-- [start:repaired]
class Repaired(torch.autograd.Function):
    generate_vmap_rule = True

    @staticmethod
    def forward(input, bias):
        if input.dim() != 2 or bias.shape != input.shape[1:]:
            raise ValueError("expected (rows, columns) and (columns,)")
        return input.mean(0) + bias

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.rows = inputs[0].shape[0]

    @staticmethod
    def backward(ctx, grad_output):
        grad_input = grad_bias = None
        rows = grad_output.expand(ctx.rows, -1)
        if ctx.needs_input_grad[0]:
            grad_input = rows / ctx.rows
        if ctx.needs_input_grad[1]:
            # The bias's own shape: nothing is left for the engine.
            grad_bias = grad_output.clone()
        return grad_input, grad_bias


# --8<-- [end:repaired]


def sample_inputs() -> tuple[object, ...]:
    """Return inputs as a user would give them."""
    return (
        torch.randn(3, 4, dtype=torch.float64, requires_grad=True),
        torch.randn(4, dtype=torch.float64, requires_grad=True),
    )
