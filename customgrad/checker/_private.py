"""What the checker uses of torch that has no public name, each with the reason."""

from typing import Any

__all__ = ["OWN_ATTRIBUTES", "function_of"]

OWN_ATTRIBUTES = frozenset({"_fwd_used_autocast", "_dtype", "needs_input_grad", "_autograd_hooks"})
"""Attributes that torch itself puts on ctx (custom_fwd, for one): not the author's."""


def function_of(node: Any) -> Any:
    """Return the Function that a node belongs to; no public name leads from the node to it."""
    return getattr(node, "_forward_cls", None)
