"""Clamping with a gradient that passes: everywhere, or where nothing was cut off.

Contract: the values of ``torch.clamp``; the gradient of the identity or, ``gated``, that of
``torch.clamp``.

Formula, with the cotangent g = grad_output::

    output     = clamp(input, min, max)
    grad_input = g, or if gated: g where min ≤ input ≤ max, otherwise 0
"""

# ruff: noqa: D102
# mypy: allow-untyped-defs, allow-incomplete-defs
# --8<-- [start:imports]
import torch

# --8<-- [end:imports]
from customgrad.functions import _checks as check
from customgrad.functions._direct import direct

__all__ = ["ClampSTE", "clamp_ste"]


# --8<-- [start:ClampSTE]
class ClampSTE(torch.autograd.Function):
    """clamp(input); the gradient passes, or within the bounds."""

    generate_vmap_rule = True

    @staticmethod
    def forward(input, min, max, gated):
        if not input.is_floating_point():
            raise TypeError(
                "ClampSTE: input must be a float tensor, "
                f"got {input.dtype}; use one such as torch.float32"
            )
        return input.clamp(min, max)

    @staticmethod
    def setup_context(ctx, inputs, output):
        input, ctx.min, ctx.max, ctx.gated = inputs
        if ctx.gated:
            ctx.save_for_backward(input)

    @staticmethod
    def backward(ctx, grad_output):
        if not ctx.gated:
            return grad_output, None, None, None
        (input,) = ctx.saved_tensors
        # Exactly 0 from bound to bound, both included. NaN is out.
        over = input - input.clamp(ctx.min, ctx.max)
        over = over.nan_to_num(nan=1.0)
        info = torch.finfo(input.dtype)
        least = info.smallest_normal * info.eps
        kernel = torch.ops.aten.hardtanh_backward
        grad_input = kernel(grad_output, over, -least, least)
        return grad_input, None, None, None


# --8<-- [end:ClampSTE]
direct(ClampSTE)


# --8<-- [start:clamp_ste]
def clamp_ste(input: torch.Tensor, *, min: float, max: float, gated: bool = False) -> torch.Tensor:
    """Return clamp(input, min, max) with a gradient that passes, through ``ClampSTE``.

    Args:
        input: float tensor (float16, bfloat16, float32 or float64) of any shape and any
            strides; 0-d, empty and expanded tensors included.
        min: a finite number.
        max: a finite number of at least min.
        gated: False lets the gradient pass everywhere, so that a value that was cut off can
            come back; True stops it where the value was cut off, as ``torch.clamp`` does.

    Saves for backward:
        Nothing, 0 bytes per element; gated, the input, 4 bytes per element in float32.

    Conventions:
        At a bound nothing was cut off, and the gradient passes, gated or not, as in
        ``torch.clamp``; in ``torch.nn.functional.hardtanh`` it does not. NaN stays NaN, with
        a gradient that passes and, gated, is 0. Gated, an infinite gradient becomes 0 where it
        stops. Backward is linear in the cotangent, and its derivative by the input is 0.

    Returns:
        A new tensor of the input's shape and dtype.

    Raises:
        TypeError: if the input is no tensor, its dtype is integer, bool or complex, a bound
            is no number, or gated is no bool.
        ValueError: if a bound is NaN, infinite or beyond the dtype, or min is above max.

    Source:
        Bengio, Léonard and Courville, "Estimating or propagating gradients through stochastic
        neurons for conditional computation", 2013, https://arxiv.org/abs/1308.3432.
    """
    check.tensor("clamp_ste", "input", input)
    floating = input.is_floating_point()  # else ClampSTE says what is wrong
    dtype = input.dtype if floating else torch.float64
    low, high = (
        check.number(
            "clamp_ste", name, bound, hint="torch.clamp takes one bound alone", dtype=dtype
        )
        for name, bound in {"min": min, "max": max}.items()
    )
    if low > high:
        raise ValueError(
            f"clamp_ste: min must be at most max, got {min} and {max}; exchange the two"
        )
    check.flag("clamp_ste", "gated", gated)
    output: torch.Tensor = ClampSTE.apply(input, low, high, gated)
    return output


# --8<-- [end:clamp_ste]
