"""jvp of a product takes the first input's tangent only.

Source: https://docs.pytorch.org/docs/stable/notes/extending.html
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
        ctx.save_for_forward(input, other)
        ctx.save_for_backward(
            input if needs_other else None,
            other if needs_input else None,
        )

    @staticmethod
    def backward(ctx, grad_output):
        input, other = ctx.saved_tensors
        grad_input = grad_other = None
        if ctx.needs_input_grad[0]:
            grad_input = grad_output * other.conj()
        if ctx.needs_input_grad[1]:
            grad_other = grad_output * input.conj()
        return grad_input, grad_other

    @staticmethod
    def jvp(ctx, tangent_input, tangent_other):
        _, other = ctx.saved_tensors
        return tangent_input * other


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
        ctx.save_for_forward(input, other)
        ctx.save_for_backward(
            input if needs_other else None,
            other if needs_input else None,
        )

    @staticmethod
    def backward(ctx, grad_output):
        input, other = ctx.saved_tensors
        grad_input = grad_other = None
        if ctx.needs_input_grad[0]:
            grad_input = grad_output * other.conj()
        if ctx.needs_input_grad[1]:
            grad_other = grad_output * input.conj()
        return grad_input, grad_other

    @staticmethod
    def jvp(ctx, tangent_input, tangent_other):
        input, other = ctx.saved_tensors
        # Both inputs move the output.
        return tangent_input * other + input * tangent_other


# --8<-- [end:repaired]


def sample_inputs() -> tuple[object, ...]:
    """Return inputs as a user would give them."""
    input = torch.randn(3, 4, dtype=torch.float64, requires_grad=True)
    other = torch.randn(3, 4, dtype=torch.float64, requires_grad=True)
    return input, other
