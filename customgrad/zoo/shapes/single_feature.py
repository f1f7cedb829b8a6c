"""The bias gradient is squeezed, so that a layer of one feature gets a gradient without dimensions.

Source: https://github.com/pytorch/pytorch/issues/28583
"""

# ruff: noqa: D101, D102
import torch


# --8<-- [start:broken]
class Broken(torch.autograd.Function):
    generate_vmap_rule = True

    @staticmethod
    def forward(input, bias):
        if input.ndim != 2 or bias.shape != input.shape[1:]:
            raise ValueError("expected rows and one bias per column")
        return input + bias

    @staticmethod
    def setup_context(ctx, inputs, output):
        pass

    @staticmethod
    def backward(ctx, grad_output):
        grad_input = grad_bias = None
        if ctx.needs_input_grad[0]:
            grad_input = grad_output
        if ctx.needs_input_grad[1]:
            grad_bias = grad_output.sum(0).squeeze(0)
        return grad_input, grad_bias


# --8<-- [end:broken]


# --8<-- [start:repaired]
class Repaired(torch.autograd.Function):
    generate_vmap_rule = True

    @staticmethod
    def forward(input, bias):
        if input.ndim != 2 or bias.shape != input.shape[1:]:
            raise ValueError("expected rows and one bias per column")
        return input + bias

    @staticmethod
    def setup_context(ctx, inputs, output):
        pass

    @staticmethod
    def backward(ctx, grad_output):
        grad_input = grad_bias = None
        if ctx.needs_input_grad[0]:
            grad_input = grad_output
        if ctx.needs_input_grad[1]:
            # sum has taken the rows away already.
            grad_bias = grad_output.sum(0)
        return grad_input, grad_bias


# --8<-- [end:repaired]


def sample_inputs() -> tuple[object, ...]:
    """Return inputs as a user would give them."""
    input = torch.randn(3, 4, dtype=torch.float64, requires_grad=True)
    bias = torch.randn(4, dtype=torch.float64, requires_grad=True)
    return input, bias
