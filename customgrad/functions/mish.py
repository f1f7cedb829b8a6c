"""Mish that keeps its input alone and computes the rest again.

Contract: the values and the gradients of ``torch.nn.functional.mish``.

Formula, with t = tanh(softplus(input)), s = sigmoid(input) and the cotangent g = grad_output::

    output     = input * t
    grad_input = g * (t + input * s * (1 - t²))
"""

# ruff: noqa: D102
# mypy: allow-untyped-defs, allow-incomplete-defs
# --8<-- [start:imports]
import torch
from torch.nn import functional as F

# --8<-- [end:imports]
from customgrad.functions import _checks as check
from customgrad.functions._direct import direct

__all__ = ["Mish", "mish"]


# --8<-- [start:Mish]
class Mish(torch.autograd.Function):
    """input * tanh(softplus(input)); only the input is kept."""

    generate_vmap_rule = True

    @staticmethod
    def forward(input):
        if not input.is_floating_point():
            raise TypeError(
                "Mish: input must be a float tensor, "
                f"got {input.dtype}; use one such as torch.float32"
            )
        return F.mish(input)

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs)

    @staticmethod
    def backward(ctx, grad_output):
        (input,) = ctx.saved_tensors
        if torch.is_grad_enabled():
            # Someone differentiates this backward: the kernel below
            # has no derivative, these operations have one.
            t = torch.tanh(F.softplus(input))
            s = torch.sigmoid(input)
            return grad_output * (t + input * s * (1 - t * t))
        return torch.ops.aten.mish_backward(grad_output, input)


# --8<-- [end:Mish]
direct(Mish)


# --8<-- [start:mish]
def mish(input: torch.Tensor) -> torch.Tensor:
    """Return input * tanh(softplus(input)), elementwise, through ``Mish``.

    Args:
        input: float tensor (float16, bfloat16, float32 or float64) of any shape and any
            strides; 0-d, empty and expanded tensors included.

    Saves for backward:
        The input: as many bytes per element as its dtype has, 4 in float32. Written as
        ``x * torch.tanh(F.softplus(x))``, autograd keeps two tensors of that size.

    Conventions:
        The slope at 0 is 3/5. NaN is carried. At infinity values and slopes are torch's own,
        NaN among them. Empty tensors give empty tensors. Backward can itself be
        differentiated, by a formula of operations that have derivatives; forward mode
        (``jvp``) wants a subclass, as ``SiLUForwardMode`` is one.

    Returns:
        A new tensor of the input's shape and dtype.

    Raises:
        TypeError: if the input is no tensor, or its dtype is integer, bool or complex.

    Source:
        Misra, "Mish: a self regularized non-monotonic activation function", BMVC 2020,
        https://arxiv.org/abs/1908.08681.
    """
    check.tensor("mish", "input", input)
    output: torch.Tensor = Mish.apply(input)
    return output


# --8<-- [end:mish]
