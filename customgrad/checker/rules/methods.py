"""CG107 to CG110: methods, forward without gradients, hidden tensors, and flags that decide about gradients."""

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

STATIC = Rule(
    code="CG107",
    name="method-not-static",
    severity="missing",
    summary="A method of the Function is not a static method.",
    explanation="""\
forward, setup_context, backward, jvp and vmap are called on the class, so that without
@staticmethod they happen to work; called on an instance, ctx and the arguments shift by one.
""",
    needs_class=True,
)

PLAIN = Rule(
    code="CG108",
    name="forward-without-gradient",
    severity="bug",
    summary="Forward gives something else when no input requires a gradient.",
    explanation="""\
Under torch.no_grad, or with inputs that require no gradient, forward must return the same values.
A return inside `if x.requires_grad:` gives None there; evaluation then stops, or goes on with None.
""",
)

HIDDEN = Rule(
    code="CG109",
    name="hidden-tensors",
    severity="hazard",
    summary="Tensors inside a list, tuple or dict get no gradient, although they require one.",
    explanation="""\
apply looks for tensors among its arguments alone, not inside containers. The output requires a
gradient by way of the other arguments, so nothing is noticed, and the parameters in the container
stay as they are. Pass the tensors one by one: apply(weights, *tensors).
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


@STATIC.finder
def not_static(exam: Exam) -> Iterator[Finding]:
    """Yield methods that work by luck."""
    function = exam.subject.function
    assert function is not None
    for name in ("forward", "setup_context", "backward", "jvp", "vmap"):
        for owner in function.__mro__:
            if owner.__module__ == "torch.autograd.function" or name not in vars(owner):
                continue
            if not isinstance(vars(owner)[name], staticmethod | classmethod):
                yield exam.finding(
                    STATIC,
                    f"{name} is not a static method",
                    did=f"looked at {exam.subject.name}.{name}",
                    got="a plain function",
                    expected="a staticmethod",
                    cause=f"{exam.subject.place(name)} lacks @staticmethod; it works only because torch calls it on the class",
                    fix=f"write @staticmethod above {name}",
                    method=name,
                )
            break


@PLAIN.finder
def without_gradient(exam: Exam) -> Iterator[Finding]:
    """Yield a forward that returns something else where nobody asks for a gradient."""
    sample = exam.given[0]
    usual = exam.run(sample)
    again = exam.run(sample)
    exam.require(
        all(torch.equal(a, b) for a, b in zip(usual.outputs, again.outputs, strict=True)),
        "forward gives other values when called again",
    )
    for words, wanted, grad in (
        ("with inputs that require no gradient", (), True),
        ("under torch.no_grad()", sample.wanted, False),
    ):
        outcome = sandbox.attempt(
            lambda w=wanted, g=grad: exam.run(sample, wanted=w, grad=g)  # type: ignore[misc]
        )
        if not outcome.ok:
            if exam.in_place:
                continue
            got = outcome.words
        else:
            got = _differs(usual.result, outcome.value.result)
        if not got:
            continue
        line = exam.subject.find(
            r"requires_grad|needs_input_grad|is_grad_enabled", "forward", "setup_context"
        ) or exam.subject.quoted(outcome.line(*exam.subject.files))
        yield exam.finding(
            PLAIN,
            f"{words}, forward gives something else: {got}",
            did=f"{exam.subject.called} {words}",
            got=got,
            expected="the values that it returns when a gradient is required",
            cause=f"forward's output depends on requires_grad: a branch returns None or another value when no gradient "
            f"is needed{line}",
            fix="compute and return the output in every case; let only ctx.save_for_backward depend on "
            "ctx.needs_input_grad",
            method="forward",
            sample=sample,
            body="print('with gradients:', {call})\nwith torch.no_grad():\n    "
            "a = [x.detach() if isinstance(x, torch.Tensor) else x for x in [{args}]]\n    print('without:', {name}(*a))",
        )
        return


def _differs(usual: Any, plain: Any) -> str:
    """Say how two results differ, or nothing; what is no tensor with a gradient is not compared."""
    pairs = zip(
        usual if isinstance(usual, tuple) else (usual,),
        plain if isinstance(plain, tuple) else (plain,),
        strict=False,
    )
    for k, (a, b) in enumerate(pairs):
        if not isinstance(a, torch.Tensor) or not a.requires_grad:
            continue
        if not isinstance(b, torch.Tensor):
            return f"{b!r} for output {k}"
        if a.shape != b.shape:
            return f"shape {tuple(b.shape)} instead of {tuple(a.shape)} for output {k}"
        loose = 1e-9 if a.dtype in (torch.float64, torch.complex128) else 1e-2
        if not torch.allclose(a.detach(), b, rtol=loose, atol=loose, equal_nan=True):
            return f"values off by {float((a.detach() - b).abs().max()):.3g} in output {k}"
    return ""


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
        outcome = sandbox.attempt(lambda p=prepare: _prepared(exam, p))  # type: ignore[misc]
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
        fix="decide by ctx.needs_input_grad, which says for each argument whether a gradient is needed",
    )
