"""What a check of an exercise sees, and how it is compared with what must be seen.

A check calls the answer and returns a `Seen`: what was called, with which values, and what came of
it. The same call on the exercise's reference, composed of torch's own operations, says what is
expected.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch

__all__ = ["Check", "Composed", "Seen", "compare", "leaf", "same", "tensor"]

TOLERANCE = 1e-6
"""Relative, of what is computed in float64; a check may ask for less."""


def tensor(*values: Any, dtype: torch.dtype = torch.float64) -> torch.Tensor:
    """Return a tensor of these numbers (or rows), float64 unless told otherwise."""
    return torch.tensor(values, dtype=dtype)


def leaf(value: Any, needs: bool = True) -> Any:
    """Return a fresh leaf with the value, strides included; what is no float tensor passes through."""
    if not isinstance(value, torch.Tensor):
        return value
    fresh = value.detach().clone(memory_format=torch.preserve_format)
    if fresh.stride() != value.stride():
        fresh = torch.empty_strided(value.shape, value.stride(), dtype=value.dtype)
        fresh.copy_(value)
    floating = fresh.is_floating_point() or fresh.is_complex()
    return fresh.requires_grad_(needs and floating)


class Composed:
    """An operation composed of torch's own, called like a Function: ``Composed(torch.relu).apply(x)``."""

    def __init__(self, operation: Callable[..., Any]) -> None:
        """Take the operation."""
        self.apply = operation


@dataclass(frozen=True)
class Seen:
    """What one call of an answer showed."""

    called: str
    """The call, as a learner would type it."""
    values: Mapping[str, Any]
    """What came of it: tensors, numbers or words by name; the first that differs is told."""
    given: Mapping[str, Any] = field(default_factory=dict)
    """The arguments, by name; ``grad_output`` is what backward was given."""


@dataclass(frozen=True, eq=False)
class Check:
    """One thing that an answer must do.

    Args:
        name: what is looked at, as it stands after "check 3 of 9:".
        see: calls the answer, a namespace of what the file defines.
        expected: the values that must be seen; None for those of the reference.
        tolerance: relative.
        why: said of an answer that fails here and behaves like no known mutant; a fact.
        note: an answer that fails here passes all the same, and is told.
    """

    name: str
    see: Callable[[Any], Seen]
    expected: Mapping[str, Any] | None = None
    tolerance: float = TOLERANCE
    why: str = ""
    note: bool = False


@dataclass(frozen=True)
class Difference:
    """How a value differs from the expected one."""

    label: str
    got: Any
    expected: Any
    worst: str = ""
    """The element that is furthest off, in words."""


def compare(
    seen: Mapping[str, Any], expected: Mapping[str, Any], tolerance: float
) -> Difference | None:
    """Return the first value that differs, or None."""
    for label, right in expected.items():
        got = seen.get(label)
        if not same(got, right, tolerance):
            return Difference(label, got, right, _worst(got, right, tolerance))
    return None


def same(got: Any, right: Any, tolerance: float = TOLERANCE) -> bool:
    """Whether two values are equal within rounding: in kind, shape, dtype and number."""
    if isinstance(right, torch.Tensor):
        return (
            isinstance(got, torch.Tensor)
            and got.shape == right.shape
            and got.dtype == right.dtype
            and not _off(got, right, tolerance)
        )
    if isinstance(right, float) and isinstance(got, int | float) and not isinstance(got, bool):
        return got == right or abs(got - right) <= tolerance * max(1.0, abs(right))
    if isinstance(right, list | tuple):
        return (
            isinstance(got, list | tuple)
            and len(got) == len(right)
            and all(same(a, b, tolerance) for a, b in zip(got, right, strict=True))
        )
    if isinstance(right, Mapping):
        return (
            isinstance(got, Mapping)
            and list(got) == list(right)
            and all(same(got[key], right[key], tolerance) for key in right)
        )
    return bool(type(got) is type(right) and got == right)


def flat(value: torch.Tensor) -> list[Any]:
    """Return the elements as Python's numbers: a torch that the answer has changed compares nothing."""
    return torch.Tensor.tolist(value.detach().resolve_conj().reshape(-1))


def _off(got: torch.Tensor, right: torch.Tensor, tolerance: float) -> list[int]:
    """Return the elements that differ, the furthest first."""
    pairs = list(zip(flat(got), flat(right), strict=True))
    finite = [abs(b) for _, b in pairs if not isinstance(b, bool) and abs(b) < math.inf]
    scale = max(finite, default=0.0)
    distances = []
    for i, (a, b) in enumerate(pairs):
        if a == b or (a != a and b != b):
            continue
        distance = abs(a - b)
        near = tolerance * max(abs(b), 1e-3 * scale)
        if distance <= near < math.inf:
            continue
        distances.append((math.inf if distance != distance else distance, i))
    return [i for _, i in sorted(distances, key=lambda pair: (-pair[0], pair[1]))]


def _worst(got: Any, right: Any, tolerance: float) -> str:
    if not (isinstance(got, torch.Tensor) and isinstance(right, torch.Tensor)):
        return ""
    if got.shape != right.shape:
        return f"shape {tuple(got.shape)}, expected {tuple(right.shape)}"
    if got.dtype != right.dtype:
        return f"{_dtype(got)}, expected {_dtype(right)}"
    off = _off(got, right, tolerance)
    if not off:
        return ""
    total = got.numel()
    place = ", ".join(map(str, _index(off[0], tuple(right.shape))))
    worst = f"element [{place}]: {_number(flat(got)[off[0]])} for {_number(flat(right)[off[0]])}"
    return f"{len(off)} of {total} differ; worst is {worst}" if total > 1 else ""


def _index(position: int, shape: Sequence[int]) -> list[int]:
    index: list[int] = []
    for size in reversed(shape):
        position, rest = divmod(position, size)
        index.insert(0, rest)
    return index


def _dtype(value: torch.Tensor) -> str:
    return str(value.dtype).removeprefix("torch.")


def _number(value: Any) -> str:
    if isinstance(value, float):
        return f"{value + 0.0:.6g}"
    return str(value)


def shown(value: Any, width: int = 60) -> str:
    """Return a value in one line: short tensors whole, long ones by their first elements."""
    if isinstance(value, torch.Tensor):
        if value.numel() == 0:
            return f"an empty tensor of shape {tuple(value.shape)}"
        text = _rows(torch.Tensor.tolist(value.detach().resolve_conj()))
        if len(text) <= width:
            return text
        numbers = [_number(v) for v in flat(value)[:6]]
        while len(numbers) > 1 and len(", ".join(numbers)) > width - 24:
            numbers.pop()
        return f"[{', '.join(numbers)}, ...] of shape {tuple(value.shape)}"
    if isinstance(value, float):
        return _number(value)
    if value is None or isinstance(value, str):
        return str(value)
    if isinstance(value, list | tuple) and all(isinstance(v, torch.Tensor) for v in value):
        return ", ".join(shown(v, width // max(1, len(value))) for v in value)
    if isinstance(value, list | tuple | Mapping):
        text = (
            ", ".join(f"{k}: {shown(v, 20)}" for k, v in value.items())
            if isinstance(value, Mapping)
            else _rows(list(value))
        )
    else:
        text = f"a {type(value).__name__}: {value!r}" if not isinstance(value, int) else str(value)
    return text if len(text) <= width else text[: width - 3] + "..."


def _rows(value: Any) -> str:
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(_rows, value)) + "]"
    return _number(value) if isinstance(value, int | float | complex) else str(value)
