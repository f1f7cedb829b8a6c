"""Backward keeps its gradients by address, and loses one when both arguments are the same tensor.

Source: https://github.com/pytorch/pytorch/issues/183604
"""

# ruff: noqa: D101, D102
import torch


# --8<-- [start:broken]
class Broken(torch.autograd.Function):
    @staticmethod
    def forward(left, right):
        if left.shape != right.shape:
            raise ValueError("expected two tensors of one shape")
        return left * right * right

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs)

    @staticmethod
    def backward(ctx, grad_output):
        left, right = ctx.saved_tensors
        a, b = left.conj(), right.conj()
        grads = {}
        if ctx.needs_input_grad[0]:
            grads[left.data_ptr()] = grad_output * b * b
        if ctx.needs_input_grad[1]:
            grads[right.data_ptr()] = grad_output * 2 * a * b
        return grads.get(left.data_ptr()), grads.get(right.data_ptr())


# --8<-- [end:broken]


# --8<-- [start:repaired]
class Repaired(torch.autograd.Function):
    generate_vmap_rule = True

    @staticmethod
    def forward(left, right):
        if left.shape != right.shape:
            raise ValueError("expected two tensors of one shape")
        return left * right * right

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs)

    @staticmethod
    def backward(ctx, grad_output):
        left, right = ctx.saved_tensors
        a, b = left.conj(), right.conj()
        grad_left = grad_right = None
        # By position: two arguments may be one tensor.
        if ctx.needs_input_grad[0]:
            grad_left = grad_output * b * b
        if ctx.needs_input_grad[1]:
            grad_right = grad_output * 2 * a * b
        return grad_left, grad_right


# --8<-- [end:repaired]


def sample_inputs() -> tuple[object, ...]:
    """Return inputs as a user would give them."""
    return (
        torch.randn(3, 4, dtype=torch.float64, requires_grad=True),
        torch.randn(3, 4, dtype=torch.float64, requires_grad=True),
    )
