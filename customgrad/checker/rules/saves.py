"""CG404 to CG406: what save_for_backward keeps, and how backward reads it."""

import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import torch
from torch.utils.checkpoint import checkpoint

from customgrad.checker import graph, numeric, sandbox
from customgrad.checker.exam import Exam, wanted_tensors
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
    after=("CG103", "CG301", "CG302"),
    needs_class=True,
)

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
        noise = torch.randn(tensor.shape, dtype=tensor.dtype, generator=torch.Generator().manual_seed(3))
        nan = torch.full_like(tensor, torch.nan)
        return [nan, torch.zeros_like(tensor), -tensor, noise, noise * 1e3, tensor + noise]
    made = [tensor.flip(tuple(range(tensor.dim()))), torch.zeros_like(tensor)]
    return [m for m in made if not torch.equal(m, tensor)]


def _gradients(exam: Exam, sample: Sample, wanted: Sequence[int]) -> tuple[_Packed, Callable[[], Any]]:
    """Return what a call saved, and a function that gives its gradients."""
    packed = _Packed()
    with torch.autograd.graph.saved_tensors_hooks(packed.pack, packed.unpack):
        run = exam.run(sample, wanted=wanted)
    seeds = exam.cotangents(run, 0)

    def gradients() -> list[torch.Tensor | None]:
        sandbox.seed(exam.seed + 1)
        return [None if g is None else g.clone() for g in run.gradients([s.clone() for s in seeds])]

    return packed, gradients


def _same(a: Sequence[torch.Tensor | None], b: Sequence[torch.Tensor | None]) -> bool:
    return all(
        (x is None) == (y is None)
        and (x is None or y is None or bool(torch.allclose(x, y, rtol=0, atol=0, equal_nan=True)))
        for x, y in zip(a, b, strict=True)
    )


def _unused(exam: Exam) -> set[int] | None:
    """Return the numbers of the saved tensors that no gradient depends on; None if it cannot be said."""
    places = wanted_tensors(exam.base.values)[:5]
    subsets = [
        s for n in range(1, len(places) + 1) for s in itertools.combinations(places, n)
    ]
    variants = [exam.base, exam.base.changed(lambda t: t * -1.5 + 0.2, "")]
    unused: set[int] | None = None
    for sample, wanted in itertools.product([v for v in variants if exam.accepts(v)], subsets):
        outcome = sandbox.attempt(lambda s=sample, w=wanted: _gradients(exam, s, w))
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


@USELESS.finder
def useless(exam: Exam) -> Iterator[Finding]:
    """Yield the saved tensors that backward does not need."""
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
    shape = exam.subject.find(
        rf"\b({'|'.join(k.name for k in found if k.name.isidentifier()) or 'shape'})\.(shape|size|dtype|new|device)|_like\(",
        "backward",
    )
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
                    alike = k.tensor.dtype == x.dtype and k.tensor.shape == x.shape and x.is_contiguous()
                    if k.role == "intermediate" and alike and x.numel() > 1 and torch.equal(k.tensor, x):
                        if torch.equal(x, sample.values[i]):
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
            "def pack(t):\n    print('saved:', tuple(t.shape), 'an input:', any(t.data_ptr() == x.data_ptr() for x in {inputs}))\n"
            "    return t\nwith torch.autograd.graph.saved_tensors_hooks(pack, lambda t: t):\n    out = {call}"
        ),
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
    return numeric.real(
        [torch.zeros_like(x) if g is None else g for x, g in zip(run.leaves, grads, strict=True)]
    )


@HOOKS.finder
def hooks(exam: Exam) -> Iterator[Finding]:
    """Yield a backward that does not work with saved-tensor hooks."""
    exam.require(exam.repeatable and not exam.in_place, "forward changes its inputs, or is not repeatable")
    plain = exam.run(exam.base)
    same = zip(plain.args, exam.base.values, strict=True)
    kept = all(torch.equal(a, b) for a, b in same if isinstance(a, torch.Tensor) and not bool(b.isnan().any()))
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
        outcome = sandbox.attempt(
            lambda call=call: _vector(exam.run(exam.base, call=call), seeds, exam.seed + 1)
        )
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
            expected=f"{float(expected[off]):.6g}" if outcome.ok else "the gradient that comes without it",
            cause=f"ctx.saved_tensors is read more than once, and each read unpacks every saved tensor again{reads}"
            if twice
            else f"what backward reads is not (only) what save_for_backward kept{reads}",
            fix="read it once: `a, b = ctx.saved_tensors` at the beginning of backward"
            if twice
            else "keep tensors by save_for_backward alone, and read ctx.saved_tensors once",
            body=CHECKPOINT,
        )
        return
