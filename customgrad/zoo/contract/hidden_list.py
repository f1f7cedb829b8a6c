"""Tensors inside a list are invisible to autograd, and silently get no gradient.

Source: https://github.com/pytorch/pytorch/issues/55509
"""

# ruff: noqa: D101, D102
import torch


# --8<-- [start:broken]
class Broken(torch.autograd.Function):
    @staticmethod
    def forward(weights, tensors):
        if weights.shape != (len(tensors),):
            raise ValueError("expected one weight for each tensor")
        stack = torch.stack(list(tensors), -1)
        return (stack * weights).sum(-1)

    @staticmethod
    def setup_context(ctx, inputs, output):
        _, tensors = inputs
        ctx.save_for_backward(*tensors)

    @staticmethod
    def backward(ctx, grad_output):
        tensors = ctx.saved_tensors
        grad_weights = None
        if ctx.needs_input_grad[0]:
            each = [(grad_output * t.conj()).sum() for t in tensors]
            grad_weights = torch.stack(each)
        return grad_weights, None


# --8<-- [end:broken]


# --8<-- [start:repaired]
class Repaired(torch.autograd.Function):
    generate_vmap_rule = True

    # Every tensor is an argument of its own.
    @staticmethod
    def forward(weights, *tensors):
        if weights.shape != (len(tensors),):
            raise ValueError("expected one weight for each tensor")
        stack = torch.stack(tensors, -1)
        return (stack * weights).sum(-1)

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs)

    @staticmethod
    def backward(ctx, grad_output):
        weights, *tensors = ctx.saved_tensors
        grad_weights = None
        if ctx.needs_input_grad[0]:
            each = [(grad_output * t.conj()).sum() for t in tensors]
            grad_weights = torch.stack(each)
        grads = [None] * len(tensors)
        for i, weight in enumerate(weights.conj()):
            if ctx.needs_input_grad[1 + i]:
                grads[i] = grad_output * weight
        return grad_weights, *grads


# --8<-- [end:repaired]


def sample_inputs() -> tuple[object, ...]:
    """Return inputs as a user would give them."""
    weights = torch.randn(2, dtype=torch.float64, requires_grad=True)
    return weights, [torch.randn(3, dtype=torch.float64, requires_grad=True) for _ in range(2)]


def repaired_inputs() -> tuple[object, ...]:
    """Return the same inputs in the form that the repaired Function takes."""
    weights, tensors = sample_inputs()
    return weights, *tensors
