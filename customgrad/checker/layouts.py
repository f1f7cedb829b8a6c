"""Other layouts and other shapes of the same values, and the comparison of two gradients."""

import functools
import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import torch

from customgrad.checker import numeric, sandbox
from customgrad.checker.exam import Exam, Run
from customgrad.checker.samples import Sample, flat, mapped

__all__ = [
    "ALL_OUTPUTS",
    "batches",
    "deviates",
    "different",
    "layouts",
    "resized",
    "seeded",
    "sizes",
    "steady",
]

ALL_OUTPUTS = (
    "out = {call}\n"
    "outs = [t for t in (out if isinstance(out, tuple) else (out,)) if t.requires_grad]\n"
)
"""The beginning of a script's body: the outputs that require gradients."""

Layout = Callable[[torch.Tensor], torch.Tensor]


def transposed(t: torch.Tensor) -> torch.Tensor:
    """Return the same values, the last two dimensions swapped in memory."""
    return t.transpose(-1, -2).contiguous().transpose(-1, -2)


def turned(t: torch.Tensor) -> torch.Tensor:
    """Return the same values, all dimensions in the opposite order in memory."""
    order = tuple(range(t.dim() - 1, -1, -1))
    return t.permute(order).contiguous().permute(order)


def offset(t: torch.Tensor) -> torch.Tensor:
    """Return the same values behind others in memory, contiguous, as a part of `cat` is."""
    flat = t.reshape(-1)
    return torch.cat([flat.detach() * 0 + 0.5, flat])[flat.numel() :].view(t.shape)


def narrowed(t: torch.Tensor) -> torch.Tensor:
    """Return the same values as a slice of a wider tensor."""
    return torch.cat([t.detach() * 0 + 0.5, t], -1).narrow(-1, t.shape[-1], t.shape[-1])


def spread(t: torch.Tensor) -> torch.Tensor:
    """Return the same values, every second element of a larger tensor."""
    return torch.stack([t, t.detach() * 0 + 0.5], -1)[..., 0]


def channels_last(t: torch.Tensor) -> torch.Tensor:
    """Return the same values in channels-last order, for single channels or pixels as well."""
    return t.permute(0, 2, 3, 1).contiguous().permute(0, 3, 1, 2)


def conjugated(t: torch.Tensor) -> torch.Tensor:
    """Return the same values as a lazy conjugate."""
    return t.conj().resolve_conj().conj()


LAYOUTS: Sequence[tuple[str, Layout, Callable[[torch.Tensor], bool]]] = (
    ("transposed in memory", transposed, lambda t: t.dim() > 1),
    ("with a storage offset, as a part of torch.cat", offset, lambda t: True),
    ("a slice of a wider tensor (narrow)", narrowed, lambda t: t.dim() > 0),
    ("strided, every second element of a tensor", spread, lambda t: t.dim() > 0),
    ("with all dimensions reversed in memory", turned, lambda t: t.dim() > 2),
    ("in channels-last memory format", channels_last, lambda t: t.dim() == 4),
    ("a lazy conjugate view", conjugated, torch.is_complex),
)


def layouts(tensors: Sequence[torch.Tensor]) -> Iterator[tuple[str, Layout]]:
    """Yield (words, layout) for the layouts that at least one of the tensors can have.

    A layout leaves a tensor that cannot have it alone.
    """
    for words, change, fits in LAYOUTS:
        if any(fits(t) and t.numel() for t in tensors):
            yield words, functools.partial(_laid, change, fits)


def _laid(change: Layout, fits: Callable[[torch.Tensor], bool], t: torch.Tensor) -> torch.Tensor:
    return change(t) if t.numel() and fits(t) else t


# Comparison -------------------------------------------------------------------------------------


def different(exam: Exam, got: torch.Tensor, expected: torch.Tensor) -> int | None:
    """Return the element in which two vectors differ most, None if by no more than rounding."""
    if got.shape != expected.shape:
        return 0
    if not got.numel():
        return None
    loose = 1e-6 if exam.dtype == torch.float64 else 1e-2
    known = expected.isfinite()
    size = float(expected[known].abs().max()) if bool(known.any()) else 0.0
    off = (got - expected).abs()
    off = torch.where(known, off.nan_to_num(torch.inf, posinf=torch.inf), 0.0)
    worst = int(off.argmax())
    return worst if float(off[worst]) > loose * size + 1e-300 else None


def seeded(exam: Exam, run: Run, cotangents: Sequence[torch.Tensor | None]) -> torch.Tensor:
    """Return the gradients of a run as one vector, from the same random numbers each time."""
    sandbox.seed(exam.seed + 1)
    return numeric.vector(run.gradients(cotangents), run.leaves)


def steady(exam: Exam, sample: Sample) -> bool:
    """Whether two calls give the same gradient, from whatever random numbers in backward."""
    kept = exam.known.setdefault("steady", {})
    if sample.label not in kept:

        def same() -> bool:
            found = []
            for number in (1, 2):
                run = exam.run(sample)
                seeds = exam.cotangents(run)
                sandbox.seed(exam.seed + number)
                found.append(numeric.vector(run.gradients(seeds), run.leaves))
            return different(exam, found[0], found[1]) is None

        outcome = sandbox.attempt(same)
        kept[sample.label] = outcome.ok and bool(outcome.value)
    return bool(kept[sample.label])


def deviates(exam: Exam, sample: Sample) -> bool:
    """Whether the gradient may be wrong: along one direction, of many outputs; ten calls of forward."""
    run = exam.run(sample)
    live = [k for k, t in enumerate(run.outputs) if t.requires_grad]
    seeds = exam.cotangents(run)
    row = numeric.real(seeds)
    got = numeric.vector(run.gradients(seeds), run.leaves)
    generator = torch.Generator().manual_seed(11)
    direction = torch.randn(len(got), generator=generator, dtype=torch.float64)
    if not len(got):
        return False
    slope = exam.slope(sample, direction, live)
    if slope.middle.shape != row.shape:
        return True
    expected, size = row @ slope.middle, row.abs() @ slope.middle.abs()
    loose = 1e-6 if exam.dtype == torch.float64 else 1e-2
    off = (got @ direction - expected).abs()
    return not bool(off <= 8 * (row.abs() @ slope.error) + loose * size)


# Shapes -----------------------------------------------------------------------------------------


def sizes(sample: Sample) -> list[int]:
    """Return the sizes above 1 that the inputs which need gradients have, in order."""
    found = itertools.chain.from_iterable(t.shape for t in sample.tensors)
    return list(dict.fromkeys(n for n in found if n > 1))


def resized(sample: Sample, size: int, to: int) -> Sample:
    """Return a sample in which every dimension of one size, of any tensor, has another, smaller size."""

    def cut(t: torch.Tensor) -> torch.Tensor:
        for d in range(t.dim()):
            if t.shape[d] == size:
                t = t.narrow(d, 0, to)
        return t.clone()

    return _cut(sample, cut, f"every dimension of size {size} made {to}")


def batches(exam: Exam, sample: Sample, to: int) -> Iterator[Sample]:
    """Yield samples whose batch has another, smaller size: a first dimension that every output has.

    Args:
        exam: the run.
        sample: the inputs.
        to: the new size.
    """
    outputs = exam.run(sample, grad=False).outputs
    tensors = [t for v in sample.values for t in flat(v)]
    for size in dict.fromkeys(t.shape[0] for t in tensors if t.dim() and t.shape[0] > to):
        if any(o.dim() and o.shape[0] != size for o in outputs):
            continue
        for least in (1, 2):
            if least > max(t.dim() for t in tensors):
                continue

            def cut(t: torch.Tensor, size: int = size, least: int = least) -> torch.Tensor:
                own = t.dim() >= least and t.shape[0] == size
                return t.narrow(0, 0, to).clone() if own else t.clone()

            variant = _cut(sample, cut, f"a batch of {to} instead of {size}")
            if all(
                a.shape == b.shape for a, b in zip(variant.tensors, sample.tensors, strict=True)
            ):
                continue  # labels without their rows
            made = sandbox.attempt(exam.run, variant, grad=False)
            if made.ok and [o.shape for o in made.value.outputs] == [
                (torch.Size((to, *o.shape[1:])) if o.dim() else o.shape) for o in outputs
            ]:
                yield variant
                break


def _cut(sample: Sample, cut: Callable[[torch.Tensor], torch.Tensor], words: str) -> Sample:
    values = tuple(mapped(v, cut) for v in sample.values)
    shapes = ", ".join(str(tuple(t.shape)) for v in values for t in flat(v))
    return replace(sample, values=values, label=f"{words}: {shapes}")
