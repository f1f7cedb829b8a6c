"""CG501, CG502 and CG507: what forward and backward change that is not theirs."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import torch

from customgrad.checker import numeric, sandbox
from customgrad.checker.exam import Exam, Run
from customgrad.checker.layouts import ALL_OUTPUTS, different, seeded, steady
from customgrad.checker.report import Finding
from customgrad.checker.rule import Rule
from customgrad.checker.samples import Sample, flat, floating

COTANGENT = Rule(
    code="CG501",
    name="cotangent-changed",
    severity="bug",
    summary="backward changes grad_output in place.",
    explanation="""\
grad_output belongs to the engine: the same tensor may be the gradient of another branch, or the
caller's own. A backward that writes into it (mul_, +=, clamp_, out=, masked assignment) makes the
other branch's gradient wrong. gradcheck passes copies, and sees nothing. Write
grad_output * factor instead of grad_output.mul_(factor), or clone first.
""",
)

INPUT = Rule(
    code="CG502",
    name="input-changed",
    severity="bug",
    summary="forward changes an input in place without mark_dirty.",
    explanation="""\
The caller's tensor has other values after the call, and autograd was not told: what other
operations saved of it is wrong, without an error. Compute out of place; or, if in place is meant,
call ctx.mark_dirty(input) and return that input.
""",
)

SAVED = Rule(
    code="CG507",
    name="saved-changed",
    severity="bug",
    summary="backward changes a saved tensor, an input or an output in place.",
    explanation="""\
A saved tensor is read by the next backward through the same graph, and a saved input or output is
the caller's. A backward that writes into it gives another gradient the second time
(retain_graph=True), or changes the caller's tensor. Compute out of place, or clone what was saved.
""",
    after=("CG501",),
)

WRITES = r"\w_\(|[-+*/@]=|\]\s*=[^=]|out="


@COTANGENT.finder
def cotangent_changed(exam: Exam) -> Iterator[Finding]:
    """Yield a backward after which the cotangent has other values."""
    for sample in exam.samples:
        for words in ("a random cotangent", "a cotangent of ones"):
            run = exam.run(sample)
            kept = exam.cotangents(run)
            if "ones" in words:
                kept = [torch.ones_like(t) for t in kept]
            seeds = [t.clone() for t in kept]
            run.gradients(seeds)
            for k, (seed, before) in enumerate(zip(seeds, kept, strict=True)):
                if (worst := different(exam, numeric.real([seed]), numeric.real([before]))) is None:
                    continue
                name = _argument(exam, k, len(kept))
                now, then = numeric.real([seed])[worst], numeric.real([before])[worst]
                yield exam.finding(
                    COTANGENT,
                    f"backward changes its cotangent {name} in place",
                    did=f"{exam.subject.called}, then backward with {words}; the cotangent before and after",
                    got=f"{float(now):.6g} after backward",
                    expected=f"{float(then):.6g}, as before",
                    where=f"element {worst} of {name}",
                    cause=f"backward writes into {name}{exam.subject.find(WRITES, 'backward')}, which may be "
                    "another branch's gradient as well",
                    fix=f"compute out of place ({name} * factor instead of {name}.mul_(factor)), or write into "
                    f"{name}.clone()",
                    sample=sample,
                    body=ALL_OUTPUTS + "seeds = [torch.randn_like(t) for t in outs]\n"
                    "before = [s.clone() for s in seeds]\n"
                    "torch.autograd.grad(outs, {inputs}, seeds, allow_unused=True)\n"
                    "print('got:', seeds)\nprint('expected:', before)",
                )
                return


def _argument(exam: Exam, k: int, count: int) -> str:
    """Return the name of backward's k-th cotangent."""
    method = exam.subject.method("backward")
    if method is not None:
        names = method.__code__.co_varnames[1 : method.__code__.co_argcount]
        if len(names) == count:
            return names[k]
    return "grad_output" if count == 1 else f"cotangent {k}"


def _read(exam: Exam, sample: Sample, run: Run) -> list[int]:
    """Return the integer arguments that forward changed, and whose values the output depends on.

    A counter or running statistics are written only; labels or indices are read.
    """
    found = []
    for i, value in enumerate(sample.values):
        arg = run.args[i]
        if not isinstance(value, torch.Tensor) or floating(value) or value.numel() < 2:
            continue
        if torch.equal(arg, value) or any(out is arg for out in run.outputs):
            continue
        values = list(sample.values)
        values[i] = value.flip(tuple(range(value.dim())))
        other = sandbox.attempt(exam.run, replace(sample, values=tuple(values)), grad=False)
        if other.ok and any(
            not torch.equal(a, b) for a, b in zip(other.value.outputs, run.outputs, strict=False)
        ):
            found.append(i)
    return found


@INPUT.finder
def input_changed(exam: Exam) -> Iterator[Finding]:
    """Yield a forward after which an input has other values, although it was not marked as dirty."""
    for sample in exam.samples:
        run = exam.run(sample)
        for i in (*sample.wanted, *_read(exam, sample, run)):
            arg = run.args[i]
            if any(out is arg for out in run.outputs):
                continue  # mark_dirty gives the input itself back
            now, then = numeric.real([arg]), numeric.real([sample.values[i]])
            if (worst := different(exam, now, then)) is None:
                continue
            name = exam.names[i]
            yield exam.finding(
                INPUT,
                f"forward changes its input {name} in place, and autograd is not told (no mark_dirty)",
                did=f"{exam.subject.called}; {name} before and after",
                got=f"{float(now[worst]):.6g} after the call",
                expected=f"{float(then[worst]):.6g}, as before",
                where=f"element {worst} of {name}",
                cause=f"forward modifies {name} in place{exam.subject.find(WRITES, 'forward')} without "
                f"ctx.mark_dirty({name})",
                fix=f"compute out of place, in a new tensor (or clone {name} first); or, if in place is meant, call "
                f"ctx.mark_dirty({name}) and return {name}",
                method="forward",
                sample=sample,
                body="inputs = {inputs}\nbefore = [x.detach().clone() for x in inputs]\n{call}\n"
                "print('got:', [x.detach() for x in inputs])\nprint('expected:', before)",
            )
            return


@SAVED.finder
def saved_changed(exam: Exam) -> Iterator[Finding]:
    """Yield a backward after which what was saved, an input or an output has other values."""
    exam.require(steady(exam, exam.base), "two calls give different gradients")
    for sample in exam.samples:
        run = exam.run(sample)
        seeds = exam.cotangents(run)
        watched = _watched(exam, run)
        before = sandbox.attempt(_copies, watched)
        if not before.ok:
            continue
        first = seeded(exam, run, [s.clone() for s in seeds])
        for (words, tensor), kept in zip(watched, before.value, strict=True):
            now, then = numeric.real([tensor]), numeric.real([kept])
            worst = different(exam, now, then)
            if worst is None:
                continue
            caller = words.startswith(("the input", "the output"))
            again = sandbox.attempt(seeded, exam, run, seeds)
            if not caller and (not again.ok or different(exam, again.value, first) is None):
                continue  # torch raises, or it makes no difference
            effect = (
                "the caller's tensor changes"
                if caller
                else "a second backward through the same graph (retain_graph=True) gives another gradient"
            )
            yield exam.finding(
                SAVED,
                f"backward changes {words} in place: {effect}",
                did=f"{exam.subject.called}, then backward; saved tensors, inputs and outputs before and after",
                got=f"{float(now[worst]):.6g} after backward",
                expected=f"{float(then[worst]):.6g}, as before",
                where=f"element {worst} of {words}",
                cause=f"backward overwrites a saved tensor in place{exam.subject.find(WRITES, 'backward')}; it is "
                f"{words}",
                fix="compute out of place (a * b instead of a.mul_(b)), or clone the saved tensor before writing",
                sample=sample,
                body=ALL_OUTPUTS + "values = [t.detach().clone() for t in outs]\n"
                "seeds = [torch.randn_like(t) for t in outs]\n"
                "one = torch.autograd.grad(outs, {inputs}, seeds, retain_graph=True, allow_unused=True)\n"
                "print('outputs before:', values)\nprint('outputs after:', [t.detach() for t in outs])\n"
                "one = [None if g is None else g.clone() for g in one]\n"
                "print('gradient:', one)\n"
                "print('again:', torch.autograd.grad(outs, {inputs}, seeds, allow_unused=True))",
            )
            return


def _copies(watched: Sequence[tuple[str, torch.Tensor]]) -> list[torch.Tensor]:
    return [t.detach().clone() for _, t in watched]


def _watched(exam: Exam, run: Run) -> Sequence[tuple[str, torch.Tensor]]:
    """Return what backward must leave alone, with names: inputs, outputs, saved tensors, tensors on ctx."""
    found: list[tuple[str, torch.Tensor]] = []
    if not exam.in_place:
        for i, arg in enumerate(run.args):
            found += [(f"the input {exam.names[i]}", t) for t in flat(arg)]
    outs = run.outputs
    found += [
        ("the output" if len(outs) == 1 else f"the output {k}", t) for k, t in enumerate(outs)
    ]
    saved = sandbox.attempt(lambda: list(getattr(run.node, "saved_tensors", ())))
    if saved.ok:
        found += [(f"the saved tensor {k}", t) for k, t in enumerate(saved.value) if t is not None]
    attributes: dict[str, Any] = getattr(run.node, "__dict__", {})
    for name, value in attributes.items():
        found += [(f"the saved tensor ctx.{name}", t) for t in flat(value)]
    return found
