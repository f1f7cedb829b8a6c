"""CG109 and CG110: tensors and flags that autograd does not see."""

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import torch

from customgrad.checker import sandbox
from customgrad.checker.exam import Exam
from customgrad.checker.report import Finding
from customgrad.checker.rule import Rule
from customgrad.checker.samples import flat, floating
from customgrad.checker.script import OUTPUT, variables

HIDDEN = Rule(
    code="CG109",
    name="hidden-tensors",
    severity="hazard",
    summary="Tensors inside a list, tuple or dict get no gradient, or have none.",
    explanation="""\
apply looks for tensors among its arguments alone, not inside containers. The output requires a
gradient by way of the other arguments, so nothing is noticed, and the parameters in the container
stay as they are. Pass the tensors one by one: apply(weights, *tensors). The same holds for what
forward returns: a tensor in a list or tuple inside the tuple is detached. Return one flat tuple.
""",
)

FLAG = Rule(
    code="CG110",
    name="gradient-by-flag",
    severity="bug",
    summary="Forward reads requires_grad or is_grad_enabled, and a gradient is lost by it.",
    explanation="""\
Inside forward grad mode is off: torch.is_grad_enabled() is False, and any tensor that an operation
makes, a copy or reshape of an input among them, says requires_grad=False. A decision made by them
leaves gradients out silently. ctx.needs_input_grad is what says who needs a gradient.
""",
    needs_class=True,
)


@HIDDEN.finder
def hidden(exam: Exam) -> Iterator[Finding]:
    """Yield containers whose tensors require gradients and get none."""
    sample = exam.base
    inside = [
        i
        for i, v in enumerate(sample.values)
        if not isinstance(v, torch.Tensor) and any(floating(t) and t.requires_grad for t in flat(v))
    ]
    if not inside:
        yield from _nested(exam)
        return
    exam.require(exam.repeatable, "forward gives other values when called again")
    run = exam.run(sample)
    for i in inside:
        tensors = [t for t in flat(run.args[i]) if floating(t) and t.requires_grad]
        grads = torch.autograd.grad(
            run.live, tensors, exam.cotangents(run), allow_unused=True, retain_graph=True
        )
        if any(g is not None for g in grads):
            continue
        values = list(run.args)
        with torch.no_grad():
            for t in tensors:
                t.add_(0.01 * t.abs().clamp(min=1.0))
        moved = exam.run(replace(sample, values=tuple(values)), grad=False)
        if all(torch.equal(a, b) for a, b in zip(run.outputs, moved.outputs, strict=True)):
            continue
        name = exam.names[i]
        kind = type(sample.values[i]).__name__
        yield exam.finding(
            HIDDEN,
            f"the tensors inside the {kind} {name} require gradients and get none, although the output depends on them",
            did=f"{exam.subject.called}, then backward",
            got="None for each of them",
            expected="a gradient for each of them",
            where=f"{len(tensors)} tensors in {name}",
            cause=f"{name} is a {kind}: apply looks for tensors among its arguments, not inside a container, so these "
            "are hidden from autograd",
            fix=f"pass them one by one, apply(..., *{name}), take forward(ctx, ..., *{name}), and return a gradient "
            "for each",
            method="forward",
            body=OUTPUT
            + "out.sum().backward()\n"
            "hidden = {arg}.values() if isinstance({arg}, dict) else {arg}\n"
            "print('got:', [t.grad for t in hidden], 'expected: gradients')".replace(
                "{arg}", variables(exam, sample)[i]
            ),
        )
        return


def _nested(exam: Exam) -> Iterator[Finding]:
    """Yield tensors in a list or tuple among the outputs, which autograd does not see."""
    run = exam.run(exam.base)
    if not isinstance(run.result, tuple) or not run.live:
        return
    moved = exam.run(exam.base.changed(lambda t: t * 1.01 + 0.01, ""), grad=False)
    for k, (value, other) in enumerate(zip(run.result, moved.result, strict=False)):
        if not isinstance(value, list | tuple):
            continue
        lost = [
            t
            for t, u in zip(flat(value), flat(other), strict=False)
            if floating(t) and not t.requires_grad and t.shape == u.shape and not torch.equal(t, u)
        ]
        if not lost:
            continue
        kind = type(value).__name__
        yield exam.finding(
            HIDDEN,
            f"the tensors inside the {kind} that is output {k} depend on the inputs and have no gradient",
            did=f"{exam.subject.called} on inputs that require gradients",
            got=f"requires_grad is False on {len(lost)} tensors in output {k}",
            expected="requires_grad is True",
            where=f"output {k}",
            cause=f"forward returns a nested {kind}{exam.subject.find('return', 'forward')}: apply tracks the "
            "tensors of one flat tuple, not those inside another container",
            fix="return one flat tuple, take as many cotangents in backward, and nest them after apply",
            method="forward",
            body="out = {call}\nprint([[t.requires_grad for t in o] if isinstance(o, (list, tuple)) else "
            "o.requires_grad for o in out])",
        )
        return


@FLAG.finder
def by_flag(exam: Exam) -> Iterator[Finding]:
    """Yield a gradient that is None where a flag read in forward says so."""
    line = exam.subject.find(r"is_grad_enabled\(|\.requires_grad\b(?!\s*=[^=]|_)", "forward")
    if not line:
        return
    sample = exam.base
    run = exam.run(sample)
    usual = run.gradients(exam.cotangents(run))

    def spread(t: torch.Tensor) -> torch.Tensor:
        """The same values, every second element of a wider tensor."""
        return torch.stack([t, t], -1)[..., 0]

    def turned(t: torch.Tensor) -> torch.Tensor:
        return t.transpose(0, 1).contiguous().transpose(0, 1) if t.dim() > 1 else spread(t)

    for words, prepare in (("a strided", spread), ("a transposed", turned)):
        outcome = sandbox.attempt(_prepared, exam, prepare)
        if not outcome.ok:
            continue
        for k, (a, b) in enumerate(zip(usual, outcome.value, strict=True)):
            if a is not None and b is None and bool((a != 0).any()):
                yield _lost(exam, k, f"as {words} view", line)
                return
    if re.search("is_grad_enabled", line):
        for k, grad in enumerate(usual):
            if grad is None and _matters(exam, k):
                yield _lost(exam, k, "as given", line)
                return


def _prepared(exam: Exam, prepare: Any) -> list[torch.Tensor | None]:
    run = exam.run(exam.base, prepare=prepare)
    return run.gradients(exam.cotangents(run))


def _matters(exam: Exam, k: int) -> bool:
    """Whether the outputs depend on the k-th input that needs a gradient."""
    values = list(exam.base.values)
    i = exam.base.wanted[k]
    values[i] = values[i] * 1.01 + 0.01
    one = exam.run(exam.base, grad=False).outputs
    two = exam.run(replace(exam.base, values=tuple(values)), grad=False).outputs
    return exam.repeatable and any(not torch.equal(a, b) for a, b in zip(one, two, strict=True))


def _lost(exam: Exam, k: int, words: str, line: str) -> Finding:
    """Return the finding for the k-th input that needs a gradient."""
    made = {
        "as a strided view": "torch.stack([x, x], -1)[..., 0]",
        "as a transposed view": "x.transpose(0, 1).contiguous().transpose(0, 1)",
    }.get(words, "x")
    name = exam.named(k)
    flag = "torch.is_grad_enabled()" if "is_grad_enabled" in line else "requires_grad"
    return exam.finding(
        FLAG,
        f"{name} gets no gradient (None) when it is given {words}, because forward decides by {flag}",
        did=f"{exam.subject.called} with {name} given {words}, then backward",
        got="None",
        expected="the gradient that a contiguous input gets"
        if words != "as given"
        else "a gradient",
        where=f"the gradient of {name}",
        cause=f"forward reads {flag}{line}; in forward grad mode is off, so that is False for any copy or reshape that "
        "is no view, and backward then returns None",
        body=("x = {arg}\n{arg} = " + made + "\nout = {call}\n").replace(
            "{arg}", variables(exam, exam.base)[exam.base.wanted[k]]
        )
        + "out = out[0] if isinstance(out, tuple) else out\n"
        "print('got:', torch.autograd.grad(out.sum(), x, allow_unused=True), 'expected: a gradient')",
        fix="decide by ctx.needs_input_grad, which says for each argument whether a gradient is needed",
    )
