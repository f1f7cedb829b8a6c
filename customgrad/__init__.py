"""customgrad: custom gradients in PyTorch, written out, explained and checked."""

__version__ = "0.1.0"


def __getattr__(name: str) -> object:
    """Import ``once_differentiable`` on first use, so that ``import customgrad`` needs no torch."""
    if name == "once_differentiable":
        from customgrad.once import once_differentiable

        return once_differentiable
    raise AttributeError(f"module 'customgrad' has no attribute '{name}'")
