"""Gradient scaling: the identity, whose gradient is weighed.

Contract: the values of the input, and ``scale`` times its gradient.

Formula, with the cotangent g = grad_output and a number scale::

    output     = input
    grad_input = scale * g
"""

# ruff: noqa: D102
# mypy: allow-untyped-defs, allow-incomplete-defs
# --8<-- [start:imports]
import torch

# --8<-- [end:imports]
from customgrad.functions import _checks as check
from customgrad.functions._direct import direct

__all__ = ["ScaleGradient", "scale_gradient"]


# --8<-- [start:ScaleGradient]
class ScaleGradient(torch.autograd.Function):
    """The input forward, scale times the gradient backward."""

    generate_vmap_rule = True

    @staticmethod
    def forward(input, scale):
        if not input.is_floating_point():
            raise TypeError(
                "ScaleGradient: input must be a float tensor, "
                f"got {input.dtype}; use one such as torch.float32"
            )
        # A tensor of its own, which shares the input's memory.
        return input.view_as(input)

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.scale = inputs[1]

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output * ctx.scale, None


# --8<-- [end:ScaleGradient]
direct(ScaleGradient)


# --8<-- [start:scale_gradient]
def scale_gradient(input: torch.Tensor, *, scale: float) -> torch.Tensor:
    """Return the input, with scale times its gradient, through ``ScaleGradient``.

    Args:
        input: float tensor (float16, bfloat16, float32 or float64) of any shape and any
            strides; 0-d, empty and expanded tensors included.
        scale: a finite number. 0 lets no gradient through, and still gives a tensor of
            zeros rather than None; a negative one reverses.

    Saves for backward:
        Nothing: 0 bytes per element.

    Conventions:
        The output has exactly the input's values. It shares its memory, and must not be
        changed in place: torch refuses that; clone it first. NaN and infinity are carried
        by both directions; with a scale of 0 an infinite gradient becomes NaN. Backward is
        linear in the cotangent. A second derivative passes twice, and is scale² times that
        of the identity.

    Returns:
        A view of the input: its shape, strides and dtype.

    Raises:
        TypeError: if the input is no tensor, its dtype is integer, bool or complex, or
            scale is no number.
        ValueError: if scale is infinite, in float32 or in a wider dtype of the input, or NaN.

    Source:
        Called gradscale by Esser et al., "Learned step size quantization", ICLR 2020,
        https://arxiv.org/abs/1902.08153, there as a formula with detach.
    """
    check.tensor("scale_gradient", "input", input)
    hint = "0 lets no gradient through"
    scale = check.number("scale_gradient", "scale", scale, hint=hint, dtype=check.wide(input))
    output: torch.Tensor = ScaleGradient.apply(input, scale)
    return output


# --8<-- [end:scale_gradient]
