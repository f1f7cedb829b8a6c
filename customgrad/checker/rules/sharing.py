"""CG504: gradients that are somebody else's memory."""

from collections.abc import Iterator, Sequence

import torch

from customgrad.checker import numeric, sandbox
from customgrad.checker.exam import Exam, Run
from customgrad.checker.layouts import ALL_OUTPUTS, different, steady
from customgrad.checker.report import Finding
from customgrad.checker.rule import Rule
from customgrad.checker.samples import Sample, flat

GRADIENTS = Rule(
    code="CG504",
    name="shared-gradients",
    severity="hazard",
    summary="A gradient shares memory with another gradient, an input, an output or a saved tensor.",
    explanation="""\
A new tensor that backward returns becomes x.grad as it is, without a copy. If it is a view (view_as,
view, reshape, detach, indexing) of what another gradient, an input, an output, a saved tensor or a
cache has, the two are one piece of memory: clipping, unscaling or accumulating one changes the
other. Returning the very same object twice is safe, since the engine sees it and copies.
""",
    after=("CG501", "CG507"),
)

__all__ = ["GRADIENTS", "equal", "overlap"]

VIEWS = r"\.view\(|view_as|\.reshape\(|\.expand|\.detach\(|\.data\b|\.T\b|transpose|squeeze|conj\(|return .*\["


def overlap(a: torch.Tensor, b: torch.Tensor) -> bool:
    """Whether two tensors are on one storage; they may still be different parts of it."""
    if a.layout != torch.strided or b.layout != torch.strided or not (a.numel() and b.numel()):
        return False
    return a.untyped_storage().data_ptr() == b.untyped_storage().data_ptr()


@GRADIENTS.finder
def shared(exam: Exam) -> Iterator[Finding]:
    """Yield leaves whose gradient changes, or is changed by, something else."""
    exam.require(steady(exam, exam.base), "two calls give different gradients")
    sample = exam.base
    for words in ("ones", "random cotangents"):
        run, again = exam.run(sample), exam.run(sample)
        watched = [
            (t, t.detach().clone()) for n, t in _others(exam, run, ()) if t.layout == torch.strided
        ]
        if not _backward(exam, run, words) or not any(x.grad is not None for x in run.leaves):
            continue
        if not all(equal(t, old) for t, old in watched):
            return  # backward writes into them, which is another rule's business
        names = [exam.named(k, sample) for k in range(len(run.leaves))]
        others = _others(exam, run, names)
        for k, leaf in enumerate(run.leaves):
            if leaf.grad is None or not leaf.grad.numel() or leaf.grad.layout != torch.strided:
                continue
            kept = leaf.grad.clone()
            touching = [
                (n, t, t.detach().clone())
                for n, t in others
                if t is not leaf.grad and overlap(leaf.grad, t)
            ]
            leaf.grad.mul_(2).add_(1)
            hit = next((n for n, t, old in touching if not equal(t, old)), None)
            found = None
            if hit is None and _backward(exam, again, words) and again.leaves[k].grad is not None:
                fresh = again.leaves[k].grad
                if (
                    different(exam, numeric.vector([fresh], [leaf]), numeric.vector([kept], [leaf]))
                    is not None
                ):
                    found = "memory that is kept from call to call (a cache)"
            leaf.grad.copy_(kept)
            if hit or found:
                yield _told(exam, sample, names[k], hit or found or "", words)
                return
            again = exam.run(sample)


def _backward(exam: Exam, run: Run, words: str) -> bool:
    """Fill .grad of the leaves."""
    seeds = [torch.ones_like(t) for t in run.live] if words == "ones" else exam.cotangents(run)
    sandbox.seed(exam.seed + 1)
    return sandbox.attempt(
        lambda: torch.autograd.backward(run.live, seeds, retain_graph=True, inputs=run.leaves)
    ).ok


def _others(exam: Exam, run: Run, names: Sequence[str]) -> list[tuple[str, torch.Tensor]]:
    """Return what a gradient could share memory with, with names."""
    found = [
        (f"{n}.grad", x.grad) for n, x in zip(names, run.leaves, strict=False) if x.grad is not None
    ]
    for i, arg in enumerate(run.args):
        found += [(f"the input {exam.names[i]}", t) for t in flat(arg)]
    found += [("the output", t) for t in run.outputs]
    saved = sandbox.attempt(lambda: list(getattr(run.node, "saved_tensors", ())))
    if saved.ok:
        found += [("a saved tensor", t) for t in saved.value if t is not None]
    for key, value in getattr(run.node, "__dict__", {}).items():
        found += [(f"ctx.{key}", t) for t in flat(value)]
    return found


def equal(a: torch.Tensor, b: torch.Tensor) -> bool:
    """Whether two tensors hold the same values, NaN included."""
    return torch.equal(numeric.real([a]).nan_to_num(), numeric.real([b]).nan_to_num())


def _told(exam: Exam, sample: Sample, name: str, other: str, words: str) -> Finding:
    line = exam.subject.find(VIEWS, "backward") or exam.subject.find("return", "backward")
    twins = other.endswith(".grad")
    seeds = "ones_like" if words == "ones" else "randn_like"
    return exam.finding(
        GRADIENTS,
        f"{name}.grad shares memory with {other}: an in-place change of one changes the other",
        did=f"{exam.subject.called}; backward with {words}; {name}.grad.mul_(2).add_(1)",
        got=f"{other} changes as well"
        if "cache" not in other
        else "the next call gives another gradient",
        expected="memory of its own",
        where=f"{name}.grad",
        cause=(
            f"backward returns views of one storage{line}, which become {name}.grad and {other} without a copy"
            if twins
            else f"backward returns the memory of {other}, or a view of it{line}, which becomes "
            f"{name}.grad without a copy"
        ),
        fix="return the same object for both, or a clone() for each"
        if twins
        else "return a tensor of its own: multiply by grad_output in every case, or clone() what is returned",
        sample=sample,
        body=ALL_OUTPUTS + "inputs = {inputs}\n"
        f"torch.autograd.backward(outs, [torch.{seeds}(t) for t in outs], retain_graph=True)\n"
        "def state():\n"
        "    return [None if x.grad is None else x.grad.clone() for x in inputs], "
        "[x.detach().clone() for x in inputs], [t.detach().clone() for t in outs]\n"
        "print('gradients, inputs, outputs before:', state())\n"
        f"inputs[{[exam.names[i] for i in sample.wanted].index(name)}].grad.mul_(2).add_(1)\n"
        "print('after a change of one gradient:', state())",
    )
