"""GELU and a linear layer in one, which keeps what goes into GELU and computes GELU again.

Contract: the values and the gradients of ``linear(gelu(input), weight, bias)``.

Formula, with H = gelu(input) as (N, in), W = weight as (out, in) and the cotangent
G = grad_output as (N, out), where N is the product of all leading dimensions::

    output      = H Wᵀ + bias
    grad_input  = (G W) * gelu'(input)
    grad_weight = Gᵀ H, with H computed again
    grad_bias   = the sum of G's rows
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

__all__ = ["GELULinear", "gelu_linear"]


# --8<-- [start:GELULinear]
def rows(tensor):
    """Reshape (..., n) to (N, n): leading dimensions are one batch."""
    *leading, n = tensor.shape
    return tensor.reshape(math.prod(leading), n)


class GELULinear(torch.autograd.Function):
    """gelu(input) @ weight.T + bias; gelu(input) is not kept."""

    generate_vmap_rule = True

    @staticmethod
    def forward(input, weight, bias, approximate):
        if not input.is_floating_point():
            raise TypeError(
                "GELULinear: input must be a float tensor, "
                f"got {input.dtype}; use one such as torch.float32"
            )
        hidden = F.gelu(input, approximate=approximate)
        return F.linear(hidden.to(weight.dtype), weight, bias)

    @staticmethod
    def setup_context(ctx, inputs, output):
        input, weight, _, ctx.approximate = inputs
        needs_input, needs_weight, *_ = ctx.needs_input_grad
        # The bias needs neither, the weight needs no weight.
        ctx.save_for_backward(
            input if needs_input or needs_weight else None,
            weight if needs_input else None,
        )

    @staticmethod
    def backward(ctx, grad_output):
        input, weight = ctx.saved_tensors
        needs_input, needs_weight, needs_bias, _ = ctx.needs_input_grad
        how = {"approximate": ctx.approximate}
        grad_input = grad_weight = grad_bias = None
        if needs_weight:
            hidden = F.gelu(input, **how).to(grad_output.dtype)
            grad_weight = rows(grad_output).T @ rows(hidden)
            del hidden  # before the next tensor of its size
        if needs_input:
            # This kernel has a derivative: no second way is needed.
            kernel = torch.ops.aten.gelu_backward
            grad_hidden = (grad_output @ weight).to(input.dtype)
            grad_input = kernel(grad_hidden, input, **how)
        if needs_bias:
            grad_bias = rows(grad_output).sum(0)
        return grad_input, grad_weight, grad_bias, None


# --8<-- [end:GELULinear]
direct(GELULinear)


# --8<-- [start:gelu_linear]
def gelu_linear(
    input: torch.Tensor,
    weight: torch.Tensor,
    bias: torch.Tensor | None = None,
    *,
    approximate: str = "none",
) -> torch.Tensor:
    """Return ``linear(gelu(input), weight, bias)`` over the last dimension, through ``GELULinear``.

    Args:
        input: float tensor (..., in): what the layer before returned, and not yet activated.
        weight: (out, in), of the input's dtype.
        bias: (out,), of the input's dtype, or None.
        approximate: "none" or "tanh", as in ``F.gelu``.

    Saves for backward:
        The input if it or the weight needs a gradient, and the weight if the input needs one, by
        reference: 4 bytes per element of each in float32. gelu(input), which the two layers keep
        besides, is computed again.

    Conventions:
        No gradient is computed for what needs none. NaN is carried, empty batches give gradients
        of 0 for weight and bias. Backward can itself be differentiated. Under autocast the
        product is computed in autocast's dtype, as ``F.linear``'s is.

    Returns:
        A new tensor (..., out) of the input's dtype.

    Raises:
        TypeError: if an argument is no float tensor, or the dtypes differ.
        ValueError: if the shapes do not fit, or for another approximation.

    Source:
        Hendrycks and Gimpel, "Gaussian error linear units (GELUs)", 2016,
        https://arxiv.org/abs/1606.08415.
    """
    arguments = {"input": input, "weight": weight} | ({} if bias is None else {"bias": bias})
    autocast = False
    for name, value in arguments.items():
        check.floats("gelu_linear", name, value)
        autocast = check.autocast(input) and input.dtype != torch.float64
        if not autocast:
            check.same("gelu_linear", name, value, input)
    if weight.ndim != 2 or input.shape[-1:] != weight.shape[1:]:
        raise ValueError(
            "gelu_linear: weight must have shape (out, in) where input has (..., in), got "
            f"{tuple(weight.shape)} and {tuple(input.shape)}; one row for each output feature"
        )
    if bias is not None and bias.shape != weight.shape[:1]:
        raise ValueError(
            f"gelu_linear: bias must have shape (out,) = {tuple(weight.shape[:1])}, got "
            f"{tuple(bias.shape)}; one number for each row of weight"
        )
    if approximate not in ("none", "tanh"):
        raise ValueError(
            f'gelu_linear: approximate must be "none" or "tanh", got {check.said(approximate)}; '
            "take one of the two"
        )
    if autocast:  # Here, and not inside: backward runs without autocast.
        dtype = torch.get_autocast_dtype(input.device.type)
        weight = weight.to(dtype)
        bias = None if bias is None else bias.to(dtype)
    output: torch.Tensor = GELULinear.apply(input, weight, bias, approximate)
    return output


# --8<-- [end:gelu_linear]
