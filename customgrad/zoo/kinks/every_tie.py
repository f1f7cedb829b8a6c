"""The maximum's gradient goes to every element that equals it, in full.

With two equal maxima the gradient is (1, 1), which no subgradient is.

Source: https://github.com/Theano/Theano/issues/4568
"""

# ruff: noqa: D101, D102
import torch


# --8<-- [start:broken]
class Broken(torch.autograd.Function):
    generate_vmap_rule = True

    @staticmethod
    def forward(input):
        return input.amax(-1, keepdim=True)

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs, output)

    @staticmethod
    def backward(ctx, grad_output):
        input, output = ctx.saved_tensors
        chosen = (input == output).to(input.dtype)
        return grad_output * chosen


# --8<-- [end:broken]


# --8<-- [start:repaired]
class Repaired(torch.autograd.Function):
    generate_vmap_rule = True

    @staticmethod
    def forward(input):
        return input.amax(-1, keepdim=True)

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs, output)

    @staticmethod
    def backward(ctx, grad_output):
        input, output = ctx.saved_tensors
        chosen = (input == output).to(input.dtype)
        # Equal elements share the gradient.
        share = chosen / chosen.sum(-1, keepdim=True)
        return grad_output * share


# --8<-- [end:repaired]


def sample_inputs() -> tuple[object, ...]:
    """Return inputs as a user would give them."""
    return (torch.randn(3, 4, dtype=torch.float64, requires_grad=True),)
