"""Backward as a function of the inputs and cotangents, its differences, and what autograd makes of it."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import torch

from customgrad.checker import numeric, sandbox
from customgrad.checker.exam import Exam, Run
from customgrad.checker.rule import NotJudged
from customgrad.checker.samples import Sample

__all__ = ["Deviation", "dropped", "raised", "wrong"]

RELATIVE = {torch.float64: 1e-4, torch.float32: 5e-2}
STEPS = (2.0**-5, 2.0**-7)
"""First steps of the differences; what is reported was seen with each."""


@dataclass
class Deviation:
    """Where autograd's second derivative leaves the one by differences."""

    names: list[str]
    """The inputs concerned."""
    got: str
    expected: str
    sample: Sample


def _backward(
    exam: Exam, sample: Sample, seeds: list[torch.Tensor]
) -> Callable[[torch.Tensor], torch.Tensor | None]:
    """Return backward as a function of one real vector: the inputs, then the cotangents."""
    like = [*sample.tensors, *seeds]

    def f(vector: torch.Tensor) -> torch.Tensor | None:
        parts = [t.clone() for t in numeric.unreal(vector, like)]  # no views: a layout of their own
        values = list(sample.values)
        for i, part in zip(sample.wanted, parts, strict=False):
            values[i] = part
        moved = replace(sample, values=tuple(values))

        def step() -> torch.Tensor:
            run = exam.run(moved)
            sandbox.seed(exam.seed + 1)
            return numeric.vector(run.gradients(parts[len(sample.wanted) :]), run.leaves)

        outcome = sandbox.attempt(step)
        return outcome.value if outcome.ok else None

    return f


def _slopes(
    exam: Exam, sample: Sample, seeds: list[torch.Tensor], along: torch.Tensor
) -> list[numeric.Slope]:
    coarse = exam.dtype == torch.float32
    f = _backward(exam, sample, seeds)
    at = numeric.real([*sample.tensors, *seeds])
    return [
        numeric.slope(
            f, at, along, 4 * exam.epsilon, 3 if coarse else 5, first * (8 if coarse else 1)
        )
        for first in STEPS
    ]


def _directions(sample: Sample, seeds: list[torch.Tensor]) -> list[torch.Tensor]:
    """Return directions in the space of inputs and cotangents: two of the inputs, one of the cotangents."""
    inputs, outputs = numeric.real(sample.tensors).numel(), numeric.real(seeds).numel()
    generator = torch.Generator().manual_seed(31)
    drawn = torch.randn(3, inputs + outputs, generator=generator, dtype=torch.float64)
    drawn[:2, inputs:] = 0
    drawn[2, :inputs] = 0
    return list(drawn)


def _steady(exam: Exam, sample: Sample, seeds: list[torch.Tensor]) -> None:
    """Raise unless backward is a function, with finite values."""
    f = _backward(exam, sample, seeds)
    at = numeric.real([*sample.tensors, *seeds])
    one, two = f(at), f(at)
    run = exam.run(sample)
    again = sandbox.attempt(
        lambda: [numeric.vector(run.gradients(seeds), run.leaves) for _ in range(2)]
    )
    if not again.ok or not torch.equal(*again.value):
        raise NotJudged("a second backward through the same graph gives other values")
    if one is None or two is None or not bool(one.isfinite().all()):
        raise NotJudged("the gradient is not finite on these inputs")
    if not exam.repeatable or not torch.equal(one, two):
        raise NotJudged("forward or backward gives other values when called again")


def _owners(sample: Sample) -> torch.Tensor:
    return torch.cat(
        [torch.full((numeric.real([t]).numel(),), k) for k, t in enumerate(sample.tensors)]
    )


def dropped(exam: Exam, sample: Sample) -> Deviation | None:
    """Return the inputs whose gradient has no graph although it varies with the inputs, and how much.

    The cotangents need no gradient here, as in most gradient penalties.
    """
    run = exam.run(sample)
    seeds = exam.cotangents(run, 5)
    sandbox.seed(exam.seed + 1)
    outcome = sandbox.attempt(lambda: run.gradients(seeds, create_graph=True))
    if not outcome.ok:
        return None
    loose = [k for k, g in enumerate(outcome.value) if g is not None and not g.requires_grad]
    if not loose:
        return None
    _steady(exam, sample, seeds)
    owner = _owners(sample)
    names: list[str] = []
    largest = 0.0
    for along in _directions(sample, seeds)[:2]:
        slopes = _slopes(exam, sample, seeds, along)
        if any(len(slope.left) != len(owner) for slope in slopes):
            continue
        for k in loose:
            away = []
            for slope in slopes:
                scale = float(slope.middle.nan_to_num(0, 0, 0).abs().max())
                off = slope.outside(torch.zeros_like(slope.left), RELATIVE[exam.dtype], scale)
                away.append(torch.where((owner == k) & slope.smooth, off, 0.0))
            both = torch.minimum(*away)
            if bool((both > _floor(exam)).any()):
                names += [exam.named(k, sample)] * (exam.named(k, sample) not in names)
                largest = max(largest, float(both.max()))
    return Deviation(names, "0 (no graph)", f"up to {largest:.4g}", sample) if names else None


def _floor(exam: Exam) -> float:
    return 1e-7 if exam.dtype == torch.float64 else 1e-2


def raised(exam: Exam, sample: Sample) -> sandbox.Outcome:
    """Return what comes of a second derivative with cotangents that need gradients."""
    run = exam.run(sample)

    def step() -> list[torch.Tensor | None]:
        return _second(exam, run, _needing(exam, run), 0)

    return sandbox.attempt(step)


def _needing(exam: Exam, run: Run) -> list[torch.Tensor]:
    return [c.requires_grad_() for c in exam.cotangents(run, 5)]


def _second(
    exam: Exam, run: Run, seeds: list[torch.Tensor], number: int
) -> list[torch.Tensor | None]:
    """Return the derivative of a weighted sum of backward's values by the inputs and the cotangents."""
    sandbox.seed(exam.seed + 1)
    grads = run.gradients(seeds, create_graph=True)
    weights = _weights(run, number)
    pairs = [(g, w) for g, w in zip(grads, weights, strict=True) if g is not None]
    pairs = [(g, w.to(g.dtype)) for g, w in pairs if g.requires_grad]
    if not pairs:
        return [None] * (len(run.leaves) + len(seeds))
    return list(
        torch.autograd.grad(
            [g for g, _ in pairs],
            [*run.leaves, *seeds],
            [w for _, w in pairs],
            retain_graph=True,
            allow_unused=True,
        )
    )


def _weights(run: Run, number: int) -> list[torch.Tensor]:
    generator = torch.Generator().manual_seed(77 + number)
    size = numeric.real(run.leaves).numel()
    drawn = torch.randn(size, generator=generator, dtype=torch.float64)
    return numeric.unreal(drawn, run.leaves)


def wrong(exam: Exam, sample: Sample) -> Deviation | None:
    """Return where the second derivative by autograd differs from differences of backward."""
    run = exam.run(sample)
    needing = _needing(exam, run)
    plain = [c.detach() for c in needing]
    found = sandbox.attempt(lambda: [_second(exam, run, needing, n) for n in range(2)])
    if not found.ok:
        return None
    _steady(exam, sample, plain)
    sizes = [t.numel() * (2 if t.is_complex() else 1) for t in (*run.leaves, *needing)]
    for along in _directions(sample, plain):
        slopes = None
        for number, second in enumerate(found.value):
            total = numeric.vector(second, [*run.leaves, *needing])
            if sum(sizes) != len(total) or not bool(total.isfinite().all()):
                continue
            slopes = slopes or _slopes(exam, sample, plain, along)
            weights = numeric.real(_weights(run, number))
            got = float(total @ along)
            sides = [_bounds(exam, slope, weights, got) for slope in slopes]
            if all(away > 0 for away, _, _ in sides):
                _, low, high = sides[0]
                text = f"{low:.6g}" if high - low < 1e-3 * abs(low) else f"{low:.6g} to {high:.6g}"
                where = "cotangent" if not bool(along[: len(weights)].any()) else "inputs"
                return Deviation([where], f"{got:.6g}", text, sample)
    return None


def _bounds(
    exam: Exam, slope: numeric.Slope, weights: torch.Tensor, got: float
) -> tuple[float, float, float]:
    """Return by how much a weighted sum of slopes is out of its bounds (0: may be right), and these."""
    if len(slope.left) != len(weights):
        return 0.0, 0.0, 0.0
    left, right = weights * slope.left, weights * slope.right
    low, high = float(torch.minimum(left, right).sum()), float(torch.maximum(left, right).sum())
    error = float((weights.abs() * slope.error).sum())
    size = float((weights * slope.middle).abs().sum())
    allowed = 16 * error + RELATIVE[exam.dtype] * size + _floor(exam)
    away = max(low - got, got - high)
    return (away if away > allowed else 0.0), low, high
