"""Backward computes exp(x) / (1 + exp(x)), which is inf / inf, NaN, for a large input.

Forward is safe, so the loss looks fine until the weights are NaN.

Source: https://github.com/tracel-ai/burn/issues/5373
"""

# ruff: noqa: D101, D102
import torch


# --8<-- [start:broken]
class Broken(torch.autograd.Function):
    generate_vmap_rule = True

    @staticmethod
    def forward(input):
        return torch.nn.functional.softplus(input)

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs)

    @staticmethod
    def backward(ctx, grad_output):
        (input,) = ctx.saved_tensors
        grown = torch.exp(input)
        return grad_output * (grown / (1 + grown))


# --8<-- [end:broken]


# --8<-- [start:repaired]
class Repaired(torch.autograd.Function):
    generate_vmap_rule = True

    @staticmethod
    def forward(input):
        return torch.nn.functional.softplus(input)

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs)

    @staticmethod
    def backward(ctx, grad_output):
        (input,) = ctx.saved_tensors
        # The same quotient, of numbers that stay in range.
        return grad_output * torch.sigmoid(input)


# --8<-- [end:repaired]


def sample_inputs() -> tuple[object, ...]:
    """Return inputs as a user would give them."""
    return (torch.randn(3, 4, dtype=torch.float64, requires_grad=True),)
