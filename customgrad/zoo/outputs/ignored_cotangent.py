"""A softmax returns its logsumexp as well, and backward ignores that output's cotangent.

Source: https://github.com/Dao-AILab/flash-attention/issues/1817
"""

# ruff: noqa: D101, D102
import torch


# --8<-- [start:broken]
class Broken(torch.autograd.Function):
    generate_vmap_rule = True

    @staticmethod
    def forward(input):
        total = input.logsumexp(-1, keepdim=True)
        return input.softmax(-1), total

    @staticmethod
    def setup_context(ctx, inputs, output):
        weights, _ = output
        ctx.save_for_backward(weights)

    @staticmethod
    def backward(ctx, grad_weights, grad_total):
        (weights,) = ctx.saved_tensors
        inner = (grad_weights * weights).sum(-1, keepdim=True)
        return weights * (grad_weights - inner)


# --8<-- [end:broken]


# --8<-- [start:repaired]
class Repaired(torch.autograd.Function):
    generate_vmap_rule = True

    @staticmethod
    def forward(input):
        total = input.logsumexp(-1, keepdim=True)
        return input.softmax(-1), total

    @staticmethod
    def setup_context(ctx, inputs, output):
        weights, _ = output
        ctx.save_for_backward(weights)

    @staticmethod
    def backward(ctx, grad_weights, grad_total):
        (weights,) = ctx.saved_tensors
        inner = (grad_weights * weights).sum(-1, keepdim=True)
        # The derivative of logsumexp is the softmax.
        return weights * (grad_weights - inner + grad_total)


# --8<-- [end:repaired]


def sample_inputs() -> tuple[object, ...]:
    """Return inputs as a user would give them."""
    return (torch.randn(3, 4, dtype=torch.float64, requires_grad=True),)
