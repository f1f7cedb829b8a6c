"""Gradients that are not needed are left out of the list, so that the others move up.

Source: https://github.com/microsoft/onnxruntime/pull/8011
"""

# ruff: noqa: D101, D102
import torch


# --8<-- [start:broken]
class Broken(torch.autograd.Function):
    generate_vmap_rule = True

    @staticmethod
    def forward(input, other):
        if input.shape != other.shape:
            raise ValueError("expected two tensors of one shape")
        return input * other

    @staticmethod
    def setup_context(ctx, inputs, output):
        input, other = inputs
        needs_input, needs_other = ctx.needs_input_grad
        ctx.save_for_backward(
            other if needs_input else None,
            input if needs_other else None,
        )

    @staticmethod
    def backward(ctx, grad_output):
        grads = []
        for factor in ctx.saved_tensors:
            if factor is not None:
                grads.append(grad_output * factor.conj())
        return *grads, *(None for _ in range(2 - len(grads)))


# --8<-- [end:broken]


# --8<-- [start:repaired]
class Repaired(torch.autograd.Function):
    generate_vmap_rule = True

    @staticmethod
    def forward(input, other):
        if input.shape != other.shape:
            raise ValueError("expected two tensors of one shape")
        return input * other

    @staticmethod
    def setup_context(ctx, inputs, output):
        input, other = inputs
        needs_input, needs_other = ctx.needs_input_grad
        ctx.save_for_backward(
            other if needs_input else None,
            input if needs_other else None,
        )

    @staticmethod
    def backward(ctx, grad_output):
        grads = []
        for factor in ctx.saved_tensors:
            # None keeps the place of a gradient.
            grad = None
            if factor is not None:
                grad = grad_output * factor.conj()
            grads.append(grad)
        return tuple(grads)


# --8<-- [end:repaired]


def sample_inputs() -> tuple[object, ...]:
    """Return inputs as a user would give them."""
    input = torch.randn(3, 4, dtype=torch.float64, requires_grad=True)
    other = torch.randn(3, 4, dtype=torch.float64, requires_grad=True)
    return input, other
