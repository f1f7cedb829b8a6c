"""Inputs at which numbers run out: zeros, ties, tiny and large values; and whether forward has a slope there."""

import itertools
import math
from collections.abc import Callable, Iterator
from dataclasses import replace

import torch

from customgrad.checker import numeric, sandbox
from customgrad.checker.exam import Exam, Run
from customgrad.checker.samples import Sample
from customgrad.checker.spy import composed

__all__ = ["extremes", "masked", "own", "settled", "trusted"]

Change = Callable[[torch.Tensor], torch.Tensor]


def _first(value: float) -> Change:
    def change(t: torch.Tensor) -> torch.Tensor:
        moved = t.clone(memory_format=torch.contiguous_format)
        moved.reshape(-1)[:1] = value
        return moved

    return change


def _row(t: torch.Tensor) -> torch.Tensor:
    moved = t.clone(memory_format=torch.contiguous_format)
    moved.reshape(-1, t.shape[-1])[:1] = 0
    return moved


def _alternating(value: float) -> Change:
    def change(t: torch.Tensor) -> torch.Tensor:
        signs = 1.0 - 2.0 * (torch.arange(t.numel()) % 2)
        return (signs * value).to(t.dtype).reshape(t.shape)

    return change


def _full(value: float) -> Change:
    return lambda t: torch.full_like(t, value)


CHANGES: tuple[tuple[str, str, Change], ...] = (
    ("zero", "{} 0 everywhere", _full(0.0)),
    ("zero", "{} -0.0 everywhere", _full(-0.0)),
    ("zero", "one element of {} 0", _first(0.0)),
    ("zero", "one row of {} 0", _row),
    (
        "equal",
        "all elements of {} equal",
        lambda t: t.reshape(-1)[:1].expand(t.numel()).reshape(t.shape).clone(),
    ),
    ("tiny", "{} 1e-30 everywhere", _full(1e-30)),
    ("large", "{} alternating between 100 and -100", _alternating(100.0)),
    ("large", "{} alternating between 800 and -800", _alternating(800.0)),
    ("large", "{} alternating between 1e4 and -1e4", _alternating(1e4)),
    ("large", "{} 100 everywhere", _full(100.0)),
    ("large", "{} -100 everywhere", _full(-100.0)),
    ("large", "{} 800 everywhere", _full(800.0)),
    ("large", "one element of {} 1e3", _first(1e3)),
    ("large", "one element of {} -1e3", _first(-1e3)),
    ("infinite", "one element of {} -inf", _first(-math.inf)),
)


def extremes(exam: Exam, sample: Sample) -> Iterator[tuple[str, Sample]]:
    """Yield (kind, variant): the inputs together, then each by itself; forward may refuse any."""
    groups: list[tuple[int, ...]] = [sample.wanted]
    if len(sample.wanted) > 1:
        groups += [(i,) for i in sample.wanted[:4]]
    some_left_out = masked(sample)
    for kind, words, change in CHANGES:
        if some_left_out and kind in ("large", "infinite"):
            continue  # what a mask leaves out need not be in range
        for group in groups:
            if kind in ("large", "infinite") and len(group) > 1:
                continue  # large numbers of different arguments need not fit together
            if kind == "tiny" and sample.values[group[0]].dtype != torch.float64:
                continue  # its square is 0 in float32, torch's own as well
            if change is _row and any(sample.values[i].dim() < 2 for i in group):
                continue
            if any(not sample.values[i].numel() for i in group):
                continue
            values = list(sample.values)
            for i in group:
                values[i] = change(values[i].detach())
            name = " and ".join(exam.names[i] for i in group)
            yield kind, replace(sample, values=tuple(values), label=words.format(name))


def masked(sample: Sample) -> bool:
    """Whether a mask is among the arguments that leaves something out."""
    return any(
        isinstance(v, torch.Tensor) and v.dtype == torch.bool and not bool(v.all())
        for v in sample.values
    )


def own(exam: Exam, sample: Sample) -> tuple[Run, list[torch.Tensor]] | None:
    """Return a run with finite outputs and its gradients, zeros for None; None where forward refuses."""

    def step() -> tuple[Run, list[torch.Tensor]] | None:
        run = exam.run(sample)
        if not run.live or not all(bool(t.isfinite().all()) for t in run.live):
            return None
        return run, numeric.filled(run.gradients(exam.cotangents(run)), run.leaves)

    outcome = sandbox.attempt(step)
    made: tuple[Run, list[torch.Tensor]] | None = outcome.value if outcome.ok else None
    return made


def torchs(exam: Exam, sample: Sample) -> list[torch.Tensor] | None:
    """Return the gradients that torch gives for the operations of forward, by the same cotangents."""

    def step() -> list[torch.Tensor] | None:
        run = composed(exam, sample)
        return (
            None if run is None else numeric.filled(run.gradients(exam.cotangents(run)), run.leaves)
        )

    outcome = sandbox.attempt(step)
    made: list[torch.Tensor] | None = outcome.value if outcome.ok else None
    return made


def trusted(exam: Exam) -> bool:
    """Whether torch's own gradient of forward is that of backward, at the inputs as given."""
    mine, theirs = own(exam, exam.base), torchs(exam, exam.base)
    if mine is None or theirs is None:
        return False
    loose = 1e-6 if exam.dtype == torch.float64 else 1e-3
    return all(
        a.shape == b.shape and bool(torch.allclose(a, b, rtol=loose, atol=loose))
        for a, b in zip(mine[1], theirs, strict=True)
    )


def settled(
    exam: Exam, f: Callable[[torch.Tensor], float | None], at: torch.Tensor, j: int
) -> tuple[bool, bool]:
    """Return whether forward's difference quotients along coordinate j converge, left and right."""
    here = f(at)
    size = float(at[j].abs())
    units = [1.0] + ([size] if 0 < size < 1e-3 else [])
    sides = [False, False]
    if here is None:
        return False, False
    for unit in units:
        for k, sign in enumerate((-1.0, 1.0)):
            rows: list[tuple[float, float]] = []
            for step in range(5):
                h = unit * 2.0**-4 * 4.0**-step
                there = at.clone()
                there[j] += sign * h
                value = f(there)
                if value is None:
                    break
                noise = 64 * exam.epsilon * (abs(here) + abs(value) + 1e-3) / h
                rows.append((sign * (value - here) / h, noise))
            gaps = [abs(b[0] - a[0]) for a, b in itertools.pairwise(rows)]
            sides[k] |= len(rows) == 5 and all(
                after <= 0.6 * before + rows[n + 2][1] + 1e-9 * abs(rows[n + 2][0])
                for n, (before, after) in enumerate(itertools.pairwise(gaps))
            )
    return sides[0], sides[1]
