"""CG404: what save_for_backward keeps for nothing."""

import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import torch

from customgrad.checker import graph, holders, sandbox
from customgrad.checker.exam import Exam, wanted_tensors
from customgrad.checker.options import options
from customgrad.checker.report import Finding
from customgrad.checker.rule import Rule
from customgrad.checker.samples import Sample

USELESS = Rule(
    code="CG404",
    name="useless-save",
    severity="hazard",
    summary="A tensor is saved for backward, and no gradient depends on it.",
    explanation="""\
Whatever is saved stays in memory from forward to backward. Here the saved tensor was replaced by
other values, NaN among them, and no gradient changed, whichever inputs needed one. A tensor that is
saved for its shape or dtype alone is one of these: keep the shape on ctx.
""",
    after=("CG103", "CG201", "CG301", "CG302"),
    needs_class=True,
)


class _Packed:
    """Saved tensors by number, one of which is given back changed."""

    def __init__(self) -> None:
        self.tensors: list[torch.Tensor] = []
        self.changed: tuple[int, torch.Tensor] | None = None

    def pack(self, tensor: torch.Tensor) -> int:
        self.tensors.append(tensor.detach())
        return len(self.tensors) - 1

    def unpack(self, number: int) -> torch.Tensor:
        if self.changed is not None and self.changed[0] == number:
            return self.changed[1]
        return self.tensors[number]


def _others(tensor: torch.Tensor) -> list[torch.Tensor]:
    """Return other values of the same layout, for a tensor whose values may not matter."""
    if tensor.dtype == torch.bool:
        return [~tensor, torch.zeros_like(tensor), torch.ones_like(tensor)]
    if tensor.is_floating_point() or tensor.is_complex():
        noise = torch.randn(
            tensor.shape, dtype=tensor.dtype, generator=torch.Generator().manual_seed(3)
        )
        nan = torch.full_like(tensor, torch.nan)
        return [nan, torch.zeros_like(tensor), -tensor, noise, noise * 1e3, tensor + noise]
    made = [tensor.flip(tuple(range(tensor.dim()))), torch.zeros_like(tensor)]
    return [m for m in made if not torch.equal(m, tensor)]


def _gradients(
    exam: Exam, sample: Sample, wanted: Sequence[int]
) -> tuple[_Packed, Callable[[], Any]]:
    """Return what a call saved, and a function that gives its gradients."""
    packed = _Packed()
    with torch.autograd.graph.saved_tensors_hooks(packed.pack, packed.unpack):
        run = exam.run(sample, wanted=wanted)
    seeds = exam.cotangents(run, 0)
    others = holders.leaves(exam)  # a backward of checkpoint's kind fills their .grad itself

    def gradients() -> list[torch.Tensor | None]:
        sandbox.seed(exam.seed + 1)
        for t in others:
            t.grad = None
        given = run.gradients([s.clone() for s in seeds])
        # Backward may have another branch for a gradient that is differentiated itself, and its own
        # derivative may need what its values do not.
        twice = run.gradients([s.clone().requires_grad_() for s in seeds], create_graph=True)
        given += twice
        given += _second(twice, run.leaves)
        given += [t.grad for t in others]
        return [None if g is None else g.detach().clone() for g in given]

    return packed, gradients


def _second(
    gradients: Sequence[torch.Tensor | None], leaves: Sequence[torch.Tensor]
) -> list[torch.Tensor | None]:
    """Return the derivatives of gradients by the leaves; None where there are none, or one raises."""
    with_graph = [g for g in gradients if g is not None and g.requires_grad]
    if not with_graph:
        return [None] * len(leaves)
    weights = [torch.full_like(g, 0.75) for g in with_graph]
    outcome = sandbox.attempt(
        torch.autograd.grad, with_graph, leaves, weights, retain_graph=True, allow_unused=True
    )
    return list(outcome.value) if outcome.ok else [None] * len(leaves)


def _same(a: Sequence[torch.Tensor | None], b: Sequence[torch.Tensor | None]) -> bool:
    return all(
        (x is None) == (y is None)
        and (x is None or y is None or bool(torch.allclose(x, y, rtol=0, atol=0, equal_nan=True)))
        for x, y in zip(a, b, strict=True)
    )


def _number(variant: Sample, base: Sample) -> bool:
    """Whether a variant has another number, not another flag or word."""
    return any(
        a is not b and type(a) in (int, float)
        for a, b in zip(variant.values, base.values, strict=True)
    )


def _unused(exam: Exam) -> set[int] | None:
    """Return the numbers of the saved tensors that no gradient depends on; None if it cannot be said."""
    places = wanted_tensors(exam.base.values)[:5]
    subsets = [s for n in range(1, len(places) + 1) for s in itertools.combinations(places, n)]
    variants = [exam.base, exam.base.changed(lambda t: t * -1.5 + 0.2, "")]
    # What this call does not use, another may: in evaluation, with another reduction.
    variants += [v for v in options(exam.base, exam.subject) if not _number(v, exam.base)][:4]
    unused: set[int] | None = None
    for sample, wanted in itertools.product([v for v in variants if exam.accepts(v)], subsets):
        outcome = sandbox.attempt(_gradients, exam, sample, wanted)
        if not outcome.ok:
            continue
        packed, gradients = outcome.value
        base = sandbox.attempt(gradients)
        if not base.ok or not any(g is not None and bool(g.any()) for g in base.value):
            continue
        still = set()
        for k, tensor in enumerate(packed.tensors):
            if unused is not None and k not in unused:
                continue
            others = _others(tensor) if tensor.numel() > 1 else []
            for other in others:
                packed.changed = (k, other)
                got = sandbox.attempt(gradients)
                if not got.ok or not _same(got.value, base.value):
                    break
            else:
                still |= {k} if others else set()
        packed.changed = None
        if not _same(sandbox.attempt(gradients).value or [], base.value):
            return None
        # What a subset does not save at all cannot be compared by number.
        unused = still if unused is None else unused & still
        if not unused:
            return set()
    return unused


def overridden(function: type[torch.autograd.Function]) -> bool:
    """Whether a Function has a jvp or a vmap rule of its own."""
    plain = torch.autograd.Function
    return function.jvp is not plain.jvp or function.vmap is not plain.vmap


@USELESS.finder
def useless(exam: Exam) -> Iterator[Finding]:
    """Yield the saved tensors that backward does not need."""
    exam.require(not any(c.startswith("CG2") for c in exam.found), "a wrong gradient comes first")
    exam.require(
        exam.subject.function is None or not overridden(exam.subject.function),
        "jvp or vmap may need what backward does not",
    )
    exam.require(
        not exam.subject.find(r"\bif\b.*\b(numel|size|shape|len)\b", "backward"),
        "backward has a branch by size, and another may need what this one does not",
    )
    run = exam.run(exam.base)
    own = graph.nodes(run)
    exam.require(len(own) == 1, "there are several Functions in the graph")
    held, _ = graph.kept(exam, run, own[0])
    if not held:
        return
    exam.require(exam.repeatable, "forward gives other values when called again")
    unused = _unused(exam)
    exam.require(unused is not None, "backward gives other values when run again")
    found = [held[k] for k in sorted(unused or ()) if k < len(held)]
    if not found:
        return
    names = ", ".join(k.name for k in found)
    size = sum(k.tensor.numel() * k.tensor.element_size() for k in found)
    place = exam.subject.find("save_for_backward", "setup_context", "forward")
    plain = "|".join(k.name for k in found if k.name.isidentifier()) or "shape"
    shape = exam.subject.find(rf"\b({plain})\.(shape|size|dtype|new|device)|_like\(", "backward")
    yield exam.finding(
        USELESS,
        f"useless save: {names} is saved for backward, and no gradient depends on its values",
        did=f"{exam.subject.called}, then backward with {names} replaced by NaN and by other values, for every "
        "subset of the inputs that need gradients",
        got=f"{size} bytes saved, and the same gradients",
        expected="only what backward needs is saved",
        where=names,
        cause=f"{names} is saved{place}, and is unused in backward"
        + (f", except for its shape or dtype{shape}" if shape else ": never needed"),
        fix=f"keep {names} out of save_for_backward"
        + ("; keep its shape or dtype on ctx, as ctx.shape = …" if shape else ""),
        method="backward",
        body=(
            "def pack(t):\n    print('saved:', tuple(t.shape), t.dtype)\n    return t\n"
            "with torch.autograd.graph.saved_tensors_hooks(pack, lambda t: t):\n    out = {call}"
        ),
    )
