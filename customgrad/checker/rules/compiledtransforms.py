"""CG962: torch.compile of a transform calls the Function's own backward."""

import functools
from collections.abc import Iterator, Sequence
from typing import Any

import torch

from customgrad.checker import _private, batching, sandbox
from customgrad.checker.exam import Exam
from customgrad.checker.forward import has_jvp
from customgrad.checker.report import Finding
from customgrad.checker.rule import Rule
from customgrad.checker.samples import flat

DROPPED = Rule(
    code="CG962",
    name="compile-drops-rule",
    severity="upstream",
    summary="torch.compile of torch.func.grad silently drops the Function's own backward.",
    explanation="""\
torch.compile(torch.func.grad(f)) differentiates forward instead of calling backward (pytorch#193279).
That is torch's own limit; it shows where the two differ, as for straight-through and other
surrogates. torch.compile(torch.vmap(f)) drops the vmap staticmethod likewise (pytorch#192985), which
shows in speed alone, as long as the rule is right.
""",
    needs_class=True,
    compiles=True,
    seconds=60.0,
)


@DROPPED.finder
def dropped(exam: Exam) -> Iterator[Finding]:
    """Yield that the compiled transform calls another backward than this one."""
    exam.require(not exam.subject.combined, "torch.func refuses it: CG952")
    exam.require(not has_jvp(exam), "Dynamo refuses a Function with a jvp")
    exam.require("CG961" not in exam.found, "CG961 says more")
    batching.settled(exam)
    exam.require(_own(exam), "backward is forward's derivative: a drop would not show")
    sample = exam.base
    run = exam.run(sample)
    live = [k for k, t in enumerate(run.outputs) if t.requires_grad]
    seeds = exam.cotangents(run)

    def loss(args: Sequence[Any], *wanted: torch.Tensor) -> torch.Tensor:
        full = list(args)
        for i, w in zip(sample.wanted, wanted, strict=True):
            full[i] = w.clone() if exam.in_place else w
        out = list(flat(exam.subject.call(*full)))
        total = torch.zeros((), dtype=torch.float64)
        for k, s in zip(live, seeds, strict=True):
            part = out[k] * s
            total = total + (part.real if part.is_complex() else part).sum()
        return total

    fixed, _ = sample.fresh(())
    wanted = [fixed[i] for i in sample.wanted]
    gradient = torch.func.grad(functools.partial(loss, fixed), tuple(range(len(wanted))))
    eager = sandbox.attempt(lambda: gradient(*wanted))
    exam.require(eager.ok, f"torch.func.grad raised {eager.words}")
    with _private.fresh_compiler():
        fast = sandbox.attempt(lambda: _private.compiled(gradient, "eager")(*wanted), seconds=50.0)
    exam.require(fast.ok, f"torch.compile raised {fast.words}")
    for k, (got, right) in enumerate(zip(fast.value, eager.value, strict=True)):
        if batching.differ(got.detach(), right.detach()):
            a, b, where = batching.worst(got.detach(), right.detach())
            yield exam.finding(
                DROPPED,
                "torch.compile(torch.func.grad(f)) silently drops its backward: torch's own limit, pytorch#193279",
                did=f"torch.compile(torch.func.grad(…)) of {exam.subject.called}, beside torch.func.grad",
                got=a,
                expected=b,
                where=f"gradient of {exam.named(k)}, {where}",
                cause="Dynamo inlines forward under torch.func.grad (https://github.com/pytorch/pytorch/issues/193279)",
                fix="compile the function, and call torch.autograd.grad or backward on its result",
                body=(
                    "def loss(*args):\n    out = {name}(*args)\n"
                    "    return (out[0] if isinstance(out, tuple) else out).sum()\n\n\n"
                    f"slope = torch.func.grad(loss, {sample.wanted})\n"
                    "print('eager:', slope({args}))\n"
                    "print('compiled:', torch.compile(slope, backend='eager', fullgraph=True)({args}))"
                ),
            )
            return


def _own(exam: Exam) -> bool:
    """Whether backward differs from forward's derivative, on purpose or not."""
    return exam.surrogate or "CG201" in exam.found
