"""The hyperbolic sine, which returns its intermediate as a second output.

Contract: the values and the gradients of ``torch.sinh``.

Formula, with the cotangents g and h of the two outputs::

    output, slope = sinh(input), cosh(input)
    grad_input    = g * slope + h * output
"""

# ruff: noqa: D102
# mypy: allow-untyped-defs, allow-incomplete-defs
# --8<-- [start:imports]
import torch

# --8<-- [end:imports]
from customgrad.functions import _checks as check
from customgrad.functions._direct import direct

__all__ = ["Sinh", "sinh"]


# --8<-- [start:Sinh]
class Sinh(torch.autograd.Function):
    """(sinh(input), cosh(input)); both are kept, the input is not."""

    generate_vmap_rule = True

    @staticmethod
    def forward(input):
        if not input.is_floating_point():
            raise TypeError(
                "Sinh: input must be a float tensor, "
                f"got {input.dtype}; use one such as torch.float32"
            )
        # cosh is what backward wants. As an output it has a graph.
        return input.sinh(), input.cosh()

    @staticmethod
    def setup_context(ctx, inputs, outputs):
        ctx.save_for_backward(*outputs)
        ctx.set_materialize_grads(False)

    @staticmethod
    def backward(ctx, grad_output, grad_slope):
        output, slope = ctx.saved_tensors
        grad_input = None
        if grad_output is not None:
            grad_input = grad_output * slope
        if grad_slope is not None:  # a second derivative
            part = grad_slope * output
            if grad_input is not None:
                part = part + grad_input
            grad_input = part
        return grad_input


# --8<-- [end:Sinh]
direct(Sinh)


# --8<-- [start:sinh]
def sinh(input: torch.Tensor) -> torch.Tensor:
    """Return the hyperbolic sine of each element, through ``Sinh``, without its second output.

    Args:
        input: float tensor (float16, bfloat16, float32 or float64) of any shape and any
            strides; 0-d, empty and expanded tensors included.

    Saves for backward:
        sinh(input) and cosh(input): twice as many bytes per element as the dtype has, 8 in
        float32, of which the first is the caller's anyway. Backward computes neither again.

    Conventions:
        At either infinity the output is the infinity of the same sign, and the slope
        infinity. NaN is carried: torch's own values. Empty tensors give empty tensors. A
        change of the output in place is noticed by autograd and is an error in backward.
        Backward can itself be differentiated, since what it needs has a graph. torch.compile
        hands out zeros for the unused second output: where sinh is infinite, the compiled
        slope is then NaN, as 0 times infinity is.

    Returns:
        A new tensor of the input's shape and dtype.

    Raises:
        TypeError: if the input is no tensor, or its dtype is integer, bool or complex.
    """
    check.tensor("sinh", "input", input)
    output: torch.Tensor
    output, _ = Sinh.apply(input)
    return output


# --8<-- [end:sinh]
