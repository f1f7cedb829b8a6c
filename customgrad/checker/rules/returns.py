"""CG104 to CG106: what backward returns, before the engine repairs it."""

import functools
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import torch

from customgrad.checker import sandbox
from customgrad.checker.exam import Exam
from customgrad.checker.jacobian import compare
from customgrad.checker.report import Finding
from customgrad.checker.rule import Rule
from customgrad.checker.samples import Sample, floating
from customgrad.checker.spy import Raw, raw

SHAPE = Rule(
    code="CG104",
    name="gradient-shape",
    severity="hazard",
    summary="Backward returns a gradient of another shape than its input's, and the engine sums it silently.",
    explanation="""\
Where a gradient can be broadcast from its input's shape, the engine sums it to that shape, and
says nothing. Is the sum what the chain rule asks for, the value is right, but backward holds more
elements than it needs, and whoever calls it by hand gets the wrong shape; is it not, the gradient
is wrong. Sum in backward: grad.sum_to_size(input.shape).
""",
    needs_class=True,
)

DTYPE = Rule(
    code="CG105",
    name="gradient-dtype",
    severity="hazard",
    summary="Backward returns a gradient of another dtype than its input's, and the engine casts it silently.",
    explanation="""\
A float64 gradient of a float32 input takes twice the memory and time until the engine casts it; a
float32 gradient of a float64 input has lost half its digits, silently. Compute in the dtype of the
input, or cast at the end: grad.to(input.dtype).
""",
    needs_class=True,
)

KIND = Rule(
    code="CG106",
    name="gradient-for-integers",
    severity="hazard",
    summary="Backward returns a gradient for an argument that can have none.",
    explanation="""\
Integer and boolean tensors have no gradient. The engine accepts one and throws it away; what was
meant for another argument is lost, and what it cost is wasted. Return None at that position.
""",
    needs_class=True,
)


@SHAPE.finder
def gradient_shape(exam: Exam) -> Iterator[Finding]:
    """Yield gradients of another number of elements than their input has."""
    for sample in exam.samples:
        seen = raw(exam, sample)
        for i, got, value in _pairs(seen, sample):
            if got.numel() == value.numel():
                continue
            name, shape = exam.names[i], tuple(value.shape)
            judged = sandbox.attempt(functools.partial(compare, exam, sample))
            wrong = (
                not exam.surrogate
                and judged.ok
                and judged.value.worst is not None
                and judged.value.worst[1] >= 0
                and int(judged.value.columns[judged.value.worst[1]]) == sample.wanted.index(i)
            )
            line = _line(exam, i)
            result = (
                "which makes a wrong number here" if wrong else "which is right, but nowhere said"
            )
            yield exam.finding(
                SHAPE,
                f"backward returns a gradient of shape {tuple(got.shape)} for {name}, whose shape is {shape}; "
                f"the engine sums it silently, {result}",
                severity="bug" if wrong else "hazard",
                did=f"{exam.subject.called}, then backward; what it returned was looked at before the engine",
                got=f"shape {tuple(got.shape)} for {name}"
                + (f", summed to {judged.value.got_text}" if wrong else ""),
                expected=f"shape {shape}"
                + (f", with {judged.value.expected_text}" if wrong else ""),
                where=judged.value.along if wrong else f"the gradient of {name}",
                cause=f"the gradient of {name} is not reduced to the shape of {name}{line}"
                + (
                    f": the engine's sum over {got.numel() // max(value.numel(), 1)} copies is not what forward does"
                    if wrong
                    else f": {name} is broadcast in forward"
                ),
                fix=f"return a gradient of shape {shape} for {name}: "
                + (
                    "reduce it as forward's derivative asks; here a plain sum is wrong"
                    if wrong
                    else f"grad_{name}.sum_to_size({name}.shape)"
                ),
                sample=sample,
                body=_spied(f"print('{name}:', shapes[{i}], 'for an input of shape', {shape})"),
            )
            return


@DTYPE.finder
def gradient_dtype(exam: Exam) -> Iterator[Finding]:
    """Yield gradients in double or in single precision whose input has the other."""
    for sample in precise(exam):
        outcome = sandbox.attempt(functools.partial(raw, exam, sample))
        if not outcome.ok:
            continue
        kinds = {t.dtype.to_real() for t in (*outcome.value.run.live, *sample.tensors)}
        if len(kinds) > 1:  # forward changes the dtype already
            continue
        for i, got, value in _pairs(outcome.value, sample):
            if not strange(got, value) or follows_default(exam, sample, i):
                continue
            name = exam.names[i]
            pattern = {
                torch.float64: r"\.double\(|float64|numpy|np\.|\.to\(",
                torch.float32: r"\.float\(|float32|\.to\(|numpy|np\.",
            }.get(got.dtype, "return")
            line = exam.subject.find(pattern, "backward") or exam.subject.find(pattern)
            yield exam.finding(
                DTYPE,
                f"backward returns a {_plain(got.dtype)} gradient for {name}, which is {_plain(value.dtype)}; "
                "the engine casts it silently",
                did=f"{exam.subject.called} on {_plain(value.dtype)} inputs, then backward; what it returned was "
                "looked at before the engine",
                got=f"dtype {_plain(got.dtype)}",
                expected=f"dtype {_plain(value.dtype)}",
                where=f"the gradient of {name}",
                cause=f"backward computes the gradient of {name} in {_plain(got.dtype)}, whatever dtype {name} has"
                f"{line or exam.subject.find('return', 'backward')}",
                fix=f"compute in the dtype of {name}, or cast what is returned: grad.to({name}.dtype)",
                sample=sample,
                body=_spied(f"print('{name}:', dtypes[{i}], 'for an input of', {value.dtype})"),
            )
            return


@KIND.finder
def gradient_kind(exam: Exam) -> Iterator[Finding]:
    """Yield gradients for integer and boolean tensors."""
    sample = exam.given[0]
    for i, got in enumerate(raw(exam, sample).returned[: len(sample.values)]):
        value = sample.values[i]
        if not isinstance(got, torch.Tensor) or not isinstance(value, torch.Tensor):
            continue
        if floating(value):
            continue
        name, dtype = exam.names[i], _plain(value.dtype)
        yield exam.finding(
            KIND,
            f"backward returns a gradient for {name}, an integer tensor ({dtype}), which has none; the engine drops it"
            if value.dtype != torch.bool
            else f"backward returns a gradient for {name}, a tensor of booleans, which has none; the engine drops it",
            got=f"a tensor of shape {tuple(got.shape)} and dtype {_plain(got.dtype)}",
            expected="None",
            where=f"value {i} of what backward returns",
            cause=f"backward returns a tensor where {name} stands among forward's arguments{_line(exam, i)}",
            fix=f"return None for {name}",
            sample=sample,
            body=_spied(f"print('{name} is', {name}.dtype, 'and gets a gradient of', dtypes[{i}])")
            if name.isidentifier() and name != "input"
            else _spied(f"print('argument {i} gets a gradient of', dtypes[{i}])"),
        )
        return


# What is looked at -------------------------------------------------------------------------------


def precise(exam: Exam) -> Iterator[Sample]:
    """Yield the first inputs as given, and in float32 where they are float64."""
    sample = exam.given[0]
    yield sample
    dtypes = [v.dtype for v in sample.tensors]
    if torch.float64 in dtypes and not any(isinstance(v, torch.dtype) for v in sample.values):
        lower = sample.to(torch.float32)
        yield replace(lower, label="the inputs in float32")


def strange(got: torch.Tensor, value: torch.Tensor) -> bool:
    """Whether one is in double and the other in single precision."""
    return {got.dtype, value.dtype} == {torch.float32, torch.float64}


def follows_default(exam: Exam, sample: Sample, i: int) -> bool:
    """Whether the gradient of argument i has the default dtype, whatever that is."""
    for dtype in (torch.float32, torch.float64):
        outcome = sandbox.attempt(functools.partial(under_default, exam, sample, dtype))
        if not outcome.ok or len(outcome.value.returned) <= i:
            return False
        got = outcome.value.returned[i]
        if not isinstance(got, torch.Tensor) or got.dtype != dtype:
            return False
    return True


def under_default(exam: Exam, sample: Sample, dtype: torch.dtype) -> Raw:
    """Look at the gradients while new tensors are made in this dtype."""
    before = torch.get_default_dtype()
    torch.set_default_dtype(dtype)
    try:
        return raw(exam, sample)
    finally:
        torch.set_default_dtype(before)


def _pairs(seen: Raw, sample: Sample) -> Iterator[tuple[int, torch.Tensor, torch.Tensor]]:
    """Yield (position, raw gradient, input) for inputs that need one."""
    for i in sample.wanted:
        got: Any = seen.returned[i] if i < len(seen.returned) else None
        if isinstance(got, torch.Tensor):
            yield i, got, sample.values[i]


def _line(exam: Exam, i: int) -> str:
    """Quote the line of backward that makes the gradient of argument i, or its return."""
    name = exam.names[i]
    return exam.subject.find(rf"\b(d|g|grad)_?{name}\s*=(?!\s*None)", "backward") or (
        exam.subject.find(r"^\s*return", "backward")
    )


def _plain(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")


def _spied(body: str) -> str:
    """Return a script's body that looks at what backward returns."""
    return (
        "shapes, dtypes = {}, {}\n"
        "class Spy({class}):\n"
        "    @staticmethod\n"
        "    def backward(ctx, *cotangents):\n"
        "        returned = {class}.backward(ctx, *cotangents)\n"
        "        for i, g in enumerate(returned if isinstance(returned, tuple) else (returned,)):\n"
        "            if g is not None:\n"
        "                shapes[i], dtypes[i] = tuple(g.shape), g.dtype\n"
        "        return returned\n"
        "out = Spy.apply({args})\n"
        "out = out[0] if isinstance(out, tuple) else out\n"
        f"out.backward(torch.randn_like(out))\n{body}"
    )
