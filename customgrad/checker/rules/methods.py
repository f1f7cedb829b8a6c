"""CG107 and CG108: static methods, and forward where nobody needs a gradient."""

from collections.abc import Iterator
from typing import Any

import torch

from customgrad.checker import sandbox
from customgrad.checker.exam import Exam
from customgrad.checker.report import Finding
from customgrad.checker.rule import Rule

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
                    cause=f"{exam.subject.place(name)} lacks @staticmethod; "
                    "it works only because torch calls it on the class",
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
        outcome = sandbox.attempt(exam.run, sample, wanted=wanted, grad=grad)
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
            "a = [x.detach() if isinstance(x, torch.Tensor) else x for x in [{args}]]\n"
            "    print('without:', {name}(*a))",
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
