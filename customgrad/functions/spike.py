"""A spike with a surrogate gradient, for spiking neural networks.

Contract: 1 where the input is above 0, otherwise 0; the gradient of a smooth step.

Formula, with the cotangent g = grad_output and the steepness k = slope::

    output       = 1 if input > 0 else 0
    fast sigmoid   grad_input = g / (1 + k |input|)²
    arctan         grad_input = g * k/2 / (1 + (π/2 k input)²)
"""

# ruff: noqa: D102
# mypy: allow-untyped-defs, allow-incomplete-defs
# --8<-- [start:imports]
import math

import torch

# --8<-- [end:imports]
from customgrad.functions import _checks as check
from customgrad.functions._direct import direct

__all__ = ["Spike", "spike"]


# --8<-- [start:Spike]
class Spike(torch.autograd.Function):
    """1 above 0; backward as if the step were a smooth one."""

    generate_vmap_rule = True

    @staticmethod
    def forward(input, surrogate, slope):
        if not input.is_floating_point():
            raise TypeError(
                "Spike: input must be a float tensor, "
                f"got {input.dtype}; use one such as torch.float32"
            )
        if surrogate not in ("fast_sigmoid", "arctan"):
            raise ValueError(
                "Spike: surrogate must be 'fast_sigmoid' or 'arctan', "
                f"got {surrogate!r}; choose one of the two"
            )
        return torch.heaviside(input, input.new_zeros(()))

    @staticmethod
    def setup_context(ctx, inputs, output):
        input, ctx.surrogate, ctx.slope = inputs
        ctx.save_for_backward(input)

    @staticmethod
    def backward(ctx, grad_output):
        (input,) = ctx.saved_tensors
        # Squares soon exceed float16; in float32 1 / inf is 0, rightly.
        x = input if input.dtype == torch.float64 else input.float()
        if ctx.surrogate == "fast_sigmoid":
            root = 1 / (1 + ctx.slope * x.abs())
            slope = root * root
        else:
            # A finite z: the derivative of z * z is then a number.
            top = torch.finfo(x.dtype).max
            z = (math.pi / 2 * ctx.slope * x).clamp(-top, top)
            slope = ctx.slope / 2 / (1 + z * z)
        return (grad_output * slope).to(input.dtype), None, None


# --8<-- [end:Spike]
direct(Spike)

SLOPES = {"fast_sigmoid": 25.0, "arctan": 2.0}


# --8<-- [start:spike]
def spike(
    input: torch.Tensor, *, surrogate: str = "fast_sigmoid", slope: float | None = None
) -> torch.Tensor:
    """Return 1 where the input is above 0, with the gradient of a smooth step, through ``Spike``.

    Args:
        input: float tensor (float16, bfloat16, float32 or float64) of any shape and any
            strides; 0-d, empty and expanded tensors included. For a neuron: its membrane
            potential minus its threshold.
        surrogate: "fast_sigmoid" or "arctan", the step whose slope is taken.
        slope: its steepness, a finite number above 0; 25 for the fast sigmoid and 2 for
            arctan if not given, with which both have the slope 1 at 0.

    Saves for backward:
        The input: as many bytes per element as its dtype has, 4 in float32.

    Conventions:
        At 0 and at NaN there is no spike; at NaN the gradient is NaN. Backward is computed in
        float32, or float64, and far from 0 its slope goes to 0, at infinity, too. Backward is
        linear in the cotangent and can itself be differentiated; at 0 the fast sigmoid has
        a kink, and the derivative of its slope is taken as 0. The gradient is not the
        derivative of the output: ``gradcheck`` refuses it, and should.

    Returns:
        A new tensor of the input's shape and dtype.

    Raises:
        TypeError: if the input is no tensor, its dtype is integer, bool or complex, or slope
            is no number.
        ValueError: if surrogate is another one, or slope is not above 0, infinite or NaN,
            in float32 or in a wider dtype of the input.

    Source:
        Zenke and Ganguli, "SuperSpike: supervised learning in multilayer spiking neural
        networks", Neural Computation 30, 2018, https://arxiv.org/abs/1705.11146, for the fast
        sigmoid; Fang et al., "Incorporating learnable membrane time constant to enhance learning
        of spiking neural networks", ICCV 2021, https://arxiv.org/abs/2007.05785, for arctan.
    """
    check.tensor("spike", "input", input)
    if not isinstance(surrogate, str) or surrogate not in SLOPES:
        raise ValueError(
            f"spike: surrogate must be 'fast_sigmoid' or 'arctan', got {check.said(surrogate)}; "
            "choose one of the two"
        )
    if slope is None:
        slope = SLOPES[surrogate]
    hint = "25 and 2 are usual"
    slope = check.number("spike", "slope", slope, above=0.0, hint=hint, dtype=check.wide(input))
    output: torch.Tensor = Spike.apply(input, surrogate, slope)
    return output


# --8<-- [end:spike]
