"""The exponential, which saves its own output and is right to every order.

Contract: the values and the gradients of ``torch.exp``.

Formula, with the cotangent g = grad_output::

    output     = exp(input)
    grad_input = g * output
"""

# ruff: noqa: D102
# mypy: allow-untyped-defs, allow-incomplete-defs
# --8<-- [start:imports]
import torch

# --8<-- [end:imports]
from customgrad.functions import _checks as check
from customgrad.functions._direct import direct
from customgrad.functions._forward import one_level

__all__ = ["Exp", "ExpForwardMode", "exp"]


# --8<-- [start:Exp]
class Exp(torch.autograd.Function):
    """exp(input); only the output is kept."""

    generate_vmap_rule = True

    @staticmethod
    def forward(input):
        if not input.is_floating_point():
            raise TypeError(
                "Exp: input must be a float tensor, "
                f"got {input.dtype}; use one such as torch.float32"
            )
        return input.exp()

    @staticmethod
    def setup_context(ctx, inputs, output):
        # The very tensor that forward returns: no copy, no detach.
        ctx.save_for_backward(output)

    @staticmethod
    def backward(ctx, grad_output):
        # It comes back with its graph, which leads to this Function.
        (output,) = ctx.saved_tensors
        return grad_output * output


# --8<-- [end:Exp]
direct(Exp)


# --8<-- [start:ExpForwardMode]
class ExpForwardMode(Exp):
    """Exp with a jvp, which torch.compile(fullgraph=True) refuses."""

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(output)
        ctx.save_for_forward(output)

    @staticmethod
    def jvp(ctx, tangent):
        (output,) = ctx.saved_tensors
        return tangent * output


# --8<-- [end:ExpForwardMode]
direct(one_level(ExpForwardMode))


# --8<-- [start:exp]
def exp(input: torch.Tensor) -> torch.Tensor:
    """Return the exponential of each element, through ``Exp``.

    Args:
        input: float tensor (float16, bfloat16, float32 or float64) of any shape and any
            strides; 0-d, empty and expanded tensors included.

    Saves for backward:
        The output, which is the caller's anyway: as many bytes per element as its dtype
        has, 4 in float32, and nothing more while the output is alive. The input may go.

    Conventions:
        exp(-infinity) is 0 and has slope 0, exp(infinity) is infinity and so is its slope.
        NaN is carried: torch's own values. Empty tensors give empty tensors. A change of the
        output in place is noticed by autograd and is an error in backward. Backward can
        itself be differentiated; forward mode (``jvp``) has ``ExpForwardMode``.

    Returns:
        A new tensor of the input's shape and dtype.

    Raises:
        TypeError: if the input is no tensor, or its dtype is integer, bool or complex.
    """
    check.tensor("exp", "input", input)
    output: torch.Tensor = Exp.apply(input)
    return output


# --8<-- [end:exp]
