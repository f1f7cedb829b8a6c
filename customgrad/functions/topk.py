"""The k largest elements with their gradient, and integer indices that have none.

Contract: the outputs and the gradients of ``torch.topk``.

Formula, with the cotangent g = grad_output of the values, along ``dim``::

    values[i]              = input[indices[i]]
    grad_input[indices[i]] = g[i], and 0 elsewhere
"""

# ruff: noqa: D102
# mypy: allow-untyped-defs, allow-incomplete-defs
# --8<-- [start:imports]
import torch

# --8<-- [end:imports]
from customgrad.functions import _checks as check
from customgrad.functions._direct import direct

__all__ = ["TopK", "topk"]


# --8<-- [start:TopK]
class TopK(torch.autograd.Function):
    """The k largest and where they stood; the indices are kept."""

    generate_vmap_rule = True

    @staticmethod
    def forward(input, k, dim, largest, sorted):
        if not input.is_floating_point():
            raise TypeError(
                "TopK: input must be a float tensor, "
                f"got {input.dtype}; use one such as torch.float32"
            )
        values, indices = input.topk(k, dim, largest, sorted)
        return values, indices

    @staticmethod
    def setup_context(ctx, inputs, outputs):
        input, _, dim, _, _ = inputs
        _, indices = outputs
        ctx.mark_non_differentiable(indices)
        # Or backward is handed int64 zeros for the indices.
        ctx.set_materialize_grads(False)
        ctx.save_for_backward(indices)
        ctx.shape, ctx.dim = input.shape, dim

    @staticmethod
    def backward(ctx, grad_values, _):
        if grad_values is None:
            return None, None, None, None, None
        (indices,) = ctx.saved_tensors
        # One number, expanded: only scatter makes a full tensor.
        zeros = grad_values.new_zeros(()).expand(ctx.shape)
        grad_input = zeros.scatter(ctx.dim, indices, grad_values)
        return grad_input, None, None, None, None


# --8<-- [end:TopK]
direct(TopK)


# --8<-- [start:topk]
def topk(
    input: torch.Tensor, k: int, dim: int = -1, largest: bool = True, sorted: bool = True
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the k largest elements along one dimension, through ``TopK``.

    Args:
        input: float tensor (float16, bfloat16, float32 or float64) of any shape and any
            strides; 0-d, empty and expanded tensors included.
        k: how many; from 0 to the size of the dimension (1 for a 0-d tensor).
        dim: the dimension to look along; the last if not given.
        largest: the k smallest if False.
        sorted: in order; if False, in whatever order they are found.

    Saves for backward:
        The indices, 8 bytes for each element of the result whatever the input's dtype, which
        are the caller's anyway.

    Conventions:
        NaN is greater than every number. Of equal elements at the boundary one is taken, by
        torch's choice, and has the whole gradient; the others have 0. (``amax`` shares it
        instead.) The indices have no gradient. Backward is linear in the cotangent, and can
        itself be differentiated.

    Returns:
        The values, of the input's shape with k in place of dim's size, and of its dtype, and
        the indices, int64 of the same shape.

    Raises:
        TypeError: if the input is no tensor, its dtype is integer, bool or complex, k or dim
            is no int, or a flag is no bool.
        ValueError: if the input has no dimension dim, or k does not fit into it.
    """
    check.tensor("topk", "input", input)
    check.flag("topk", "largest", largest)
    check.flag("topk", "sorted", sorted)
    check.whole("topk", "k", k, "pass a whole number")
    check.whole("topk", "dim", dim, "pass a whole number")
    last = max(input.ndim, 1) - 1
    if not -last - 1 <= dim <= last:
        raise ValueError(
            f"topk: dim must be from {-last - 1} to {last}, got {check.said(dim)}; "
            f"input has shape {tuple(input.shape)}"
        )
    size = input.shape[dim] if input.ndim else 1
    if not 0 <= k <= size:
        raise ValueError(
            f"topk: k must be from 0 to {size}, got {check.said(k)}; "
            f"dimension {dim} of input with shape {tuple(input.shape)} has no more"
        )
    values, indices = TopK.apply(input, k, dim, largest, sorted)
    return values, indices


# --8<-- [end:topk]
