"""Sorting with its gradient: values, and integer indices that have none.

Contract: the outputs and the gradients of ``torch.sort``.

Formula, with the cotangent g = grad_output of the values, along ``dim``::

    values[i]              = input[indices[i]]
    grad_input[indices[i]] = g[i]
"""

# ruff: noqa: D102
# mypy: allow-untyped-defs, allow-incomplete-defs
# --8<-- [start:imports]
import torch

# --8<-- [end:imports]
from customgrad.functions import _checks as check
from customgrad.functions._direct import direct

__all__ = ["Sort", "sort"]


# --8<-- [start:Sort]
class Sort(torch.autograd.Function):
    """Sorted values and where they stood; the indices are kept."""

    generate_vmap_rule = True

    @staticmethod
    def forward(input, dim, descending, stable):
        if not input.is_floating_point():
            raise TypeError(
                "Sort: input must be a float tensor, "
                f"got {input.dtype}; use one such as torch.float32"
            )
        order = {"descending": descending, "stable": stable}
        values, indices = torch.sort(input, dim=dim, **order)
        return values, indices

    @staticmethod
    def setup_context(ctx, inputs, outputs):
        _, indices = outputs
        ctx.mark_non_differentiable(indices)
        # Or backward is handed int64 zeros for the indices.
        ctx.set_materialize_grads(False)
        ctx.save_for_backward(indices)
        ctx.dim = inputs[1]

    @staticmethod
    def backward(ctx, grad_values, _):
        if grad_values is None:
            return None, None, None, None
        (indices,) = ctx.saved_tensors
        # Every place is written once: what stood there is no matter.
        grad_input = grad_values.scatter(ctx.dim, indices, grad_values)
        return grad_input, None, None, None


# --8<-- [end:Sort]
direct(Sort)


# --8<-- [start:sort]
def sort(
    input: torch.Tensor, dim: int = -1, descending: bool = False, stable: bool = False
) -> tuple[torch.Tensor, torch.Tensor]:
    """Sort along one dimension, through ``Sort``.

    Args:
        input: float tensor (float16, bfloat16, float32 or float64) of any shape and any
            strides; 0-d, empty and expanded tensors included.
        dim: the dimension to sort along; the last if not given.
        descending: from the largest to the smallest.
        stable: equal elements keep their order.

    Saves for backward:
        The indices, 8 bytes per element whatever the input's dtype, which are the caller's
        anyway.

    Conventions:
        NaN is greater than every number. Of equal elements, each has the gradient of the
        place it was sorted to; which of them goes where is torch's choice unless ``stable``.
        Empty tensors give empty tensors, and a 0-d tensor is sorted already. The indices have
        no gradient. Backward is linear in the cotangent, and can itself be differentiated.

    Returns:
        The values, of the input's shape and dtype, and the indices, int64 of the same shape.

    Raises:
        TypeError: if the input is no tensor, its dtype is integer, bool or complex, dim is
            no int, or a flag is no bool.
        ValueError: if the input has no dimension dim.
    """
    check.tensor("sort", "input", input)
    check.flag("sort", "descending", descending)
    check.flag("sort", "stable", stable)
    check.whole("sort", "dim", dim, "-1 is the last dimension")
    last = max(input.ndim, 1) - 1
    if not -last - 1 <= dim <= last:
        raise ValueError(
            f"sort: dim must be from {-last - 1} to {last}, got {check.said(dim)}; "
            f"input has shape {tuple(input.shape)}"
        )
    values, indices = Sort.apply(input, dim, descending, stable)
    return values, indices


# --8<-- [end:sort]
