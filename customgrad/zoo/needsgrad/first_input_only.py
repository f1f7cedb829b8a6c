"""Both gradients are computed only if the first input needs one.

Source: https://github.com/fbcotter/pytorch_wavelets/issues/65
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
        return input / other

    @staticmethod
    def setup_context(ctx, inputs, output):
        _, other = inputs
        _, needs_other = ctx.needs_input_grad
        ctx.save_for_backward(other, output if needs_other else None)

    @staticmethod
    def backward(ctx, grad_output):
        other, output = ctx.saved_tensors
        needs_input, needs_other = ctx.needs_input_grad
        grad_input = grad_other = None
        if needs_input:
            grad_input = grad_output / other.conj()
            if needs_other:
                grad_other = -grad_input * output.conj()
        return grad_input, grad_other


# --8<-- [end:broken]


# --8<-- [start:repaired]
class Repaired(torch.autograd.Function):
    generate_vmap_rule = True

    @staticmethod
    def forward(input, other):
        if input.shape != other.shape:
            raise ValueError("expected two tensors of one shape")
        return input / other

    @staticmethod
    def setup_context(ctx, inputs, output):
        _, other = inputs
        _, needs_other = ctx.needs_input_grad
        ctx.save_for_backward(other, output if needs_other else None)

    @staticmethod
    def backward(ctx, grad_output):
        other, output = ctx.saved_tensors
        needs_input, needs_other = ctx.needs_input_grad
        grad_input = grad_other = None
        quotient = grad_output / other.conj()
        if needs_input:
            grad_input = quotient
        # Each input is asked about by itself.
        if needs_other:
            grad_other = -quotient * output.conj()
        return grad_input, grad_other


# --8<-- [end:repaired]


def sample_inputs() -> tuple[object, ...]:
    """Return inputs as a user would give them."""
    input = torch.randn(3, 4, dtype=torch.float64, requires_grad=True)
    other = torch.randn(3, 4, dtype=torch.float64, requires_grad=True)
    return input, other
