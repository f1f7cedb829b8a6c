"""CG104 and CG106: shape and kind of what backward returns, before the engine repairs it."""

from collections.abc import Iterator

import torch

from customgrad.checker import sandbox
from customgrad.checker.exam import Exam
from customgrad.checker.jacobian import compare
from customgrad.checker.report import Finding
from customgrad.checker.rule import Rule
from customgrad.checker.samples import floating
from customgrad.checker.script import spied
from customgrad.checker.spy import pairs, plain, raw

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
        for i, got, value in pairs(seen, sample):
            if got.numel() == value.numel():
                continue
            name, shape = exam.names[i], tuple(value.shape)
            judged = sandbox.attempt(compare, exam, sample)
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
                body=spied(f"print('{name}:', shapes[{i}], 'for an input of shape', {shape})"),
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
        name, dtype = exam.names[i], plain(value.dtype)
        yield exam.finding(
            KIND,
            f"backward returns a gradient for {name}, an integer tensor ({dtype}), which has none; the engine drops it"
            if value.dtype != torch.bool
            else f"backward returns a gradient for {name}, a tensor of booleans, which has none; the engine drops it",
            got=f"a tensor of shape {tuple(got.shape)} and dtype {plain(got.dtype)}",
            expected="None",
            where=f"value {i} of what backward returns",
            cause=f"backward returns a tensor where {name} stands among forward's arguments{_line(exam, i)}",
            fix=f"return None for {name}",
            sample=sample,
            body=spied(f"print('{name} is', {name}.dtype, 'and gets a gradient of', dtypes[{i}])")
            if name.isidentifier() and name != "input"
            else spied(f"print('argument {i} gets a gradient of', dtypes[{i}])"),
        )
        return


def _line(exam: Exam, i: int) -> str:
    """Quote the line of backward that makes the gradient of argument i, or its return."""
    name = exam.names[i]
    return exam.subject.find(rf"\b(d|g|grad)_?{name}\s*=(?!\s*None)", "backward") or (
        exam.subject.find(r"^\s*return", "backward")
    )
