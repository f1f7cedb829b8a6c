"""Backward clamps the cotangent, which nobody asked for and no unit cotangent shows.

The clip was meant as a guard against explosions. It makes the gradient wrong wherever the loss is
scaled up, as mixed precision does.

Source: https://github.com/rwth-i6/returnn/issues/1590
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
        slope = 2 / torch.pi**0.5 * torch.exp(-input * input)
        return grad_output.clamp(-1, 1) * slope


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
        slope = 2 / torch.pi**0.5 * torch.exp(-input * input)
        # Clipping belongs to the training loop.
        return grad_output * slope


# --8<-- [end:repaired]


def sample_inputs() -> tuple[object, ...]:
    """Return inputs as a user would give them."""
    return (torch.randn(3, 4, dtype=torch.float64, requires_grad=True),)
