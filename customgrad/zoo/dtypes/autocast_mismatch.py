"""Under autocast the cotangent comes in bfloat16, and the saved tensors are float32.

Source: https://github.com/pytorch/pytorch/issues/47906
"""

# ruff: noqa: D101, D102
import torch


# --8<-- [start:broken]
class Broken(torch.autograd.Function):
    generate_vmap_rule = True

    @staticmethod
    def forward(input, weight):
        if input.ndim != 2 or weight.ndim != 2:
            raise ValueError("expected two matrices")
        return input @ weight.mT

    @staticmethod
    def setup_context(ctx, inputs, output):
        input, weight = inputs
        needs_input, needs_weight = ctx.needs_input_grad
        ctx.save_for_backward(
            input if needs_weight else None,
            weight if needs_input else None,
        )

    @staticmethod
    def backward(ctx, grad_output):
        input, weight = ctx.saved_tensors
        grad_input = grad_weight = None
        if ctx.needs_input_grad[0]:
            grad_input = grad_output @ weight.conj()
        if ctx.needs_input_grad[1]:
            grad_weight = grad_output.mT @ input.conj()
        return grad_input, grad_weight


# --8<-- [end:broken]


# --8<-- [start:repaired]
class Repaired(torch.autograd.Function):
    generate_vmap_rule = True

    @staticmethod
    def forward(input, weight):
        if input.ndim != 2 or weight.ndim != 2:
            raise ValueError("expected two matrices")
        return input @ weight.mT

    @staticmethod
    def setup_context(ctx, inputs, output):
        input, weight = inputs
        needs_input, needs_weight = ctx.needs_input_grad
        ctx.save_for_backward(
            input if needs_weight else None,
            weight if needs_input else None,
        )

    @staticmethod
    def backward(ctx, grad_output):
        input, weight = ctx.saved_tensors
        grad_input = grad_weight = None
        if ctx.needs_input_grad[0]:
            # Backward runs outside autocast: it casts by hand.
            grad = grad_output.to(weight.dtype)
            grad_input = grad @ weight.conj()
        if ctx.needs_input_grad[1]:
            grad = grad_output.to(input.dtype)
            grad_weight = grad.mT @ input.conj()
        return grad_input, grad_weight


# --8<-- [end:repaired]


def sample_inputs() -> tuple[object, ...]:
    """Return inputs as a user would give them."""
    input = torch.randn(3, 4, dtype=torch.float64, requires_grad=True)
    weight = torch.randn(2, 4, dtype=torch.float64, requires_grad=True)
    return input, weight
