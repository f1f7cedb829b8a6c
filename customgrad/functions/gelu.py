"""GELU, exact or by tanh, that keeps its input alone.

Contract: the values and the gradients of ``torch.nn.functional.gelu``, for both of its ``approximate``.

Formula, with the normal distribution's Φ and its density φ, and the cotangent g = grad_output::

    output     = input * Φ(input)
    grad_input = g * (Φ(input) + input * φ(input))

With approximate="tanh", Φ(x) is replaced by (1 + tanh(u)) / 2 with u = √(2/π) (x + 0.044715 x³),
and φ by the derivative of that.
"""

# ruff: noqa: D102
# mypy: allow-untyped-defs, allow-incomplete-defs
# --8<-- [start:imports]
import torch
from torch.nn import functional as F

# --8<-- [end:imports]
from customgrad.functions import _checks as check
from customgrad.functions._direct import direct
from customgrad.functions._forward import one_level

__all__ = ["GELU", "GELUForwardMode", "gelu"]


# --8<-- [start:GELU]
class GELU(torch.autograd.Function):
    """input * Φ(input), exact ("none") or by "tanh"."""

    generate_vmap_rule = True

    @staticmethod
    def forward(input, approximate="none"):
        if not input.is_floating_point():
            raise TypeError(
                "GELU: input must be a float tensor, "
                f"got {input.dtype}; use one such as torch.float32"
            )
        return F.gelu(input, approximate=approximate)

    @staticmethod
    def setup_context(ctx, inputs, output):
        input, ctx.approximate = inputs
        ctx.save_for_backward(input)

    @staticmethod
    def backward(ctx, grad_output):
        (input,) = ctx.saved_tensors
        # Left out, approximate would be "none" here, whatever
        # forward computed.
        grad_input = torch.ops.aten.gelu_backward(
            grad_output,
            input,
            approximate=ctx.approximate,
        )
        return grad_input, None


# --8<-- [end:GELU]
direct(GELU)


# --8<-- [start:GELUForwardMode]
class GELUForwardMode(GELU):
    """GELU with a jvp, which torch.compile(fullgraph=True) refuses."""

    @staticmethod
    def setup_context(ctx, inputs, output):
        input, ctx.approximate = inputs
        ctx.save_for_backward(input)
        ctx.save_for_forward(input)

    @staticmethod
    def jvp(ctx, tangent, _):
        (input,) = ctx.saved_tensors
        # Each element has one slope, whichever way it is used.
        return torch.ops.aten.gelu_backward(
            tangent,
            input,
            approximate=ctx.approximate,
        )


# --8<-- [end:GELUForwardMode]
direct(one_level(GELUForwardMode))


# --8<-- [start:gelu]
def gelu(input: torch.Tensor, *, approximate: str = "none") -> torch.Tensor:
    """Return input * Φ(input), elementwise, through ``GELU``.

    Args:
        input: float tensor (float16, bfloat16, float32 or float64) of any shape and any
            strides; 0-d, empty and expanded tensors included.
        approximate: "none" for the exact Φ, by erf, or "tanh" for the approximation that
            many language models were trained with.

    Saves for backward:
        The input: as many bytes per element as its dtype has, 4 in float32. Written out,
        autograd keeps three or more tensors of that size.

    Conventions:
        The slope at 0 is 1/2. NaN is carried. At infinity values and slopes are torch's own,
        NaN among them. Empty tensors give empty tensors. Backward can itself be
        differentiated; forward mode (``jvp``) has ``GELUForwardMode``.

    Returns:
        A new tensor of the input's shape and dtype.

    Raises:
        TypeError: if the input is no tensor, or its dtype is integer, bool or complex.
        ValueError: if approximate is neither "none" nor "tanh".

    Source:
        Hendrycks and Gimpel, "Gaussian error linear units (GELUs)", 2016,
        https://arxiv.org/abs/1606.08415.
    """
    check.tensor("gelu", "input", input)
    if approximate not in ("none", "tanh"):
        raise ValueError(
            f"gelu: approximate must be 'none' or 'tanh', got {check.said(approximate)}; "
            "'none' is exact, 'tanh' what many language models were trained with"
        )
    output: torch.Tensor = GELU.apply(input, approximate)
    return output


# --8<-- [end:gelu]
