"""At zero both branches of a leaky ReLU count, and the slope is larger than either.

Source: https://github.com/uptake/numpynet/pull/35
"""

# ruff: noqa: D101, D102
import torch


# --8<-- [start:broken]
class Broken(torch.autograd.Function):
    generate_vmap_rule = True

    @staticmethod
    def forward(input, slope):
        return torch.where(input > 0, input, slope * input)

    @staticmethod
    def setup_context(ctx, inputs, output):
        input, ctx.slope = inputs
        ctx.save_for_backward(input)

    @staticmethod
    def backward(ctx, grad_output):
        (input,) = ctx.saved_tensors
        high = grad_output * (input >= 0)
        low = ctx.slope * grad_output * (input <= 0)
        return high + low, None


# --8<-- [end:broken]


# --8<-- [start:repaired]
class Repaired(torch.autograd.Function):
    generate_vmap_rule = True

    @staticmethod
    def forward(input, slope):
        return torch.where(input > 0, input, slope * input)

    @staticmethod
    def setup_context(ctx, inputs, output):
        input, ctx.slope = inputs
        ctx.save_for_backward(input)

    @staticmethod
    def backward(ctx, grad_output):
        (input,) = ctx.saved_tensors
        high = grad_output * (input > 0)  # zero is low's alone
        low = ctx.slope * grad_output * (input <= 0)
        return high + low, None


# --8<-- [end:repaired]


def sample_inputs() -> tuple[object, ...]:
    """Return inputs as a user would give them."""
    return (torch.randn(3, 4, dtype=torch.float64, requires_grad=True), 0.1)
