"""customgrad: custom gradients in PyTorch, written out, explained and checked."""

__version__ = "0.1.0"
