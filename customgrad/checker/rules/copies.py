"""CG405: a copy is saved where the input itself would do."""

from collections.abc import Iterator

import torch

from customgrad.checker import graph
from customgrad.checker.exam import Exam
from customgrad.checker.report import Finding
from customgrad.checker.rule import Rule

COPY = Rule(
    code="CG405",
    name="saved-copy",
    severity="hazard",
    summary="What is saved is a copy of an input; the input itself would cost nothing.",
    explanation="""\
save_for_backward keeps a reference, and notices if the tensor is changed in place before backward.
A clone takes memory once more, and hides that it depends on the input: second derivatives lose it.
""",
    after=("CG301", "CG302"),
    needs_class=True,
)


@COPY.finder
def copy(exam: Exam) -> Iterator[Finding]:
    """Yield a saved tensor that has an input's values in memory of its own."""
    pattern = r"clone\(|\.copy\(|deepcopy|torch\.tensor\("
    place = exam.subject.find(pattern, "setup_context", "forward")
    if not place or exam.in_place:
        return
    variants = [
        exam.base,
        exam.base.changed(lambda t: t * -1.5 + 0.2, ""),
        exam.base.changed(lambda t: t * 100, ""),
    ]
    found: list[set[tuple[str, int]]] = []
    size = 0
    for sample in (v for v in variants if exam.accepts(v)):
        run = exam.run(sample)
        here: set[tuple[str, int]] = set()
        for node in graph.nodes(run)[:1]:
            for k in graph.kept(exam, run, node)[0]:
                for i in sample.wanted:
                    x = run.args[i]
                    alike = (
                        k.tensor.dtype == x.dtype
                        and k.tensor.shape == x.shape
                        and x.is_contiguous()
                    )
                    same = alike and k.role == "intermediate" and x.numel() > 1
                    if same and torch.equal(k.tensor, x) and torch.equal(x, sample.values[i]):
                        here.add((k.name, i))
                        size = k.tensor.numel() * k.tensor.element_size()
        found.append(here)
    both = set.intersection(*found) if len(found) > 1 else set()
    if not both:
        return
    name, i = min(both)
    yield exam.finding(
        COPY,
        f"{name} is saved for backward: a copy of {exam.names[i]}, which would cost nothing itself",
        did=f"{exam.subject.called}, then a look at what it saved",
        got=f"{size} bytes with the values of {exam.names[i]}, in memory of their own",
        expected=f"{exam.names[i]} itself",
        where=name,
        cause=f"{name} is a clone of the input {exam.names[i]}{place}",
        fix=f"ctx.save_for_backward({exam.names[i]}): it is kept by reference, and a change in place is noticed",
        method="forward",
        body=(
            "def pack(t):\n    own = any(t.data_ptr() == x.data_ptr() for x in {inputs})\n"
            "    print('saved:', tuple(t.shape), 'an input:', own)\n    return t\n"
            "with torch.autograd.graph.saved_tensors_hooks(pack, lambda t: t):\n    out = {call}"
        ),
    )
