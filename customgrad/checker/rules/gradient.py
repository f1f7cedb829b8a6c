"""CG201: the gradient is forward's derivative, at the inputs as given."""

from collections.abc import Iterator

from customgrad.checker.diagnosis import relation
from customgrad.checker.exam import Exam
from customgrad.checker.jacobian import Comparison, compare
from customgrad.checker.report import Finding
from customgrad.checker.rule import Rule
from customgrad.checker.samples import Sample

WRONG = Rule(
    code="CG201",
    name="wrong-gradient",
    severity="bug",
    summary="The gradient is not forward's derivative.",
    explanation="""\
Each element of the gradient is compared with finite differences of forward, from both sides. At a
kink any slope between the two sides is right. Where the gradient differs on purpose (straight-
through, reversal, a surrogate), pass surrogate=True.
""",
    surrogate=False,
)


@WRONG.finder
def wrong_gradient(exam: Exam) -> Iterator[Finding]:
    """Yield the first of the inputs as given at which the gradient is wrong."""
    for sample in exam.samples:
        found = compare(exam, sample)
        if found.wrong:
            yield told(exam, WRONG, sample, found)
            return


def told(
    exam: Exam, rule: Rule, sample: Sample, found: Comparison, message: str = "", **more: str
) -> Finding:
    """Return the finding for a gradient that is not forward's derivative."""
    names = [exam.named(k, sample) for k in range(len(sample.wanted))]
    like = relation(found.got, found.expected, found.columns, names)
    flat = bool((found.expected.nan_to_num() == 0).all()) and bool(found.got.nan_to_num().any())
    place = exam.subject.place("backward")
    if flat:
        like = "forward is piecewise constant, so its derivative is 0, and backward returns something else"
        more.setdefault(
            "fix", "if that is deliberate (straight-through, a surrogate), pass surrogate=True"
        )
    where = found.along
    cause = more.pop("cause", "") or f"{like or 'the formula is wrong there'}; see {place}"
    return exam.finding(
        rule,
        message
        or f"the gradient is not forward's derivative: got {found.got_text}, expected {found.expected_text}",
        did=f"{exam.subject.called} on {sample.label}; backward one element at a time, beside finite differences",
        got=found.got_text,
        expected=found.expected_text,
        where=where,
        cause=cause,
        fix=more.pop("fix", "")
        or f"derive the formula anew for {where.split(' / d ')[-1] if ' / d ' in where else 'these inputs'}",
        sample=sample,
        body="print(torch.autograd.gradcheck(lambda *_: {call}, {inputs}, raise_exception=False))",
        **more,
    )
