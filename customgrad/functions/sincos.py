"""Sine and cosine at once: two outputs, of which either may have no gradient.

Contract: ``(torch.sin(input), torch.cos(input))`` and its gradients.

Formula, with the cotangents g and h of the two outputs::

    sin, cos   = sin(input), cos(input)
    grad_input = g * cos - h * sin
"""

# ruff: noqa: D102
# mypy: allow-untyped-defs, allow-incomplete-defs
# --8<-- [start:imports]
import torch

# --8<-- [end:imports]
from customgrad.functions import _checks as check
from customgrad.functions._direct import direct

__all__ = ["SinCos", "sincos"]


# --8<-- [start:SinCos]
class SinCos(torch.autograd.Function):
    """(sin(input), cos(input)); each keeps the other for backward."""

    generate_vmap_rule = True

    @staticmethod
    def forward(input):
        if not input.is_floating_point():
            raise TypeError(
                "SinCos: input must be a float tensor, "
                f"got {input.dtype}; use one such as torch.float32"
            )
        return input.sin(), input.cos()

    @staticmethod
    def setup_context(ctx, inputs, outputs):
        ctx.save_for_backward(*outputs)
        # An output that nobody used has None, and not zeros.
        ctx.set_materialize_grads(False)

    @staticmethod
    def backward(ctx, grad_sin, grad_cos):
        sin, cos = ctx.saved_tensors
        if grad_cos is None:
            return None if grad_sin is None else grad_sin * cos
        if grad_sin is None:
            return -grad_cos * sin
        return grad_sin * cos - grad_cos * sin


# --8<-- [end:SinCos]
direct(SinCos)


# --8<-- [start:sincos]
def sincos(input: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the sine and the cosine of each element, through ``SinCos``.

    Args:
        input: float tensor (float16, bfloat16, float32 or float64) of any shape and any
            strides; 0-d, empty and expanded tensors included.

    Saves for backward:
        Both outputs, which are the caller's anyway: twice as many bytes per element as the
        dtype has, 8 in float32. Backward computes no sine and no cosine.

    Conventions:
        At infinity both are NaN, as torch's own. NaN is carried. Empty tensors give empty
        tensors. An output that is not used costs nothing in backward, except under
        torch.compile, which hands out zeros instead of None; the gradient is the same. A
        change of an output in place is noticed by autograd and is an error in backward.
        Backward can itself be differentiated.

    Returns:
        Two new tensors of the input's shape and dtype.

    Raises:
        TypeError: if the input is no tensor, or its dtype is integer, bool or complex.
    """
    check.tensor("sincos", "input", input)
    sin, cos = SinCos.apply(input)
    return sin, cos


# --8<-- [end:sincos]
