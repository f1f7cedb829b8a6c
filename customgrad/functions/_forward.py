"""A guard for Functions with a ``jvp``: forward mode inside forward mode is refused.

torch 2.13 drops the outer tangent there, and ``jacfwd(jacfwd(f))`` is silently 0
(https://github.com/pytorch/pytorch/issues/197867).
"""

import functools
from typing import Any, TypeVar

import torch

F = TypeVar("F", bound=type[torch.autograd.Function])

__all__ = ["one_level"]


def one_level(function: F) -> F:
    """Let ``function.jvp`` raise where two levels of forward mode are active.

    Args:
        function: a subclass of ``torch.autograd.Function`` with a ``jvp``; changed in place.

    Returns:
        The same class, so that it can stand as a decorator.
    """
    changed: Any = function
    jvp = function.jvp

    @functools.wraps(jvp)
    def guarded(ctx: Any, *tangents: Any) -> Any:
        stack = torch._C._functorch.get_interpreter_stack() or []
        levels = sum(level.key() == torch._C._functorch.TransformType.Jvp for level in stack)
        if levels > 1:
            raise RuntimeError(
                f"{function.__name__}: forward mode must not be nested, got jacfwd inside jacfwd, "
                "which torch makes 0; use jacfwd(jacrev(f)) or jacrev(jacfwd(f))"
            )
        return jvp(ctx, *tangents)

    changed.jvp = staticmethod(guarded)
    return function
