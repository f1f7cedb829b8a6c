"""CG406: how backward reads what was saved."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import torch
from torch.utils.checkpoint import checkpoint

from customgrad.checker import numeric, sandbox
from customgrad.checker.exam import Exam
from customgrad.checker.report import Finding
from customgrad.checker.rule import Rule

HOOKS = Rule(
    code="CG406",
    name="saved-tensor-hooks",
    severity="hazard",
    summary="Under checkpoint or save_on_cpu backward fails, or gives another gradient.",
    explanation="""\
Each read of ctx.saved_tensors unpacks all of them again. torch.utils.checkpoint(use_reentrant=False)
recomputes a tensor for its first unpacking, and refuses a second one. Read ctx.saved_tensors once,
into local names.
""",
    after=("CG901", "CG902", "CG904"),
)

CHECKPOINT = """\
from torch.utils.checkpoint import checkpoint
out = checkpoint({name}, {args}, use_reentrant=False)
out = out[0] if isinstance(out, tuple) else out
print(torch.autograd.grad(out.sum(), {inputs}, allow_unused=True))
"""


def _vector(run: Any, seeds: Sequence[torch.Tensor], seed: int) -> torch.Tensor:
    sandbox.seed(seed)
    grads = run.gradients([s.clone() for s in seeds], retain_graph=False)
    return numeric.vector(grads, run.leaves)


def _through(exam: Exam, call: Callable[..., Any], seeds: Sequence[torch.Tensor]) -> torch.Tensor:
    return _vector(exam.run(exam.base, call=call), seeds, exam.seed + 1)


@HOOKS.finder
def hooks(exam: Exam) -> Iterator[Finding]:
    """Yield a backward that does not work with saved-tensor hooks."""
    exam.require(
        exam.repeatable and not exam.in_place, "forward changes its inputs, or is not repeatable"
    )
    plain = exam.run(exam.base)
    same = zip(plain.args, exam.base.values, strict=True)
    kept = all(
        torch.equal(a, b)
        for a, b in same
        if isinstance(a, torch.Tensor) and not bool(b.isnan().any())
    )
    exam.require(kept, "forward changes its inputs")
    seeds = exam.cotangents(plain, 0)
    expected = _vector(plain, seeds, exam.seed + 1)
    again = _vector(exam.run(exam.base), seeds, exam.seed + 1)
    exam.require(torch.equal(expected, again), "gradients are not finite, or not repeatable")

    def checkpointed(*args: Any) -> Any:
        return checkpoint(exam.subject.call, *args, use_reentrant=False)

    def offloaded(*args: Any) -> Any:
        with torch.autograd.graph.save_on_cpu():
            return exam.subject.call(*args)

    def cloned(*args: Any) -> Any:
        with torch.autograd.graph.saved_tensors_hooks(torch.clone, torch.clone):
            return exam.subject.call(*args)

    for words, call in (
        ("checkpoint(use_reentrant=False)", checkpointed),
        ("save_on_cpu", offloaded),
        ("saved_tensors_hooks", cloned),
    ):
        outcome = sandbox.attempt(_through, exam, call, seeds)
        size = float(expected.abs().max()) if expected.numel() else 0.0
        loose = 1e-7 if exam.dtype == torch.float64 else 1e-3
        if outcome.ok and torch.allclose(outcome.value, expected, rtol=loose, atol=loose * size):
            continue
        twice = not outcome.ok and "already unpacked" in str(outcome.error)
        reads = exam.subject.find(r"ctx\.saved_(tensors|variables)", "backward")
        off = int((outcome.value - expected).abs().argmax()) if outcome.ok else 0
        yield exam.finding(
            HOOKS,
            f"under {words} backward raises {outcome.words}"
            if not outcome.ok
            else f"under {words} the gradient is another one",
            severity="bug" if outcome.ok else "hazard",
            did=f"{exam.subject.called} under {words}, then backward",
            got=f"{float(outcome.value[off]):.6g}" if outcome.ok else outcome.words,
            expected=f"{float(expected[off]):.6g}"
            if outcome.ok
            else "the gradient that comes without it",
            cause=f"ctx.saved_tensors is read more than once, and each read unpacks every saved tensor again{reads}"
            if twice
            else f"what backward reads is not (only) what save_for_backward kept{reads}",
            fix="read it once: `a, b = ctx.saved_tensors` at the beginning of backward"
            if twice
            else "keep tensors by save_for_backward alone, and read ctx.saved_tensors once",
            body=CHECKPOINT,
        )
        return
