"""A strict ``once_differentiable``: who differentiates such a backward gets an error, in every case.

torch's own decorator looks at the cotangent. Where that needs no gradient, as in
``grad(f(x).sum(), x, create_graph=True)``, it hands out a gradient without a graph, and what is
computed from it silently lacks a term.
"""

import functools
from collections.abc import Callable, Iterator
from typing import Any

import torch

__all__ = ["once_differentiable"]


class _Refused(torch.autograd.Function):
    """The identity on the first `count` tensors; its backward is an error."""

    generate_vmap_rule = True

    @staticmethod
    def forward(name: str, count: int, *tensors: torch.Tensor) -> tuple[torch.Tensor, ...]:
        return tuple(tensor.view_as(tensor) for tensor in tensors[:count])

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
        ctx.name = inputs[0]

    @staticmethod
    def backward(ctx: Any, *grad_outputs: torch.Tensor) -> Any:
        raise RuntimeError(
            f"{ctx.name}: its backward must not be differentiated, got a derivative of its gradient; "
            "use a Function whose backward has one, or leave out create_graph=True"
        )


def once_differentiable(backward: Callable[..., Any]) -> Callable[..., Any]:
    """Let a ``backward`` be used, and refuse to differentiate what it returns.

    A drop-in for ``torch.autograd.function.once_differentiable``, between ``@staticmethod`` and
    ``def backward``. Backward runs without recording. Only where a graph of it is asked for
    (``create_graph=True``) are its results tied to a node that raises: to the cotangents, to the
    saved tensors and to every leaf that the Function depends on.

    Args:
        backward: ``backward(ctx, *grad_outputs)`` of a ``torch.autograd.Function``.

    Saves for backward:
        Nothing.

    Conventions:
        Without ``create_graph=True`` nothing is added. With it, results have a ``grad_fn``, and
        may be used and printed; a ``None`` stays ``None``. One case is out of reach: a second
        derivative by an intermediate tensor that the Function has not saved, as nothing leads
        from the result to it. Save the inputs, and there is none.

    Returns:
        The wrapped backward.

    Raises:
        RuntimeError: when a result is differentiated, naming the Function.
    """

    @functools.wraps(backward)
    def wrapper(ctx: Any, *grad_outputs: Any) -> Any:
        with torch.no_grad():
            results = backward(ctx, *grad_outputs)
        if not torch.is_grad_enabled():
            return results
        returned = results if isinstance(results, tuple) else (results,)
        given = [r for r in returned if isinstance(r, torch.Tensor)]
        candidates = [*grad_outputs, *ctx.saved_tensors, *leaves(ctx)]
        needing = [t for t in candidates if isinstance(t, torch.Tensor) and t.requires_grad]
        if not given or not needing:
            return results
        name = type(ctx).__name__.removesuffix("Backward")
        refused = iter(_Refused.apply(name, len(given), *given, *needing))
        tied = tuple(next(refused) if isinstance(r, torch.Tensor) else r for r in returned)
        return tied if isinstance(results, tuple) else tied[0]

    return wrapper


def leaves(node: Any) -> Iterator[torch.Tensor]:
    """Yield each leaf that a node of the graph leads to."""
    seen, waiting = set(), [node]
    while waiting:
        for parent, _ in getattr(waiting.pop(), "next_functions", ()):
            if parent is not None and parent not in seen:
                seen.add(parent)
                waiting.append(parent)
                if (leaf := getattr(parent, "variable", None)) is not None:
                    yield leaf
