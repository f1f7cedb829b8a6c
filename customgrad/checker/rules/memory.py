"""CG401 and CG402: tensors that outlive the graph, or that it does not know of."""

import gc
import weakref
from collections.abc import Iterator
from typing import Any

import torch

from customgrad.checker import again, graph, holders, sandbox
from customgrad.checker.exam import Exam
from customgrad.checker.graph import Kept
from customgrad.checker.report import Finding
from customgrad.checker.rule import Rule
from customgrad.checker.samples import floating

ATTRIBUTE = Rule(
    code="CG401",
    name="tensor-on-ctx",
    severity="hazard",
    summary="A tensor is kept as an attribute of ctx, where autograd does not see it.",
    explanation="""\
save_for_backward frees its tensors after backward, notices a later change in place, shows them to
saved-tensor hooks (checkpoint, save_on_cpu), and keeps an output without a reference cycle. An
attribute of ctx does none of this: an output makes a cycle that only the garbage collector frees,
an input can be changed unnoticed before backward, an intermediate stays in memory as long as the
output does.
""",
    after=("CG301", "CG302"),
    needs_class=True,
)

CYCLE = Rule(
    code="CG402",
    name="reference-cycle",
    severity="hazard",
    summary="The graph is part of a reference cycle: only the garbage collector frees it.",
    explanation="""\
A node of the graph that can be reached from itself stays in memory, and all that it saved with it,
until Python's garbage collector runs; on a GPU that is often too late. The usual ways: an output on
ctx, a closure or an object on ctx that holds an output or ctx itself.
""",
    after=("CG401",),
)


def _moved(exam: Exam) -> Any:
    """Return a run on other inputs and other random numbers."""
    exam.seed += 1
    try:
        shapes = [t.shape for t in exam.base.tensors]
        alike = (s for s in again.others(exam) if [t.shape for t in s.tensors] == shapes)
        return exam.run(next(alike, exam.base))
    finally:
        exam.seed -= 1


def _suspects(exam: Exam) -> list[tuple[Kept, bool]]:
    """Return the tensors on ctx that depend on the call, and whether each outlives backward."""
    run = exam.run(exam.base)
    node = next(iter(graph.nodes(run)), None)
    if node is None:
        return []
    first, on_ctx = graph.kept(exam, run, node)
    kept = {graph.storage(k.tensor): k.tensor.untyped_storage().nbytes() for k in first + on_ctx}
    count = sum(t.numel() for t in run.live)
    exam.facts["bytes saved per element"] = round(sum(kept.values()) / max(count, 1), 2)
    other: dict[str, torch.Tensor] = {}
    if on_ctx:
        moved = sandbox.attempt(lambda: _moved(exam))
        for elsewhere in graph.nodes(moved.value)[:1] if moved.ok else []:
            other = dict(graph.attributes(elsewhere))
    outcome = sandbox.attempt(lambda: run.gradients(retain_graph=False))
    left = {name for name, _ in graph.attributes(node)} if outcome.ok else set()
    states = torch.get_rng_state().numel()
    found = []
    for k in on_ctx:
        same = other.get(k.name)
        if k.tensor.dtype == torch.uint8 and k.tensor.numel() == states:
            continue
        if k.role == "intermediate":
            constant = same is None or (
                same.shape == k.tensor.shape and torch.equal(same, k.tensor)
            )
            if constant or k.tensor.numel() < 2 or k.name not in left:
                continue
        elif not floating(k.tensor) or k.tensor.numel() < 2:
            continue
        found.append((k, k.name in left))
    return found


def _alive(exam: Exam) -> tuple[bool, bool]:
    """Return whether a node outlives its outputs, and whether it outlives garbage collection, too."""
    was = gc.isenabled()
    gc.disable()
    try:
        run = exam.run(exam.base)
        refs = [weakref.ref(n) for n in graph.nodes(run)]
        del run
        before = any(r() is not None for r in refs)
        if before:
            gc.collect()
        return before, any(r() is not None for r in refs)
    finally:
        if was:
            gc.enable()


CYCLE_SCRIPT = """\
import gc, weakref
gc.disable()
out = {call}
out = out[0] if isinstance(out, tuple) else out
node = weakref.ref(out.grad_fn)
del out
print("freed:", node() is None)  # expected: True
"""

CTX_SCRIPT = """\
out = {call}
out = out[0] if isinstance(out, tuple) else out
out.sum().backward()
print([name for name, value in vars(out.grad_fn).items() if not isinstance(value, (int, float, str))])
print("these outlive backward; save_for_backward would have freed them")
"""


@ATTRIBUTE.finder
def attribute(exam: Exam) -> Iterator[Finding]:
    """Yield the tensors on ctx, the worst kind named first."""
    suspects = _suspects(exam)
    if not suspects:
        return
    order = {"output": 0, "input": 1, "detached": 1, "intermediate": 2}
    suspects.sort(key=lambda s: order[s[0].role])
    worst = suspects[0][0]
    cycle = _alive(exam)[0]
    names = ", ".join(k.name for k, _ in suspects)
    size = sum(k.tensor.numel() * k.tensor.element_size() for k, _ in suspects)
    attr = worst.name.split("[")[0].removeprefix("ctx.")
    place = exam.subject.find(rf"\bctx\.{attr}\b", "setup_context", "forward")
    what = {
        "output": "the output, which makes a reference cycle (output → grad_fn → ctx → output): a leak until "
        "the garbage collector runs"
        if cycle
        else "the output",
        "input": f"the argument {worst.of}: a later change of it in place is not noticed, and saved-tensor hooks "
        "(checkpoint, save_on_cpu) do not see it",
        "detached": f"{worst.of or 'the output'}, detached: a later change of it in place is not noticed",
        "intermediate": "an intermediate that is not freed by backward, and that saved-tensor hooks "
        "(checkpoint, save_on_cpu) do not see",
    }[worst.role]
    saved = ", ".join(_bare(k) for k, _ in suspects)
    yield exam.finding(
        ATTRIBUTE,
        f"tensors on ctx: {names}" + (": a reference cycle" if cycle else ""),
        did=f"{exam.subject.called}, backward, then a look at the attributes of ctx",
        got=f"{names} still there after backward, {size} bytes"
        + ("; the graph is alive after its output was deleted" if cycle else ""),
        expected="tensors kept by save_for_backward, and freed by backward",
        where=worst.name,
        cause=f"{worst.name}, an attribute of ctx instead of save_for_backward{place}, is {what}",
        fix=f"ctx.save_for_backward({saved}) instead, and read ctx.saved_tensors in backward",
        method="setup_context"
        if exam.subject.find(rf"\bctx\.{attr}\b", "setup_context")
        else "forward",
        body=CYCLE_SCRIPT if cycle else CTX_SCRIPT,
    )


def _bare(k: Kept) -> str:
    return k.of or ("output" if k.role == "output" else k.name.removeprefix("ctx."))


def _stuck(exam: Exam) -> Iterator[Finding]:
    """Yield a graph that not even the garbage collector frees, if nothing outside the call holds it."""
    held = holders.counts(exam)
    refs = []
    for _ in range(3):
        run = exam.run(exam.base)
        refs.append([weakref.ref(n) for n in graph.nodes(run)])
        first = graph.nodes(run)[:1]
        kept = graph.kept(exam, run, first[0])[0] if first else []
        outputs = {id(t) for t in run.outputs}
        views = [
            k.name for k in kept if k.role in ("output", "detached") and id(k.tensor) not in outputs
        ]
        del run, first, kept
    gc.collect()
    if not all(any(r() is not None for r in row) for row in refs) or holders.counts(exam) != held:
        return
    name = views[0] if views else "a saved tensor"
    place = exam.subject.find("save_for_backward", "setup_context", "forward")
    yield exam.finding(
        CYCLE,
        "a reference cycle that not even the garbage collector frees: every call without a backward leaks",
        did=f"{exam.subject.called} three times, then del of all outputs, and gc.collect()",
        got="the node of each graph is still alive",
        expected="the nodes are freed with their outputs",
        where=name,
        cause=f"{name} is a view of an output, and saved{place}: it holds the output, which holds the graph, which "
        "holds what is saved; no Python object is part of that cycle, so it is never collected"
        if views
        else f"what is saved{place} holds the graph itself, through an output: a cycle that is never collected",
        fix="save the output itself, and make the view of it in backward",
        method="forward",
        body=CYCLE_SCRIPT.replace("del out\n", "del out\ngc.collect()\n"),
    )


@CYCLE.finder
def cycle(exam: Exam) -> Iterator[Finding]:
    """Yield a node that outlives its outputs until the garbage collector runs."""
    before, after = _alive(exam)
    if before and after:
        yield from _stuck(exam)
    if not before or after:
        return
    place = exam.subject.find(r"\bctx\.\w+\s*=", "setup_context", "forward")
    yield exam.finding(
        CYCLE,
        "a reference cycle: the graph is not freed when its outputs are, only by the garbage collector",
        did=f"{exam.subject.called} with gc disabled, then del of all outputs",
        got="the node of the graph is alive",
        expected="the node is freed with its outputs",
        cause=f"ctx reaches itself, through an object or a closure that it keeps{place}: a reference cycle, a leak "
        "until the garbage collector runs",
        fix="keep on ctx nothing that holds an output or ctx itself: save tensors by save_for_backward",
        body=CYCLE_SCRIPT,
    )
