"""Backward stacks the rows' gradients, which raises when there are no rows.

Source: https://github.com/shader-slang/slang/issues/3696
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
        return (input * input).sum(1)

    @staticmethod
    def setup_context(ctx, inputs, output):
        (input,) = inputs
        ctx.save_for_backward(input)

    @staticmethod
    def backward(ctx, grad_output):
        (input,) = ctx.saved_tensors
        rows = zip(input.conj(), grad_output, strict=True)
        return torch.stack([2 * row * grad for row, grad in rows])


# --8<-- [end:broken]


# --8<-- [start:repaired]
class Repaired(torch.autograd.Function):
    generate_vmap_rule = True

    @staticmethod
    def forward(input):
        if input.ndim != 2:
            raise ValueError("expected rows of features")
        return (input * input).sum(1)

    @staticmethod
    def setup_context(ctx, inputs, output):
        (input,) = inputs
        ctx.save_for_backward(input)

    @staticmethod
    def backward(ctx, grad_output):
        (input,) = ctx.saved_tensors
        # No loop, so that zero rows are no special case.
        return 2 * input.conj() * grad_output[:, None]


# --8<-- [end:repaired]


def sample_inputs() -> tuple[object, ...]:
    """Return inputs as a user would give them."""
    return (torch.randn(3, 4, dtype=torch.float64, requires_grad=True),)
