"""An intermediate is kept on ctx, where autograd does not see that it depends on the input.

The first derivative is right. In the second one a term is missing, without an error.

Source: https://github.com/pytorch/pytorch/issues/58509
"""

# ruff: noqa: D101, D102
import torch


# --8<-- [start:broken]
class Broken(torch.autograd.Function):
    @staticmethod
    def forward(ctx, input):
        doubled = input * 2
        ctx.doubled = doubled
        return doubled**2

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output * 4 * ctx.doubled.conj()


# --8<-- [end:broken]


# --8<-- [start:repaired]
class Repaired(torch.autograd.Function):
    @staticmethod
    def forward(ctx, input):
        # The input has a graph; what is made of it here has none.
        ctx.save_for_backward(input)
        doubled = input * 2
        return doubled**2

    @staticmethod
    def backward(ctx, grad_output):
        (input,) = ctx.saved_tensors
        doubled = input * 2
        return grad_output * 4 * doubled.conj()


# --8<-- [end:repaired]


def sample_inputs() -> tuple[object, ...]:
    """Return inputs as a user would give them."""
    return (torch.randn(3, 4, dtype=torch.float64, requires_grad=True),)
