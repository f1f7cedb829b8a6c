"""Swish with a learned slope: input * sigmoid(beta * input), keeping the input and beta alone.

Contract: the values and the gradients of the formula under plain autograd, for one ``beta``.

Formula, with s = sigmoid(beta * input) and the cotangent g = grad_output::

    output     = input * s
    grad_input = g * s * (1 + beta * input * (1 - s))
    grad_beta  = sum(g * input² * s * (1 - s))
"""

# ruff: noqa: D102
# mypy: allow-untyped-defs, allow-incomplete-defs
# --8<-- [start:imports]
import torch

# --8<-- [end:imports]
from customgrad.functions import _checks as check
from customgrad.functions._direct import direct

__all__ = ["Swish", "swish"]


# --8<-- [start:Swish]
class Swish(torch.autograd.Function):
    """input * sigmoid(beta * input), for a beta of no dimension."""

    generate_vmap_rule = True

    @staticmethod
    def forward(input, beta):
        if not input.is_floating_point():
            raise TypeError(
                "Swish: input must be a float tensor, "
                f"got {input.dtype}; use one such as torch.float32"
            )
        return input * torch.sigmoid(beta * input)

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs)

    @staticmethod
    def backward(ctx, grad_output):
        input, beta = ctx.saved_tensors
        needs_input, needs_beta = ctx.needs_input_grad
        # Half precision would lose the sum for beta, of many terms.
        wide = torch.promote_types(input.dtype, torch.float32)
        x, b, g = (t.to(wide) for t in (input, beta, grad_output))
        s = torch.sigmoid(b * x)
        rest = x * (1 - s)
        grad_input = grad_beta = None
        if needs_beta:
            # Not x * x first: for a large x that is infinity.
            grad_beta = (g * (x * s) * rest).sum().to(beta.dtype)
        if needs_input:
            # Not b * rest first, for the same reason.
            grad_input = ((s + b * (rest * s)) * g).to(input.dtype)
        return grad_input, grad_beta


# --8<-- [end:Swish]
direct(Swish)


# --8<-- [start:swish]
def swish(input: torch.Tensor, beta: torch.Tensor) -> torch.Tensor:
    """Return ``input * sigmoid(beta * input)``, elementwise, through ``Swish``.

    Args:
        input: float tensor (float16, bfloat16, float32 or float64) of any shape and any strides.
        beta: tensor of no dimension and of the input's dtype, often a parameter. 1 gives SiLU, 0
            half the input, and a large one approaches ReLU.

    Saves for backward:
        The input and beta: 4 bytes per element in float32. Composed of torch's operations,
        autograd keeps the sigmoid as well.

    Conventions:
        The slope at 0 is 1/2. NaN is carried. At infinity the slopes are NaN, as the formula's
        are; an element of that kind makes beta's gradient NaN. Sums for beta are computed in
        float32 or wider. Empty tensors give a beta gradient of 0. Backward can itself be
        differentiated.

    Returns:
        A new tensor of the input's shape and dtype.

    Raises:
        TypeError: if an argument is no float tensor, or the dtypes differ.
        ValueError: if beta has a dimension.

    Source:
        Ramachandran, Zoph and Le, "Searching for activation functions", 2017,
        https://arxiv.org/abs/1710.05941.
    """
    check.floats("swish", "input", input)
    check.floats("swish", "beta", beta)
    check.same("swish", "beta", beta, input)
    if beta.ndim:
        raise ValueError(
            f"swish: beta must have no dimension, got shape {tuple(beta.shape)}; "
            "for a beta a channel, compose torch's own operations"
        )
    output: torch.Tensor = Swish.apply(input, beta)
    return output


# --8<-- [end:swish]
