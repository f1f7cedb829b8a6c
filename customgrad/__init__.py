"""customgrad: custom gradients in PyTorch, written out, explained and checked."""

__version__ = "0.1.0"


def __getattr__(name: str) -> object:
    """Import ``check`` and ``once_differentiable`` on first use: ``import customgrad`` needs no torch."""
    if name == "check":
        from customgrad.checker import check

        return check
    if name == "once_differentiable":
        from customgrad.once import once_differentiable

        return once_differentiable
    raise AttributeError(f"module 'customgrad' has no attribute '{name}'")
