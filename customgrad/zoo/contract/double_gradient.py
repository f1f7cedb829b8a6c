"""Backward works in float64 and does not go back, so a float32 input gets a float64 gradient.

The engine casts it before anybody looks. Until then it takes twice the memory, and who calls this
backward by hand, from another one, gets the wrong dtype.

Source: https://github.com/pytorch/pytorch/pull/8168
"""

# ruff: noqa: D101, D102
import torch


# --8<-- [start:broken]
class Broken(torch.autograd.Function):
    generate_vmap_rule = True

    @staticmethod
    def forward(input):
        return torch.special.erf(input)

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs)

    @staticmethod
    def backward(ctx, grad_output):
        (input,) = ctx.saved_tensors
        wide = input.double()
        slope = 2 / torch.pi**0.5 * torch.exp(-wide * wide)
        return grad_output * slope


# --8<-- [end:broken]


# --8<-- [start:repaired]
class Repaired(torch.autograd.Function):
    generate_vmap_rule = True

    @staticmethod
    def forward(input):
        return torch.special.erf(input)

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs)

    @staticmethod
    def backward(ctx, grad_output):
        (input,) = ctx.saved_tensors
        wide = input.double()
        slope = 2 / torch.pi**0.5 * torch.exp(-wide * wide)
        # Back to the input's own dtype.
        return (grad_output * slope).to(input.dtype)


# --8<-- [end:repaired]


def sample_inputs() -> tuple[object, ...]:
    """Return inputs as a user would give them."""
    return (torch.randn(3, 4, dtype=torch.float64, requires_grad=True),)
