"""Names of torch that are not public, each with the reason why it is needed."""

import contextlib
import logging
from collections.abc import Callable, Iterator
from typing import Any

import torch

from customgrad.checker import sandbox

__all__ = ["OWN_ATTRIBUTES", "compiled", "fresh_compiler", "function_of", "load_compiler"]

OWN_ATTRIBUTES = frozenset({"_fwd_used_autocast", "_dtype", "needs_input_grad", "_autograd_hooks"})
"""Attributes that torch itself puts on ctx (custom_fwd, for one): not the author's."""


def function_of(node: Any) -> Any:
    """Return the Function that a node belongs to; no public name leads from the node to it."""
    return getattr(node, "_forward_cls", None)


def load_compiler() -> None:
    """Import what torch imports at its first vjp, meta tensor or compilation, without a time limit."""
    with sandbox.uninterrupted():
        # torch loads it lazily, in about a second; a rule's time limit could stop it half way.
        import torch._dynamo
        import torch._inductor  # noqa: F401


@contextlib.contextmanager
def fresh_compiler() -> Iterator[None]:
    """Start torch.compile with nothing compiled before, and leave nothing behind; logs are silent."""
    kept = logging.root.manager.disable
    logging.disable(logging.CRITICAL)  # a refusal is logged at length, beside its error
    load_compiler()
    try:
        torch.compiler.reset()
        yield
    finally:
        torch.compiler.reset()
        logging.disable(kept)


def compiled(call: Callable[..., Any], backend: str = "aot_eager") -> Callable[..., Any]:
    """Return the call, compiled as a whole graph."""
    made: Callable[..., Any] = torch.compile(call, backend=backend, fullgraph=True)
    return made
