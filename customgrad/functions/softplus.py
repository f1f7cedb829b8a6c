"""Softplus, and log(1 + exp(x)) itself: stable, and only the input is kept.

Contract: the values and the gradients of ``torch.nn.functional.softplus``, and for thresholds at which
torch's overflows those of the formula.

Formula, with b = beta and the cotangent g = grad_output::

    output     = log(1 + exp(b * input)) / b where b * input <= threshold, input elsewhere
    grad_input = g * sigmoid(b * input)      where b * input <= threshold, g elsewhere

``log1pexp`` is the case beta = 1 without a threshold.
"""

# ruff: noqa: D102
# mypy: allow-untyped-defs, allow-incomplete-defs
# --8<-- [start:imports]
import math

import torch
from torch.nn import functional as F

# --8<-- [end:imports]
from customgrad.functions import _checks as check
from customgrad.functions._direct import direct
from customgrad.functions._forward import one_level

__all__ = ["Softplus", "SoftplusForwardMode", "log1pexp", "softplus"]


# --8<-- [start:Softplus]
class Softplus(torch.autograd.Function):
    """log(1 + exp(beta * input)) / beta; keeps the input."""

    generate_vmap_rule = True

    @staticmethod
    def forward(input, beta=1.0, threshold=20.0):
        if not input.is_floating_point():
            raise TypeError(
                "Softplus: input must be a float tensor, "
                f"got {input.dtype}; use one such as torch.float32"
            )
        if beta == 0 or not math.isfinite(beta):
            raise ValueError(
                "Softplus: beta must be finite and not 0, "
                f"got {beta}; 1.0 gives log(1 + exp(input))"
            )
        if math.isnan(threshold):
            raise ValueError(
                "Softplus: threshold must be comparable with numbers, "
                f"got {threshold}; use 20.0, or math.inf for no limit"
            )
        return F.softplus(input, beta, min(threshold, 50.0))

    @staticmethod
    def setup_context(ctx, inputs, output):
        input, ctx.beta, threshold = inputs
        # Above 50 the result is the input to the last bit, even in
        # float64, and a little further exp is infinite.
        ctx.threshold = min(threshold, 50.0)
        ctx.save_for_backward(input)

    @staticmethod
    def backward(ctx, grad_output):
        (input,) = ctx.saved_tensors
        grad_input = torch.ops.aten.softplus_backward(
            grad_output,
            input,
            ctx.beta,
            ctx.threshold,
        )
        return grad_input, None, None


# --8<-- [end:Softplus]
direct(Softplus)


# --8<-- [start:SoftplusForwardMode]
class SoftplusForwardMode(Softplus):
    """Softplus with a jvp, which compile(fullgraph=True) refuses."""

    @staticmethod
    def setup_context(ctx, inputs, output):
        input, ctx.beta, threshold = inputs
        ctx.threshold = min(threshold, 50.0)
        ctx.save_for_backward(input)
        ctx.save_for_forward(input)

    @staticmethod
    def jvp(ctx, tangent, *_):
        (input,) = ctx.saved_tensors
        # Each element has one slope, whichever way it is used.
        return torch.ops.aten.softplus_backward(
            tangent,
            input,
            ctx.beta,
            ctx.threshold,
        )


# --8<-- [end:SoftplusForwardMode]
direct(one_level(SoftplusForwardMode))


# --8<-- [start:softplus]
def softplus(input: torch.Tensor, *, beta: float = 1.0, threshold: float = 20.0) -> torch.Tensor:
    """Return log(1 + exp(beta * input)) / beta, elementwise, through ``Softplus``.

    Args:
        input: float tensor (float16, bfloat16, float32 or float64) of any shape and any
            strides; 0-d, empty and expanded tensors included.
        beta: a finite number, not 0.
        threshold: where beta * input is above it, the input is returned; infinity for never.

    Saves for backward:
        The input: as many bytes per element as its dtype has, 4 in float32.

    Conventions:
        Above the threshold the slope is 1 and the second derivative 0. NaN is carried;
        infinity gives infinity and a slope of 1, -infinity gives 0 and 0. Above 50 the
        input is returned whatever the threshold: it is the correctly rounded result. Empty
        tensors give empty tensors. Backward can itself be differentiated; forward mode
        (``jvp``) has ``SoftplusForwardMode``.

    Returns:
        A new tensor of the input's shape and dtype.

    Raises:
        TypeError: if the input is no tensor, its dtype is integer, bool or complex, or beta
            or threshold is no number.
        ValueError: if beta is 0, infinite or NaN, or threshold is NaN, or one is too large for
            the dtype.
    """
    checked("softplus", input)
    for name, value in (("beta", beta), ("threshold", threshold)):
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise TypeError(
                f"softplus: {name} must be a number, got {type(value).__name__}; "
                f"for example {name}={1.0 if name == 'beta' else 20.0}"
            )
    dtype = check.wide(input)
    beta = check.held("softplus", "beta", beta, dtype, hint="1.0 gives log(1 + exp(input))")
    hint = "use 20.0, or math.inf for no limit"
    threshold = check.held("softplus", "threshold", threshold, dtype, hint=hint)
    output: torch.Tensor = Softplus.apply(input, beta, threshold)
    return output


# --8<-- [end:softplus]


def log1pexp(input: torch.Tensor) -> torch.Tensor:
    """Return log(1 + exp(input)), elementwise: ``Softplus`` with beta 1 and no threshold.

    Args:
        input: float tensor, as for ``softplus``.

    Saves for backward:
        The input: 4 bytes per element in float32.

    Conventions:
        Those of ``softplus``. Without the threshold, float64 is exact above 20, too.

    Returns:
        A new tensor of the input's shape and dtype.

    Raises:
        TypeError: if the input is no tensor, or its dtype is integer, bool or complex.

    Source:
        Mächler, "Accurately computing log(1 − exp(−|a|)), assessed by the Rmpfr package", 2012,
        https://CRAN.R-project.org/package=Rmpfr/vignettes/log1mexp-note.pdf.
    """
    checked("log1pexp", input)
    output: torch.Tensor = Softplus.apply(input, 1.0, math.inf)
    return output


def checked(name: str, input: object) -> None:
    """Refuse what is no tensor."""
    check.tensor(name, "input", input)
