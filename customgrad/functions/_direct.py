"""A shorter way into a ``torch.autograd.Function``, with the same results.

Where a Function defines ``setup_context``, torch 2.13's ``apply`` asks ``inspect.signature`` for
forward's parameters on every call, to fill in defaults that the caller left out. For small tensors
that takes longer than the operation. The wrappers of this package pass every argument, so they
need no defaults.
"""

import inspect
from typing import Any, TypeVar

import torch
from torch._functorch.utils import unwrap_dead_wrappers

F = TypeVar("F", bound=type[torch.autograd.Function])

__all__ = ["direct"]


def direct(function: F) -> F:
    """Let ``function.apply`` go straight to the engine when it is given every argument of forward.

    A call with fewer arguments or with keywords, and any call inside a ``torch.func`` transform,
    takes torch's own way. What is computed and recorded is the same; a copied Function that is
    not passed through here loses only time.

    Args:
        function: a subclass of ``torch.autograd.Function`` with ``setup_context``; changed in place.

    Returns:
        The same class, so that it can stand as a decorator.

    Raises:
        TypeError: for a class whose forward takes ``ctx``: its ``apply`` is short already.
    """
    if function.setup_context is torch.autograd.Function.setup_context:
        raise TypeError(
            f"direct: {function.__name__} must define setup_context, got a forward that takes ctx; "
            "use its apply as it is"
        )
    changed: Any = function  # whose apply and super() no type describes
    parameters = inspect.signature(function.forward).parameters.values()
    more = any(p.kind is p.VAR_POSITIONAL for p in parameters)
    count = len(parameters) - more

    def apply(cls: Any, *args: Any, **kwargs: Any) -> Any:
        given = len(args) >= count if more else len(args) == count
        if kwargs or not given or torch._C._are_functorch_transforms_active():
            return super(changed, cls).apply(*args, **kwargs)
        # What torch's own apply calls, too, once it has the arguments.
        return super(torch.autograd.Function, cls).apply(*unwrap_dead_wrappers(args))

    changed.apply = classmethod(apply)
    return function
