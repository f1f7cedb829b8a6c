"""SiLU (swish) that keeps its input alone and computes the rest again.

Contract: the values and the gradients of ``torch.nn.functional.silu``.

Formula, with s = sigmoid(input) and the cotangent g = grad_output::

    output     = input * s
    grad_input = g * s * (1 + input * (1 - s))
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

__all__ = ["SiLU", "SiLUForwardMode", "silu"]


# --8<-- [start:SiLU]
class SiLU(torch.autograd.Function):
    """input * sigmoid(input); only the input is kept."""

    generate_vmap_rule = True

    @staticmethod
    def forward(input):
        if not input.is_floating_point():
            raise TypeError(
                "SiLU: input must be a float tensor, "
                f"got {input.dtype}; use one such as torch.float32"
            )
        return F.silu(input)

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs)

    @staticmethod
    def backward(ctx, grad_output):
        (input,) = ctx.saved_tensors
        if torch.is_grad_enabled():
            # Someone differentiates this backward: the kernel below
            # has no derivative, these operations have one.
            s = torch.sigmoid(input)
            return grad_output * s * (1 + input * (1 - s))
        return torch.ops.aten.silu_backward(grad_output, input)


# --8<-- [end:SiLU]
direct(SiLU)


# --8<-- [start:SiLUForwardMode]
class SiLUForwardMode(SiLU):
    """SiLU with a jvp, which torch.compile(fullgraph=True) refuses."""

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs)
        ctx.save_for_forward(*inputs)

    @staticmethod
    def jvp(ctx, tangent):
        (input,) = ctx.saved_tensors
        s = torch.sigmoid(input)
        return tangent * s * (1 + input * (1 - s))


# --8<-- [end:SiLUForwardMode]
direct(one_level(SiLUForwardMode))


# --8<-- [start:silu]
def silu(input: torch.Tensor) -> torch.Tensor:
    """Return input * sigmoid(input), elementwise, through ``SiLU``.

    Args:
        input: float tensor (float16, bfloat16, float32 or float64) of any shape and any
            strides; 0-d, empty and expanded tensors included.

    Saves for backward:
        The input: as many bytes per element as its dtype has, 4 in float32. Written as
        ``x * torch.sigmoid(x)``, autograd keeps two tensors of that size.

    Conventions:
        The slope at 0 is 1/2. NaN is carried. At infinity the output is infinity and the
        slope NaN, at -infinity both are NaN: torch's own values. Empty tensors give empty
        tensors. Backward can itself be differentiated, by a formula of operations that have
        derivatives; forward mode (``jvp``) has ``SiLUForwardMode``.

    Returns:
        A new tensor of the input's shape and dtype.

    Raises:
        TypeError: if the input is no tensor, or its dtype is integer, bool or complex.

    Source:
        Elfwing, Uchibe and Doya, "Sigmoid-weighted linear units for neural network function
        approximation in reinforcement learning", Neural Networks 107, 2018,
        https://arxiv.org/abs/1702.03118.
    """
    check.tensor("silu", "input", input)
    output: torch.Tensor = SiLU.apply(input)
    return output


# --8<-- [end:silu]
