"""CG601: the cotangent in another memory layout."""

from collections.abc import Iterator

import torch

from customgrad.checker import sandbox
from customgrad.checker.exam import Exam, Run
from customgrad.checker.layouts import ALL_OUTPUTS, different, layouts, seeded, steady
from customgrad.checker.report import Finding
from customgrad.checker.rule import Rule

__all__ = ["CODE", "COTANGENT", "culprit", "kind"]

COTANGENT = Rule(
    code="CG601",
    name="cotangent-layout",
    severity="bug",
    summary="The gradient depends on the memory layout of grad_output, or backward refuses one.",
    explanation="""\
The cotangent that the engine passes is not always contiguous: after sum() it is expanded (stride
0), after cat or a slice it is a part of a larger tensor, after a transposition its strides are
swapped. A backward that calls view, or hands data_ptr to a kernel that assumes a layout, raises or
reads wrong numbers there. Call grad_output.contiguous() first, or use reshape. gradcheck passes
contiguous cotangents only.
""",
    after=("CG501", "CG507"),
)

READS = (
    r"as_strided|data_ptr|storage|view_as_real|numpy|ctypes|from_blob",
    r"\.view\(|\.view_as\(",
    r"empty_like|zeros_like|empty_strided|stride\(",
)


@COTANGENT.finder
def cotangent_layout(exam: Exam) -> Iterator[Finding]:
    """Yield a layout of the cotangents for which the gradient is another one, or backward raises."""
    for sample in exam.samples:
        exam.require(steady(exam, sample), "two calls give different gradients")
        run = exam.run(sample)
        if not all(t.numel() for t in run.live):
            continue
        for words, seeds, plain, code in _cotangents(exam, run):
            expected = sandbox.attempt(seeded, exam, exam.ready(sample, run), plain)
            if not expected.ok:
                run = exam.run(sample)
                continue
            got = sandbox.attempt(seeded, exam, exam.ready(sample, run), seeds)
            worst = different(exam, got.value, expected.value) if got.ok else None
            if got.ok and worst is None:
                continue
            conj = "conjugate" in words
            line = culprit(exam, got, "backward")
            reads = (
                "which a lazy conjugate does not allow (conj bit set)"
                if conj
                else "as if it were contiguous: its strides or storage offset are not"
            )
            yield exam.finding(
                COTANGENT,
                f"backward raises for a cotangent that is {words}: {got.words}"
                if worst is None
                else f"the gradient is another one when the cotangent is {words}, with the same values",
                did=f"{exam.subject.called}, then backward with the same cotangent, contiguous and {words}",
                got=got.words if worst is None else f"{float(got.value[worst]):.6g}",
                expected="the gradient for the contiguous cotangent"
                if worst is None
                else f"{float(expected.value[worst]):.6g}, as for the contiguous cotangent",
                where="" if worst is None else f"element {worst} of the gradients",
                cause=f"backward reads a tensor{line} {reads}",
                fix="call grad_output = grad_output.resolve_conj() first in backward"
                if conj
                else "call grad_output = grad_output.contiguous() first in backward; replace .view by .reshape, and "
                "read other tensors with their own strides and storage offset (clone() resets the offset)",
                sample=sample,
                body=ALL_OUTPUTS
                + "seeds = [torch.randn_like(t).contiguous() for t in outs]\n"
                + code
                + "\n"
                "print('expected:', torch.autograd.grad(outs, {inputs}, [s.clone(memory_format=torch.contiguous_format)"
                " for s in other], retain_graph=True, allow_unused=True))\n"
                "print('got:', torch.autograd.grad(outs, {inputs}, other, allow_unused=True))",
            )
            return


def _cotangents(
    exam: Exam, run: Run
) -> Iterator[tuple[str, list[torch.Tensor], list[torch.Tensor], str]]:
    """Yield (words, cotangents, the same ones contiguous, code that makes them)."""
    base = exam.cotangents(run)
    for value in (1.0, 0.75):
        wide = [torch.full((), value, dtype=t.dtype).expand(t.shape) for t in run.live]
        code = f"other = [torch.full((), {value}, dtype=t.dtype).expand(t.shape) for t in outs]"
        if any(t.dim() for t in wide):
            yield "expanded (stride 0), as from sum()", wide, [w.contiguous() for w in wide], code
    for d in (0, -1):
        some = [c.narrow(d, 0, 1).expand(c.shape) if c.dim() > 1 else c for c in base]
        if any(c.dim() > 1 for c in base):
            code = f"other = [s.narrow({d}, 0, 1).expand(s.shape) if s.dim() > 1 else s for s in seeds]"
            yield (
                f"expanded along dimension {d} (stride 0)",
                some,
                [s.contiguous() for s in some],
                code,
            )
    for words, change in layouts(base):
        yield words, [change(c) for c in base], [c.contiguous() for c in base], CODE[kind(words)]


CODE = {
    "transposed": "other = [s.mT.contiguous().mT if s.dim() > 1 else s for s in seeds]",
    "storage": "other = [torch.cat([s.reshape(-1), s.reshape(-1)])[s.numel():].view(s.shape) for s in seeds]",
    "slice": (
        "other = [torch.cat([s + 1, s], -1).narrow(-1, s.shape[-1], s.shape[-1]) if s.dim() else s for s in seeds]"
    ),
    "strided": "other = [torch.stack([s, s + 1], -1)[..., 0] for s in seeds]",
    "reversed": (
        "def turned(s):\n    order = tuple(reversed(range(s.dim())))\n"
        "    return s.permute(order).contiguous().permute(order)\nother = [turned(s) for s in seeds]"
    ),
    "channels": (
        "other = [s.permute(0, 2, 3, 1).contiguous().permute(0, 3, 1, 2) if s.dim() == 4 else s for s in seeds]"
    ),
    "conjugate": "other = [s.conj().resolve_conj().conj() for s in seeds]",
}


def kind(words: str) -> str:
    """Return the word of `CODE` for a layout."""
    return next(key for key in CODE if key in words)


def culprit(exam: Exam, outcome: sandbox.Outcome, *methods: str) -> str:
    """Return the line that raised, or the first that reads memory in its own way."""
    if place := exam.subject.quoted(outcome.line(*exam.subject.files)):
        return place
    for pattern in READS:
        if found := exam.subject.find(pattern, *methods):
            return found
    return f" ({exam.subject.place(methods[0])})"
