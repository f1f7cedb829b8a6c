"""CG202: backward is linear in the cotangent, which gradcheck does not look at."""

from collections.abc import Iterator, Sequence

import torch

from customgrad.checker import numeric, sandbox
from customgrad.checker.exam import Exam, Run
from customgrad.checker.jacobian import gradient
from customgrad.checker.report import Finding
from customgrad.checker.rule import Rule
from customgrad.checker.samples import Sample
from customgrad.checker.script import OUTPUT

LINEAR = Rule(
    code="CG202",
    name="nonlinear-cotangent",
    severity="bug",
    summary="Backward is not linear in grad_output.",
    explanation="""\
A gradient is a linear function of the cotangent: twice the cotangent gives twice the gradient, and
the gradient of a sum is the sum of the gradients. gradcheck asks with cotangents of 0 and 1 alone;
a backward that squares or clamps grad_output, compares it with 1 or takes its first element passes
there, and is wrong wherever the loss is not a plain sum. A surrogate may clip or normalise its
cotangent; there, only what grows with a power of it is reported.
""",
)


@LINEAR.finder
def nonlinear(exam: Exam) -> Iterator[Finding]:
    """Yield a backward that treats cotangents unequally."""
    if exam.surrogate:
        yield from _power(exam)
        return
    for sample in exam.samples:
        run = exam.run(sample)
        for label, parts, weights in _trials(exam, run):
            whole = [
                sum(
                    (w * p for w, p in zip(weights, column, strict=True)),
                    torch.zeros_like(column[0]),
                )
                for column in zip(*parts, strict=True)
            ]
            outcome = sandbox.attempt(gradient, exam.ready(sample, run), whole)
            if not outcome.ok:
                continue
            got = outcome.value
            pieces = [gradient(exam.ready(sample, run), p) for p in parts]
            expected = sum(
                (w * g for w, g in zip(weights, pieces, strict=True)), torch.zeros_like(got)
            )
            size = sum(
                (abs(w) * g.abs() for w, g in zip(weights, pieces, strict=True)),
                torch.zeros_like(got),
            )
            # Rounding may differ from scale to scale; what is not linear is off by far more.
            loose = 1e-6 if exam.dtype == torch.float64 else 1e-2
            room = loose * (size + size.max() if len(size) else size) + 1e-290
            off = (got - expected).abs()
            bad = (off > room) & expected.isfinite() | (got.isnan() & expected.isfinite())
            if bool(bad.any()) and not _state(exam, sample, parts, weights, whole, room):
                at = int(torch.where(bad, off.nan_to_num(torch.inf), -1.0).argmax())
                yield exam.finding(
                    LINEAR,
                    f"backward is not linear in the cotangent: {label}",
                    did=f"{exam.subject.called}, then backward with {label}",
                    got=f"{float(got[at]):.6g}",
                    expected=f"{float(expected[at]):.6g}",
                    where=f"element {at} of the gradients",
                    cause=_cause(exam),
                    fix="use grad_output once, as a factor, in every element: grad_output * derivative",
                    sample=sample,
                    body=(
                        OUTPUT + "u = torch.randn_like(out)\n"
                        "one = torch.autograd.grad(out, {inputs}, u, retain_graph=True, allow_unused=True)\n"
                        "ten = torch.autograd.grad(out, {inputs}, -50 * u, allow_unused=True)\n"
                        "print('-50 times the gradient:', [None if g is None else -50 * g for g in one])\n"
                        "print('got:', ten)"
                    ),
                )
                return


def _power(exam: Exam) -> Iterator[Finding]:
    """Yield a gradient that is a power of the cotangent, as where a loss scale is multiplied in twice."""
    sample = exam.base
    run = exam.run(sample)
    u = exam.cotangents(run)
    one, two, four = (gradient(exam.ready(sample, run), [c * k for c in u]) for k in (1, 2, 4))
    if not bool(one.any()) or not bool(four.isfinite().all()):
        return
    for power in (2, 3):
        if torch.allclose(two, 2**power * one, rtol=1e-3, atol=0) and torch.allclose(
            four, 4**power * one, rtol=1e-3, atol=0
        ):
            at = int(one.abs().argmax())
            yield exam.finding(
                LINEAR,
                f"the gradient grows with the power {power} of the cotangent: a loss scale would be squared",
                did=f"{exam.subject.called}, then backward with a random cotangent, and with 2 and 4 times that",
                got=f"{float(two[at]):.6g} for twice the cotangent",
                expected=f"{2 * float(one[at]):.6g}, twice the gradient",
                where=f"element {at} of the gradients",
                cause=f"grad_output, the cotangent, is multiplied in {power} times, not linearly, in "
                f"{exam.subject.place('backward')}",
                fix="use grad_output once, as a factor",
                sample=sample,
                body=(
                    OUTPUT + "for scale in (1.0, 2.0, 4.0):\n"
                    "    u = torch.full_like(out, scale)\n"
                    "    print(scale, torch.autograd.grad(out, {inputs}, u, retain_graph=True, allow_unused=True))"
                ),
            )
            return


def _trials(
    exam: Exam, run: Run
) -> Iterator[tuple[str, list[list[torch.Tensor]], Sequence[float]]]:
    """Yield (words, cotangents, weights): the gradient of their weighted sum must be that of the gradients."""
    u, v = exam.cotangents(run, 0), exam.cotangents(run, 1)
    ones = [torch.ones_like(t) for t in run.live]
    large = 1e6 if exam.dtype == torch.float64 else 1e3
    yield "3u - 50v for random u and v", [u, v], (3.0, -50.0)
    yield "the negative of a random cotangent", [u], (-1.0,)
    yield f"{large:g} times a random cotangent", [u], (large,)
    yield f"{1 / large:g} times a random cotangent", [u], (1 / large,)
    yield "ones, beside 2 times ones", [[2 * o for o in ones]], (0.5,)
    yield "ones and a random cotangent", [ones, u], (1.0, 1.0)
    if numeric.real(run.live).numel() > 1:
        first = [o.clone().zero_() for o in ones]
        for f in first:
            f.reshape(-1)[:1] = 1
        yield (
            "ones, split into one element and the rest",
            [first, [o - f for o, f in zip(ones, first, strict=True)]],
            (1.0, 1.0),
        )
    yield "zero", [u], (0.0,)


def _state(
    exam: Exam,
    sample: Sample,
    parts: list[list[torch.Tensor]],
    weights: Sequence[float],
    whole: list[torch.Tensor],
    room: torch.Tensor,
) -> bool:
    """Whether the deviation is gone when each cotangent has a call of its own: then backward has state."""

    def off() -> torch.Tensor:
        pieces = [w * gradient(exam.run(sample), p) for w, p in zip(weights, parts, strict=True)]
        return (gradient(exam.run(sample), whole) - torch.stack(pieces).sum(0)).abs()

    outcome = sandbox.attempt(off)
    return outcome.ok and bool((outcome.value <= room).all())


def _cause(exam: Exam) -> str:
    """Name what does it, where the source shows it."""
    patterns = {
        r"==\s*1|==\s*1\.|torch\.all\(.*==": "the cotangent is compared with 1",
        r"\bclamp|clip\(": "the cotangent is clamped",
        r"\*\*\s*2|\.pow\(|\.square\(": "the cotangent is squared",
        r"\.item\(\)|float\(|\[0\]|\.flatten\(\)\[": "one element of the cotangent stands for all",
        r"\.sign\(|\.abs\(|torch\.sign|torch\.abs": "the sign or size of the cotangent is taken",
        r"\.norm\(|\.mean\(|\.max\(": "the cotangent is normalised or averaged",
        r"\bif\b": "a branch depends on the cotangent",
    }
    for pattern, words in patterns.items():
        if place := exam.subject.find(pattern, "backward"):
            return f"probably {words}{place}"
    return f"grad_output is not used as one plain factor; see {exam.subject.place('backward')}"
