"""The cube, whose backward computes what it needs again from the saved input.

Contract: the values and the gradients of ``torch.pow(input, 3)``.

Formula, with the cotangent g = grad_output::

    output     = input³
    grad_input = g * 3 * input²
"""

# ruff: noqa: D102
# mypy: allow-untyped-defs, allow-incomplete-defs
# --8<-- [start:imports]
import torch

# --8<-- [end:imports]
from customgrad.functions import _checks as check
from customgrad.functions._direct import direct
from customgrad.functions._forward import one_level

__all__ = ["Cube", "CubeForwardMode", "cube"]


# --8<-- [start:Cube]
class Cube(torch.autograd.Function):
    """input³; only the input is kept."""

    generate_vmap_rule = True

    @staticmethod
    def forward(input):
        if not input.is_floating_point():
            raise TypeError(
                "Cube: input must be a float tensor, "
                f"got {input.dtype}; use one such as torch.float32"
            )
        return input.pow(3)

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs)

    @staticmethod
    def backward(ctx, grad_output):
        (input,) = ctx.saved_tensors
        # Computed here, the square has a graph that leads to input.
        return grad_output * (3 * input.pow(2))


# --8<-- [end:Cube]
direct(Cube)


# --8<-- [start:CubeForwardMode]
class CubeForwardMode(Cube):
    """Cube with a jvp, which torch.compile(fullgraph=True) refuses."""

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs)
        ctx.save_for_forward(*inputs)

    @staticmethod
    def jvp(ctx, tangent):
        (input,) = ctx.saved_tensors
        return tangent * (3 * input.pow(2))


# --8<-- [end:CubeForwardMode]
direct(one_level(CubeForwardMode))


# --8<-- [start:cube]
def cube(input: torch.Tensor) -> torch.Tensor:
    """Return input³, elementwise, through ``Cube``.

    Args:
        input: float tensor (float16, bfloat16, float32 or float64) of any shape and any
            strides; 0-d, empty and expanded tensors included.

    Saves for backward:
        The input: as many bytes per element as its dtype has, 4 in float32. Written as
        ``x * x * x``, autograd keeps the square, too.

    Conventions:
        The slope at 0 is 0. NaN is carried, and at either infinity the slope is infinity:
        torch's own values. Empty tensors give empty tensors. Backward can itself be
        differentiated, since it computes the square from the saved input; forward mode
        (``jvp``) has ``CubeForwardMode``.

    Returns:
        A new tensor of the input's shape and dtype.

    Raises:
        TypeError: if the input is no tensor, or its dtype is integer, bool or complex.
    """
    check.tensor("cube", "input", input)
    output: torch.Tensor = Cube.apply(input)
    return output


# --8<-- [end:cube]
