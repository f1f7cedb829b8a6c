"""CG208: one tensor passed for two arguments gets the sum of both gradients."""

from collections.abc import Iterator
from dataclasses import replace

import torch

from customgrad.checker import numeric, sandbox
from customgrad.checker.exam import Exam
from customgrad.checker.report import Finding
from customgrad.checker.rule import Rule
from customgrad.checker.samples import Sample, flat
from customgrad.checker.script import OUTPUT

TWICE = Rule(
    code="CG208",
    name="wrong-for-same-tensor",
    severity="bug",
    summary="The gradient is wrong when one tensor is passed for two arguments.",
    explanation="""\
Where one tensor stands in two places, its gradient is the sum of both. A backward that asks
whether the two are the same object, or writes one gradient over the other, gives something else.
""",
    after=("CG202",),
)


@TWICE.finder
def same_tensor(exam: Exam) -> Iterator[Finding]:
    """Yield a pair of arguments for which one tensor gets another gradient than the sum of both."""
    sample, names = exam.base, exam.names
    pairs = [
        (i, j)
        for i in sample.wanted
        for j in sample.wanted
        if i < j and sample.values[i].shape == sample.values[j].shape
    ]
    exam.require(bool(pairs), "no two inputs have the same shape")
    exam.require(not exam.in_place, "forward changes its inputs in place")
    for i, j in pairs:
        values = list(sample.values)
        values[j] = values[i].clone()
        label = f"{names[i]} and {names[j]} the same tensor"
        apart = replace(sample, values=tuple(values), label=label)
        if not exam.accepts(apart):
            continue
        run = exam.run(apart)
        seeds = exam.cotangents(run)
        grads = dict(zip(apart.wanted, run.gradients(seeds), strict=True))
        given = [g for g in (grads[i], grads[j]) if g is not None]
        expected = sum(given, torch.zeros_like(values[i]))
        outcome = sandbox.attempt(_together, exam, apart, (i, j), seeds)
        room = 1e-9 * (1 + float(expected.abs().max()))
        if outcome.ok and torch.allclose(outcome.value, expected, rtol=1e-6, atol=room):
            continue
        asked = exam.subject.find(r" is |data_ptr|==|equal", "forward", "setup_context", "backward")
        yield exam.finding(
            TWICE,
            f"one tensor passed as {names[i]} and {names[j]} gets another gradient than the sum of both",
            did=f"{exam.subject.called} with one tensor for both arguments",
            got=outcome.words or _short(outcome.value),
            expected=_short(expected),
            cause=f"backward gives something else where the same tensor stands in two arguments{asked}",
            fix="compute both gradients as if the arguments were different; autograd adds them",
            sample=apart,
            body=(
                OUTPUT + "out.sum().backward()\n"
                "print('the sum of these is due:', [t.grad for t in {inputs}])"
            ),
        )
        return


def _together(
    exam: Exam, sample: Sample, pair: tuple[int, int], seeds: list[torch.Tensor]
) -> torch.Tensor:
    """Return the gradient of one leaf that is passed for two arguments."""
    args, _ = sample.fresh()
    one = args[pair[0]]
    args[pair[1]] = one
    sandbox.seed(exam.seed)
    outputs = [t for t in flat(exam.subject.call(*args)) if t.requires_grad]
    got = torch.autograd.grad(outputs, one, seeds, allow_unused=True)[0]
    return torch.zeros_like(one) if got is None else got


def _short(tensor: torch.Tensor) -> str:
    numbers = ", ".join(f"{v:.4g}" for v in numeric.real([tensor])[:6].tolist())
    return f"[{numbers}{', …' if tensor.numel() > 6 else ''}]"
