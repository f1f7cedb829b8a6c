"""Functions over lists and dicts of tensors, and one of them: the norm of everything in a tree.

Contract: the value of ``torch.nn.utils.get_total_norm``, with the gradients that it lacks.

Formula, with the cotangent g = grad_output and the tensors x₁, x₂, … of the tree::

    norm        = the square root of the sum of all squares
    grad_inputs = g * x₁ / norm, g * x₂ / norm, …, and 0 where norm is 0
"""

# ruff: noqa: D102
# mypy: allow-untyped-defs, allow-incomplete-defs
from typing import Any

# --8<-- [start:imports]
import torch

# --8<-- [end:imports]
from customgrad.functions import _checks as check
from customgrad.functions._direct import direct

__all__ = ["TreeNorm", "tree_apply", "tree_norm"]


# --8<-- [start:tree_apply]
def flatten(tree, where):
    """List (where, tensor) of nested lists, tuples and dicts."""
    if tree is None:
        return []
    if isinstance(tree, torch.Tensor):
        return [(where, tree)]
    if not isinstance(tree, (list, tuple, dict)):
        raise TypeError(
            f"{where} must be a tensor, None, or a list, tuple or dict "
            f"of those, got {type(tree).__name__}; take it out"
        )
    items = tree.items() if isinstance(tree, dict) else enumerate(tree)
    parts = [flatten(part, f"{where}[{key!r}]") for key, part in items]
    return [leaf for part in parts for leaf in part]


def rebuild(tree, tensors):
    """Put tensors, an iterator, in the places of a tree's own."""
    if tree is None or isinstance(tree, torch.Tensor):
        return None if tree is None else next(tensors)
    if isinstance(tree, dict):
        built = tree.copy()
        built.update({k: rebuild(v, tensors) for k, v in tree.items()})
        return built
    parts = [rebuild(part, tensors) for part in tree]
    if hasattr(tree, "_fields"):  # a named tuple
        return type(tree)(*parts)
    return type(tree)(parts)


def tree_apply(function, tree, *options):
    """Call function.apply(*options, *tensors), with a tree's tensors.

    Args:
        function: a subclass of torch.autograd.Function.
        tree: a tensor, None, or a list, tuple or dict of trees.
        options: what forward takes before the tensors.

    Returns:
        A tree like the given one, with the tensors of the tuple that
        function returned, or the one tensor that it returned.

    Raises:
        TypeError: if something else is in the tree.
        ValueError: if no tensor is in it, or the numbers differ.
    """
    if not hasattr(function, "apply"):
        raise TypeError(
            "tree_apply: function must be a subclass of Function, got "
            f"{function!r:.40}; pass the class"
        )
    tensors = [x for _, x in flatten(tree, "tree_apply: tree")]
    if not tensors:
        raise ValueError(
            "tree_apply: tree must hold a tensor, got none in "
            f"a {type(tree).__name__}; make no call for an empty tree"
        )
    result = function.apply(*options, *tensors)
    if not isinstance(result, tuple):
        return result
    if len(result) != len(tensors):
        raise ValueError(
            f"tree_apply: function must return one tensor, or one for "
            f"each of {len(tensors)} in tree, got {len(result)}; call "
            "function.apply on the tensors for other outputs"
        )
    return rebuild(tree, iter(result))


# --8<-- [end:tree_apply]


# --8<-- [start:TreeNorm]
class TreeNorm(torch.autograd.Function):
    """The norm of all elements of all tensors; inputs are kept."""

    generate_vmap_rule = True

    @staticmethod
    def forward(*tensors):
        for n, x in enumerate(tensors):
            if not x.is_floating_point():
                raise TypeError(
                    f"TreeNorm: tensors[{n}] must be a float tensor, "
                    f"got {x.dtype}; use one such as torch.float32"
                )
        norm, dtype = torch.linalg.vector_norm, tensors[0].dtype
        norms = []
        for x in tensors:
            dtype = torch.promote_types(dtype, x.dtype)
            # Half precision is rounded once, at the end.
            wide = torch.promote_types(x.dtype, torch.float32)
            norms.append(norm(x, dtype=wide))
        return norm(torch.stack(norms)).to(dtype)

    @staticmethod
    def setup_context(ctx, inputs, output):
        kept = []
        for x, needed in zip(inputs, ctx.needs_input_grad, strict=True):
            kept.append(x if needed else None)
        # Only tensors by themselves: save_for_backward takes no list.
        ctx.save_for_backward(output, *kept)

    @staticmethod
    def backward(ctx, grad_output):
        norm, *tensors = ctx.saved_tensors
        zero = norm == 0
        norm = norm.masked_fill(zero, 1)
        grad_output = grad_output.masked_fill(zero, 0)
        grads = []
        for x in tensors:
            if x is not None:
                x = (x / norm * grad_output).to(x.dtype)
            grads.append(x)
        return tuple(grads)


# --8<-- [end:TreeNorm]
direct(TreeNorm)


# --8<-- [start:tree_norm]
def tree_norm(tree: Any) -> torch.Tensor:
    """Return the norm of all elements of all tensors in a tree, through ``TreeNorm``.

    Args:
        tree: a float tensor (float16, bfloat16, float32 or float64) of any shape and any
            strides, or nested lists, tuples and dicts of such tensors and of None.

    Saves for backward:
        Each tensor that needs a gradient, by reference: in float32 4 bytes per element. The
        norm, one number, is the output.

    Conventions:
        Where the norm is 0, so are the gradients. NaN is carried; an infinite element has
        the gradient NaN. Empty tensors add nothing. Squares are summed in float32 at least,
        and float16 does not overflow before its norm does. Backward can itself be
        differentiated, except at a norm of 0, where the second derivative is given as 0.

    Returns:
        A 0-d tensor of the tensors' dtype, the widest if they differ.

    Raises:
        TypeError: if anything else is in the tree, or a dtype is integer, bool or complex.
        ValueError: if no tensor is in it.

    Source:
        Pascanu, Mikolov and Bengio, "On the difficulty of training recurrent neural networks",
        2013, https://arxiv.org/abs/1211.5063, clip gradients by this norm.
    """
    leaves = flatten(tree, "tree_norm: tree")
    if not leaves:
        raise ValueError(
            "tree_norm: tree must hold a tensor, got none in "
            f"a {type(tree).__name__}; make no call for an empty tree"
        )
    for where, x in leaves:
        check.floats("tree_norm", where.removeprefix("tree_norm: "), x)
    output: torch.Tensor = TreeNorm.apply(*(x for _, x in leaves))
    return output


# --8<-- [end:tree_norm]
