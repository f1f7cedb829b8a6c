"""Rounding with a straight-through gradient: as if it were not there.

Contract: the values of ``torch.round``, and the gradient of the identity.

Formula, with the cotangent g = grad_output::

    output     = round(input), halves to the even neighbour
    grad_input = g
"""

# ruff: noqa: D102
# mypy: allow-untyped-defs, allow-incomplete-defs
# --8<-- [start:imports]
import torch

# --8<-- [end:imports]
from customgrad.functions import _checks as check
from customgrad.functions._direct import direct
from customgrad.functions._forward import one_level

__all__ = ["RoundSTE", "RoundSTEForwardMode", "round_ste"]


# --8<-- [start:RoundSTE]
class RoundSTE(torch.autograd.Function):
    """round(input) forward, the identity backward; nothing is kept."""

    generate_vmap_rule = True

    @staticmethod
    def forward(input):
        if not input.is_floating_point():
            raise TypeError(
                "RoundSTE: input must be a float tensor, "
                f"got {input.dtype}; use one such as torch.float32"
            )
        return input.round()

    @staticmethod
    def setup_context(ctx, inputs, output):
        pass

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output


# --8<-- [end:RoundSTE]
direct(RoundSTE)


# --8<-- [start:RoundSTEForwardMode]
class RoundSTEForwardMode(RoundSTE):
    """With a jvp, which torch.compile(fullgraph=True) refuses."""

    @staticmethod
    def jvp(ctx, tangent):
        return tangent.view_as(tangent)


# --8<-- [end:RoundSTEForwardMode]
direct(one_level(RoundSTEForwardMode))


# --8<-- [start:round_ste]
def round_ste(input: torch.Tensor) -> torch.Tensor:
    """Return round(input), elementwise, with the gradient of the identity, through ``RoundSTE``.

    Args:
        input: float tensor (float16, bfloat16, float32 or float64) of any shape and any
            strides; 0-d, empty and expanded tensors included.

    Saves for backward:
        Nothing: 0 bytes per element.

    Conventions:
        Halves go to the even neighbour, as in ``torch.round``. NaN and infinity stay what
        they are, and the gradient passes there, too. Backward is linear in the cotangent and
        does not depend on the input: the second derivative is 0. The gradient is not the
        derivative of the output, which is 0: ``gradcheck`` refuses it, and should. Forward
        mode (``jvp``), in which the tangent passes, has ``RoundSTEForwardMode``.

    Returns:
        A new tensor of the input's shape and dtype.

    Raises:
        TypeError: if the input is no tensor, or its dtype is integer, bool or complex.

    Source:
        Bengio, Léonard and Courville, "Estimating or propagating gradients through stochastic
        neurons for conditional computation", 2013, https://arxiv.org/abs/1308.3432.
    """
    check.tensor("round_ste", "input", input)
    output: torch.Tensor = RoundSTE.apply(input)
    return output


# --8<-- [end:round_ste]
