"""CG605: inputs of other shapes that broadcast."""

from collections.abc import Iterator
from dataclasses import replace

import torch

from customgrad.checker import sandbox
from customgrad.checker.exam import Exam
from customgrad.checker.report import Finding
from customgrad.checker.rule import Rule
from customgrad.checker.rules.shapes import BODY, broken, judged
from customgrad.checker.samples import Sample

BROADCAST = Rule(
    code="CG605",
    name="broadcast-gradient",
    severity="bug",
    summary="forward broadcasts its inputs, and backward does not sum the gradient back right.",
    explanation="""\
Where forward broadcasts, the gradient of the smaller input is a sum over the dimensions that were
broadcast, whichever these are. A sum over a fixed dimension is right for one shape alone. Use
gradient.sum_to_size(input.shape) for each input, or refuse other shapes in forward.
""",
)


@BROADCAST.finder
def broadcast(exam: Exam) -> Iterator[Finding]:
    """Yield shapes that forward broadcasts, and for which backward raises or is wrong."""
    sample = exam.base
    exam.require(len(sample.wanted) > 1, "there is one input that needs a gradient")
    exam.require(
        _elementwise(exam, sample), "forward does not broadcast its inputs with each other"
    )
    for variant in _shapes(sample):
        if not exam.accepts(variant) or not _elementwise(exam, variant):
            continue
        outcome = broken(exam, variant)
        found = judged(exam, variant) if outcome is None else None
        if outcome is None and found is None:
            continue
        line = exam.subject.find(r"\.sum\(|sum_to|reshape|\.view\(|\.mean\(", "backward")
        raises = outcome is not None and not outcome.ok
        got = (
            outcome.words if outcome is not None and raises else found.got_text if found else "NaN"
        )
        yield exam.finding(
            BROADCAST,
            f"backward raises for inputs that broadcast, {variant.label}: {got}"
            if raises
            else f"the gradient is wrong for inputs that broadcast, {variant.label}",
            did=f"{exam.subject.called} with {variant.label}; then backward",
            got=got,
            expected=found.expected_text if found else "each gradient in its input's shape",
            where=found.along if found else "",
            cause="the gradient is not summed over the dimensions that were broadcast to the input's shape"
            f"{line or ' in ' + exam.subject.place('backward')}",
            fix="sum each gradient back with gradient.sum_to_size(input.shape), or refuse other shapes in forward",
            sample=variant,
            # An error is loud, and forward may take such shapes by accident.
            severity="missing" if raises else BROADCAST.severity,
            body=BODY,
        )
        return


def _elementwise(exam: Exam, sample: Sample) -> bool:
    """Whether each output has the inputs' broadcast shape, and each element only its own inputs."""
    outcome = sandbox.attempt(lambda: torch.broadcast_shapes(*(t.shape for t in sample.tensors)))
    if not outcome.ok:
        return False
    outputs = exam.run(sample, grad=False).outputs
    if not all(t.shape == outcome.value and t.numel() for t in outputs):
        return False
    for i in sample.wanted:
        for at in (0, -1):
            values = list(sample.values)
            values[i] = values[i].detach().clone(memory_format=torch.contiguous_format)
            values[i].view(-1)[at] *= 1.05
            mine = torch.zeros(values[i].shape, dtype=torch.bool)
            mine.view(-1)[at] = True
            moved = replace(sample, values=tuple(values))
            again = sandbox.attempt(exam.run, moved, grad=False)
            if again.ok and any(
                bool(((a != b) & ~mine.expand(a.shape)).any())
                for a, b in zip(again.value.outputs, outputs, strict=True)
            ):
                return False
    return True


def _shapes(sample: Sample) -> Iterator[Sample]:
    """Yield the inputs in other shapes."""
    tensors = sample.tensors
    full = torch.broadcast_shapes(*(t.shape for t in tensors))
    last = full[-1] if full else 4
    if len(tensors) == 2:
        yield _of(sample, [(3, last), (3, 1)])
        yield _of(sample, [(3, 1), (3, last)])
        yield _of(sample, [(3, 1), (1, last)])
        yield _of(sample, [(1, last), (3, 1)])
        yield _of(sample, [(3, last), (last,)])
        yield _of(sample, [(last,), (3, last)])
    for k in range(len(tensors)):
        for shape in ((), (1,)):
            shapes = [tuple(t.shape) for t in tensors]
            shapes[k] = shape
            if tuple(tensors[k].shape) != shape and any(shapes):
                yield _of(sample, shapes)


def _of(sample: Sample, shapes: list[tuple[int, ...]]) -> Sample:
    """Return the inputs in these shapes, their own elements over and over."""
    values = list(sample.values)
    for i, shape in zip(sample.wanted, shapes, strict=True):
        flat = values[i].detach().reshape(-1)
        if flat.numel():
            count = int(torch.Size(shape).numel())
            values[i] = flat[torch.arange(count) % flat.numel()].reshape(shape)
    words = " and ".join(str(tuple(values[i].shape)) for i in sample.wanted)
    return replace(sample, values=tuple(values), label=f"shapes {words}")
