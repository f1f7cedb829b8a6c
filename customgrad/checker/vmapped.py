"""torch.vmap of a Function beside a loop: values, the gradient of vmap, and vmap of the gradient."""

from collections.abc import Sequence
from typing import Any

import torch

from customgrad.checker import numeric
from customgrad.checker.batching import Dims, differ
from customgrad.checker.exam import Exam, Run
from customgrad.checker.samples import Sample, flat, floating

__all__ = [
    "comparison",
    "cotangents",
    "generated",
    "has_rule",
    "inner",
    "loop",
    "mapped",
    "outer",
    "own_rule",
    "upstream",
]

Slopes = tuple[list[int], list[torch.Tensor], list[torch.Tensor]]
"""Which outputs have a gradient, their cotangents, and the gradients, examples first."""
Pair = tuple[torch.Tensor, torch.Tensor, str]
"""What came, what should have come, and the name of it."""


def has_rule(exam: Exam) -> bool:
    """Whether the Function declares that vmap works."""
    return not exam.subject.combined and (generated(exam) or own_rule(exam))


def generated(exam: Exam) -> bool:
    """Whether torch makes the rule."""
    return bool(getattr(exam.subject.function, "generate_vmap_rule", False))


def own_rule(exam: Exam) -> bool:
    """Whether the Function has a vmap staticmethod."""
    function = exam.subject.function
    return function is not None and function.vmap is not torch.autograd.Function.vmap


def upstream(exam: Exam, dims: Dims, values: list[torch.Tensor], name: str) -> str:
    """Name torch's own fault, where it explains a wrong gradient under a rule that torch made.

    An output that does not depend on what is mapped has no batch; for an input without batch, torch
    then runs backward once for each example with the sum of all cotangents: the gradient comes out
    as many times too large as there are examples.
    """
    inputs = {
        f"gradient of {exam.named(k)}" for k, i in enumerate(exam.base.wanted) if dims[i] is None
    }
    same = any(floating(v) and bool((v == v[:1]).all()) for v in values)
    if own_rule(exam) or name not in inputs or not same:
        return ""
    return (
        "torch's generated vmap rule counts the cotangent of an output that does not depend on the mapped inputs "
        "once for each example; torch's own fault, seen on 2.13.0, no issue known"
    )


def cotangents(run: Run, k: int) -> list[torch.Tensor]:
    """Return cotangents for the k-th example."""
    made = []
    for n, t in enumerate(run.live):
        steps = torch.arange(1, t.numel() + 1, dtype=torch.float64)
        made.append((torch.cos(steps * (k + 1) + n) + 0.5).reshape(t.shape).to(t.dtype))
    return made


def loop(exam: Exam, rows: Sequence[Sample]) -> tuple[list[torch.Tensor], Slopes]:
    """Return the values; and for the gradients which outputs have one, the cotangents, and each example's."""
    runs = [exam.run(s) for s in rows]
    values = [torch.stack([t.detach() for t in ts]) for ts in zip(*(r.outputs for r in runs))]  # noqa: B905
    live = [k for k, t in enumerate(runs[0].outputs) if t.requires_grad]
    seeds = [cotangents(r, k) for k, r in enumerate(runs)]
    each = [r.gradients(s) for r, s in zip(runs, seeds, strict=True)]
    grads = [
        torch.stack(numeric.filled(column, leaves)).detach()
        for column, leaves in zip(
            zip(*each, strict=True), zip(*(r.leaves for r in runs), strict=True), strict=True
        )
    ]
    return values, (live, [torch.stack(c) for c in zip(*seeds, strict=True)], grads)


def _call(exam: Exam, args: Sequence[Any]) -> tuple[torch.Tensor, ...]:
    """Call it on copies, where it overwrites its inputs, and return its tensors."""
    if exam.in_place:
        args = [a.clone() if i in exam.base.wanted else a for i, a in enumerate(args)]
    return tuple(flat(exam.subject.call(*args)))


def mapped(exam: Exam, sample: Sample, dims: Dims, values: list[torch.Tensor]) -> Pair | None:
    """Return what torch.vmap gives where it is not the loop."""
    args, _ = sample.fresh(())
    got = torch.vmap(lambda *a: _call(exam, a), dims)(*args)
    return _first(got, values, [f"output {k}" if len(values) > 1 else "output" for k in range(9)])


def outer(
    exam: Exam,
    sample: Sample,
    dims: Dims,
    slopes: Slopes,
) -> Pair | None:
    """Return the gradient of torch.vmap where it is not that of the loop."""
    live, seeds, grads = slopes
    args, leaves = sample.fresh()
    out = torch.vmap(lambda *a: _call(exam, a), dims)(*args)
    kept = [(out[k], s) for k, s in zip(live, seeds, strict=True) if out[k].requires_grad]
    got = (
        torch.autograd.grad([t for t, _ in kept], leaves, [s for _, s in kept], allow_unused=True)
        if kept
        else [None] * len(leaves)
    )
    expected = []
    for i, g in zip(sample.wanted, grads, strict=True):
        d = dims[i]
        expected.append(g.sum(0) if d is None else g.movedim(0, d))
    return _first(numeric.filled(got, expected), expected, _names(exam))


def inner(
    exam: Exam,
    sample: Sample,
    dims: Dims,
    slopes: Slopes,
) -> Pair | None:
    """Return torch.vmap of the gradient where it is not the loop."""
    live, seeds, grads = slopes
    args, _ = sample.fresh(())

    def pulled(seeds: tuple[torch.Tensor, ...], *a: Any) -> tuple[torch.Tensor, ...]:
        def f(*wanted: torch.Tensor) -> tuple[torch.Tensor, ...]:
            full = list(a)
            for i, w in zip(sample.wanted, wanted, strict=True):
                full[i] = w
            out = _call(exam, full)
            return tuple(out[k] for k in live)

        back: Any = torch.func.vjp(f, *(a[i] for i in sample.wanted))[1]
        return tuple(back(seeds))

    got = torch.vmap(pulled, (0, *dims))(tuple(seeds), *args)
    return _first(got, grads, _names(exam))


def _names(exam: Exam) -> list[str]:
    return [f"gradient of {exam.named(k)}" for k in range(len(exam.base.wanted))]


def _first(
    got: Sequence[torch.Tensor], expected: Sequence[torch.Tensor], names: Sequence[str]
) -> Pair | None:
    """Return the first pair that differs, and its name."""
    for a, b, name in zip(got, expected, names, strict=False):
        if differ(a.detach(), b):
            return a.detach(), b, name
    return None


def comparison(exam: Exam, dims: str, words: str) -> str:
    """Return the body of a script that shows vmap beside a loop."""
    lines = f"""\
dims = {dims}
args = ({{args}},)
size = next(a.shape[d] for a, d in zip(args, dims) if d is not None)
rows = [[a if d is None else a.select(d, k) for a, d in zip(args, dims)] for k in range(size)]


def first(*args):
    out = {{name}}(*args)
    return out[0] if isinstance(out, tuple) else out


loop = torch.stack([first(*row) for row in rows])
"""
    if words == "torch.vmap":
        return lines + "print('loop:', loop)\nprint('vmap:', torch.vmap(first, dims)(*args))"
    lines += "w = torch.randn_like(loop)\nprint('loop:', torch.autograd.grad(loop, {inputs}, w))\n"
    if words.startswith("the gradient"):
        return lines + (
            "print('vmap:', torch.autograd.grad(torch.vmap(first, dims)(*args), {inputs}, w))"
        )
    return lines + (
        f"one = lambda w, *a: torch.func.grad(lambda *t: (first(*t) * w).sum(), {exam.base.wanted})(*a)\n"
        "print('vmap:', torch.vmap(one, (0, *dims))(w, *args))"
    )
