"""CG802: gradients in float32 and half precision beside those in float64, at the same inputs."""

import math
from collections.abc import Iterator
from dataclasses import replace

import torch

from customgrad.checker import sandbox
from customgrad.checker.exam import Exam
from customgrad.checker.extremes import trusted
from customgrad.checker.lowprecision import judge, variants
from customgrad.checker.report import Finding
from customgrad.checker.rule import Rule
from customgrad.checker.samples import Sample
from customgrad.checker.script import OUTPUT
from customgrad.checker.spy import raw

LOW = Rule(
    code="CG802",
    name="low-precision",
    severity="hazard",
    summary="In float32 or half precision the gradient is far less exact than it could be.",
    explanation="""\
The gradient is compared with the one in float64 at the same rounded inputs, over many magnitudes
and for a small spread on a large offset. It is reported where inputs one rounding error away would
change it far less, and torch's own gradient of the same forward is at least 30 times as exact.
E[x²] - E[x]² cancels; the square of what is above 255 overflows in float16; 1 / x² does at 1e-3.
Centre before you square, divide twice instead of dividing by a square, or widen as forward does.
""",
    after=("CG801",),
)


@LOW.finder
def low_precision(exam: Exam) -> Iterator[Finding]:
    """Yield the first inputs at which low precision costs far more than rounding does."""
    exam.require(exam.dtype == torch.float64, "forward does not take float64, to compare with")
    exam.require(exam.repeatable, "forward gives other values when called again")
    exam.require(not any(t.is_complex() for t in exam.base.tensors), "the inputs are complex")
    torch_too = trusted(exam)
    groups = [exam.base.wanted]
    if len(exam.base.wanted) > 1:
        groups += [(i,) for i in exam.base.wanted[:3]]
    for dtype in (torch.float32, torch.float16, torch.bfloat16):
        if not exam.accepts(exam.base.to(dtype)):
            continue
        plain = str(dtype).removeprefix("torch.")
        for words, change in variants(dtype):
            for group in groups:
                values = list(exam.base.values)
                for i in group:
                    values[i] = change(values[i].detach()) if values[i].numel() else values[i]
                name = " and ".join(exam.names[i] for i in group)
                sample = replace(
                    exam.base,
                    values=tuple(values),
                    label=f"{words.format(name)}, in {plain}",
                ).to(dtype)
                outcome = sandbox.attempt(judge, exam, sample, dtype, torch_too)
                if outcome.ok and outcome.value is not None:
                    yield _told(exam, sample, plain, *outcome.value)
                    return


def _told(
    exam: Exam,
    sample: Sample,
    plain: str,
    k: int,
    error: float,
    other: float,
    share: float,
    got: torch.Tensor,
    right: torch.Tensor,
) -> Finding:
    """Return the finding."""
    off = (got - right).abs().nan_to_num(math.inf, posinf=math.inf)
    at = int(off.argmax())
    name = exam.named(k)
    cause, fix = _cause(exam, sample, plain)
    figure = "NaN or infinite" if math.isinf(error) else f"off by {100 * error:.2g} %"
    beside = (
        ""
        if math.isnan(other)
        else f"; torch's own gradient of this forward by {100 * other:.1g} %"
    )
    return exam.finding(
        LOW,
        f"in {plain} the gradient of {name} is {figure}, where rounding the inputs accounts for "
        f"{100 * share:.1g} %{beside}",
        did=f"{exam.subject.called} in {plain}, beside float64 at the same rounded inputs",
        got=f"{float(got.reshape(-1)[at]):.6g}",
        expected=f"{float(right.reshape(-1)[at]):.6g}",
        where=f"element {at} of the gradient of {name}",
        cause=cause,
        fix=fix,
        sample=sample,
        body=(
            OUTPUT + "u = torch.randn_like(out)\n"
            "print('got:', torch.autograd.grad(out, {inputs}, u, allow_unused=True))\n"
            "wide = [x.detach().double().requires_grad_(x.requires_grad) if isinstance(x, torch.Tensor) "
            "and x.is_floating_point() else x for x in [{args}]]\n"
            "out = {name}(*wide)\nout = out[0] if isinstance(out, tuple) else out\n"
            "wanted = [x for x in wide if isinstance(x, torch.Tensor) and x.requires_grad]\n"
            "print('in float64:', torch.autograd.grad(out, wanted, u.double(), allow_unused=True))"
        ),
    )


def _cause(exam: Exam, sample: Sample, plain: str) -> tuple[str, str]:
    """Name what costs the digits, and what to write instead."""
    seen = sandbox.attempt(lambda: raw(exam, sample, watch=True))
    births = [b for b in seen.value.births if b.kind == "inf"] if seen.ok else []
    if births:
        return (
            f"overflow in {plain}: {births[0].operation} gives inf in backward"
            f"{exam.subject.quoted(births[0].place)}, where the gradient itself is in range",
            f"keep every factor in {plain}'s range: multiply or divide twice instead of by a square, or compute "
            "in float32 and cast the result back",
        )
    for pattern, words in (
        (
            r"square\(\)\.mean|\*\*\s*2\b.*-|-.*\*\*\s*2\b|mean\(.*square|-.*square\(",
            "the difference of two nearly equal numbers, E[x²] - E[x]²: catastrophic cancellation",
        ),
        (r"\*\*|pow\(|square\(|(\b\w+\b) \* \1\b", "a power under- or overflows"),
        (r"-", "the difference of two nearly equal numbers: cancellation"),
    ):
        if place := exam.subject.find(pattern, "backward"):
            return (
                f"in {plain} backward loses precision, probably by {words}{place}",
                "centre before you square ((x - mean).square().mean()), as forward does; or save forward's value "
                f"instead of computing it anew; or compute in float32 or float64 where {plain} does not suffice",
            )
    return (
        f"backward loses precision in {plain}; see {exam.subject.place('backward')}",
        "compute it as forward does, or in a wider dtype, and cast the result",
    )
