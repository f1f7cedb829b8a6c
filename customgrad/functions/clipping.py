"""Gradient clipping at one tensor: the identity, whose gradient is limited.

Contract: the values of the input; its gradient element by element within ±limit, or as a whole
no longer than max_norm.

Formula, with the cotangent g = grad_output and its Euclidean norm ‖g‖ over all elements::

    by value   grad_input = min(max(g, -limit), limit)
    by norm    grad_input = g * min(1, max_norm / ‖g‖)
"""

# ruff: noqa: D102
# mypy: allow-untyped-defs, allow-incomplete-defs
# --8<-- [start:imports]
import torch

# --8<-- [end:imports]
from customgrad.functions import _checks as check
from customgrad.functions._direct import direct

__all__ = ["ClipGradientNorm", "ClipGradientValue", "clip_gradient_norm", "clip_gradient_value"]

HINT = "scale_gradient with scale=0.0 lets no gradient through"


# --8<-- [start:ClipGradientValue]
class ClipGradientValue(torch.autograd.Function):
    """The input forward; backward within ±limit, each by itself."""

    generate_vmap_rule = True

    @staticmethod
    def forward(input, limit):
        if not input.is_floating_point():
            raise TypeError(
                "ClipGradientValue: input must be a float tensor, "
                f"got {input.dtype}; use one such as torch.float32"
            )
        return input.view_as(input)

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.limit = inputs[1]

    @staticmethod
    def backward(ctx, grad_output):
        # A limit beyond the dtype is refused by clamp: none is needed.
        limit = min(ctx.limit, torch.finfo(grad_output.dtype).max)
        return grad_output.clamp(-limit, limit), None


# --8<-- [end:ClipGradientValue]
direct(ClipGradientValue)


# --8<-- [start:ClipGradientNorm]
class ClipGradientNorm(torch.autograd.Function):
    """The input forward; backward no longer than max_norm."""

    generate_vmap_rule = True

    @staticmethod
    def forward(input, max_norm):
        if not input.is_floating_point():
            raise TypeError(
                "ClipGradientNorm: input must be a float tensor, "
                f"got {input.dtype}; use one such as torch.float32"
            )
        return input.view_as(input)

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.max_norm = inputs[1]

    @staticmethod
    def backward(ctx, grad_output):
        g = grad_output
        # Squares overflow long before numbers do: float64 has room.
        norm = torch.linalg.vector_norm(g, dtype=torch.float64)
        # No longer than max_norm: the factor is 1, exactly.
        factor = ctx.max_norm / norm.clamp(min=ctx.max_norm)
        # A 0-d gradient times this float64 would be float64.
        return (g * factor).to(g.dtype), None


# --8<-- [end:ClipGradientNorm]
direct(ClipGradientNorm)


# --8<-- [start:clip_gradient_value]
def clip_gradient_value(input: torch.Tensor, *, limit: float) -> torch.Tensor:
    """Return the input, with each element of its gradient within ±limit, through ``ClipGradientValue``.

    Args:
        input: float tensor (float16, bfloat16, float32 or float64) of any shape and any
            strides; 0-d, empty and expanded tensors included.
        limit: a finite number above 0.

    Saves for backward:
        Nothing: 0 bytes per element.

    Conventions:
        An infinite gradient becomes ±limit, NaN stays NaN. Backward is not linear in the
        cotangent: two losses behind it do not add up, and under ``vmap`` each sample is
        clipped by itself. Its own derivative is 1 within the limit, at it, and 0 beyond.

    Returns:
        A view of the input, not to be changed in place: its shape, strides and dtype.

    Raises:
        TypeError: if the input is no tensor, its dtype is integer, bool or complex, or
            limit is no number.
        ValueError: if limit is not above 0, or is infinite or NaN.

    Source:
        Mikolov, "Statistical language models based on neural networks", PhD thesis, Brno
        University of Technology, 2012.
    """
    check.tensor("clip_gradient_value", "input", input)
    limit = check.number("clip_gradient_value", "limit", limit, above=0.0, hint=HINT)
    output: torch.Tensor = ClipGradientValue.apply(input, limit)
    return output


# --8<-- [end:clip_gradient_value]


# --8<-- [start:clip_gradient_norm]
def clip_gradient_norm(input: torch.Tensor, *, max_norm: float) -> torch.Tensor:
    """Return the input, with its gradient no longer than max_norm, through ``ClipGradientNorm``.

    Args:
        input: float tensor (float16, bfloat16, float32 or float64) of any shape and any
            strides; 0-d, empty and expanded tensors included.
        max_norm: a finite number above 0: the most that the Euclidean norm over all elements may be.

    Saves for backward:
        Nothing: 0 bytes per element.

    Conventions:
        The norm is computed in float64. A gradient that is short enough passes as it is,
        bit by bit. If it holds an infinity, that element becomes NaN and all others 0, as
        in ``torch.nn.utils.clip_grad_norm_``; with a NaN, all are NaN. Backward is not linear
        in the cotangent; under ``vmap`` each sample has a norm of its own.

    Returns:
        A view of the input, not to be changed in place: its shape, strides and dtype.

    Raises:
        TypeError: if the input is no tensor, its dtype is integer, bool or complex, or
            max_norm is no number.
        ValueError: if max_norm is not above 0, or is infinite or NaN.

    Source:
        Pascanu, Mikolov and Bengio, "On the difficulty of training recurrent neural
        networks", ICML 2013, https://arxiv.org/abs/1211.5063.
    """
    check.tensor("clip_gradient_norm", "input", input)
    max_norm = check.number("clip_gradient_norm", "max_norm", max_norm, above=0.0, hint=HINT)
    output: torch.Tensor = ClipGradientNorm.apply(input, max_norm)
    return output


# --8<-- [end:clip_gradient_norm]
