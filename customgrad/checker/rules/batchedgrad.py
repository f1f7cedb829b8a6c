"""CG957: batched gradients, is_grads_batched=True, are those of a loop."""

from collections.abc import Iterator

import torch

from customgrad.checker import batching, sandbox
from customgrad.checker.exam import Exam
from customgrad.checker.report import Finding
from customgrad.checker.rule import Rule
from customgrad.checker.script import OUTPUT

BATCHED = Rule(
    code="CG957",
    name="batched-gradient-wrong",
    severity="bug",
    summary="torch.autograd.grad(is_grads_batched=True) does not give what a loop over the cotangents gives.",
    explanation="""\
With is_grads_batched=True (and torch.autograd.functional.jacobian(vectorize=True)) backward is run
once under torch.vmap, for a batch of cotangents. A backward that looks at sizes, strides or values
of grad_output, or that leaves torch, is wrong there, or raises.
""",
    after=("CG201", "CG202"),
)

NUMBER = 3


@BATCHED.finder
def batched(exam: Exam) -> Iterator[Finding]:
    """Yield a gradient that differs from the loop's, or the refusal."""
    exam.require(not exam.known.get("data dependent"), "CG951 says more")
    batching.settled(exam)
    run = exam.run(exam.base)
    each = [exam.cotangents(run, n) for n in range(NUMBER)]
    one_by_one = sandbox.attempt(lambda: [run.gradients(c) for c in each])
    exam.require(one_by_one.ok, f"backward again on the same graph raised {one_by_one.words}")
    rows = one_by_one.value
    outcome = sandbox.attempt(
        lambda: torch.autograd.grad(
            run.live,
            run.leaves,
            [torch.stack(column) for column in zip(*each, strict=True)],
            retain_graph=True,
            allow_unused=True,
            is_grads_batched=True,
        )
    )
    body = (
        OUTPUT + "w = torch.randn(3, *out.shape, dtype=out.dtype)\n"
        "print('loop:', [torch.autograd.grad(out, {inputs}, v, retain_graph=True, allow_unused=True) for v in w])\n"
        "print('batched:', torch.autograd.grad(out, {inputs}, w, is_grads_batched=True, allow_unused=True))"
    )
    did = f"torch.autograd.grad of {exam.subject.called} with is_grads_batched=True"
    if not outcome.ok:
        place = exam.subject.quoted(outcome.line(*exam.subject.files))
        yield exam.finding(
            BATCHED,
            f"batched gradients raised {type(outcome.error).__name__}",
            severity="missing",
            did=did,
            got=outcome.words,
            cause=f"backward cannot be run under torch.vmap{place}: {outcome.words}",
            fix="in backward, use torch operations without branches on values, .item() and NumPy, "
            "and make buffers by grad_output.new_zeros",
            body=body,
        )
        return
    for k, (got, leaf) in enumerate(zip(outcome.value, run.leaves, strict=True)):
        column = [torch.zeros_like(leaf) if row[k] is None else row[k] for row in rows]
        loop = torch.stack(column).detach()
        found = torch.zeros_like(loop) if got is None else got.detach()
        if batching.differ(found, loop):
            earlier = sorted(code for code in exam.found if code < "CG95")
            exam.require(not earlier, f"differs from a loop, but {', '.join(earlier)} comes first")
            a, b, where = batching.worst(found, loop)
            yield exam.finding(
                BATCHED,
                f"batched gradients of {exam.named(k)} differ from those of a loop over the cotangents",
                did=f"{did}, beside a loop",
                got=a,
                expected=b,
                where=f"gradient of {exam.named(k)}, {where}",
                cause=f"backward gives something else under torch.vmap; see {exam.subject.place('backward')}",
                fix="use torch operations on whole tensors of grad_output in backward, none on its storage or .data",
                body=body,
            )
            return
