"""Backward is written as a method, so that autograd's context lands in ``self``.

Source: https://github.com/jcjohnson/pytorch-examples/pull/25
"""

# ruff: noqa: D101, D102
import torch


# --8<-- [start:broken]
class Broken(torch.autograd.Function):
    @staticmethod
    def forward(input):
        return torch.special.erf(input)

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs)

    def backward(self, ctx, grad_output):
        (input,) = ctx.saved_tensors
        slope = 2 / torch.pi**0.5 * torch.exp(-input * input)
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

    @staticmethod  # There is no object that could be self.
    def backward(ctx, grad_output):
        (input,) = ctx.saved_tensors
        slope = 2 / torch.pi**0.5 * torch.exp(-input * input)
        return grad_output * slope


# --8<-- [end:repaired]


def sample_inputs() -> tuple[object, ...]:
    """Return inputs as a user would give them."""
    return (torch.randn(3, 4, dtype=torch.float64, requires_grad=True),)
