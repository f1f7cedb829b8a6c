"""LayerNorm by torch's own kernels, in a Function that can be changed.

Contract: the values and the gradients of ``torch.nn.functional.layer_norm`` over the last dimension.

Formula, for a row x with weight w, bias b and the cotangent g = grad_output, where mean is taken over
the row and n is the normalised row::

    rstd        = 1 / sqrt(mean((x - mean(x))²) + eps)
    n           = rstd (x - mean(x))
    output      = n w + b
    grad_input  = rstd (g w - mean(g w) - n mean(g w n))
    grad_weight = the sum of g n over all rows
    grad_bias   = the sum of g over all rows
"""

# ruff: noqa: D102
# mypy: allow-untyped-defs, allow-incomplete-defs
# --8<-- [start:imports]
import torch

# --8<-- [end:imports]
from customgrad.functions import _checks as check
from customgrad.functions._direct import direct

__all__ = ["LayerNorm", "layer_norm"]


# --8<-- [start:LayerNorm]
def widened(tensor, input, filled):
    """Return weight or bias in float32 or wider, made if None."""
    wide = torch.promote_types(input.dtype, torch.float32)
    if tensor is None:
        return input.new_full(input.shape[-1:], filled, dtype=wide)
    return tensor.to(wide)


class LayerNorm(torch.autograd.Function):
    """Standardised rows; gives (output, mean, rstd)."""

    generate_vmap_rule = True

    @staticmethod
    def forward(input, weight=None, bias=None, eps=1e-5):
        if not input.is_floating_point():
            raise TypeError(
                "LayerNorm: input must be a float tensor, "
                f"got {input.dtype}; use one such as torch.float32"
            )
        # With float32 weights, mean and rstd of halves are float32.
        w, b = widened(weight, input, 1), widened(bias, input, 0)
        size = input.shape[-1:]
        return torch.native_layer_norm(input, size, w, b, eps)

    @staticmethod
    def setup_context(ctx, inputs, output):
        input, weight, _, ctx.eps = inputs
        _, mean, rstd = output
        needs_input, needs_weight, *_ = ctx.needs_input_grad
        # Outputs, so that they may be saved; nobody's gradients.
        ctx.mark_non_differentiable(mean, rstd)
        ctx.dtypes = [t if t is None else t.dtype for t in inputs[:3]]
        if needs_input or needs_weight:
            kept = weight if needs_input else None
            ctx.save_for_backward(input, kept, mean, rstd)

    @staticmethod
    def backward(ctx, grad_output, *_):
        needs_input, needs_weight, needs_bias, _ = ctx.needs_input_grad
        grad_input = grad_weight = grad_bias = None
        size = grad_output.shape[-1:]
        if not (needs_input or needs_weight):
            grad_bias = grad_output.sum_to_size(size)
        elif not torch.is_grad_enabled():
            input, weight, mean, rstd = ctx.saved_tensors
            kernel = torch.ops.aten.native_layer_norm_backward
            w = widened(weight, input, 1)
            wanted = [needs_input, needs_weight, needs_bias]
            given = grad_output, input, size, mean, rstd, w, w
            grad_input, grad_weight, grad_bias = kernel(*given, wanted)
        else:
            # Someone differentiates this backward: mean and rstd are
            # computed again, since they depend on the input.
            input, weight, mean, rstd = ctx.saved_tensors
            x, g = input.to(rstd.dtype), grad_output.to(rstd.dtype)
            w = widened(weight, input, 1)
            centred = x - x.mean(-1, keepdim=True)
            square = centred.square().mean(-1, keepdim=True)
            rstd = torch.rsqrt(square + ctx.eps)
            n, u = centred * rstd, g * w
            if needs_input:
                along = (u * n).mean(-1, keepdim=True)
                across = u.mean(-1, keepdim=True)
                grad_input = rstd * (u - across - n * along)
            if needs_weight:
                grad_weight = (g * n).sum_to_size(size)
            if needs_bias:
                grad_bias = g.sum_to_size(size)
        grads = (grad_input, grad_weight, grad_bias)
        pairs = zip(grads, ctx.dtypes, strict=True)
        return *(g if g is None else g.to(d) for g, d in pairs), None


# --8<-- [end:LayerNorm]
direct(LayerNorm)


# --8<-- [start:layer_norm]
def layer_norm(
    input: torch.Tensor,
    weight: torch.Tensor | None = None,
    bias: torch.Tensor | None = None,
    *,
    eps: float = 1e-5,
) -> torch.Tensor:
    """Return each row less its mean, over its deviation, times weight plus bias, by ``LayerNorm``.

    Args:
        input: float tensor (..., D) (float16, bfloat16, float32 or float64) of any strides; a
            row is its last dimension.
        weight: float tensor (D,), or None for ones. Its dtype may differ from the input's.
        bias: float tensor (D,), or None for zeros. Its dtype may differ from the input's.
        eps: what is added to the variance; finite and at least 0.

    Saves for backward:
        The input, by reference, 4 bytes per element in float32, and two numbers a row: as
        ``torch.nn.functional.layer_norm`` does.

    Conventions:
        float16 and bfloat16 are computed in float32 and rounded once; mean and rstd are kept in
        float32, where torch rounds them to the input's dtype if the weight has it. A row of equal
        numbers gives the bias. A row with NaN or infinity is NaN. Empty tensors give empty
        tensors. No gradient is computed for what needs none. Backward can itself be
        differentiated, by a formula of operations that have derivatives. Forward mode does not
        work.

    Returns:
        A new tensor of the input's shape and dtype. ``LayerNorm.apply`` also returns the rows'
        means and 1 / deviations.

    Raises:
        TypeError: if an argument is no float tensor, or eps no number.
        ValueError: if shapes do not fit, or eps is out of range.

    Source:
        Ba, Kiros and Hinton, "Layer normalization", 2016, https://arxiv.org/abs/1607.06450.
    """
    eps = check.norm("layer_norm", input, {"weight": weight, "bias": bias}, eps)
    output: torch.Tensor = LayerNorm.apply(input, weight, bias, eps)[0]
    return output


# --8<-- [end:layer_norm]
