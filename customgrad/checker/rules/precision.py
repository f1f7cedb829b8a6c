"""CG802: gradients in float32 and half precision beside those in float64, at the same inputs."""

import math
import re
from collections.abc import Iterator
from dataclasses import replace

import torch

from customgrad.checker import numeric, sandbox
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
    half = any(t.dtype.itemsize == 2 for s in exam.given for t in s.tensors)
    half = half or bool(exam.subject.find(CASTS, "forward", "setup_context", "backward"))
    half = half or bool(
        re.search(r"half[- ]precision|float16|fp16|bf16|mixed precision", exam.subject.said, re.I)
    )
    for dtype in (torch.float32, torch.float16, torch.bfloat16):
        if dtype.itemsize == 2 and not half:
            continue  # nothing says that it is meant for half precision
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
    yield from _summed(exam)


def _summed(exam: Exam) -> Iterator[Finding]:
    """Yield a gradient of half precision inputs as given that is far from the one in float64.

    Sums of many terms of one sign stop growing in half precision, torch's own as well.
    """
    for sample in exam.given:
        dtypes = {t.dtype for t in sample.tensors if t.dtype.itemsize == 2}
        if not dtypes:
            continue
        run, wide = exam.run(sample), exam.run(sample.to(torch.float64))
        if any(t.dtype not in dtypes for t in run.live) or len(run.live) != len(wide.live):
            continue
        grads = numeric.filled(run.gradients(), run.leaves)
        rights = numeric.filled(wide.gradients(), wide.leaves)
        for k, (got, right) in enumerate(zip(grads, rights, strict=True)):
            size = float(right.abs().max()) if right.numel() else 0.0
            if got.dtype not in dtypes or not 0 < size < torch.finfo(got.dtype).max / 4:
                continue
            off = (got.double() - right).abs().nan_to_num(math.inf)
            if float(off.max()) < 0.2 * size:
                continue
            rounded = exam.run(sample.to(torch.float64).changed(lambda t: t * (1 + 2**-8), ""))
            near = numeric.filled(rounded.gradients(), rounded.leaves)[k]
            if float((near - right).abs().max()) > 0.02 * size:
                continue
            plain = str(got.dtype).removeprefix("torch.")
            at, name = int(off.argmax()), exam.named(k, sample)
            line = exam.subject.find(
                r"index_(add|put)|scatter|put_|\.sum\(| @ |matmul|\+=|cumsum|mean\(", "backward"
            )
            yield exam.finding(
                LOW,
                f"in {plain}, with a cotangent of ones, the gradient of {name} is off by "
                f"{100 * float(off.max()) / size:.2g} %",
                did=f"{exam.subject.called} in {plain} and in float64, then backward with ones",
                got=f"{float(got.reshape(-1)[at]):.6g}",
                expected=f"{float(right.reshape(-1)[at]):.6g}",
                where=f"element {at} of the gradient of {name}",
                cause=f"many terms are accumulated in {plain}{line}: from 256 (bfloat16) or 2048 (float16) on, adding "
                "1 changes nothing, so the sum saturates",
                fix="accumulate in float32 (cast the terms with .float() before adding) and cast the result back",
                sample=sample,
                body=OUTPUT
                + "print('got:', torch.autograd.grad(out, {inputs}, torch.ones_like(out), allow_unused=True))\n"
                "wide = [x.detach().double().requires_grad_(x.requires_grad) if isinstance(x, torch.Tensor) "
                "and x.is_floating_point() else x for x in [{args}]]\n"
                "out = {name}(*wide)\nout = out[0] if isinstance(out, tuple) else out\n"
                "wanted = [x for x in wide if isinstance(x, torch.Tensor) and x.requires_grad]\n"
                "print('in float64:', torch.autograd.grad(out, wanted, torch.ones_like(out), allow_unused=True))",
            )
            return


CASTS = r"\.(double|float|half|bfloat16)\(\)|float16|float32|float64|custom_fwd|autocast"
"""Casts by which a Function says that its precision was thought of."""


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
