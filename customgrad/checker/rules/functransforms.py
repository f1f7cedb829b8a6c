"""CG952 and CG953: torch.func takes the Function, and gives the gradients that autograd gives."""

from collections.abc import Iterator
from typing import Any

import torch

from customgrad.checker import batching, sandbox
from customgrad.checker.exam import Exam
from customgrad.checker.report import Finding
from customgrad.checker.rule import Rule
from customgrad.checker.samples import flat
from customgrad.checker.script import OUTPUT
from customgrad.checker.vmapped import has_rule

NONE = Rule(
    code="CG952",
    name="no-vmap",
    severity="missing",
    summary="torch.func or torch.vmap refuses the Function.",
    explanation="""\
torch.func (grad, vjp, jacrev, vmap) needs forward(inputs…) without ctx and setup_context(ctx,
inputs, output) beside it; vmap needs generate_vmap_rule = True or a vmap staticmethod, too.
""",
    needs_class=True,
)


FUNC = Rule(
    code="CG953",
    name="func-grad-wrong",
    severity="bug",
    summary="torch.func.vjp does not give the gradient that autograd gives.",
    explanation="""\
torch.func.grad, vjp and jacrev run the same forward, setup_context and backward as autograd does,
on tensors that are wrapped. What leaves torch (NumPy, .data, storage) or keeps tensors outside of
save_for_backward gives another gradient there, or raises.
""",
    needs_class=True,
)


@NONE.finder
def no_vmap(exam: Exam) -> Iterator[Finding]:
    """Yield the style that torch.func refuses, or the rule that is not there."""
    if exam.subject.combined:
        yield exam.finding(
            NONE,
            "torch.func and torch.vmap refuse it: forward takes ctx, and there is no setup_context",
            did=f"torch.func.grad and torch.vmap of {exam.subject.called}",
            got="RuntimeError: … must override the setup_context staticmethod",
            cause=f"forward and setup_context are one (combined style): {exam.subject.place('forward')}",
            fix="write forward(inputs…) without ctx, move what it does with ctx to setup_context(ctx, inputs, output), "
            "and set generate_vmap_rule = True",
            method="forward",
        )
    elif not has_rule(exam):
        yield exam.finding(
            NONE,
            "torch.vmap refuses it: there is no vmap rule",
            did=f"torch.vmap({exam.subject.called})",
            got="RuntimeError: … does not have vmap support",
            cause="neither generate_vmap_rule = True nor a vmap staticmethod",
            fix="set generate_vmap_rule = True, if forward and backward are made of torch operations; else write vmap",
            method="forward",
        )


@FUNC.finder
def func_grad(exam: Exam) -> Iterator[Finding]:
    """Yield a gradient that torch.func has wrong, or refuses to compute."""
    exam.require(not exam.subject.combined, "torch.func refuses it: CG952")
    batching.settled(exam)
    sample = exam.base
    run = exam.run(sample)
    live = [k for k, t in enumerate(run.outputs) if t.requires_grad]
    seeds = exam.cotangents(run)
    expected = run.gradients(seeds)

    def pulled() -> Any:
        args, _ = sample.fresh(())

        def f(*wanted: torch.Tensor) -> tuple[torch.Tensor, ...]:
            full = list(args)
            for i, w in zip(sample.wanted, wanted, strict=True):
                full[i] = w.clone() if exam.in_place else w
            out = list(flat(exam.subject.call(*full)))
            return tuple(out[k] for k in live)

        back: Any = torch.func.vjp(f, *(args[i] for i in sample.wanted))[1]
        return back(tuple(seeds))

    outcome = sandbox.attempt(pulled)
    body = (
        OUTPUT + "w = torch.randn_like(out)\n"
        "print('autograd:', torch.autograd.grad(out, {inputs}, w, allow_unused=True))\n\n\n"
        "def loss(*args):\n    out = {name}(*args)\n"
        "    return ((out[0] if isinstance(out, tuple) else out) * w).sum()\n\n\n"
        f"print('torch.func:', torch.func.grad(loss, {sample.wanted})({{args}}))"
    )
    if not outcome.ok:
        place = exam.subject.quoted(outcome.line(*exam.subject.files))
        yield exam.finding(
            FUNC,
            f"torch.func.vjp raised {type(outcome.error).__name__}, where autograd works",
            severity="missing",
            did=f"torch.func.vjp of {exam.subject.called}",
            got=outcome.words,
            cause=f"torch.func passes wrapped tensors, which this cannot take{place}: {outcome.words}",
            fix="use torch operations on tensors that were saved by save_for_backward",
            body=body,
        )
        return
    for k, (got, right) in enumerate(zip(outcome.value, expected, strict=True)):
        want = torch.zeros_like(sample.tensors[k]) if right is None else right.detach()
        if batching.differ(got.detach(), want):
            earlier = sorted(code for code in exam.found if code < "CG95")
            exam.require(
                not earlier, f"differs from autograd, but {', '.join(earlier)} comes first"
            )
            a, b, where = batching.worst(got.detach(), want)
            line = exam.subject.find(r"\.data\b|detach\(\)|numpy|ctx\.\w+ = ")
            yield exam.finding(
                FUNC,
                f"torch.func.vjp gives another gradient of {exam.named(k)} than autograd does",
                did=f"torch.func.vjp of {exam.subject.called}, beside torch.autograd.grad",
                got=a,
                expected=b,
                where=f"gradient of {exam.named(k)}, {where}",
                cause=f"the wrapped tensors of torch.func are not tracked everywhere; see "
                f"{line.strip(' ()') or exam.subject.place('setup_context')}",
                fix="save tensors by ctx.save_for_backward in setup_context, and use torch operations only",
                body=body,
            )
            return
