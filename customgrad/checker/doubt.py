"""What speaks against a deviation: kinks and jumps around the point, and noise in forward's values."""

import itertools
from collections.abc import Sequence

import torch

from customgrad.checker import numeric
from customgrad.checker.exam import Exam
from customgrad.checker.samples import Sample

__all__ = ["excused", "nearby"]


def nearby(
    exam: Exam,
    sample: Sample,
    direction: torch.Tensor,
    live: Sequence[int],
    seed: torch.Tensor,
    got: float,
    share: float,
) -> bool:
    """Whether slopes around the point, where there are no ties and kinks, surround this one.

    A gradient where there is none is an element of their convex hull (Clarke), which is more than
    the two slopes along one line: the second largest of three equal elements has both of them 0.
    """
    generator = torch.Generator().manual_seed(5)
    found = []
    for _ in range(48):
        moved = sample.changed(
            lambda t: t + _jitter(t, generator),
            sample.label,
        )
        slope = exam.slope(moved, direction, live)
        if slope.left.shape == seed.shape:
            value = float(torch.where(seed != 0, seed * slope.middle, 0.0).sum())
            if bool(slope.smooth[seed != 0].all()) and abs(value) < float("inf"):
                found.append(value)
        if found:
            room = share * (max(found) - min(found))
            if min(found) - room <= got <= max(found) + room and room > 0.01 * max(map(abs, found)):
                return True
    return not found


def excused(
    exam: Exam,
    sample: Sample,
    direction: torch.Tensor,
    live: Sequence[int],
    seed: torch.Tensor,
    got: float,
    away: float,
    relative: float,
) -> bool:
    """Whether a deviation may be rounding, or comes from jumps and kinks that large steps cross.

    The same values in other units, an offset that cancels in the end, leave noise that values and
    inputs do not show; it is measured along the line, and slopes must be known beyond it.
    """
    if exam.dtype != torch.float64:
        return False
    noise, size = _noise(exam, sample, direction, live)
    if noise is None or noise.shape[1:] != seed.shape:
        return False
    if away <= 2 * float((seed.abs() * noise.amax(0)).sum()) / (2.0**-13 * size):
        return True
    if away <= 20 * float((seed.abs() * noise[0]).sum()) / (2.0**-28 * size):
        return False  # smaller steps would show nothing but noise
    slope = exam.slope(sample, direction, live, first=2.0**-20)
    if slope.left.shape != seed.shape:
        return False
    used = seed != 0
    known = slope.error.isfinite() & slope.left.isfinite() & slope.right.isfinite()
    if not bool(known[used].all()):
        # Nothing is known at that scale; other inputs than the ones given get the benefit of it.
        return sample.label != exam.base.label
    left, right = (float((seed * s.nan_to_num()).sum()) for s in (slope.left, slope.right))
    error = 8 * float((seed.abs() * slope.error.nan_to_num(0, 0, 0)).sum())
    room = error + relative * max(abs(left), abs(right), abs(got))
    return min(left, right) - room <= got <= max(left, right) + room


def _noise(
    exam: Exam, sample: Sample, direction: torch.Tensor, live: Sequence[int]
) -> tuple[torch.Tensor | None, float]:
    """Return how far forward's values scatter along a line, at growing steps, and the unit of these.

    Second differences of noise do not grow with the step; those of a kink or a curve do.
    """
    f, at = exam.evaluate(sample, live), numeric.real(sample.tensors)
    moved = direction != 0
    sizes = at[moved].abs().clamp(max=1.0)
    sizes = torch.where(sizes > 0, sizes.clamp(min=1e-6), 1.0)
    size = float(sizes.min()) / float(direction[moved].abs().max())
    here = f(at)
    rows: list[torch.Tensor] = []
    for step in (1e-8, 4e-8, 2.0**-17, 2.0**-15, 2.0**-13):
        seen: list[torch.Tensor] = []
        for share in (1.0, 0.9, 0.83, 0.71, 0.6, 0.52):
            h = step * share * size
            one, two = f(at + h * direction), f(at - h * direction)
            if (
                here is None
                or one is None
                or two is None
                or not one.shape == two.shape == here.shape
            ):
                return None, size
            seen.append((one + two - 2 * here).abs().nan_to_num(0, 0, 0))
        rows.append(torch.stack(seen).amax(0))
    pairs = [
        torch.where(far <= 2 * near, torch.maximum(near, far), 0.0)
        for near, far in itertools.pairwise(rows)
    ]
    return torch.stack(pairs), size


def _jitter(t: torch.Tensor, generator: torch.Generator) -> torch.Tensor:
    """Return small random numbers, a hundredth of the tensor's largest element."""
    size = float(t.abs().max()) if t.numel() else 0.0
    drawn = torch.randn(t.shape, generator=generator, dtype=torch.float64)
    return (0.01 * (size or 1.0) * drawn).to(t.dtype)
