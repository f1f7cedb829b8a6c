"""Scale and shift, of which either may be left out.

Contract: the values and the gradients of ``input * weight + bias``, where a weight or a bias of
None is left out.

Formula, with the cotangent g = grad_output, sums being over the dimensions in which weight or
bias was broadcast::

    output      = input * weight + bias
    grad_input  = g * weight
    grad_weight = the sum of g * input, in weight's shape
    grad_bias   = the sum of g, in bias's shape
"""

# ruff: noqa: D102
# mypy: allow-untyped-defs, allow-incomplete-defs
# --8<-- [start:imports]
import torch

# --8<-- [end:imports]
from customgrad.functions import _checks as check
from customgrad.functions._direct import direct

__all__ = ["Affine", "affine"]


# --8<-- [start:Affine]
class Affine(torch.autograd.Function):
    """input * weight + bias; weight and bias may be None."""

    generate_vmap_rule = True

    @staticmethod
    def forward(input, weight=None, bias=None):
        if not input.is_floating_point():
            raise TypeError(
                "Affine: input must be a float tensor, "
                f"got {input.dtype}; use one such as torch.float32"
            )
        if weight is None:
            return input.clone() if bias is None else input + bias
        if bias is None:
            return input * weight
        return torch.addcmul(bias, input, weight)

    @staticmethod
    def setup_context(ctx, inputs, output):
        input, weight, bias = inputs
        needs_input, needs_weight, needs_bias = ctx.needs_input_grad
        # Each of the two is needed only for the gradient of the other.
        ctx.save_for_backward(
            input if needs_weight else None,
            weight if needs_input else None,
        )
        ctx.weight_shape = weight.shape if needs_weight else None
        ctx.bias_shape = bias.shape if needs_bias else None

    @staticmethod
    def backward(ctx, grad_output):
        input, weight = ctx.saved_tensors
        needs_input, needs_weight, needs_bias = ctx.needs_input_grad
        grad_input = grad_weight = grad_bias = None
        if needs_input:
            grad_input = grad_output
            if weight is not None:
                grad_input = grad_output * weight
        if needs_weight:
            product = grad_output * input
            grad_weight = product.sum_to_size(ctx.weight_shape)
        if needs_bias:
            grad_bias = grad_output.sum_to_size(ctx.bias_shape)
        # Always three: None for what is absent or needs none.
        return grad_input, grad_weight, grad_bias


# --8<-- [end:Affine]
direct(Affine)


# --8<-- [start:affine]
def affine(
    input: torch.Tensor, weight: torch.Tensor | None = None, bias: torch.Tensor | None = None
) -> torch.Tensor:
    """Return ``input * weight + bias``, through ``Affine``.

    Args:
        input: float tensor (float16, bfloat16, float32 or float64) of any shape and any
            strides; 0-d, empty and expanded tensors included.
        weight: of the input's dtype, and of a shape that broadcasts to the input's: its last
            dimensions, with 1 where one number serves all; or None.
        bias: as weight, in a shape of its own; or None.

    Saves for backward:
        The input if the weight needs a gradient, the weight if the input needs one, by
        reference: in float32 4 bytes per element of each, and nothing new is allocated
        while both are alive anyway. The bias needs nothing saved.

    Conventions:
        No gradient is computed for what is absent or needs none. With neither weight nor
        bias the output is a copy. NaN and infinity go through the product and the sum. Empty
        tensors give empty tensors, and gradients of 0 for weight and bias. Sums of half
        precision are accumulated in float32. Backward can itself be differentiated.

    Returns:
        A new tensor of the input's shape and dtype.

    Raises:
        TypeError: if an argument is no tensor, its dtype is integer, bool or complex, or the
            dtypes differ outside autocast.
        ValueError: if weight or bias does not broadcast to the input's shape.
    """
    check.tensor("affine", "input", input)
    for name, value in (("input", input), ("weight", weight), ("bias", bias)):
        if value is None:
            continue
        if not isinstance(value, torch.Tensor):
            raise TypeError(
                f"affine: {name} must be a float tensor or None, got {type(value).__name__}; "
                "make one with torch.tensor(...)"
            )
        check.floats("affine", name, value, like=input)
        # From the right, each dimension is the input's or 1.
        pairs = zip(reversed(value.shape), reversed(input.shape), strict=False)
        if value.ndim > input.ndim or any(n not in (1, size) for n, size in pairs):
            raise ValueError(
                f"affine: {name} must broadcast to the shape of input, {tuple(input.shape)}, got "
                f"{tuple(value.shape)}; give it input's last dimensions, or 1 in place of one"
            )
    output: torch.Tensor = Affine.apply(input, weight, bias)
    return output


# --8<-- [end:affine]
