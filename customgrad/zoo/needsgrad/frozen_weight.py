"""The weight's gradient is computed, and the input saved for it, though the weight is frozen.

Source: https://github.com/NVIDIA/apex/pull/1517
"""

# ruff: noqa: D101, D102
import torch


# --8<-- [start:broken]
class Broken(torch.autograd.Function):
    generate_vmap_rule = True

    @staticmethod
    def forward(input, weight):
        if weight.shape != input.shape[-1:]:
            raise ValueError("expected one weight for each feature")
        return input * weight

    @staticmethod
    def setup_context(ctx, inputs, output):
        input, weight = inputs
        ctx.save_for_backward(input, weight)

    @staticmethod
    def backward(ctx, grad_output):
        input, weight = ctx.saved_tensors
        grad_input = grad_output * weight.conj()
        each = grad_output * input.conj()
        return grad_input, each.sum_to_size(weight.shape)


# --8<-- [end:broken]


# --8<-- [start:repaired]
class Repaired(torch.autograd.Function):
    generate_vmap_rule = True

    @staticmethod
    def forward(input, weight):
        if weight.shape != input.shape[-1:]:
            raise ValueError("expected one weight for each feature")
        return input * weight

    @staticmethod
    def setup_context(ctx, inputs, output):
        input, weight = inputs
        needs_input, needs_weight = ctx.needs_input_grad
        # Each is needed only for the gradient of the other.
        ctx.save_for_backward(
            input if needs_weight else None,
            weight if needs_input else None,
        )

    @staticmethod
    def backward(ctx, grad_output):
        input, weight = ctx.saved_tensors
        grad_input = grad_weight = None
        if ctx.needs_input_grad[0]:
            grad_input = grad_output * weight.conj()
        if ctx.needs_input_grad[1]:
            each = grad_output * input.conj()
            grad_weight = each.sum_to_size(each.shape[-1:])
        return grad_input, grad_weight


# --8<-- [end:repaired]


def sample_inputs() -> tuple[object, ...]:
    """Return inputs as a user would give them."""
    input = torch.randn(3, 4, dtype=torch.float64, requires_grad=True)
    weight = torch.randn(4, dtype=torch.float64, requires_grad=True)
    return input, weight
