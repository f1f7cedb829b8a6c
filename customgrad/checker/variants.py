"""Inputs that a caller did not think of: ties, borders, magnitudes, other sizes.

Each is made from the inputs as given, and says in its label what is special about it. Whether
forward takes it is for the rule to ask.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

import torch

from customgrad.checker.samples import Sample, floating
from customgrad.checker.subject import Subject

__all__ = ["borders", "filled", "magnitudes", "sizes", "ties"]


IN_ONE = ("negative numbers", "positive numbers of about 10")
"""Of the magnitudes, those that one input gets alone where others depend on it."""


def filled(sample: Sample, values: Sequence[float], label: str, only: int | None = None) -> Sample:
    """Return a variant whose inputs run through these values, each in its own shape.

    Args:
        sample: the inputs.
        values: real numbers, repeated as often as needed.
        label: what is special.
        only: the position of the one input that is changed; all if not given.
    """
    made = list(sample.values)
    for shift, i in enumerate(sample.wanted):
        if only is not None and i != only:
            continue
        t = made[i]
        numbers = [values[(k + shift) % len(values)] for k in range(t.numel())]
        made[i] = torch.tensor(numbers, dtype=torch.float64).reshape(t.shape).to(t.dtype)
    return replace(sample, values=tuple(made), label=label)


def ties(sample: Sample) -> Iterator[Sample]:
    """Yield variants with equal elements, within an input and between inputs."""

    def same(t: torch.Tensor) -> torch.Tensor:
        return t.reshape(-1)[:1].expand(t.numel()).reshape(t.shape).clone() if t.numel() else t

    def twos(t: torch.Tensor) -> torch.Tensor:
        line = t.reshape(-1).clone()
        line[1::2] = line[0 : line.numel() - line.numel() % 2 : 2]
        return line.reshape(t.shape)

    def largest(t: torch.Tensor) -> torch.Tensor:
        if t.is_complex() or t.numel() < 2:
            return t
        line = t.reshape(-1).clone()
        top = line.max()
        line[:: max(1, line.numel() // 2)] = top
        return line.reshape(t.shape)

    def along(t: torch.Tensor, dim: int) -> torch.Tensor:
        return t.narrow(dim, 0, 1).expand(t.shape).clone() if t.dim() > 1 and t.numel() else t

    yield sample.changed(twos, "pairs of equal elements")
    yield sample.changed(largest, "the largest element twice")
    yield sample.changed(lambda t: along(t, 0), "equal rows")
    yield sample.changed(lambda t: along(t, -1), "equal columns")
    yield sample.changed(same, "all elements equal")
    first = sample.tensors[0] if sample.wanted else None
    alike = [
        i for i in sample.wanted if first is not None and sample.values[i].shape == first.shape
    ]
    if first is not None and len(alike) > 1:
        values = list(sample.values)
        for i in alike:
            values[i] = first.to(values[i].dtype).clone()
        yield replace(sample, values=tuple(values), label="the same values in several inputs")
    yield from _alike(sample)
    yield from repeated(sample)


def _alike(sample: Sample) -> Iterator[Sample]:
    """Yield variants in which one input has another's shape and values."""
    for i in sample.wanted:
        for k in sample.wanted:
            one, other = sample.values[i], sample.values[k]
            sizes = {*one.shape, *other.shape}
            if i < k and one.shape != other.shape and one.dim() == other.dim() and 1 not in sizes:
                values = list(sample.values)
                values[k] = one.to(other.dtype).clone()
                label = "the same values, in the same shape, in two inputs"
                yield replace(sample, values=tuple(values), label=label)


def repeated(sample: Sample) -> Iterator[Sample]:
    """Yield variants in which an index stands twice in a tensor of integers that are all different."""
    for i, v in enumerate(sample.values):
        if not _integers(v) or v.numel() < 2 or permutation(v):
            continue
        line = v.reshape(-1).clone()
        if len(line.unique()) < len(line):
            continue
        line[1] = line[0]
        values = list(sample.values)
        values[i] = line.reshape(v.shape)
        yield replace(
            sample, values=tuple(values), label="the same integer twice (a repeated index)"
        )


def _integers(value: object) -> bool:
    return (
        isinstance(value, torch.Tensor)
        and value.dtype != torch.bool
        and not value.is_floating_point()
        and not value.is_complex()
    )


def permutation(value: object) -> bool:
    """Whether a tensor holds each number from 0 up to its size once, as a permutation does."""
    if not _integers(value):
        return False
    assert isinstance(value, torch.Tensor)
    if not value.dim() or value.shape[-1] < 2:
        return False
    count = torch.arange(value.shape[-1], device=value.device)
    return bool((value.sort(-1).values == count).all())


def borders(sample: Sample, subject: Subject) -> Iterator[Sample]:
    """Yield variants at integers, and at the constants that forward and the call name."""
    numbers = {0.0, 1.0, -1.0}
    for value in sample.values:
        if isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= 20:
            numbers |= {float(value), -float(value)}
        elif floating(value) and not value.is_complex() and value.numel() == 1:
            numbers.add(float(value))
    for _, line in subject.lines("forward") + subject.lines("backward"):
        for text in re.findall(r"(?<![\w.])-?\d+(?:\.\d+)?(?:e-?\d+)?(?![\w.])", line):
            if abs(float(text)) <= 100:
                numbers |= {float(text), -float(text)}
    constants = sorted(numbers)[:24]
    several = len(sample.wanted) > 1
    for only in (None, *sample.wanted) if several else (None,):
        where = "" if only is None else " in one input"
        yield filled(sample, [0.0, 1.0, -1.0, 2.0, -2.0, 3.0, -3.0], f"whole numbers{where}", only)
        yield filled(sample, [0.0], f"zeros{where}", only)
        if only is not None:
            continue
        yield filled(sample, [1.0, 2.0, 3.0, 4.0, 5.0], "positive whole numbers")
        for start in range(0, len(constants), max(1, sample.size)):
            yield filled(sample, constants[start:] + constants[:start], "the constants of forward")
        yield filled(sample, [0.0, 0.7, -1.3, 0.4, -0.6, 1.9], "a zero among others")


def magnitudes(sample: Sample, *, elementwise: bool) -> Iterator[Sample]:
    """Yield variants with other signs, sizes and offsets."""
    small = [0.11, -0.23, 0.37, -0.41, 0.53, -0.71, 0.83, -0.97]
    rows: dict[str, Sequence[float]] = {
        "numbers between -1 and 1": small,
        "positive numbers": [abs(v) + 0.05 for v in small],
        "negative numbers": [-abs(v) - 0.05 for v in small],
        "numbers between 1 and 4": [1.1, 1.7, 2.3, 2.9, 3.4, 3.9],
        "numbers between -4 and -1": [-1.1, -1.7, -2.3, -2.9, -3.4, -3.9],
        "numbers of about 10": [7.3, -9.1, 11.7, -13.3],
        "positive numbers of about 10": [7.3, 9.1, 11.7, 13.3],
        "negative numbers of about 10": [-7.3, -9.1, -11.7, -13.3],
    }
    if elementwise:
        rows |= {
            "numbers of about 0.001": [1.3e-3, -2.7e-3, 4.1e-3, -5.9e-3],
            "numbers of about 40": [33.0, -41.0, 57.0, -63.0],
            "numbers of about 1000": [833.0, -941.0, 1057.0, -1163.0],
            "numbers of about -1000": [-833.0, -941.0, -1057.0, -1163.0],
            "numbers of about 1000000": [0.9e6, -1.1e6, 1.3e6, -1.7e6],
        }
    for label, values in rows.items():
        yield filled(sample, values, label)
        if len(sample.wanted) > 1 and (elementwise or label in IN_ONE):
            for only in sample.wanted:
                yield filled(sample, values, f"{label} in one input", only)
    yield sample.changed(lambda t: -t, "the negative of the inputs")
    yield sample.changed(lambda t: 3 * t, "3 times the inputs")
    yield sample.changed(lambda t: 0.1 * t, "0.1 times the inputs")
    yield sample.changed(lambda t: 1e-6 * t, "tiny inputs, 1e-6 times the given ones")
    yield sample.changed(lambda t: t + 5, "the inputs plus 5")
    yield sample.changed(lambda t: 0.01 * t + 20, "a large offset on a small spread")


def sizes(sample: Sample, *, elementwise: bool) -> Iterator[Sample]:
    """Yield variants in which a dimension is scaled everywhere that its size appears.

    Values are repeated, and those that need a gradient made distinct by a few per cent.
    """
    targets = (2, 3, 5, 8, 17, 33, 70) if elementwise else (2, 3, 5, 17, 33)
    indices = [
        v for v in sample.values if isinstance(v, torch.Tensor) and not floating(v) and v.dim()
    ]
    if len(indices) > 1:
        return  # such as a permutation and its inverse: repeated, they would not fit each other
    fixed = {v.shape[-1] for v in sample.values if permutation(v)}
    symbols = sorted(
        {n for v in sample.values if isinstance(v, torch.Tensor) for n in v.shape if n} - fixed
    )
    for symbol in symbols:
        for target in targets:
            if target != symbol:
                yield resized(
                    sample, {symbol: target}, f"{target} in place of the dimension {symbol}"
                )
    yield from _oblong(sample)


def _oblong(sample: Sample) -> Iterator[Sample]:
    """Yield variants in which one of two equal dimensions of a tensor is another."""
    for i in sample.wanted:
        v = sample.values[i]
        for dim, n in enumerate(v.shape):
            if n < 2 or list(v.shape).count(n) < 2:
                continue
            for target in (n + 2, n + 1):
                values = list(sample.values)
                values[i] = _stretched(v, {dim: target}, torch.Generator().manual_seed(11))
                label = f"a tensor that is not square, {target} by {n} where {n} by {n} was given"
                yield replace(sample, values=tuple(values), label=label)


def resized(sample: Sample, sizes: dict[int, int], label: str) -> Sample:
    """Return a variant with each dimension of these sizes made another."""
    generator = torch.Generator().manual_seed(11)
    values = list(sample.values)
    for i, v in enumerate(values):
        if not isinstance(v, torch.Tensor):
            continue
        changed = {dim: sizes[n] for dim, n in enumerate(v.shape) if n in sizes}
        values[i] = _stretched(v, changed, generator if i in sample.wanted else None)
    return replace(sample, values=tuple(values), label=label)


def _stretched(
    v: torch.Tensor, sizes: dict[int, int], generator: torch.Generator | None
) -> torch.Tensor:
    """Return a tensor with other sizes of some dimensions, its values repeated, and varied if drawn for."""
    for dim, size in sizes.items():
        v = v.index_select(dim, torch.arange(size) % max(v.shape[dim], 1))
    if generator is None:
        return v
    spread = torch.rand(v.shape, generator=generator, dtype=torch.float64)
    return v * (1 + 0.2 * spread).to(v.dtype)
