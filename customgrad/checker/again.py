"""The same call again: its gradients as one vector, and whether two of these differ."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import torch

from customgrad.checker import numeric, sandbox
from customgrad.checker.exam import Exam, Run
from customgrad.checker.samples import Sample

__all__ = ["differ", "others", "plain", "text", "vector"]


def vector(exam: Exam, run: Run, seeds: Sequence[torch.Tensor], extra: int = 1) -> torch.Tensor:
    """Return the gradients as a vector of its own, backward's random numbers seeded."""
    sandbox.seed(exam.seed + extra)
    grads = run.gradients([s.clone() for s in seeds])
    return numeric.vector(grads, run.leaves).clone()


def differ(exam: Exam, a: torch.Tensor, b: torch.Tensor, loose: float = 0.0) -> bool:
    """Whether two gradients differ by more than rounding; NaN equals NaN."""
    if a.shape != b.shape:
        return True
    relative = loose or (1e-9 if exam.dtype == torch.float64 else 1e-4)
    known = b[b.isfinite()].abs()
    size = float(known.max()) if known.numel() else 0.0
    return not torch.allclose(a, b, rtol=relative, atol=relative * size, equal_nan=True)


def text(a: torch.Tensor, b: torch.Tensor) -> tuple[str, str, str]:
    """Return both values of the element that differs most, and which it is."""
    off = (a - b).abs().nan_to_num(0.0) if a.shape == b.shape else torch.ones(1)
    k = int(off.argmax()) if off.numel() else 0
    return f"{float(a[k]):.6g}", f"{float(b[k]):.6g}", f"element {k} of the gradients"


def others(exam: Exam) -> Iterator[Sample]:
    """Yield other inputs that forward takes."""
    yield from exam.samples[1:]
    for change in (lambda t: t * -0.75 + 0.3, lambda t: t * 0.875 + 0.03125):
        sample = exam.base.changed(change, "other values")
        if exam.accepts(sample):
            yield sample
            break
    floats = [i for i, v in enumerate(exam.base.values) if type(v) is float]
    if floats:
        values = tuple(v * 1.25 if i in floats else v for i, v in enumerate(exam.base.values))
        sample = replace(exam.base, values=values, label="other numbers")
        if exam.accepts(sample):
            yield sample


def plain(run: Run, seeds: list[torch.Tensor]) -> torch.Tensor:
    """Return the gradients as a vector; nothing is seeded."""
    grads = run.gradients([s.clone() for s in seeds])
    return numeric.real([g for g in grads if g is not None])
