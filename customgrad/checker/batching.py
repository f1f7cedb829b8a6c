"""Batches for torch.vmap: examples, the ways to lay them out, and how far results may differ."""

import functools
import itertools
import random
import sys
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import torch

from customgrad.checker import _private, sandbox
from customgrad.checker.exam import Exam
from customgrad.checker.samples import Sample, floating

__all__ = ["differ", "draws", "examples", "in_dims", "loose", "settled", "stacked", "worst"]

Dims = tuple[int | None, ...]


def examples(exam: Exam, sample: Sample) -> list[Sample]:
    """Return a batch of samples, distinct where forward takes them so, of a size no tensor has."""
    sizes = {n for v in sample.values if isinstance(v, torch.Tensor) for n in v.shape}
    count = next(n for n in range(2, 100) if n not in sizes)
    made = [sample]
    for k in range(1, count):
        factor = 1 - 0.25 * k / count
        other = sample.changed(functools.partial(torch.mul, other=factor), "a batch")
        made.append(other if exam.accepts(other) else sample)
    return made


def in_dims(sample: Sample, limit: int) -> list[Dims]:
    """Return combinations of in_dims, at least one tensor mapped; the common ones first."""
    where = [i for i, v in enumerate(sample.values) if isinstance(v, torch.Tensor)]
    ways: list[Sequence[int | None]] = [
        (0, sample.values[i].dim(), None) if sample.values[i].dim() else (0, None) for i in where
    ]

    def rank(way: tuple[int | None, ...]) -> tuple[int, int]:
        return (len(set(way)), sum(d is None for d in way))

    every = sorted(itertools.islice(itertools.product(*ways), 500), key=rank)
    chosen = [way for way in every if any(d is not None for d in way)]
    # Each tensor alone, and all but each, must be among the few.
    alone = [w for w in chosen if sum(d is not None for d in w) == 1 and 0 in w]
    first = [w for w in chosen if len(set(w)) == 1]
    kept = list(dict.fromkeys([*first, *alone, *chosen]))[:limit]
    full: list[Dims] = []
    for way in kept:
        dims: list[int | None] = [None] * len(sample.values)
        for i, d in zip(where, way, strict=True):
            dims[i] = d
        full.append(tuple(dims))
    return full


def stacked(batch: Sequence[Sample], dims: Dims) -> tuple[Sample, list[Sample]]:
    """Return the arguments for vmap, and those of each call of the loop that it stands for."""
    values = list(batch[0].values)
    loop = [list(values) for _ in batch]
    for i, d in enumerate(dims):
        if d is not None:
            column = [s.values[i].detach() for s in batch]
            values[i] = torch.stack(column, d)
            for row, value in zip(loop, column, strict=True):
                row[i] = value
    label = f"in_dims={tuple(dims)}"
    return (
        replace(batch[0], values=tuple(values), label=label),
        [replace(batch[0], values=tuple(row), label=label) for row in loop],
    )


def loose(dtype: torch.dtype) -> float:
    """Return how far two ways to compute the same may differ, relatively; a wrong rule is far beyond."""
    epsilon = torch.finfo(dtype).eps
    return 1e-5 if epsilon < 1e-10 else 1e-2 if epsilon < 1e-5 else 0.1


def differ(got: torch.Tensor, expected: torch.Tensor) -> bool:
    """Whether two results differ by more than rounding; NaN and infinite ones are not compared."""
    if got.shape != expected.shape:
        return True
    if not floating(expected) or not expected.numel():
        return False
    got = got.to(expected.dtype)
    known = expected.isfinite()
    if not bool(known.any()):
        return False
    if not bool(got[known].isfinite().all()):
        return True
    room = loose(expected.dtype) * (1e-3 + float(expected[known].abs().max()))
    return float((got - expected)[known].abs().max()) > room


def worst(got: torch.Tensor, expected: torch.Tensor) -> tuple[str, str, str]:
    """Return the two numbers that differ most, or the shapes where these differ, and where."""
    if got.shape != expected.shape:
        return f"shape {tuple(got.shape)}", f"shape {tuple(expected.shape)}", ""
    off = (got - expected).abs().nan_to_num(torch.inf)
    off = torch.where(expected.isfinite(), off, -1.0)
    at = torch.unravel_index(off.argmax(), off.shape)
    index = tuple(int(i) for i in at)
    return _number(got[index]), _number(expected[index]), f"element {list(index)}"


def _number(value: torch.Tensor) -> str:
    return f"{value.item():.6g}"


def draws(exam: Exam) -> bool:
    """Whether forward draws random numbers, from torch, NumPy or Python."""

    def state() -> list[Any]:
        numpy = sys.modules.get("numpy")
        kept = numpy.random.get_state()[1:3] if numpy else ()
        return [
            torch.get_rng_state().tolist(),
            random.getstate(),
            [str(part) if isinstance(part, int) else part.tolist() for part in kept],
        ]

    sandbox.seed(exam.seed)
    before = state()
    exam.run(exam.base)
    return state() != before


def settled(exam: Exam) -> None:
    """Raise `NotJudged` where two calls of forward need not give the same."""
    _private.load_compiler()
    if "settled" not in exam.known:
        exam.known["settled"] = exam.repeatable and not draws(exam)
    exam.require(
        exam.known["settled"],
        "forward draws random numbers, or gives other values when called again",
    )
