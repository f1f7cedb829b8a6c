"""CG951: torch.vmap gives what a loop gives, gradients included."""

import functools
import re
from collections.abc import Iterator
from dataclasses import replace

import torch

from customgrad.checker import batching, sandbox, vmapped
from customgrad.checker.exam import Exam
from customgrad.checker.report import Finding
from customgrad.checker.rule import Rule
from customgrad.checker.samples import Sample
from customgrad.checker.vmapped import has_rule, own_rule

VMAP = Rule(
    code="CG951",
    name="vmap-wrong",
    severity="bug",
    summary="torch.vmap of the Function does not give what a loop over the examples gives.",
    explanation="""\
A vmap rule gets tensors with one dimension more, and says by in_dims where it is: a number, 0 among
them, or None for what has no batch. It returns the outputs and where their batch dimension is. The
rule is compared with a loop for several in_dims: values, shapes, the gradient of vmap, and vmap of
the gradient. generate_vmap_rule = True makes torch write the rule; forward and backward must then
be made of torch operations alone, without branches on values.
""",
    needs_class=True,
)

SINGLE = "map every input, or expand it (`x.expand(n, *x.shape)`), or write a vmap staticmethod"


@VMAP.finder
def vmap_wrong(exam: Exam) -> Iterator[Finding]:
    """Yield the first in_dims for which vmap is not the loop."""
    exam.require(has_rule(exam), "no vmap rule")
    batching.settled(exam)
    batch = batching.examples(exam, exam.base)
    refused: tuple[Sample, sandbox.Outcome, str] | None = None
    torchs: Finding | None = None
    dirty = exam.in_place or bool(exam.subject.find("mark_dirty"))
    for dims in batching.in_dims(exam.base, 9):
        if dirty and any(dims[i] is None for i in exam.base.wanted):
            continue  # what is not mapped cannot be overwritten by what is
        sample, loop = batching.stacked(batch, dims)
        expected = sandbox.attempt(vmapped.loop, exam, loop)
        if not expected.ok:
            continue
        values, slopes = expected.value
        steps = (
            ("torch.vmap", functools.partial(vmapped.mapped, exam, sample, dims, values)),
            (
                "the gradient of torch.vmap",
                functools.partial(vmapped.outer, exam, sample, dims, slopes),
            ),
            (
                "torch.vmap of the gradient",
                functools.partial(vmapped.inner, exam, sample, dims, slopes),
            ),
        )
        # Where something else is wrong already, a wrong gradient is that.
        for words, step in steps[: 1 if exam.found else 3]:
            outcome = sandbox.attempt(step)
            if not outcome.ok:
                refused = refused or (sample, outcome, words)
                break
            if outcome.value:
                found = _wrong(exam, sample, words, *outcome.value)
                if why := vmapped.upstream(exam, dims, values, outcome.value[2]):
                    torchs = torchs or replace(found, severity="upstream", cause=why, fix=SINGLE)
                    break
                yield found
                return
    if torchs:
        yield torchs
    elif refused:
        yield from _refused(exam, *refused)


def _wrong(
    exam: Exam, sample: Sample, words: str, got: torch.Tensor, expected: torch.Tensor, name: str
) -> Finding:
    """Return the finding for a number or a shape that is not the loop's."""
    a, b, where = batching.worst(got, expected)
    dims = sample.label.removeprefix("in_dims=")
    method = "vmap" if own_rule(exam) else "forward"
    return exam.finding(
        VMAP,
        f"{words} with in_dims={dims} differs from a loop over the examples: the {name} is wrong",
        did=f"{words} of {exam.subject.called} with in_dims={dims}, beside a loop",
        got=a,
        expected=b,
        where=f"{name}, {where}" if where else name,
        cause=_cause(exam, sample, got, expected),
        fix=_fix(exam),
        sample=sample,
        method=method,
        body=vmapped.comparison(exam, dims, words),
    )


def _cause(exam: Exam, sample: Sample, got: torch.Tensor, expected: torch.Tensor) -> str:
    """Name what the vmap staticmethod does wrong, where its source shows it."""
    if not own_rule(exam):
        return (
            "torch's generated vmap rule meets an operation in forward or backward that mixes or keeps values "
            f"outside of torch; see {exam.subject.place('forward')}"
        )
    dims = sample.label.removeprefix("in_dims=")
    truth = exam.subject.find(
        r"\bif (not )?\w*(dim|batch|bd)\w*(\[\d\])?\s*(:|else|and|or)", "vmap"
    )
    if truth and re.search(r"\b0\b", dims):
        return f"vmap takes batch dimension 0 for None: it asks whether in_dims is true{truth}"
    line = exam.subject.find(r"^\s*return\b.*,", "vmap")
    if got.shape != expected.shape or re.search(r"[1-9]", dims):
        return f"vmap returns the wrong out_dims, or does not look at in_dims={dims}{line}"
    if "None" in dims:
        return f"vmap treats an input without batch (in_dims None) as if it had one{line}"
    return (
        "vmap mixes the examples of the batch: what it calls reduces over, or broadcasts along, the batch "
        f"dimension{line or ' in ' + exam.subject.place('vmap')}"
    )


def _fix(exam: Exam) -> str:
    if own_rule(exam):
        return (
            "move each batch dimension that is not None to the front (`x.movedim(dim, 0)`), compute every example "
            "apart, and return that dimension as out_dims; or delete vmap and set generate_vmap_rule = True"
        )
    return "compute with torch operations alone, or write a vmap staticmethod instead of generate_vmap_rule"


def _refused(exam: Exam, sample: Sample, outcome: sandbox.Outcome, words: str) -> Iterator[Finding]:
    """Yield what vmap raised, unless that is torch's way to say that numbers are random."""
    text = str(outcome.error)
    exam.require("randomness" not in text, "vmap refuses random operations")
    line = outcome.line(*exam.subject.files)
    place = exam.subject.quoted(line)
    meant = isinstance(outcome.error, NotImplementedError | AssertionError) or bool(
        re.search(r"`(raise|assert)\b", place)
    )
    dims = sample.label.removeprefix("in_dims=")
    own = own_rule(exam) and words != "torch.vmap of the gradient"
    branch = bool(
        re.search(r"data-dependent|\.item\(\)|control flow|Boolean value|numpy|NumPy", text)
    )
    if branch and not own_rule(exam):
        exam.known["data dependent"] = True
    if own_rule(exam):
        cause = f"its vmap staticmethod does not work for in_dims={dims}: {outcome.words}{place}"
        fix = "let vmap take every mix of in_dims (None: no batch; 0 is a dimension), and backward work under vmap"
    elif branch:
        cause = (
            "generate_vmap_rule = True, but the code branches on values (data-dependent control flow) or leaves "
            f"torch{place}: {outcome.words}"
        )
        fix = (
            "compute without the branch (torch.where, clamp), or write a vmap staticmethod instead"
        )
    else:
        cause = f"generate_vmap_rule = True, but the generated rule stops{place}: {outcome.words}"
        fix = "use operations that torch.vmap supports, or write a vmap staticmethod instead"
    yield exam.finding(
        VMAP,
        f"{words} with in_dims={dims} raised {type(outcome.error).__name__}, although a vmap rule is declared",
        severity="bug" if own and not meant else "missing",
        did=f"{words} of {exam.subject.called} with in_dims={dims}",
        got=outcome.words,
        expected="what a loop gives",
        cause=cause,
        fix=fix,
        sample=sample,
        method="vmap" if own_rule(exam) else "forward",
        body=vmapped.comparison(exam, dims, words),
    )
