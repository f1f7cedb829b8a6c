"""CG801: NaN or infinite gradients where forward is finite and has a finite slope."""

from collections.abc import Iterator
from dataclasses import replace

import torch

from customgrad.checker import numeric, sandbox
from customgrad.checker.exam import Exam, Run
from customgrad.checker.extremes import extremes, own, settled, torchs, trusted
from customgrad.checker.report import Finding
from customgrad.checker.rule import Rule
from customgrad.checker.samples import Sample
from customgrad.checker.script import OUTPUT
from customgrad.checker.spy import Birth, raw

NAN = Rule(
    code="CG801",
    name="nan-gradient",
    severity="bug",
    summary="The gradient is NaN or infinite where forward is finite and has a finite slope.",
    explanation="""\
The usual ways to NaN in backward: 0 / 0 (a norm, a variance, a count of zero), inf / inf (exp of a
large number over itself), 0 * inf (a logarithm or a reciprocal of zero, masked afterwards),
inf - inf. One NaN in one element, and after the next step of the optimiser all weights are NaN.
Rewrite the quotient in numbers that stay in range (sigmoid, log_softmax, logaddexp), or replace the
operand before the division: torch.where(zero, 1, x), and mask the result.
""",
)


@NAN.finder
def nan_gradient(exam: Exam) -> Iterator[Finding]:
    """Yield the first extreme input at which backward gives NaN, or infinity without reason."""
    torch_too = trusted(exam)
    dtypes = [exam.dtype] + [torch.float32] * (exam.dtype == torch.float64)
    for dtype in dtypes:
        start = exam.base.to(dtype)
        for kind, sample in extremes(exam, start):
            found = own(exam, sample)
            if found is None:
                continue
            run, grads = found
            flat = numeric.real(grads)
            if bool(flat.isfinite().all()):
                continue
            judge = _measured if dtype == exam.dtype else _wider
            if kind == "infinite":
                judge = _beside
            outcome = sandbox.attempt(judge, exam, sample, run, grads, torch_too)
            if outcome.ok and outcome.value:
                yield _told(exam, kind, sample, dtype, flat)
                return


def _measured(
    exam: Exam, sample: Sample, run: Run, grads: list[torch.Tensor], torch_too: bool
) -> bool:
    """Whether forward's differences converge where the gradient is not finite."""
    flat = numeric.real(grads)
    bad = (~flat.isfinite()).nonzero().reshape(-1).tolist()[:6]
    live = [k for k, t in enumerate(run.outputs) if t.requires_grad]
    values = exam.evaluate(sample, live)
    seeds = numeric.real(exam.cotangents(run))

    def f(vector: torch.Tensor) -> float | None:
        value = values(vector)
        if value is None or value.shape != seeds.shape or not bool(value.isfinite().all()):
            return None
        return float(value @ seeds)

    at = numeric.real(sample.tensors)
    sides = [settled(exam, f, at, j) for j in bad]
    both = all(left and right for left, right in sides)
    nan = bool(flat.isnan().any())
    theirs = torchs(exam, sample) if torch_too else None
    if theirs is None:
        return both if not nan else all(left or right for left, right in sides)
    if bool(numeric.real(theirs)[bad].isfinite().all()):
        return both if not nan else any(left or right for left, right in sides)
    return nan and both


def _wider(
    exam: Exam, sample: Sample, run: Run, grads: list[torch.Tensor], torch_too: bool
) -> bool:
    """Whether the same inputs have a gradient in float64 that this dtype can hold."""
    wide = own(exam, sample.to(torch.float64))
    if wide is None:
        return False
    most = torch.finfo(run.leaves[0].dtype).max / 4
    expected = numeric.real(wide[1])
    if not bool((expected.abs() < most).all()):
        return False
    theirs = torchs(exam, sample) if torch_too else None
    if theirs is None:
        return float(numeric.real(sample.tensors).abs().max()) <= 1e3
    return bool(numeric.real(theirs).isfinite().all())


def _beside(
    exam: Exam, sample: Sample, run: Run, grads: list[torch.Tensor], torch_too: bool
) -> bool:
    """Whether torch's own gradient of the same operations is finite."""
    theirs = torchs(exam, sample) if torch_too else None
    return theirs is not None and bool(numeric.real(theirs).isfinite().all())


def _told(exam: Exam, kind: str, sample: Sample, dtype: torch.dtype, flat: torch.Tensor) -> Finding:
    """Return the finding; it names the operation in which the NaN came up."""
    plain = str(dtype).removeprefix("torch.")
    what = "NaN" if bool(flat.isnan().any()) else "infinite"
    sample = replace(sample, label=f"{sample.label}, in {plain}")
    seen = sandbox.attempt(lambda: raw(exam, sample, watch=True))
    births = seen.value.births if seen.ok else []
    return exam.finding(
        NAN,
        f"the gradient is {what} with {sample.label}, where forward is finite",
        did=f"{exam.subject.called} with {sample.label}, then backward with a random cotangent",
        got=f"{what} in {int((~flat.isfinite()).sum())} of {len(flat)} elements",
        expected="finite numbers, as the differences of forward are",
        where=f"element {int((~flat.isfinite()).nonzero()[0])} of the gradients",
        cause=_cause(exam, kind, births),
        fix=FIXES[kind],
        severity="hazard" if kind == "infinite" else "bug",
        sample=sample,
        body=(
            OUTPUT + "print('forward:', out)\n"
            "print('gradients:', torch.autograd.grad(out, {inputs}, torch.randn_like(out), allow_unused=True))"
        ),
    )


FIXES = {
    "zero": "keep the zero out of the division: replace the operand before it, safe = torch.where(x == 0, 1, x), "
    "and set the result to 0 there with torch.where (a mask after the division leaves the NaN in)",
    "equal": "keep the zero (a variance, a difference) out of the division: replace the operand before it with "
    "torch.where, and set the result to 0 there; or add forward's epsilon",
    "tiny": "keep what underflows to zero out of the division: replace the operand before it with torch.where, or "
    "divide first and multiply then",
    "infinite": "write it so that minus infinity is the limit of large numbers: exp(-inf) is 0, but 0 * inf and "
    "inf - inf are NaN; mask with torch.where before the product",
    "large": "write it with numbers that stay in range: torch.sigmoid(x) for exp(x) / (1 + exp(x)), exp(-x.abs()), "
    "log_softmax for log(softmax), the maximum subtracted before exp",
}

USUAL: dict[str, tuple[tuple[str, str], ...]] = {
    "zero": (
        (r"/|div|reciprocal|rsqrt|\*\*\s*-|pow\(", "0 / 0: backward divides by what is zero there"),
        (r"log", "log of 0 is -inf, and 0 times it NaN"),
    ),
    "large": (
        (r"exp|cosh|sinh", "exp overflows to inf, and inf / inf or 0 * inf is NaN"),
        (r"log", "log of what has underflowed to 0 is -inf, and 0 times it NaN"),
        (r"\*\*|pow|square", "a power overflows to inf, and inf / inf or 0 * inf is NaN"),
    ),
}
MEANT = {
    "truediv": "a division",
    "div": "a division",
    "rtruediv": "a division",
    "rdiv": "a division",
    "mul": "a product",
    "rmul": "a product",
    "sub": "a difference",
    "rsub": "a difference",
}


def _cause(exam: Exam, kind: str, births: list[Birth]) -> str:
    """Name the operations that made infinity and NaN, or what the source lets one think of."""
    parts = []
    for birth in sorted(births, key=lambda b: b.kind)[::-1]:
        name = MEANT.get(birth.operation, birth.operation)
        text = exam.subject.quoted(birth.place)
        if birth.kind == "inf":
            parts.append(
                f"{name} {'divides by zero and ' if name == 'a division' else ''}gives inf{text}"
            )
        else:
            how = {
                "a division": "0 / 0 or inf / inf, in a division",
                "a product": "0 * inf, in a product",
            }
            parts.append(f"NaN comes from {how.get(name, name)}{text}")
    if parts:
        words = {
            "zero": "at zero",
            "equal": "where elements are equal",
            "tiny": "by underflow",
            "large": "by overflow or underflow",
            "infinite": "at minus infinity",
        }
        return f"in backward, {words[kind]}: " + "; then ".join(parts)
    for pattern, words_ in USUAL["large" if kind in ("large", "infinite") else "zero"]:
        if place := exam.subject.find(pattern, "backward"):
            return f"probably {words_}{place}"
    return f"0 / 0, inf / inf, 0 * inf or inf - inf in {exam.subject.place('backward')}"
