"""CG602: an input in another memory layout."""

import itertools
from collections.abc import Callable, Iterator, Sequence

import torch

from customgrad.checker import batching, numeric, sandbox
from customgrad.checker.exam import Exam
from customgrad.checker.layouts import different, layouts, seeded, steady
from customgrad.checker.report import Finding
from customgrad.checker.rule import Rule
from customgrad.checker.rules.layout import CODE, culprit, kind
from customgrad.checker.samples import Sample

INPUT = Rule(
    code="CG602",
    name="input-layout",
    severity="bug",
    summary="The gradient depends on the memory layout of an input, or backward refuses one.",
    explanation="""\
A transposed, sliced or channels-last input has the same values in another order in memory. Code
that reads the storage as if it were contiguous is wrong for it, silently. Call contiguous() on the
input before it is read that way, and on what backward makes of saved tensors.
""",
    after=("CG502", "CG507", "CG601", "CG110"),
)


@INPUT.finder
def input_layout(exam: Exam) -> Iterator[Finding]:
    """Yield a layout of the inputs for which output or gradient is another one, or backward raises."""
    # Random numbers may follow the order in memory (rand_like); then an error alone says anything.
    random = batching.draws(exam) or bool(
        exam.subject.find(r"[Gg]enerator|seed", "forward", "setup_context")
    )
    for sample in exam.samples:
        exam.require(steady(exam, sample), "two calls give different gradients")
        tensors = sample.tensors
        plain = exam.run(sample)
        seeds = exam.cotangents(plain)
        value = numeric.real(plain.live)
        gradient = seeded(exam, plain, [s.clone() for s in seeds])
        for words, change in _inputs(tensors):
            outcome = sandbox.attempt(exam.run, sample, prepare=change)
            if not outcome.ok or [t.shape for t in outcome.value.live] != [
                t.shape for t in plain.live
            ]:
                continue  # forward refuses
            run = outcome.value
            forward = numeric.real(run.live)
            if (worst := different(exam, forward, value)) is not None:
                if random:
                    continue
                yield _told(exam, sample, words, "forward", outcome, forward[worst], value[worst])
                return
            got = sandbox.attempt(seeded, exam, run, [x.clone() for x in seeds])
            if not got.ok:
                yield _told(exam, sample, words, "backward", got, None, None)
                return
            if (worst := different(exam, got.value, gradient)) is not None and not random:
                yield _told(exam, sample, words, "backward", got, got.value[worst], gradient[worst])
                return


def _inputs(
    tensors: Sequence[torch.Tensor],
) -> Iterator[tuple[str, Callable[[torch.Tensor], torch.Tensor]]]:
    """Yield (words, what makes the input of a leaf)."""
    yield from layouts(tensors)
    if len(tensors) > 1:
        # Each alone: kernels may take the strides of one for those of another.
        for k in range(len(tensors)):
            for words, change in layouts([tensors[k]]):
                if "transposed" in words or "reversed" in words:
                    yield f"{words} (input {k} alone)", _alone(change, k)


def _alone(
    change: Callable[[torch.Tensor], torch.Tensor], chosen: int
) -> Callable[[torch.Tensor], torch.Tensor]:
    """Return what changes the chosen one of the tensors that it is called with in order."""
    count = itertools.count()
    return lambda t: change(t) if next(count) == chosen else t.clone()


def _told(
    exam: Exam,
    sample: Sample,
    words: str,
    method: str,
    outcome: sandbox.Outcome,
    got: torch.Tensor | None,
    expected: torch.Tensor | None,
) -> Finding:
    what = "the output" if method == "forward" else "the gradient"
    line = culprit(exam, outcome, method)
    conj = "conjugate" in words
    code = CODE[kind(words)].replace("for s in seeds", "for s in leaves")
    raises = got is None or expected is None
    return exam.finding(
        INPUT,
        f"backward raises for an input that is {words}: {outcome.words}"
        if raises
        else f"{'forward misreads an input' if method == 'forward' else 'the gradient is wrong for an input'} "
        f"that is {words}, with the same values",
        did=f"{exam.subject.called} with the same inputs, as given and {words}",
        got=outcome.words if got is None else f"{float(got):.6g}",
        expected=f"{what} for the inputs as given"
        if expected is None
        else f"{float(expected):.6g}",
        where=f"an element of {what}" if not raises else "",
        cause=f"{method} reads the input's memory{line} "
        + (
            "though it is a lazy conjugate (conj bit set)"
            if conj
            else "as if it were contiguous, without its strides"
        ),
        fix="call resolve_conj() on the inputs first in forward, and save the result"
        if conj
        else f"call .contiguous() on the tensors first in {method}, or use reshape and indexing in place of raw memory",
        method=method,
        sample=sample,
        body=f"leaves = list({{inputs}})\n{code}\nfor tensors in (leaves, other):\n"
        f"    {', '.join(_variables(exam, sample))}, = tensors\n"
        "    out = {call}\n    out = out[0] if isinstance(out, tuple) else out\n"
        "    print(out, torch.autograd.grad(out, leaves, torch.ones_like(out), allow_unused=True))",
    )


def _variables(exam: Exam, sample: Sample) -> list[str]:
    from customgrad.checker.script import variables

    names = variables(exam, sample)
    return [names[i] for i in sample.wanted]
