"""The weight's gradient is summed over the first dimension, whichever way the weight was broadcast.

Source: https://github.com/pytorch/pytorch/issues/818
"""

# ruff: noqa: D101, D102
import torch


# --8<-- [start:broken]
class Broken(torch.autograd.Function):
    generate_vmap_rule = True

    @staticmethod
    def forward(input, weight):
        return input * weight

    @staticmethod
    def setup_context(ctx, inputs, output):
        input, weight = inputs
        ctx.shapes = input.shape, weight.shape
        needs_input, needs_weight = ctx.needs_input_grad
        ctx.save_for_backward(
            input if needs_weight else None,
            weight if needs_input else None,
        )

    @staticmethod
    def backward(ctx, grad_output):
        input, weight = ctx.saved_tensors
        input_shape, weight_shape = ctx.shapes
        grad_input = grad_weight = None
        if ctx.needs_input_grad[0]:
            each = grad_output * weight.conj()
            grad_input = each.sum_to_size(input_shape)
        if ctx.needs_input_grad[1]:
            each = grad_output * input.conj()
            grad_weight = each.sum(0).reshape(weight_shape)
        return grad_input, grad_weight


# --8<-- [end:broken]


# --8<-- [start:repaired]
class Repaired(torch.autograd.Function):
    generate_vmap_rule = True

    @staticmethod
    def forward(input, weight):
        return input * weight

    @staticmethod
    def setup_context(ctx, inputs, output):
        input, weight = inputs
        ctx.shapes = input.shape, weight.shape
        needs_input, needs_weight = ctx.needs_input_grad
        ctx.save_for_backward(
            input if needs_weight else None,
            weight if needs_input else None,
        )

    @staticmethod
    def backward(ctx, grad_output):
        input, weight = ctx.saved_tensors
        input_shape, weight_shape = ctx.shapes
        grad_input = grad_weight = None
        if ctx.needs_input_grad[0]:
            each = grad_output * weight.conj()
            grad_input = each.sum_to_size(input_shape)
        if ctx.needs_input_grad[1]:
            each = grad_output * input.conj()
            # Sums over whatever was broadcast.
            grad_weight = each.sum_to_size(weight_shape)
        return grad_input, grad_weight


# --8<-- [end:repaired]


def sample_inputs() -> tuple[object, ...]:
    """Return inputs as a user would give them."""
    input = torch.randn(3, 4, dtype=torch.float64, requires_grad=True)
    weight = torch.randn(4, dtype=torch.float64, requires_grad=True)
    return input, weight
