"""Names of torch that are not public, each with the reason why it is needed."""

import contextlib
import logging
from collections.abc import Callable, Iterator
from typing import Any

import torch

__all__ = ["compiled", "fresh_compiler"]


@contextlib.contextmanager
def fresh_compiler() -> Iterator[None]:
    """Start torch.compile with nothing compiled before, and leave nothing behind; logs are silent."""
    kept = logging.root.manager.disable
    logging.disable(logging.CRITICAL)  # a refusal is logged at length, beside its error
    try:
        # torch.compiler.reset is public, and is this same call; it does not exist in older torch.
        torch._dynamo.reset()
        yield
    finally:
        torch._dynamo.reset()
        logging.disable(kept)


def compiled(call: Callable[..., Any], backend: str = "aot_eager") -> Callable[..., Any]:
    """Return the call, compiled as a whole graph."""
    made: Callable[..., Any] = torch.compile(call, backend=backend, fullgraph=True)
    return made
