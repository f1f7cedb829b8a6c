"""CG603 and CG604: inputs without elements, of size 1, and without dimensions."""

import re
from collections.abc import Iterator
from dataclasses import replace

import torch

from customgrad.checker import sandbox
from customgrad.checker.exam import Exam
from customgrad.checker.jacobian import Comparison, compare
from customgrad.checker.layouts import ALL_OUTPUTS, batches, deviates, resized, sizes
from customgrad.checker.report import Finding
from customgrad.checker.rule import Rule
from customgrad.checker.samples import Sample

__all__ = ["broken", "judged"]

EMPTY = Rule(
    code="CG603",
    name="empty-input",
    severity="bug",
    summary="forward takes an empty input, and backward raises or gives NaN.",
    explanation="""\
The last batch of an epoch, a mask that selects nothing or an expert without tokens gives a tensor
without elements. forward takes it, and backward stacks an empty list, takes a maximum of nothing or
divides by a count of 0. Either raise in forward, or return an empty gradient (zeros for the other
inputs).
""",
)

SINGLE = Rule(
    code="CG604",
    name="size-one",
    severity="bug",
    summary="forward takes an input of size 1 or without dimensions, and backward raises or is wrong.",
    explanation="""\
A batch of one, a single feature or a 0-d tensor: squeeze() without a dimension removes more than it
should, sum(0) and shape[-1] have nothing to work on. Name the dimension, keepdim=True, and reshape
gradients to the input's own shape.
""",
    after=("CG206", "CG207"),
)


def broken(exam: Exam, sample: Sample) -> sandbox.Outcome | None:
    """Return what backward raises on inputs that forward takes; the value, if any, is a NaN's owner."""
    if not exam.accepts(sample):
        return None

    def step() -> str:
        for ones in (False, True):
            run = exam.run(sample)
            seeds = [torch.ones_like(t) for t in run.live] if ones else exam.cotangents(run)
            grads = run.gradients(seeds)
            for k, g in enumerate(grads):
                if g is not None and not bool(g.isfinite().all()):
                    return exam.named(k, sample)
        return ""

    outcome = sandbox.attempt(step)
    return None if outcome.ok and not outcome.value else outcome


def judged(exam: Exam, sample: Sample) -> Comparison | None:
    """Return the comparison with finite differences, if it shows a fault beyond rounding."""
    if exam.surrogate or "CG201" in exam.found:
        return None
    off = sandbox.attempt(lambda: deviates(exam, sample))
    if off.ok and not off.value:
        return None
    outcome = sandbox.attempt(lambda: compare(exam, sample))
    if not outcome.ok or not outcome.value.wrong:
        return None
    found: Comparison = outcome.value
    if not found.kink:
        got, expected = float(found.got_text), float(found.expected_text)
        if abs(got - expected) < 1e-7 * (1 + abs(expected)):
            return None
    return found


BODY = (
    ALL_OUTPUTS + "seeds = [torch.ones_like(t) for t in outs]\n"
    "print([t.shape for t in outs])\n"
    "print(torch.autograd.grad(outs, {inputs}, seeds, allow_unused=True))"
)


@EMPTY.finder
def empty(exam: Exam) -> Iterator[Finding]:
    """Yield an empty batch that forward takes and backward does not."""
    for sample in exam.samples:
        for variant in batches(exam, sample, 0):
            outcome = broken(exam, variant)
            if outcome is None or "ambiguous" in str(outcome.error):
                continue  # reshape(0, -1), which forward had no use for
            quoted = exam.subject.quoted(outcome.line(*exam.subject.files))
            line = quoted or f" ({exam.subject.place('backward')})"
            raises = not outcome.ok
            yield exam.finding(
                EMPTY,
                f"backward raises for an empty batch (size 0): {outcome.words}"
                if raises
                else f"the gradient of {outcome.value} is not finite for an empty batch (size 0)",
                did=f"{exam.subject.called} with {variant.label}; then backward",
                got=outcome.words if raises else "NaN or inf",
                expected="an empty gradient of the input's shape, and zeros for the other inputs",
                cause=f"backward does not allow for an empty input, with no elements{line}"
                if raises
                else f"backward divides by a size or a count that is 0 for an empty input{line}",
                fix="return grad_output.new_zeros(input.shape) where there is nothing to compute, compute without "
                "a loop over rows, or refuse empty inputs in forward",
                sample=variant,
                body=BODY,
            )
            return


@SINGLE.finder
def single(exam: Exam) -> Iterator[Finding]:
    """Yield an input of size 1 or without dimensions that forward takes and backward does not."""
    for sample in exam.samples:
        for variant, kind in _singles(exam, sample):
            outcome = broken(exam, variant)
            found = judged(exam, variant) if outcome is None and exam.accepts(variant) else None
            if outcome is None and found is None:
                continue
            yield _told(exam, variant, kind, outcome, found)
            return


def _singles(exam: Exam, sample: Sample) -> Iterator[tuple[Sample, str]]:
    """Yield (variant, what it is called)."""
    found = sizes(sample)[:5]
    for size in found:
        yield resized(sample, size, 1), "of size 1"
    every = sample
    for size in found:
        every = resized(every, size, 1)
    if len(found) > 1:
        yield replace(every, label="every dimension made 1"), "of size 1"
    for variant in batches(exam, sample, 1):
        yield variant, "of size 1"
    # Where shapes differ, each input has a part of its own, and no dimension is left for it.
    if len({t.shape for t in sample.tensors}) == 1 and sample.tensors[0].dim() and sample.size:
        scalars = sample.changed(lambda t: t.reshape(-1)[0].clone(), "0-d inputs")
        yield scalars, "0-d (a scalar without dimensions)"


def _excused(outcome: sandbox.Outcome, kind: str) -> bool:
    """Whether an error is no fault: it is loud, and many Functions are not meant for such shapes.

    A backward that comes to its end and returns a gradient with fewer dimensions was meant for them.
    """
    if outcome.ok:
        return False
    shapes = re.search(r"got (\[.*?\]) but expected .*?(\[.*?\])", str(outcome.error))
    return "0-d" in kind or shapes is None or shapes[1].count(",") == shapes[2].count(",")


def _told(
    exam: Exam,
    variant: Sample,
    kind: str,
    outcome: sandbox.Outcome | None,
    found: Comparison | None,
) -> Finding:
    find = exam.subject.find
    line = exam.subject.quoted(outcome.line(*exam.subject.files)) if outcome is not None else ""
    squeezed = find(r"squeeze\(\s*\)", "forward", "setup_context", "backward") or find(
        r"\bsqueeze\(", "backward", "forward", "setup_context"
    )
    if "0-d" in kind:
        place = line or find(r"shape|sum|size", "backward")
        why = f"backward works on a dimension that a 0-d input does not have{place}"
        fix = "treat input.dim() == 0 apart (numel() where shape[-1] or len() stands), or refuse 0-d in forward"
    elif squeezed:
        why = f"squeeze removes the dimension of size 1 as well{squeezed}"
        fix = "name the dimension, squeeze(1), or reshape the gradient to the input's shape"
        if line and line != squeezed:
            why += f"; then this fails{line}"
    else:
        place = line or f" in {exam.subject.place('backward')}"
        why = f"a dimension of size 1 is lost or taken for a broadcast one{place}"
        fix = "name dimensions, keep them (keepdim=True), and reshape each gradient to the input's shape"
    if outcome is not None and outcome.ok:
        message, got = (
            f"the gradient of {outcome.value} is not finite for inputs {kind}",
            "NaN or inf",
        )
        expected = "a finite gradient, since forward is finite"
    elif outcome is not None:
        message, got = f"backward raises for inputs {kind}: {outcome.words}", outcome.words
        expected = "a gradient of the input's shape"
    else:
        assert found is not None
        message = f"the gradient is wrong for inputs {kind}: got {found.got_text}, expected {found.expected_text}"
        got, expected = found.got_text, found.expected_text
    return exam.finding(
        SINGLE,
        message,
        did=f"{exam.subject.called} with {variant.label}; then backward",
        got=got,
        expected=expected,
        where=found.along if found else "",
        cause=why,
        fix=fix,
        sample=variant,
        severity="missing" if outcome is not None and _excused(outcome, kind) else SINGLE.severity,
        body=BODY
        + "\nprint(torch.autograd.gradcheck(lambda *x: {call}, {inputs}, raise_exception=False))",
    )
