"""Backward reads the cotangent's memory without its conjugate bit.

Source: https://github.com/pytorch/pytorch/pull/54987
"""

# ruff: noqa: D101, D102
import torch
from torch.autograd.function import once_differentiable


# --8<-- [start:broken]
class Broken(torch.autograd.Function):
    @staticmethod
    def forward(input):
        return input * input

    @staticmethod
    def setup_context(ctx, inputs, output):
        (input,) = inputs
        ctx.save_for_backward(input)

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        (input,) = ctx.saved_tensors
        memory = torch.empty_like(grad_output).set_(
            grad_output.untyped_storage(),
            grad_output.storage_offset(),
            grad_output.shape,
            grad_output.stride(),
        )
        return 2 * input.conj() * memory


# --8<-- [end:broken]


# --8<-- [start:repaired]
class Repaired(torch.autograd.Function):
    @staticmethod
    def forward(input):
        return input * input

    @staticmethod
    def setup_context(ctx, inputs, output):
        (input,) = inputs
        ctx.save_for_backward(input)

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        (input,) = ctx.saved_tensors
        # Writes a lazy conjugate or sign into the memory.
        grad_output = grad_output.resolve_conj().resolve_neg()
        memory = torch.empty_like(grad_output).set_(
            grad_output.untyped_storage(),
            grad_output.storage_offset(),
            grad_output.shape,
            grad_output.stride(),
        )
        return 2 * input.conj() * memory


# --8<-- [end:repaired]


def sample_inputs() -> tuple[object, ...]:
    """Return inputs as a user would give them."""
    input = torch.randn(3, 4, dtype=torch.complex128)
    return (input.requires_grad_(),)
