"""The gradient is written into zeros of the default dtype, which rounds it to float32.

Source: https://github.com/pytorch/pytorch/issues/8175
"""

# ruff: noqa: D101, D102
import torch


# --8<-- [start:broken]
class Broken(torch.autograd.Function):
    @staticmethod
    def forward(input, start):
        return input[..., start:].clone()

    @staticmethod
    def setup_context(ctx, inputs, output):
        input, ctx.start = inputs
        ctx.shape = input.shape

    @staticmethod
    def backward(ctx, grad_output):
        grad_input = torch.zeros(ctx.shape)
        grad_input[..., ctx.start :] = grad_output
        return grad_input, None


# --8<-- [end:broken]


# --8<-- [start:repaired]
class Repaired(torch.autograd.Function):
    generate_vmap_rule = True

    @staticmethod
    def forward(input, start):
        return input[..., start:].clone()

    @staticmethod
    def setup_context(ctx, inputs, output):
        input, ctx.start = inputs
        ctx.shape = input.shape

    @staticmethod
    def backward(ctx, grad_output):
        # Of the cotangent's dtype and device.
        grad_input = grad_output.new_zeros(ctx.shape)
        grad_input[..., ctx.start :] = grad_output
        return grad_input, None


# --8<-- [end:repaired]


def sample_inputs() -> tuple[object, ...]:
    """Return inputs as a user would give them."""
    input = torch.randn(3, 4, dtype=torch.float64, requires_grad=True)
    return input, 1
