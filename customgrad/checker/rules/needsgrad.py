"""CG701 and CG702: some inputs need no gradient."""

import itertools
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import torch

from customgrad.checker import numeric, sandbox
from customgrad.checker.exam import Exam
from customgrad.checker.layouts import ALL_OUTPUTS, different, steady
from customgrad.checker.report import Finding
from customgrad.checker.rule import Rule
from customgrad.checker.samples import Sample

SUBSET = Rule(
    code="CG701",
    name="needs-input-grad",
    severity="bug",
    summary="The gradient is another one, or backward raises, when an input needs none.",
    explanation="""\
With one input frozen (requires_grad False), ctx.needs_input_grad has a False. The gradients of the
others must stay what they were. Typical faults: saved tensors are unpacked as if all were there; a
gradient is computed under the condition of another input; the returned tuple loses a place.
""",
)

WASTED = Rule(
    code="CG702",
    name="wasted-gradient",
    severity="missing",
    summary="backward computes a gradient for an input that needs none.",
    explanation="""\
The engine throws such a gradient away. Ask ctx.needs_input_grad before computing it, and save only
what the gradients that are needed use.
""",
    needs_class=True,
    after=("CG701",),
)


@SUBSET.finder
def subsets(exam: Exam) -> Iterator[Finding]:
    """Yield a set of inputs for which gradients differ from those with all inputs."""
    for sample in exam.samples:
        wanted = sample.wanted
        if len(wanted) < 2:
            continue
        exam.require(steady(exam, sample), "two calls give different gradients")
        full = exam.run(sample)
        made = iter(exam.cotangents(full))
        seeds = {k: next(made) for k, t in enumerate(full.outputs) if t.requires_grad}
        expected = dict(zip(wanted, _grads(exam, full, seeds), strict=True))
        sets = [c for n in (1, len(wanted) - 1, 2) for c in itertools.combinations(wanted, n)]
        for chosen in list(dict.fromkeys(s for s in sets if len(s) < len(wanted)))[:16]:
            outcome = sandbox.attempt(exam.run, sample, wanted=chosen)
            if not outcome.ok:
                continue  # forward refuses
            run = outcome.value
            if len(run.outputs) != len(full.outputs):
                continue
            got = sandbox.attempt(_grads, exam, run, seeds)
            if not got.ok:
                yield _told(exam, sample, chosen, got, None, "", "")
                return
            for i, g in zip(chosen, got.value, strict=True):
                a, b = (
                    numeric.vector([g], [sample.values[i]]),
                    numeric.vector([expected[i]], [sample.values[i]]),
                )
                if (worst := different(exam, a, b)) is not None:
                    words = "None" if g is None else f"{float(a[worst]):.6g}"
                    yield _told(exam, sample, chosen, got, i, words, f"{float(b[worst]):.6g}")
                    return


def _grads(exam: Exam, run: Any, seeds: dict[int, torch.Tensor]) -> list[torch.Tensor | None]:
    """Return gradients from the cotangents of these outputs, as far as they require gradients."""
    sandbox.seed(exam.seed + 1)
    live = [(t, seeds[k]) for k, t in enumerate(run.outputs) if t.requires_grad and k in seeds]
    if not live:
        return [None] * len(run.leaves)
    return list(
        torch.autograd.grad(
            [t for t, _ in live], run.leaves, [s.clone() for _, s in live], allow_unused=True
        )
    )


def _told(
    exam: Exam,
    sample: Sample,
    chosen: tuple[int, ...],
    outcome: sandbox.Outcome,
    which: int | None,
    got: str,
    expected: str,
) -> Finding:
    alone = ", ".join(exam.names[i] for i in chosen)
    frozen = ", ".join(exam.names[i] for i in sample.wanted if i not in chosen)
    find = exam.subject.find
    line = exam.subject.quoted(outcome.line(*exam.subject.files))
    line = line or find(r"needs_input_grad|needs_", "backward") or find(r"return", "backward")
    if which is None:
        message = f"backward raises when only {alone} requires a gradient: {outcome.words}"
        cause = (
            f"backward expects what is there only if every input requires a gradient{line}; with {frozen} frozen, "
            "needs_input_grad has a False, and other tensors are saved, or unpacked at another place"
        )
    else:
        message = f"the gradient of {exam.names[which]} is {got} when {frozen} is frozen (requires no gradient)"
        cause = (
            f"the gradient of {exam.names[which]} depends on needs_input_grad of {frozen}, or is returned in the "
            f"wrong place when one is None{line}"
        )
    return exam.finding(
        SUBSET,
        message,
        did=f"{exam.subject.called} with {alone} requiring gradients, and {frozen} not; then backward",
        got=got or outcome.words,
        expected=expected or "the gradients that all inputs together give",
        where="" if which is None else f"the gradient of {exam.names[which]}",
        cause=cause,
        fix="compute each input's gradient under its own ctx.needs_input_grad[i] alone, save None in place of what is "
        "not needed, and return one value for each argument, in forward's order",
        sample=replace(sample, wanted=chosen, label=f"only {alone} requiring a gradient"),
        body=ALL_OUTPUTS
        + "print(torch.autograd.grad(outs, {inputs}, [torch.ones_like(t) for t in outs], "
        f"allow_unused=True))  # {frozen} frozen",
    )


@WASTED.finder
def wasted(exam: Exam) -> Iterator[Finding]:
    """Yield an input whose gradient is computed though it needs none."""
    sample = exam.base
    function = exam.subject.function
    exam.require(len(sample.wanted) > 1, "there is one input that needs a gradient")
    assert function is not None
    original = function.backward
    exam.require("backward" in vars(function) or hasattr(function, "backward"), "no backward")
    returned: list[Any] = []

    def backward(ctx: Any, *grads: Any) -> Any:
        out = original(ctx, *grads)
        returned[:] = list(out) if isinstance(out, tuple | list) else [out]
        return out

    spy: Any = type(function.__name__, (function,), {"backward": staticmethod(backward)})
    idle = []
    for i in sample.wanted:
        rest = tuple(k for k in sample.wanted if k != i)
        returned.clear()

        def step(rest: tuple[int, ...] = rest) -> None:
            run = exam.run(sample, wanted=rest, call=spy.apply)
            run.gradients(exam.cotangents(run))

        if sandbox.attempt(step).ok and i < len(returned) and returned[i] is not None:
            idle.append(exam.names[i])
    if idle:
        names = " and ".join(idle)
        yield exam.finding(
            WASTED,
            f"backward computes the gradient of {names} also where it is not needed (frozen)",
            did=f"{exam.subject.called} with one input at a time frozen; what backward returned",
            got=f"a tensor for {names}",
            expected="None",
            cause=f"backward does not ask ctx.needs_input_grad{exam.subject.find('return', 'backward')}: wasted work, "
            "and saved tensors that only this gradient uses",
            fix="compute each gradient under if ctx.needs_input_grad[i], and return None otherwise",
        )
