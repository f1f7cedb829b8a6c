"""Gradient reversal: the identity, whose gradient changes sign and is weighed.

Contract: the values of the input, and ``-scale`` times its gradient.

Formula, with the cotangent g = grad_output and a number scale, often called λ::

    output     = input
    grad_input = -scale * g
"""

# ruff: noqa: D102
# mypy: allow-untyped-defs, allow-incomplete-defs
# --8<-- [start:imports]
import torch

# --8<-- [end:imports]
from customgrad.functions import _checks as check
from customgrad.functions._direct import direct

__all__ = ["ReverseGradient", "reverse_gradient"]


# --8<-- [start:ReverseGradient]
class ReverseGradient(torch.autograd.Function):
    """The input forward, -scale times the gradient backward."""

    generate_vmap_rule = True

    @staticmethod
    def forward(input, scale):
        if not input.is_floating_point():
            raise TypeError(
                "ReverseGradient: input must be a float tensor, "
                f"got {input.dtype}; use one such as torch.float32"
            )
        # A tensor of its own, which shares the input's memory.
        return input.view_as(input)

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.scale = inputs[1]

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output * -ctx.scale, None


# --8<-- [end:ReverseGradient]
direct(ReverseGradient)


# --8<-- [start:reverse_gradient]
def reverse_gradient(input: torch.Tensor, *, scale: float = 1.0) -> torch.Tensor:
    """Return the input, with -scale times its gradient, through ``ReverseGradient``.

    Args:
        input: float tensor (float16, bfloat16, float32 or float64) of any shape and any
            strides; 0-d, empty and expanded tensors included.
        scale: λ, a finite number of at least 0. 0 lets no gradient through, and still
            gives a tensor of zeros rather than None.

    Saves for backward:
        Nothing: 0 bytes per element.

    Conventions:
        The output shares the input's memory, and must not be changed in place: torch
        refuses that; clone it first. NaN and infinity are carried by both directions; with
        a scale of 0 an infinite gradient becomes NaN. Backward is linear in the cotangent.
        A second derivative passes twice, and is scale² times that of the identity.

    Returns:
        A view of the input: its shape, strides and dtype.

    Raises:
        TypeError: if the input is no tensor, its dtype is integer, bool or complex, or
            scale is no number.
        ValueError: if scale is negative, NaN, or infinite in float32 or in a wider dtype of the
            input.

    Source:
        Ganin and Lempitsky, "Unsupervised domain adaptation by backpropagation", ICML 2015,
        https://arxiv.org/abs/1409.7495.
    """
    check.tensor("reverse_gradient", "input", input)
    scale = check.number(
        "reverse_gradient",
        "scale",
        scale,
        least=0.0,
        hint="the sign changes anyway, and scale_gradient keeps it",
        dtype=check.wide(input),
    )
    output: torch.Tensor = ReverseGradient.apply(input, scale)
    return output


# --8<-- [end:reverse_gradient]
