"""LeakyReLU that keeps its output: between layers, which keep that anyway, this costs nothing.

Contract: the values and the gradients of ``torch.nn.functional.leaky_relu``, for slopes above 0.

Formula, with a = negative_slope and the cotangent g = grad_output::

    output     = input where input > 0, a * input elsewhere
    grad_input = g where output > 0, a * g elsewhere

For a > 0 the output has the sign of the input, so backward may ask either of them.
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

__all__ = ["LeakyReLU", "leaky_relu"]


# --8<-- [start:LeakyReLU]
class LeakyReLU(torch.autograd.Function):
    """input, or negative_slope * input below 0; keeps the output."""

    generate_vmap_rule = True

    @staticmethod
    def forward(input, negative_slope=0.01):
        if not input.is_floating_point():
            raise TypeError(
                "LeakyReLU: input must be a float tensor, "
                f"got {input.dtype}; use one such as torch.float32"
            )
        if not 0 < negative_slope < math.inf:
            # At 0 or below, the output does not tell the sign.
            raise ValueError(
                "LeakyReLU: negative_slope must be above 0 and "
                f"finite, got {negative_slope}; for 0 take a ReLU, "
                "below 0 torch.nn.functional.leaky_relu"
            )
        return F.leaky_relu(input, negative_slope)

    @staticmethod
    def setup_context(ctx, inputs, output):
        _, ctx.negative_slope = inputs
        ctx.save_for_backward(output)

    @staticmethod
    def backward(ctx, grad_output):
        (output,) = ctx.saved_tensors
        grad_input = torch.ops.aten.leaky_relu_backward(
            grad_output,
            output,
            ctx.negative_slope,
            True,  # the tensor before is the output
        )
        # One result an argument: a number has no gradient.
        return grad_input, None


# --8<-- [end:LeakyReLU]
direct(LeakyReLU)


# --8<-- [start:leaky_relu]
def leaky_relu(input: torch.Tensor, *, negative_slope: float = 0.01) -> torch.Tensor:
    """Return input above 0 and negative_slope * input elsewhere, through ``LeakyReLU``.

    Args:
        input: float tensor (float16, bfloat16, float32 or float64) of any shape and any
            strides; 0-d, empty and expanded tensors included.
        negative_slope: a finite number above 0.

    Saves for backward:
        The output: as many bytes per element as its dtype has, 4 in float32. Nothing new
        is kept where the next operation keeps it, too, as a linear layer does.
        ``torch.nn.functional.leaky_relu`` keeps its input, unless it works in place.

    Conventions:
        The slope at 0 and at -0.0 is negative_slope. NaN is carried, and its gradient is
        negative_slope times the cotangent: torch's own values. Empty tensors give empty
        tensors. Backward can itself be differentiated. The output must not be changed in
        place before backward has run; autograd notices and raises.

    Returns:
        A new tensor of the input's shape and dtype.

    Raises:
        TypeError: if the input is no tensor, its dtype is integer, bool or complex, or
            negative_slope is no number.
        ValueError: if negative_slope is 0, negative, infinite or NaN, or too large for the dtype.

    Source:
        Maas, Hannun and Ng, "Rectifier nonlinearities improve neural network acoustic
        models", ICML Workshop on Deep Learning for Audio, Speech and Language Processing, 2013.
    """
    check.tensor("leaky_relu", "input", input)
    if isinstance(negative_slope, bool) or not isinstance(negative_slope, (int, float)):
        raise TypeError(
            f"leaky_relu: negative_slope must be a number, got {type(negative_slope).__name__}; "
            "for example negative_slope=0.01"
        )
    negative_slope = check.held(
        "leaky_relu", "negative_slope", negative_slope, check.wide(input), hint="0.01 is usual"
    )
    output: torch.Tensor = LeakyReLU.apply(input, negative_slope)
    return output


# --8<-- [end:leaky_relu]
