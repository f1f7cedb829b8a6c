"""What is subtracted gets the gradient of what is added to.

Source: https://github.com/KhawajaAbaid/micrograd_c/issues/1
"""

# ruff: noqa: D101, D102
import torch


# --8<-- [start:broken]
class Broken(torch.autograd.Function):
    generate_vmap_rule = True

    @staticmethod
    def forward(left, right):
        if left.shape != right.shape:
            raise ValueError("expected two tensors of one shape")
        return torch.special.erf(left - right)

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs)

    @staticmethod
    def backward(ctx, grad_output):
        left, right = ctx.saved_tensors
        grad_left = grad_right = None
        slope = torch.exp(-((left - right) ** 2))
        grad = grad_output * 2 / torch.pi**0.5 * slope
        if ctx.needs_input_grad[0]:
            grad_left = grad
        if ctx.needs_input_grad[1]:
            grad_right = grad.clone()
        return grad_left, grad_right


# --8<-- [end:broken]


# --8<-- [start:repaired]
class Repaired(torch.autograd.Function):
    generate_vmap_rule = True

    @staticmethod
    def forward(left, right):
        if left.shape != right.shape:
            raise ValueError("expected two tensors of one shape")
        return torch.special.erf(left - right)

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs)

    @staticmethod
    def backward(ctx, grad_output):
        left, right = ctx.saved_tensors
        grad_left = grad_right = None
        slope = torch.exp(-((left - right) ** 2))
        grad = grad_output * 2 / torch.pi**0.5 * slope
        if ctx.needs_input_grad[0]:
            grad_left = grad
        if ctx.needs_input_grad[1]:
            grad_right = -grad  # d(left - right) / d(right)
        return grad_left, grad_right


# --8<-- [end:repaired]


def sample_inputs() -> tuple[object, ...]:
    """Return inputs as a user would give them."""
    return (
        torch.randn(3, 4, dtype=torch.float64, requires_grad=True),
        torch.randn(3, 4, dtype=torch.float64, requires_grad=True),
    )
