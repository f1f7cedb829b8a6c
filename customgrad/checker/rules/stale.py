"""CG503: an in-place change between forward and backward that autograd does not notice."""

import functools
from collections.abc import Callable, Iterator

import torch

from customgrad.checker import sandbox
from customgrad.checker.exam import Exam, Run
from customgrad.checker.layouts import ALL_OUTPUTS, different, seeded, steady
from customgrad.checker.report import Finding
from customgrad.checker.rule import Rule
from customgrad.checker.samples import Sample, flat

STALE = Rule(
    code="CG503",
    name="stale-values",
    severity="hazard",
    summary="An in-place change between forward and backward silently gives another gradient.",
    explanation="""\
What ctx.save_for_backward keeps has a version counter: if the tensor is changed in place before
backward runs, torch raises. A tensor kept as an attribute of ctx, its .data, or a NumPy array that
shares its memory has no such guard, and backward computes with values that forward never saw. Save
the input or the output itself, with save_for_backward, in forward or setup_context.
""",
    after=("CG302", "CG401"),
)

CHANGES: tuple[tuple[str, Callable[[torch.Tensor], torch.Tensor]], ...] = (
    ("mul_(0.5)", lambda t: t * 0.5),
    ("copy_(x.flip(0))", lambda t: t.reshape(-1).flip(0).reshape(t.shape)),
    ("neg_()", torch.neg),
)


@STALE.finder
def stale(exam: Exam) -> Iterator[Finding]:
    """Yield a Function whose backward follows a change of an input or output without a word."""
    exam.require(steady(exam, exam.base), "two calls give different gradients")
    sample = exam.base
    run = exam.run(sample)
    seeds = exam.cotangents(run)
    expected = seeded(exam, run, [s.clone() for s in seeds])
    targets: list[tuple[str, Callable[[Run], torch.Tensor]]] = []
    if not exam.in_place:
        for i in sample.wanted:
            targets.append((exam.names[i], functools.partial(_picked, "args", i)))
    for k in range(len(run.outputs)):
        name = "the output" if len(run.outputs) == 1 else f"the output {k}"
        targets.append((name, functools.partial(_picked, "outputs", k)))
    for name, pick in targets:
        for words, change in CHANGES:
            worst, got = _after(exam, sample, pick, change, seeds, expected)
            if worst is None or got is None:
                continue
            yield _finding(exam, sample, run, name, pick(run), words, got, expected, worst)
            return


def _picked(which: str, k: int, run: Run) -> torch.Tensor:
    """Return the k-th of a run's `args` or `outputs`."""
    tensor: torch.Tensor = getattr(run, which)[k]
    return tensor


def _after(
    exam: Exam,
    sample: Sample,
    pick: Callable[[Run], torch.Tensor],
    change: Callable[[torch.Tensor], torch.Tensor],
    seeds: list[torch.Tensor],
    expected: torch.Tensor,
) -> tuple[int | None, torch.Tensor | None]:
    """Return where the gradient differs after the change, and the gradient; None where torch raises."""
    run = exam.run(sample)
    target = pick(run)

    def step() -> torch.Tensor:
        with torch.no_grad():
            target.copy_(change(target.detach().clone()))
        return seeded(exam, run, [s.clone() for s in seeds])

    outcome = sandbox.attempt(step)
    if not outcome.ok:
        return None, None
    return different(exam, outcome.value, expected), outcome.value


def _finding(
    exam: Exam,
    sample: Sample,
    run: Run,
    name: str,
    target: torch.Tensor,
    words: str,
    got: torch.Tensor,
    expected: torch.Tensor,
    worst: int,
) -> Finding:
    cause = _cause(exam, run, target, name)
    output = name.startswith("the output")
    k = 0 if name == "the output" else int(name.split()[-1]) if output else -1
    reach = (
        f"(out[{k}] if isinstance(out, tuple) else out)"
        if output
        else "{inputs}" + f"[{[exam.names[i] for i in sample.wanted].index(name)}]"
    )
    return exam.finding(
        STALE,
        f"{name} is changed in place between forward and backward, and the gradient silently changes",
        did=f"{exam.subject.called}; {name}.{words} under no_grad; then backward"
        if not output
        else f"{exam.subject.called}; {words} on {name} under no_grad; then backward",
        got=f"{float(got[worst]):.6g}, from values that forward never saw",
        expected=f"{float(expected[worst]):.6g}, or torch's error about a variable modified in place",
        where=f"element {worst} of the gradients",
        cause=cause,
        fix=f"keep {name} itself with ctx.save_for_backward, neither as ctx attribute nor .data, detached from "
        "the version counter, or as a NumPy array; or keep a copy",
        sample=sample,
        body=ALL_OUTPUTS + "seeds = [torch.ones_like(t) for t in outs]\n"
        "before = torch.autograd.grad(outs, {inputs}, seeds, retain_graph=True, allow_unused=True)\n"
        "before = [None if g is None else g.clone() for g in before]\n"
        f"with torch.no_grad():\n    x = {reach}\n    x.{words.replace('x.flip(0)', 'x.clone().flip(0)')}\n"
        "print('expected:', before, 'or an error')\n"
        "print('got:', torch.autograd.grad(outs, {inputs}, seeds, allow_unused=True))",
    )


def _cause(exam: Exam, run: Run, target: torch.Tensor, name: str) -> str:
    """Say how the tensor escaped the version counter."""
    find = exam.subject.find
    if line := find(r"\.data\b(?!_ptr)", "forward", "setup_context"):
        return f"what is kept is .data{line}, which bypasses the version counter, so that {name} goes stale unnoticed"
    if line := find(r"numpy\(", "forward", "setup_context"):
        return f"what is kept is a NumPy array of the same memory{line}, which bypasses the version counter"
    attributes = getattr(run.node, "__dict__", {})
    for key, value in attributes.items():
        if any(_same(t, target) for t in flat(value)):
            line = find(rf"ctx\.{key}\b", "forward", "setup_context")
            return (
                f"{name} is kept as an attribute, ctx.{key}{line}, not by save_for_backward: no version counter "
                "is compared, and stale values are read"
            )
    line = find(r"ctx\.\w+\s*=|save_for_backward", "forward", "setup_context")
    return f"what is kept{line} shares the memory of {name} but not its version counter, so it goes stale unnoticed"


def _same(a: torch.Tensor, b: torch.Tensor) -> bool:
    if a.device.type == "meta" or a.layout != torch.strided or b.layout != torch.strided:
        return False
    return a.untyped_storage().data_ptr() == b.untyped_storage().data_ptr()
