"""The inputs of one call, kept so that each call gets tensors of its own."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch

__all__ = ["Sample", "flat", "floating", "mapped"]


def floating(value: Any) -> bool:
    """Whether a value is a tensor that can have a gradient."""
    return isinstance(value, torch.Tensor) and (value.is_floating_point() or value.is_complex())


def mapped(value: Any, change: Callable[[torch.Tensor], Any]) -> Any:
    """Return the value with each tensor in it changed, in lists, tuples and dicts, too."""
    if isinstance(value, torch.Tensor):
        return change(value)
    if isinstance(value, dict):
        return type(value)((key, mapped(item, change)) for key, item in value.items())
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*(mapped(item, change) for item in value))
    if isinstance(value, list | tuple):
        return type(value)(mapped(item, change) for item in value)
    return value


def flat(value: Any) -> Iterator[torch.Tensor]:
    """Yield the tensors in a value, in order."""
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, dict):
        for item in value.values():
            yield from flat(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from flat(item)


def own(tensor: torch.Tensor) -> torch.Tensor:
    """Return a copy with the same values and strides, and no graph."""
    with torch.no_grad():
        copy = tensor.detach().clone(memory_format=torch.preserve_format)
        return copy.requires_grad_(tensor.requires_grad)


@dataclass(frozen=True)
class Sample:
    """Arguments for one call, and which of them need a gradient."""

    values: tuple[Any, ...]
    """The arguments; tensors without a graph."""
    wanted: tuple[int, ...]
    """Positions of the tensors that need a gradient."""
    label: str = "the inputs as given"
    """Which variant this is, in words that complete "with …"."""
    told: bool = True
    """Whether the caller said which inputs need a gradient, by `requires_grad`."""

    @classmethod
    def of(cls, values: Sequence[Any]) -> "Sample":
        """Keep what a caller gave; where no tensor requires a gradient, all floating ones will."""
        told = any(isinstance(v, torch.Tensor) and v.requires_grad for v in values)
        nested = any(t.requires_grad for v in values for t in flat(v))
        wanted = tuple(
            i for i, v in enumerate(values) if floating(v) and (v.requires_grad or not nested)
        )
        return cls(tuple(mapped(v, own) for v in values), wanted, told=told)

    def fresh(self, wanted: Sequence[int] | None = None) -> tuple[list[Any], list[torch.Tensor]]:
        """Return arguments of their own for one call, and the leaves among them, in order."""
        chosen = self.wanted if wanted is None else tuple(wanted)
        args = [mapped(value, own) for value in self.values]
        for i, arg in enumerate(args):
            if isinstance(arg, torch.Tensor):
                args[i] = arg.detach().requires_grad_(i in chosen)
        return args, [args[i] for i in chosen]

    def changed(self, change: Callable[[torch.Tensor], torch.Tensor], label: str) -> "Sample":
        """Return a variant: the tensors that need a gradient changed, everything else kept."""
        values = list(self.values)
        for i in self.wanted:
            values[i] = change(values[i].detach())
        return replace(self, values=tuple(values), label=label)

    def to(self, dtype: torch.dtype) -> "Sample":
        """Return it with every floating tensor in this dtype, complex ones in its complex partner."""

        def cast(tensor: torch.Tensor) -> torch.Tensor:
            if not floating(tensor):
                return tensor
            other = tensor.to(dtype.to_complex() if tensor.is_complex() else dtype)
            return other.requires_grad_(tensor.requires_grad)  # inside a list nothing else tells

        with torch.no_grad():
            values = tuple(mapped(v, cast) for v in self.values)
        return replace(self, values=values)

    @property
    def tensors(self) -> list[torch.Tensor]:
        """The tensors that need a gradient."""
        return [self.values[i] for i in self.wanted]

    @property
    def size(self) -> int:
        """How many elements need a gradient."""
        return sum(t.numel() for t in self.tensors)
