"""CG203: the values and gradients of the reference that the caller named."""

from collections.abc import Iterator

import torch

from customgrad.checker import numeric, sandbox, variants
from customgrad.checker.exam import Exam, Run
from customgrad.checker.report import Finding
from customgrad.checker.rule import Rule
from customgrad.checker.samples import Sample
from customgrad.checker.script import OUTPUT

REFERENCE = Rule(
    code="CG203",
    name="differs-from-reference",
    severity="bug",
    summary="Values or gradients differ from the reference.",
    explanation="""\
The reference that was named is asked for the same values and gradients: at the inputs as given, at
ties, at the borders of forward's cases and at other values. Where a kink leaves a choice, the
reference's is right.
""",
    surrogate=True,
    after=("CG201", "CG202"),
)


@REFERENCE.finder
def differs(exam: Exam) -> Iterator[Finding]:
    """Yield the first inputs at which values or gradients are not the reference's."""
    exam.require(exam.reference is not None, "no reference was given")
    exam.require(exam.repeatable, "forward gives other values when called again")
    for sample in _samples(exam):
        if not exam.accepts(sample):
            continue
        outcome = sandbox.attempt(_both, exam, sample)
        if not outcome.ok or outcome.value is None:
            continue
        what, got, expected = outcome.value
        names = [exam.named(k, sample) for k in range(len(sample.wanted))]
        off = _off(exam, got, expected)
        if not bool((off > 0).any()):
            continue
        at = int(off.argmax())
        where = f"element {at} of the {what}" + (
            f"s of {', '.join(names)}" if what == "gradient" else "s"
        )
        line = exam.subject.find(
            r"==|>=|<=|>|<|where|clamp", "backward" if what == "gradient" else "forward"
        )
        yield exam.finding(
            REFERENCE,
            f"with {sample.label} the {what} is not the reference's: got {float(got[at]):.6g}, "
            f"expected {float(expected[at]):.6g}",
            did=f"{exam.subject.called} and the reference on {sample.label}",
            got=f"{float(got[at]):.6g}",
            expected=f"{float(expected[at]):.6g}",
            where=where,
            cause=f"the {what} with {sample.label} is another convention or formula than the reference's{line}",
            fix="take the reference's case there, or name another reference",
            sample=sample,
            body=OUTPUT + "out.sum().backward()\nprint([t.grad for t in {inputs}])",
        )
        return


def _samples(exam: Exam) -> Iterator[Sample]:
    """Yield the inputs as given, and variants of them."""
    for sample in exam.samples:
        yield sample
        yield from variants.ties(sample)
        yield from variants.borders(sample, exam.subject)
        yield from variants.magnitudes(sample, elementwise=True)


def _both(exam: Exam, sample: Sample) -> tuple[str, torch.Tensor, torch.Tensor] | None:
    """Return what differs first, values or gradients, and both as real vectors."""
    ours, theirs = exam.run(sample), exam.run(sample, call=exam.reference)
    values = [numeric.real(run.outputs[:1]) for run in (ours, theirs)]
    if values[0].shape != values[1].shape or not theirs.live:
        return None
    if bool((_off(exam, *values) > 0).any()):
        return "value", values[0], values[1]
    seeds = [torch.randn_like(t) for t in ours.live]
    grads = [_gradient(run, seeds) for run in (ours, theirs)]
    if not bool(grads[1].isfinite().any()):
        return None
    return "gradient", grads[0], grads[1]


def _gradient(run: Run, seeds: list[torch.Tensor]) -> torch.Tensor:
    given = run.gradients([s if k == 0 else None for k, s in enumerate(seeds[: len(run.live)])])
    return numeric.vector(given, run.leaves)


def _off(exam: Exam, got: torch.Tensor, expected: torch.Tensor) -> torch.Tensor:
    """Return by how much elements differ beyond rounding; NaN where the other is finite counts."""
    loose = 1e-6 if exam.dtype == torch.float64 else 1e-3
    finite = expected.isfinite()
    scale = float(expected[finite].abs().max()) if bool(finite.any()) else 0.0
    off = (got - expected).abs() - loose * (expected.abs() + 0.01 * scale) - 1e-12
    off = torch.where(finite & ~got.isfinite(), torch.inf, off)
    return torch.where(finite, off, 0.0).clamp(min=0)
