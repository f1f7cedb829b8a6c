"""Backward saves ELU's output and puts it where the formula has the input.

Source: https://github.com/apache/mxnet/pull/1265
"""

# ruff: noqa: D101, D102
import torch


# --8<-- [start:broken]
class Broken(torch.autograd.Function):
    generate_vmap_rule = True

    @staticmethod
    def forward(input, alpha):
        low = alpha * torch.expm1(input.clamp(max=0))
        return torch.where(input > 0, input, low)

    @staticmethod
    def setup_context(ctx, inputs, output):
        _, ctx.alpha = inputs
        ctx.save_for_backward(output)

    @staticmethod
    def backward(ctx, grad_output):
        (output,) = ctx.saved_tensors
        low = ctx.alpha * torch.exp(output.clamp(max=0))
        slope = torch.where(output > 0, 1, low)
        return grad_output * slope, None


# --8<-- [end:broken]


# --8<-- [start:repaired]
class Repaired(torch.autograd.Function):
    generate_vmap_rule = True

    @staticmethod
    def forward(input, alpha):
        low = alpha * torch.expm1(input.clamp(max=0))
        return torch.where(input > 0, input, low)

    @staticmethod
    def setup_context(ctx, inputs, output):
        input, ctx.alpha = inputs
        ctx.save_for_backward(input)  # what the formula is of

    @staticmethod
    def backward(ctx, grad_output):
        (input,) = ctx.saved_tensors
        low = ctx.alpha * torch.exp(input.clamp(max=0))
        slope = torch.where(input > 0, 1, low)
        return grad_output * slope, None


# --8<-- [end:repaired]


def sample_inputs() -> tuple[object, ...]:
    """Return inputs as a user would give them."""
    return (torch.randn(3, 4, dtype=torch.float64, requires_grad=True), 1.0)
