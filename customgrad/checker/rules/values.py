"""CG204 to CG208: the gradient is right beside the inputs as given, too."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

import torch

from customgrad.checker import numeric, sandbox, variants
from customgrad.checker.exam import Exam
from customgrad.checker.jacobian import Comparison, compare
from customgrad.checker.report import Finding
from customgrad.checker.rule import NotJudged, Rule
from customgrad.checker.rules.gradient import told
from customgrad.checker.samples import Sample, flat

FIRST = ("CG201", "CG202")

TIES = Rule(
    code="CG204",
    name="wrong-at-ties",
    severity="bug",
    summary="The gradient is wrong where elements are equal.",
    explanation="""\
Where elements are equal, a maximum, a sort or a comparison has to decide who gets the gradient.
All shares together must give what forward does when the equal elements move together: a mask
`x == x.max()` hands the whole gradient to each of them, two strict comparisons to none.
""",
    surrogate=False,
    after=FIRST,
)

BORDERS = Rule(
    code="CG205",
    name="wrong-at-borders",
    severity="bug",
    summary="The gradient is wrong at zero, at whole numbers, or at a constant of forward.",
    explanation="""\
Random inputs never hit the borders of forward's cases: zero, whole numbers, a threshold. At a kink
any slope between the two sides is right; anything else, NaN included, is not.
""",
    surrogate=False,
    after=FIRST,
)

VALUES = Rule(
    code="CG206",
    name="wrong-for-some-values",
    severity="bug",
    summary="The gradient is wrong for other values than the ones given: another sign, size or offset.",
    explanation="""\
The inputs as given show one region of forward. A branch for negative or large inputs, a constant
in place of a derivative, or a formula that only holds near zero shows in another.
""",
    surrogate=False,
    after=(*FIRST, "CG205"),
)

SIZES = Rule(
    code="CG207",
    name="wrong-for-some-sizes",
    severity="bug",
    summary="The gradient is wrong for other shapes than the ones given.",
    explanation="""\
A size written into backward, the tail of a tiled loop, a mean over the wrong number of elements,
a dimension of size 1 that is squeezed away: right for the shape that was tried, wrong for others.
""",
    surrogate=False,
    after=FIRST,
    slow=True,
)

TWICE = Rule(
    code="CG208",
    name="wrong-for-same-tensor",
    severity="bug",
    summary="The gradient is wrong when one tensor is passed for two arguments.",
    explanation="""\
Where one tensor stands in two places, its gradient is the sum of both. A backward that asks
whether the two are the same object, or writes one gradient over the other, gives something else.
""",
    after=("CG202",),
)


def search(
    exam: Exam, rule: Rule, made: Iterable[Sample], cause: Callable[[Sample, Comparison], str]
) -> Iterator[Finding]:
    """Yield a finding for the first variant at which backward is not forward's derivative."""
    exam.require(exam.repeatable, "forward gives other values when called again")
    judged = 0
    seen: set[tuple[object, ...]] = set()
    for sample in made:
        key = tuple((tuple(t.shape), tuple(numeric.real([t]).tolist())) for t in sample.tensors)
        if key in seen or not sample.size or not exam.accepts(sample):
            continue
        seen.add(key)
        outcome = sandbox.attempt(lambda s=sample: compare(exam, s, _relative(exam)))  # type: ignore[misc]
        if not outcome.ok:
            if isinstance(outcome.error, NotJudged):
                continue
            yield exam.finding(
                rule,
                f"backward raised {outcome.words}, where forward did not",
                did=f"{exam.subject.called} on {sample.label}, then backward",
                got=outcome.words,
                expected="a gradient",
                cause=cause(
                    sample,
                    Comparison(*[torch.zeros(0)] * 2, None, "", "", "", False, torch.zeros(0)),
                ).split(";")[0]
                + f"; raised in backward{exam.subject.quoted(outcome.line(*exam.subject.files))}",
                fix="let backward take what forward takes, or let forward refuse it",
                sample=sample,
                body="out = {call}\nout = out[0] if isinstance(out, tuple) else out\nout.sum().backward()",
            )
            return
        judged += 1
        found = outcome.value
        if found.wrong:
            yield told(
                exam,
                rule,
                sample,
                found,
                f"with {sample.label} the gradient is {found.got_text}, and forward's slope is {found.expected_text}",
                cause=cause(sample, found),
            )
            return
    exam.require(judged > 0, "forward took none of the variants")


def _relative(exam: Exam) -> float:
    return 1e-4 if exam.dtype == torch.float64 else 5e-2


@TIES.finder
def at_ties(exam: Exam) -> Iterator[Finding]:
    """Yield the first set of equal elements at which the gradient is wrong."""
    line = exam.subject.find(r"==|>=|<=|>|<|eq\(|ge\(|le\(", "backward", "forward")

    def cause(sample: Sample, found: Comparison) -> str:
        return f"equal elements (ties) are shared out wrongly{line}: together they must get the gradient once"

    yield from search(exam, TIES, (v for s in exam.samples for v in variants.ties(s)), cause)


@BORDERS.finder
def at_borders(exam: Exam) -> Iterator[Finding]:
    """Yield the first border at which the gradient is outside both one-sided slopes."""
    line = exam.subject.find(r"==|>=|<=|>|<|where|sign\(|abs\(|/", "backward")

    def cause(sample: Sample, found: Comparison) -> str:
        return f"at {sample.label} the gradient is none of forward's slopes{line}"

    made = (v for s in exam.samples for v in variants.borders(s, exam.subject))
    yield from search(exam, BORDERS, made, cause)


@VALUES.finder
def for_values(exam: Exam) -> Iterator[Finding]:
    """Yield the first other values at which the gradient is wrong."""

    def cause(sample: Sample, found: Comparison) -> str:
        return f"backward's formula does not hold for {sample.label}; see {exam.subject.place('backward')}"

    single = elementwise(exam)
    made = (v for s in exam.samples for v in variants.magnitudes(s, elementwise=single))
    yield from search(exam, VALUES, made, cause)


@SIZES.finder
def for_sizes(exam: Exam) -> Iterator[Finding]:
    """Yield the first other shape at which the gradient is wrong."""

    def cause(sample: Sample, found: Comparison) -> str:
        numbers = exam.subject.find(
            r"(?<![\w.])\d{1,4}(?![\w.])|shape|size\(|numel|squeeze", "backward"
        )
        return f"backward depends on the size: right for the shapes given, wrong with {sample.label}{numbers}"

    yield from search(exam, SIZES, (v for s in exam.samples for v in variants.sizes(s)), cause)


@TWICE.finder
def same_tensor(exam: Exam) -> Iterator[Finding]:
    """Yield a pair of arguments for which one tensor gets another gradient than the sum of both."""
    sample = exam.base
    pairs = [
        (i, j)
        for i in sample.wanted
        for j in sample.wanted
        if i < j and sample.values[i].shape == sample.values[j].shape
    ]
    exam.require(bool(pairs), "no two inputs have the same shape")
    exam.require(not exam.in_place, "forward changes its inputs in place")
    for i, j in pairs:
        values = list(sample.values)
        values[j] = values[i].clone()
        apart = replace(
            sample,
            values=tuple(values),
            label=f"{exam.names[i]} and {exam.names[j]} the same tensor",
        )
        if not exam.accepts(apart):
            continue
        run = exam.run(apart)
        seeds = exam.cotangents(run)
        grads = dict(zip(apart.wanted, run.gradients(seeds), strict=True))
        expected = sum(
            (g for g in (grads[i], grads[j]) if g is not None), torch.zeros_like(values[i])
        )

        def together() -> torch.Tensor:
            args, _ = apart.fresh()  # noqa: B023
            args[j] = args[i]  # noqa: B023
            sandbox.seed(exam.seed)
            outputs = [t for t in flat(exam.subject.call(*args)) if t.requires_grad]
            got = torch.autograd.grad(outputs, args[i], seeds, allow_unused=True)[0]  # noqa: B023
            return torch.zeros_like(args[i]) if got is None else got  # noqa: B023

        outcome = sandbox.attempt(together)
        got = outcome.value
        if not outcome.ok or not torch.allclose(
            got, expected, rtol=1e-6, atol=1e-9 * (1 + float(expected.abs().max()))
        ):
            yield exam.finding(
                TWICE,
                f"passing one tensor as {exam.names[i]} and {exam.names[j]} gives another gradient than the sum of both",
                did=f"{exam.subject.called} with one tensor for both arguments",
                got=outcome.words or _short(got),
                expected=_short(expected),
                cause=f"backward gives another result where the same tensor stands in two arguments{exam.subject.find(r' is |data_ptr|==|equal', 'forward', 'setup_context', 'backward')}",
                fix="compute both gradients as if the arguments were different tensors; autograd adds them",
                sample=apart,
                body="out = {call}\nout = out[0] if isinstance(out, tuple) else out\nout.sum().backward()\nprint([t.grad for t in {inputs}])  # their sum is due",
            )
            return


def _short(tensor: torch.Tensor) -> str:
    numbers = ", ".join(f"{v:.4g}" for v in numeric.real([tensor])[:6].tolist())
    return f"[{numbers}{', …' if tensor.numel() > 6 else ''}]"


def elementwise(exam: Exam) -> bool:
    """Whether each element of the one output depends on one element of each input."""
    sample = exam.base
    if any(t.is_complex() for t in sample.tensors) or len({t.shape for t in sample.tensors}) != 1:
        return False
    run = exam.run(sample)
    if len(run.live) != 1 or run.live[0].shape != sample.tensors[0].shape or sample.size > 200:
        return False
    found = compare(exam, sample)
    count = sample.tensors[0].numel()
    rows = found.expected[: min(count, len(found.expected))]
    off = rows.clone()
    for k in range(len(sample.tensors)):
        part = off[:, k * count : (k + 1) * count]
        part.fill_diagonal_(0.0)
    return bool((off.nan_to_num().abs() <= 1e-6 * (1e-9 + rows.nan_to_num().abs().max())).all())
