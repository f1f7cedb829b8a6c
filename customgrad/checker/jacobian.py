"""The gradient that backward gives beside the one that forward has, element by element."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch

from customgrad.checker import doubt, numeric
from customgrad.checker.exam import MOST, Exam, Run, directions
from customgrad.checker.rule import NotJudged
from customgrad.checker.samples import Sample

__all__ = ["Comparison", "compare", "rows"]


@dataclass
class Comparison:
    """Both Jacobians: one row a cotangent, one column a real coordinate of the inputs."""

    got: torch.Tensor
    expected: torch.Tensor
    """NaN where it could not be found."""
    worst: tuple[int, int] | None
    """Row and column of the largest deviation; None where everything agrees."""
    along: str
    """Where the deviation is: the element, or the direction in which it shows."""
    got_text: str
    expected_text: str
    kink: bool
    """Whether the two sides differ there."""
    columns: torch.Tensor
    """Which input each column belongs to."""

    @property
    def wrong(self) -> bool:
        """Whether backward and forward disagree."""
        return self.worst is not None


def rows(exam: Exam, run: Run, most: int) -> tuple[list[list[torch.Tensor]], list[int | None]]:
    """Return cotangents: one element of the outputs at a time, or some and two dense ones."""
    size = numeric.real(run.live).numel()
    chosen: Sequence[int] = range(size) if size <= most else [k * size // most for k in range(most)]
    made: list[list[torch.Tensor]] = []
    numbers: list[int | None] = []
    for k in chosen:
        one = torch.zeros(size, dtype=torch.float64)
        one[k] = 1.0
        made.append(numeric.unreal(one, run.live))
        numbers.append(k)
    if size > most:
        made += [exam.cotangents(run, n) for n in range(2)]
        numbers += [None, None]
    return made, numbers


def gradient(run: Run, cotangents: Sequence[torch.Tensor]) -> torch.Tensor:
    """Return the gradients of all leaves as one real vector, zero for None."""
    # Copies: a backward that writes into its cotangent is another rule's business.
    grads = run.gradients([c.clone() for c in cotangents])
    return numeric.vector(grads, run.leaves)


def compare(
    exam: Exam, sample: Sample, relative: float | None = None, most: int = MOST
) -> Comparison:
    """Compare backward with finite differences of forward.

    Args:
        exam: the run.
        sample: the inputs.
        relative: how far off a slope may be, relatively; by the dtype if not given.
        most: how many elements are looked at one by one.

    Raises:
        NotJudged: where forward is not the same function twice, or nothing could be measured.
    """
    if not exam.repeatable:
        raise NotJudged("forward gives other values when called again")
    relative = relative or (1e-5 if exam.dtype == torch.float64 else 2e-2)
    run = exam.run(sample)
    outputs = run.outputs
    if exam.shaky(sample, [k for k, t in enumerate(outputs) if t.requires_grad]):
        raise NotJudged("forward is ill-conditioned there")
    live = [k for k, t in enumerate(outputs) if t.requires_grad]
    if not sum(t.numel() for t in run.live):
        raise NotJudged("the output is empty")
    cotangents, numbers = rows(exam, run, most)
    got = torch.stack([gradient(exam.ready(sample, run), c) for c in cotangents])
    seeds = torch.stack([numeric.real(c) for c in cotangents])
    owner = torch.cat(
        [
            torch.full((t.numel() * (2 if t.is_complex() else 1),), k)
            for k, t in enumerate(sample.tensors)
        ]
    )
    silent = _silent(exam, sample, exam.ready(sample, run), owner)
    got[:, silent] = torch.nan
    if bool(got[:, ~silent].isnan().any()):
        # Zero times an infinite slope: not counted, as long as no cotangent of nonzero elements gives NaN.
        dense = gradient(exam.ready(sample, run), exam.cotangents(run))
        got = torch.where(got.isnan() & ~dense.isnan(), torch.inf, got)
    expected = torch.full_like(got, torch.nan)
    single = torch.tensor([n is not None for n in numbers])
    found = Comparison(got, expected, None, "", "", "", False, owner)
    worst = 0.0
    for column, direction in [*directions(sample, most), *_together(sample, owner)]:
        if column is not None and silent[column]:
            continue
        if column is None:
            direction = torch.where(silent, 0.0, direction)
            if not bool(direction.any()):
                continue
        slope = exam.slope(sample, direction, live)
        if slope.left.shape[0] != seeds.shape[1]:
            continue
        predicted = torch.where(silent, 0.0, got) @ direction
        away, middle, sides = _away(slope, seeds, predicted, single, relative, column is not None)
        if column is not None:
            expected[:, column] = middle
        far = away / (
            middle.abs()
            + 1e-12
            + float(middle[middle.isfinite()].abs().max() if bool(middle.isfinite().any()) else 0)
        )
        row = int(far.nan_to_num(0, posinf=1e9).argmax())
        value = float(far[row].nan_to_num(0, posinf=1e9))
        # Two slopes on this line are bounds; where both are the same, others around it may differ.
        kinked = bool((sides[1][row] - sides[0][row]).abs() > 1e-3 * (1 + middle[row].abs()))
        if (
            float(away[row]) > 0
            and value > worst
            and not doubt.nearby(
                exam,
                sample,
                direction,
                live,
                seeds[row],
                float(predicted[row]),
                0.02 if kinked else 0.15,
            )
            and not doubt.excused(
                exam,
                sample,
                direction,
                live,
                seeds[row],
                float(predicted[row]),
                float(away[row]),
                relative,
            )
        ):
            # A single element says more than a direction does.
            if column is None and found.worst is not None:
                continue
            worst = value
            found.worst = (row, column if column is not None else -1)
            found.got_text = f"{float(predicted[row]):.6g}"
            low, high = sides[0][row], sides[1][row]
            found.kink = bool((high - low).abs() > 1e-3 * (1 + middle[row].abs()))
            found.expected_text = (
                f"between {float(min(low, high)):.6g} and {float(max(low, high)):.6g}"
                if found.kink
                else f"{float(middle[row]):.6g}"
            )
            found.along = _place(exam, sample, run, numbers[row], column)
    if not bool(expected.isfinite().any()) and found.worst is None:
        raise NotJudged("forward could not be evaluated beside these inputs")
    return found


def suspicious(exam: Exam, sample: Sample, relative: float) -> bool:
    """Whether an elementwise gradient looks wrong: all elements at once, one direction an input."""
    run = exam.run(sample)
    grads = run.gradients()
    size = sample.tensors[0].numel()
    given = [
        torch.zeros(size, dtype=torch.float64) if g is None else numeric.real([g]) for g in grads
    ]
    alone = [(slice(k * size, (k + 1) * size), got) for k, got in enumerate(given)]
    # All inputs moved together: where two are equal they stay so.
    for part, got in [*alone, (slice(None), torch.stack(given).sum(0))]:
        direction = torch.zeros(sample.size, dtype=torch.float64)
        direction[part] = 1
        slope = exam.slope(sample, direction, [0])
        if slope.left.shape != got.shape:
            return True
        finite = slope.middle[slope.middle.isfinite()]
        scale = float(finite.abs().max()) if len(finite) else 1e-9
        if bool((slope.outside(got, relative, scale) > 0).any()):
            return True
    return False


def _silent(exam: Exam, sample: Sample, run: Run, owner: torch.Tensor) -> torch.Tensor:
    """Mark the columns of inputs that nobody asked a gradient for, and that get none."""
    if sample.told:
        return torch.zeros(len(owner), dtype=torch.bool)
    grads = run.gradients(exam.cotangents(run))
    none = [k for k, g in enumerate(grads) if g is None]
    if none:
        exam.facts["without gradient"] = [exam.named(k, sample) for k in none]
    return torch.isin(owner, torch.tensor(none, dtype=owner.dtype))


def _together(sample: Sample, owner: torch.Tensor) -> list[tuple[None, torch.Tensor]]:
    """Return directions that move many elements at once: along them ties stay ties."""
    ones = torch.ones(len(owner), dtype=torch.float64)
    made = [ones]
    if len(sample.wanted) > 1:
        made += [torch.where(owner == k, 1.0, 0.0).double() for k in range(len(sample.wanted))]
    return [(None, d) for d in made if bool(d.any())]


def _away(
    slope: numeric.Slope,
    seeds: torch.Tensor,
    predicted: torch.Tensor,
    single: torch.Tensor,
    relative: float,
    coordinate: bool,
) -> tuple[torch.Tensor, torch.Tensor, tuple[torch.Tensor, torch.Tensor]]:
    """Return how far each row is off, the slope it should have, and its two sides."""
    known = slope.error.isfinite() & slope.left.isfinite() & slope.right.isfinite()
    left, right = slope.left.nan_to_num(), slope.right.nan_to_num()
    error = torch.where(known, slope.error, torch.inf)
    sides = (seeds @ left, seeds @ right)
    weights = seeds.abs()
    # 0 times an unknown error is no error.
    wrong = torch.where(weights > 0, weights * error, 0.0).sum(1)
    rough = torch.where(weights > 0, weights * (~slope.smooth).double(), 0.0).sum(1) > 0
    row = numeric.Slope(sides[0], sides[1], wrong)
    scale = float((left.abs().max() if len(left) else torch.tensor(0.0)).clamp(min=1e-9))
    away = row.outside(predicted, relative, scale)
    # Beside a kink, only one element of input and output at a time has bounds of its own.
    unsure = rough & ~single if coordinate else rough
    away = torch.where(unsure, 0.0, away)
    middle = torch.where(wrong.isfinite(), row.middle, torch.nan)
    return away, middle, sides


def _place(exam: Exam, sample: Sample, run: Run, row: int | None, column: int | None) -> str:
    """Name the element of the output and of the input."""
    out = "a random cotangent" if row is None else _element(run.live, row, "output")
    if column is None:
        return f"{out}, with the inputs moved together"
    names = [exam.named(k, sample) for k in range(len(sample.wanted))]
    return f"d {out} / d {_element(sample.tensors, column, *names)}"


def _element(tensors: Sequence[torch.Tensor], position: int, *names: str) -> str:
    """Name one real coordinate of tensors, as "weight[0, 2]"."""
    for k, t in enumerate(tensors):
        parts = 2 if t.is_complex() else 1
        if position < t.numel() * parts:
            name = (
                names[k]
                if len(names) == len(tensors)
                else (names[0] if len(tensors) == 1 else f"{names[0]} {k}")
            )
            index = []
            rest = position // parts
            for size in reversed(t.shape):
                index.append(rest % size)
                rest //= size
            part = ("", ".imag")[position % 2] if parts == 2 else ""
            return name + (f"[{', '.join(map(str, reversed(index)))}]" if t.dim() else "") + part
        position -= t.numel() * parts
    return names[0]
