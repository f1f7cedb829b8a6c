"""Backward calls view_as_real on the cotangent, which raises when that is a lazy conjugate.

Source: https://github.com/pytorch/pytorch/pull/54987
"""

# ruff: noqa: D101, D102
import torch


# --8<-- [start:broken]
class Broken(torch.autograd.Function):
    generate_vmap_rule = True

    @staticmethod
    def forward(input):
        parts = torch.view_as_real(input.resolve_conj())
        return torch.view_as_complex(parts.clamp(min=0).contiguous())

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(output)

    @staticmethod
    def backward(ctx, grad_output):
        (output,) = ctx.saved_tensors
        active = torch.view_as_real(output) > 0
        grad = torch.view_as_real(grad_output)
        grad = torch.where(active, grad, 0)
        return torch.view_as_complex(grad.contiguous())


# --8<-- [end:broken]


# --8<-- [start:repaired]
class Repaired(torch.autograd.Function):
    generate_vmap_rule = True

    @staticmethod
    def forward(input):
        parts = torch.view_as_real(input.resolve_conj())
        return torch.view_as_complex(parts.clamp(min=0).contiguous())

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(output)

    @staticmethod
    def backward(ctx, grad_output):
        (output,) = ctx.saved_tensors
        active = torch.view_as_real(output) > 0
        # A conjugated cotangent is a view with a flag.
        grad = torch.view_as_real(grad_output.resolve_conj())
        grad = torch.where(active, grad, 0)
        return torch.view_as_complex(grad.contiguous())


# --8<-- [end:repaired]


def sample_inputs() -> tuple[object, ...]:
    """Return inputs as a user would give them."""
    input = torch.randn(3, 4, dtype=torch.complex128)
    return (input.requires_grad_(),)
