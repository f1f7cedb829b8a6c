"""The gradient in a low precision, beside the one in float64 and torch's own."""

import math
from collections.abc import Callable

import torch

from customgrad.checker import numeric, sandbox
from customgrad.checker.exam import Exam, Run
from customgrad.checker.extremes import masked
from customgrad.checker.samples import Sample
from customgrad.checker.spy import composed, raw

__all__ = ["judge", "variants"]

Change = Callable[[torch.Tensor], torch.Tensor]


def _times(factor: float) -> Change:
    return lambda t: t * (factor / float(t.abs().max().clamp(min=1e-300)))


def _offset(base: float, spread: float) -> Change:
    return lambda t: base + spread * t


def _about(size: float) -> Change:
    """All elements of nearly one size, so that none outweighs the others."""
    return lambda t: size * (t.sign() + 0.1 * t / t.abs().max().clamp(min=1e-300))


def variants(dtype: torch.dtype) -> list[tuple[str, Change]]:
    """Return (words, change) for each of the inputs that are tried in a dtype."""
    half = dtype == torch.float16
    sizes = (1e-3, 0.1, 10.0, 400.0, 2e4) if half else (1e-8, 1e-4, 1e-2, 1e2, 1e4)
    made = [(f"{{}} of size {size:g}", _times(size)) for size in sizes]
    if half:
        made.append(("{} about 400 or -400", _about(400.0)))
    offsets = (
        ((10.0, 1.0), (100.0, 1.0)) if dtype.itemsize == 2 else ((1000.0, 1.0), (1000.0, 0.01))
    )
    made += [(f"{{}} = {a:g} + {b:g} x", _offset(a, b)) for a, b in offsets]
    return made


Grads = list[torch.Tensor]


def _gradients(exam: Exam, run: Run | None, dtype: torch.dtype) -> Grads | None:
    """Return the gradients in float64, by cotangents that are exact in the low dtype."""
    if run is None or not run.live or not all(bool(t.isfinite().all()) for t in run.live):
        return None
    seeds = [c.to(dtype).to(t.dtype) for c, t in zip(exam.cotangents(run), run.live, strict=True)]
    return [g.double() for g in numeric.filled(run.gradients(seeds), run.leaves)]


def judge(
    exam: Exam, sample: Sample, dtype: torch.dtype, torch_too: bool
) -> tuple[int, float, float, float, torch.Tensor, torch.Tensor] | None:
    """Return (input, error, torch's error, rounding's share, got, expected), or None."""
    if not all(bool(t.isfinite().all()) for t in sample.tensors):
        return None
    run = exam.run(sample)
    if any(t.dtype != dtype for t in run.live):
        return None
    got = _gradients(exam, run, dtype)
    wide = exam.run(sample.to(torch.float64))
    exact = _gradients(exam, wide, dtype)
    if got is None or exact is None or not all(bool(g.isfinite().all()) for g in exact):
        return None
    info = torch.finfo(dtype)
    floor = 2e-3 if dtype == torch.float32 else 0.1
    out = max((float(t.detach().abs().max()) for t in wide.live if t.numel()), default=0.0)
    for k, (mine, right, x) in enumerate(zip(got, exact, sample.tensors, strict=True)):
        if not right.numel():
            continue
        size = float(right.abs().max())
        if size > info.max / 4 or size < 16 * info.smallest_normal * info.eps:
            continue
        error = _error(mine, right, size)
        if error <= floor:
            continue
        if error * size * float(x.abs().max()) < 64 * info.eps * out:
            continue  # forward's own rounding does as much, as where a softmax is saturated
        if masked(sample) and (math.isinf(error) or dtype.itemsize == 2):
            continue  # what a mask leaves out need not be in range
        theirs = _gradients(exam, composed(exam, sample), dtype) if torch_too else None
        if theirs is None:
            if not math.isinf(error) or float(x.abs().max()) > 1e3:
                continue
            other = math.nan
        else:
            other = _error(theirs[k], right, size)
            if not math.isfinite(other) or other * 30 > error:
                continue
        share = _conditioning(exam, sample, dtype, k, right, size)
        if share > 0.03 and not math.isinf(error):
            continue  # the inputs themselves are too coarse for a gradient
        if dtype.itemsize == 2 and not math.isinf(error) and not _overflows(exam, sample):
            continue  # plain rounding in half precision is nobody's fault
        if error > 50 * share:
            return k, error, other, share, mine, right
    return None


def _overflows(exam: Exam, sample: Sample) -> bool:
    """Whether an infinity comes up in backward, as far as can be seen."""
    seen = sandbox.attempt(lambda: raw(exam, sample, watch=True))
    return not seen.ok or bool(seen.value.births)


def _error(got: torch.Tensor, right: torch.Tensor, size: float) -> float:
    """Return the largest deviation over the largest element; inf for NaN."""
    error = float((got - right).abs().max()) / size
    return error if math.isfinite(error) else math.inf


def _conditioning(
    exam: Exam, sample: Sample, dtype: torch.dtype, k: int, right: torch.Tensor, size: float
) -> float:
    """Return how far the gradient moves in float64 when the inputs move by one rounding error."""
    eps, share = torch.finfo(dtype).eps, torch.finfo(dtype).eps
    generator = torch.Generator().manual_seed(5)
    for _ in range(3):

        def moved(t: torch.Tensor) -> torch.Tensor:
            signs = torch.randint(0, 2, t.shape, generator=generator) * 2.0 - 1
            return t * (1 + eps * signs.double())

        wide = exam.run(sample.to(torch.float64).changed(moved, ""))
        near = _gradients(exam, wide, dtype)
        if near is None:
            return math.inf
        share = max(share, _error(near[k], right, size))
    return share
