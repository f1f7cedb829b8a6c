"""A spike's surrogate gradient squares exp(-slope * x), and is inf / inf, NaN, below the threshold.

Source: https://github.com/jeshraghian/snntorch/issues/427
"""

# ruff: noqa: D101, D102
import torch


# --8<-- [start:broken]
class Broken(torch.autograd.Function):
    generate_vmap_rule = True

    @staticmethod
    def forward(input, slope):
        return (input > 0).to(input.dtype)

    @staticmethod
    def setup_context(ctx, inputs, output):
        input, ctx.slope = inputs
        ctx.save_for_backward(input)

    @staticmethod
    def backward(ctx, grad_output):
        (input,) = ctx.saved_tensors
        grown = torch.exp(-ctx.slope * input)
        surrogate = ctx.slope * grown / (grown + 1) ** 2
        return grad_output * surrogate, None


# --8<-- [end:broken]


# --8<-- [start:repaired]
class Repaired(torch.autograd.Function):
    generate_vmap_rule = True

    @staticmethod
    def forward(input, slope):
        return (input > 0).to(input.dtype)

    @staticmethod
    def setup_context(ctx, inputs, output):
        input, ctx.slope = inputs
        ctx.save_for_backward(input)

    @staticmethod
    def backward(ctx, grad_output):
        (input,) = ctx.saved_tensors
        # The curve is even: its falling side cannot overflow.
        grown = torch.exp(-ctx.slope * input.abs())
        surrogate = ctx.slope * grown / (grown + 1) ** 2
        return grad_output * surrogate, None


# --8<-- [end:repaired]


def sample_inputs() -> tuple[object, ...]:
    """Return inputs as a user would give them."""
    return (torch.randn(3, 4, dtype=torch.float64, requires_grad=True), 25.0)


OPTIONS: dict[str, object] = {"surrogate": True}
