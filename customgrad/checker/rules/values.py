"""CG204 to CG207: the gradient is right beside the inputs as given, too."""

import re
from collections.abc import Callable, Generator, Iterable, Iterator

import torch

from customgrad.checker import numeric, options, sandbox, variants
from customgrad.checker.exam import MOST, Exam
from customgrad.checker.jacobian import Comparison, compare, suspicious
from customgrad.checker.report import Finding
from customgrad.checker.rule import NotJudged, Rule
from customgrad.checker.rules.gradient import told
from customgrad.checker.samples import Sample
from customgrad.checker.script import OUTPUT

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
    summary="The gradient is wrong for other values than the ones given: another sign, size, offset or option.",
    explanation="""\
The inputs as given show one region of forward. A branch for negative or large inputs, a constant
in place of a derivative, or a formula that only holds near zero shows in another. So does an
argument that forward uses and backward forgets: an exponent, a reduction, a flag.
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


def search(
    exam: Exam,
    rule: Rule,
    made: Iterable[Sample],
    cause: Callable[[Sample, Comparison], str],
    meant: Callable[[Sample], bool] = lambda sample: True,
) -> Iterator[Finding]:
    """Yield a finding for the first variant at which backward is not forward's derivative.

    Args:
        exam: the run.
        rule: which finds.
        made: the variants.
        cause: what a deviation comes from.
        meant: whether forward takes a variant on purpose, so that backward must not raise there.
    """
    exam.require(exam.repeatable, "forward gives other values when called again")
    judged = 0
    seen: set[tuple[object, ...]] = set()
    for sample in made:
        key = tuple((tuple(t.shape), tuple(numeric.real([t]).tolist())) for t in sample.tensors)
        if key in seen or not sample.size or not exam.accepts(sample):
            continue
        seen.add(key)
        outcome = sandbox.attempt(_backward, exam, sample)
        if not outcome.ok:
            if not meant(sample):
                continue
            yield exam.finding(
                rule,
                f"backward raised {outcome.words}, where forward did not",
                did=f"{exam.subject.called} on {sample.label}, then backward",
                got=outcome.words,
                expected="a gradient",
                cause=f"raised in backward{exam.subject.quoted(outcome.line(*exam.subject.files))}",
                fix="let backward take what forward takes, or let forward refuse it",
                sample=sample,
                body=OUTPUT + "out.sum().backward()",
            )
            return
        compared = sandbox.attempt(_compared, exam, sample)
        judged += compared.ok
        found = compared.value
        if found is not None and found.wrong and not options.unfinished(exam, sample):
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


def _backward(exam: Exam, sample: Sample) -> None:
    """Run forward and backward once."""
    run = exam.run(sample)
    run.gradients(exam.cotangents(run))


def _compared(exam: Exam, sample: Sample) -> Comparison | None:
    """Compare; an elementwise Function first at a glance, one element by one only if that is suspicious."""
    if elementwise(exam) and not suspicious(exam, sample, _relative(exam)):
        return None
    return compare(exam, sample, _relative(exam), most=MOST if elementwise(exam) else 5)


def _apart(sample: Sample) -> Sample:
    """Return a variant in which nothing is the same any more, and everything nearly."""
    generator = torch.Generator().manual_seed(17)

    def moved(t: torch.Tensor) -> torch.Tensor:
        drawn = torch.rand(t.shape, generator=generator, dtype=torch.float64)
        return t * (1 + 0.05 * drawn).to(t.dtype)

    return sample.changed(moved, sample.label)


def _right(exam: Exam, sample: Sample) -> bool:
    """Whether the gradient is forward's derivative, as far as that can be said."""
    outcome = sandbox.attempt(_compared, exam, sample)
    return outcome.ok and not (outcome.value is not None and outcome.value.wrong)


def _relative(exam: Exam) -> float:
    return 1e-3 if exam.dtype == torch.float64 else 5e-2


@TIES.finder
def at_ties(exam: Exam) -> Iterator[Finding]:
    """Yield the first set of equal elements at which the gradient is wrong."""
    line = exam.subject.find(r"==|>=|<=|>|<|eq\(|ge\(|le\(", "backward", "forward")

    def cause(sample: Sample, found: Comparison) -> str:
        if "repeated" in sample.label:
            writes = exam.subject.find(
                r"\]\s*[-+]?=[^=]|scatter|index_(put|copy)|put_|put\(", "backward"
            )
            return (
                f"where an index is repeated, backward overwrites instead of accumulating{writes or line}: what "
                "belongs to the same index must be added up (index_add, scatter_add, index_put with accumulate=True)"
            )
        if "two inputs" in sample.label or "several inputs" in sample.label:
            return f"backward is wrong where two arguments hold the same values (are equal, identical){line}"
        return f"equal elements (ties) are shared out wrongly{line}: together they must get the gradient once"

    def given(sample: Sample) -> bool:
        return [t.shape for t in sample.tensors] in [
            [t.shape for t in s.tensors] for s in exam.samples
        ]

    def made() -> Iterator[Sample]:
        for sample in exam.samples:
            for v in variants.ties(sample):
                # In another shape anything may be wrong; this is about values that are the same.
                if given(v) or _right(exam, _apart(v)):
                    yield v

    yield from search(exam, TIES, made(), cause, given)


@BORDERS.finder
def at_borders(exam: Exam) -> Iterator[Finding]:
    """Yield the first border at which the gradient is outside both one-sided slopes."""
    line = exam.subject.find(r"==|>=|<=|>|<|where|sign\(|abs\(|/", "backward")

    def cause(sample: Sample, found: Comparison) -> str:
        return f"with {sample.label} the gradient lies outside forward's one-sided slopes{line}"

    made = (v for s in exam.samples for v in variants.borders(s, exam.subject))
    yield from search(exam, BORDERS, made, cause)


@VALUES.finder
def for_values(exam: Exam) -> Iterator[Finding]:
    """Yield the first other values at which the gradient is wrong."""

    def cause(sample: Sample, found: Comparison) -> str:
        return f"backward's formula does not hold for {sample.label}; see {exam.subject.place('backward')}"

    single = elementwise(exam)
    made = (v for s in exam.samples for v in variants.magnitudes(s, elementwise=single))
    judged = True
    try:
        for found in search(exam, VALUES, made, cause):
            yield found
            return
    except NotJudged:
        judged = False
    if not (yield from _for_options(exam)):
        exam.require(judged, "forward took none of the variants")


def _for_options(exam: Exam) -> Generator[Finding, None, bool]:
    """Yield an argument that is no tensor, and that backward does not follow; return whether any was judged."""
    sample = exam.base
    usual = numeric.real(exam.run(sample, grad=False).outputs)
    judged = False
    for made in options.options(sample, exam.subject):
        name = made.label.split("=")[0]
        if options.PATIENCE.search(name) or not exam.accepts(made):
            continue
        outputs = numeric.real(exam.run(made, grad=False).outputs)
        if outputs.shape == usual.shape and torch.equal(outputs, usual):
            continue
        if not sandbox.attempt(_backward, exam, made).ok:
            continue  # it is loud
        compared = sandbox.attempt(compare, exam, made, 1e-3, most=5)
        judged |= compared.ok
        if not compared.ok or not compared.value.wrong or not _clear(compared.value):
            continue
        line = exam.subject.find(rf"\b{re.escape(name)}\b", "backward")
        yield told(
            exam,
            VALUES,
            made,
            compared.value,
            f"with {made.label} the gradient is {compared.value.got_text}, and forward's slope is "
            f"{compared.value.expected_text}",
            cause=f"backward does not follow the argument {name}, or ignores it{line}; it is right for {name}="
            f"{sample.values[exam.names.index(name)]!r} alone",
            fix=f"derive backward for every value of {name}, or refuse the others in forward",
        )
        return True
    return judged


def _clear(found: Comparison) -> bool:
    """Whether a deviation is larger than what an approximation leaves."""
    if found.kink:
        return False
    got, expected = float(found.got_text), float(found.expected_text)
    return abs(got - expected) > 0.02 * max(abs(got), abs(expected), 1e-3)


@SIZES.finder
def for_sizes(exam: Exam) -> Iterator[Finding]:
    """Yield the first other shape at which the gradient is wrong."""

    def cause(sample: Sample, found: Comparison) -> str:
        numbers = exam.subject.find(
            r"(?<![\w.])\d{1,4}(?![\w.])|shape|size\(|numel|squeeze", "backward"
        )
        return f"backward depends on the size: right for the shapes given, wrong with {sample.label}{numbers}"

    def made() -> Iterator[Sample]:
        for sample in exam.samples:
            yield from variants.sizes(sample, elementwise=elementwise(exam))

    def free(sample: Sample) -> bool:
        """Whether forward takes any size there; where it does not, it took this one by broadcasting."""
        tensors = sum(isinstance(v, torch.Tensor) for v in sample.values)
        if " in place " not in sample.label or tensors > 1:
            return False  # sizes of several tensors may hang together in ways that are not known
        symbol = sample.label.split(" in place ")[1]
        return all(exam.accepts(v) for v in made() if v.label.endswith(f" in place {symbol}"))

    yield from search(exam, SIZES, made(), cause, free)


def elementwise(exam: Exam) -> bool:
    """Whether each element of the one output depends on one element of each input."""
    if "elementwise" not in exam.known:
        outcome = sandbox.attempt(lambda: _elementwise(exam))
        exam.known["elementwise"] = bool(outcome.value) if outcome.ok else False
    return bool(exam.known["elementwise"])


def _elementwise(exam: Exam) -> bool:
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
