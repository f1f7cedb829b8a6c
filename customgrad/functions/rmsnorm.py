"""RMSNorm that keeps its input and one number a row, and whose backward is one fast kernel.

Contract: the values and the gradients of ``torch.nn.functional.rms_norm`` over the last dimension.

Formula, for a row x of D elements with weight w and the cotangent g = grad_output, where mean is
taken over the row and n is the normalised row::

    rstd        = 1 / sqrt(mean(x²) + eps)
    n           = rstd x
    output      = n w
    grad_input  = rstd (g w - n mean(g w n))
    grad_weight = the sum of g n over all rows
"""

# ruff: noqa: D102
# mypy: allow-untyped-defs, allow-incomplete-defs
# --8<-- [start:imports]
import torch

# --8<-- [end:imports]
from customgrad.functions import _checks as check
from customgrad.functions._direct import direct

__all__ = ["RMSNorm", "rms_norm"]


# --8<-- [start:RMSNorm]
SMALL = 2**15  # elements for which the kernel is not worth it


class RMSNorm(torch.autograd.Function):
    """Rows over their root mean square; gives (output, rstd)."""

    generate_vmap_rule = True

    @staticmethod
    def forward(input, weight=None, eps=None):
        if not input.is_floating_point():
            raise TypeError(
                "RMSNorm: input must be a float tensor, "
                f"got {input.dtype}; use one such as torch.float32"
            )
        # Squares of float16 overflow: halves are summed in float32.
        wide = torch.promote_types(input.dtype, torch.float32)
        eps = torch.finfo(wide).eps if eps is None else eps
        x = input.to(wide)
        size = x.shape[-1]
        if size <= 16384:  # one pass; loses digits in longer rows
            norm = torch.linalg.vector_norm(x, dim=-1, keepdim=True)
            square = norm.square() / size
        else:
            square = x.square().mean(-1, keepdim=True)
        rstd = torch.rsqrt(square + eps)
        output = x * rstd
        if weight is not None:
            output = output * weight.to(wide)
        return output.to(input.dtype), rstd

    @staticmethod
    def setup_context(ctx, inputs, output):
        input, weight, eps = inputs
        rstd = output[1]
        ctx.eps = torch.finfo(rstd.dtype).eps if eps is None else eps
        needs_input, needs_weight, _ = ctx.needs_input_grad
        # An output, so that it may be saved; nobody's gradient.
        ctx.mark_non_differentiable(rstd)
        ctx.weight_dtype = None if weight is None else weight.dtype
        if needs_input or needs_weight:
            kept = weight if needs_input else None
            ctx.save_for_backward(input, kept, rstd)

    @staticmethod
    def backward(ctx, grad_output, _):
        input, weight, rstd = ctx.saved_tensors
        needs_input, needs_weight, _ = ctx.needs_input_grad
        x, g = input.to(rstd.dtype), grad_output.to(rstd.dtype)
        size = x.shape[-1]
        w = x.new_ones(size) if weight is None else weight.to(x.dtype)
        grad_input = grad_weight = None
        if torch.is_grad_enabled() or x.numel() < SMALL:
            # Someone differentiates this backward, and rstd, which
            # depends on the input, is computed again. Or there is
            # little to do, and the kernel below wakes every thread.
            square = x.square().mean(-1, keepdim=True)
            rstd = torch.rsqrt(square + ctx.eps)
            n, u = x * rstd, g * w
            if needs_input:
                along = (u * n).mean(-1, keepdim=True)
                grad_input = rstd * (u - n * along)
            if needs_weight:
                grad_weight = (g * n).sum_to_size(w.shape)
        else:
            # LayerNorm's kernel, told that the mean is 0. It subtracts
            # the mean of g w, which RMSNorm does not: added again.
            zeros = torch.zeros_like(rstd)
            wanted = [needs_input, needs_weight, False]
            kernel = torch.ops.aten.native_layer_norm_backward
            found = kernel(g, x, [size], zeros, rstd, w, None, wanted)
            grad_input, grad_weight, _ = found
            if needs_input:
                # mv, since autocast would have @ in bfloat16.
                flat = g.reshape(rstd.numel(), size)
                mean = torch.mv(flat, w / size).reshape(rstd.shape)
                grad_input += rstd * mean
        if grad_input is not None:
            grad_input = grad_input.to(input.dtype)
        if grad_weight is not None:
            grad_weight = grad_weight.to(ctx.weight_dtype)
        return grad_input, grad_weight, None


# --8<-- [end:RMSNorm]
direct(RMSNorm)


# --8<-- [start:rms_norm]
def rms_norm(
    input: torch.Tensor, weight: torch.Tensor | None = None, *, eps: float | None = None
) -> torch.Tensor:
    """Return each row over its root mean square, times the weight, through ``RMSNorm``.

    Args:
        input: float tensor (..., D) (float16, bfloat16, float32 or float64) of any strides; a
            row is its last dimension.
        weight: float tensor (D,), or None for ones. Its dtype may differ from the input's, as
            float32 weights of a bfloat16 model do.
        eps: what is added to the mean of the squares; at least 0. None stands for the machine
            epsilon of the dtype that is computed in: float64's for float64, else float32's.

    Saves for backward:
        The input, by reference, 4 bytes per element in float32, and one number a row.
        ``torch.nn.functional.rms_norm`` keeps a second tensor of the input's size on the CPU.

    Conventions:
        float16 and bfloat16 are computed in float32 and rounded once. A row of zeros gives
        zeros, and the slope 1 / sqrt(eps). A row that holds NaN or infinity is NaN where torch's
        is, and its gradient is NaN. Empty tensors give empty tensors, and no rows a weight
        gradient of 0. No gradient is computed for what needs none. Backward can itself be
        differentiated, by a formula of operations that have derivatives. Forward mode does not
        work.

    Returns:
        A new tensor of the input's shape and dtype. ``RMSNorm.apply`` also returns rstd, (..., 1).

    Raises:
        TypeError: if an argument is no tensor, a dtype is integer, bool or complex, or eps is no
            number.
        ValueError: if the input is 0-d, the weight's shape does not fit, or eps is negative,
            infinite or NaN.

    Source:
        Zhang and Sennrich, "Root mean square layer normalization", 2019,
        https://arxiv.org/abs/1910.07467.
    """
    number = check.norm("rms_norm", input, {"weight": weight}, 0 if eps is None else eps)
    output: torch.Tensor = RMSNorm.apply(input, weight, None if eps is None else number)[0]
    return output


# --8<-- [end:rms_norm]
