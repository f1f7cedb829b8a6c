"""CG209: complex inputs that forward accepts get the right gradient, too."""

import re
from collections.abc import Iterator
from dataclasses import replace

import torch

from customgrad.checker import sandbox
from customgrad.checker.exam import Exam
from customgrad.checker.jacobian import compare
from customgrad.checker.report import Finding
from customgrad.checker.rule import NotJudged, Rule
from customgrad.checker.rules.gradient import told

COMPLEX = Rule(
    code="CG209",
    name="wrong-for-complex",
    severity="missing",
    summary="Forward accepts complex inputs, and backward is wrong for them.",
    explanation="""\
torch's gradient of a real loss is the conjugate of the derivative, so a holomorphic backward is
`grad_output * derivative.conj()`. A backward written for real numbers that leaves the conjugate out
is silently wrong as soon as a complex tensor comes in. Conjugate (it costs nothing for real
tensors), or refuse complex inputs in forward.
""",
    surrogate=False,
    after=("CG201", "CG202"),
)


@COMPLEX.finder
def wrong_for_complex(exam: Exam) -> Iterator[Finding]:
    """Yield a gradient that is wrong for complex inputs."""
    sample = exam.base
    exam.require(not any(t.is_complex() for t in sample.tensors), "the inputs are complex already")
    exam.require(exam.dtype == torch.float64, "forward does not take float64")
    generator = torch.Generator().manual_seed(13)

    def complexed(t: torch.Tensor) -> torch.Tensor:
        other = torch.randn(t.shape, generator=generator, dtype=torch.float64)
        return torch.complex(t.double(), 0.3 * other)

    made = sample.changed(complexed, "complex inputs")
    exam.require(exam.accepts(made), "forward takes no complex inputs")
    run = exam.run(made)
    exam.require(any(t.is_complex() for t in run.live), "the output is real")
    outcome = sandbox.attempt(lambda: compare(exam, made, 1e-4, most=8))
    if not outcome.ok:
        reason = str(outcome.error) if isinstance(outcome.error, NotJudged) else outcome.words
        exam.require(False, f"backward refuses complex inputs: {reason}")
    if outcome.value.wrong:
        line = exam.subject.find(r"return|\*", "backward")
        found = told(
            exam,
            COMPLEX,
            made,
            outcome.value,
            "forward accepts complex inputs, and their gradient is wrong: the conjugate is missing",
            cause=f"backward multiplies by the derivative, not by its complex conjugate{line}",
            fix="use derivative.conj(), or refuse complex inputs in forward with a TypeError",
        )
        yield replace(found, severity="bug") if _meant(exam) else found


def _meant(exam: Exam) -> bool:
    """Whether the author says that complex inputs are welcome; by accident many a forward takes them."""
    return bool(
        re.search(r"\b(real|complex)(-valued)? (and|or) (real|complex)\b", exam.subject.said, re.I)
    ) or bool(
        exam.subject.find(
            r"\.conj\(|\.mH\b|is_complex\(\) else|view_as_complex", "backward", "forward"
        )
    )
