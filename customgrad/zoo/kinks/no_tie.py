"""Where the two arguments of a maximum are equal, neither gets a gradient.

Padding, zeros after a ReLU and quantised values make such ties every day.

Source: https://github.com/pytorch/pytorch/issues/56734
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
        return torch.maximum(left, right)

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs)

    @staticmethod
    def backward(ctx, grad_output):
        left, right = ctx.saved_tensors
        grad_left = grad_right = None
        if ctx.needs_input_grad[0]:
            grad_left = grad_output * (left > right)
        if ctx.needs_input_grad[1]:
            grad_right = grad_output * (right > left)
        return grad_left, grad_right


# --8<-- [end:broken]


# --8<-- [start:repaired]
class Repaired(torch.autograd.Function):
    generate_vmap_rule = True

    @staticmethod
    def forward(left, right):
        if left.shape != right.shape:
            raise ValueError("expected two tensors of one shape")
        return torch.maximum(left, right)

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs)

    @staticmethod
    def backward(ctx, grad_output):
        left, right = ctx.saved_tensors
        grad_left = grad_right = None
        if ctx.needs_input_grad[0]:
            grad_left = grad_output * (left > right)
        if ctx.needs_input_grad[1]:
            # A tie goes to the right one, all of it.
            grad_right = grad_output * (right >= left)
        return grad_left, grad_right


# --8<-- [end:repaired]


def sample_inputs() -> tuple[object, ...]:
    """Return inputs as a user would give them."""
    return (
        torch.randn(3, 4, dtype=torch.float64, requires_grad=True),
        torch.randn(3, 4, dtype=torch.float64, requires_grad=True),
    )
