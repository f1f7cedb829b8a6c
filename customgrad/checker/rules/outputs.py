"""CG703 and CG704: several outputs, one used alone, one without any gradient."""

from collections.abc import Iterator

import torch

from customgrad.checker import numeric, sandbox
from customgrad.checker.exam import Exam
from customgrad.checker.layouts import ALL_OUTPUTS, different, seeded, steady
from customgrad.checker.report import Finding
from customgrad.checker.rule import Rule
from customgrad.checker.samples import Sample

ALONE = Rule(
    code="CG703",
    name="unused-output",
    severity="bug",
    summary="backward raises, or is wrong, when only one of several outputs is used.",
    explanation="""\
With ctx.set_materialize_grads(False) the cotangent of an unused output is None instead of zeros.
backward must take that into account for each output: `if grad_b is not None`. Without that call
(the default) the engine fills in zeros.
""",
    after=("CG201", "CG202"),
)

DEAD = Rule(
    code="CG704",
    name="dead-output",
    severity="hazard",
    summary="An output requires a gradient, and its gradient is always zero.",
    explanation="""\
A mask, a count or an index in floating point that is returned as it is requires a gradient; a loss
of it backpropagates zeros without a word. ctx.mark_non_differentiable(output) in forward makes torch
raise instead. Where the output does depend on the inputs, backward forgets its cotangent.
""",
    after=("CG201",),
)


@ALONE.finder
def alone(exam: Exam) -> Iterator[Finding]:
    """Yield an output that cannot be differentiated without the others."""
    for sample in exam.samples:
        count = len(exam.run(sample).live)
        if count < 2:
            continue
        exam.require(steady(exam, sample), "two calls give different gradients")
        for k in range(count):
            run = exam.run(sample)
            seeds = exam.cotangents(run)
            zeros = [s if n == k else torch.zeros_like(s) for n, s in enumerate(seeds)]
            expected = sandbox.attempt(seeded, exam, run, zeros)
            single = [s if n == k else None for n, s in enumerate(seeds)]
            fresh = exam.run(sample)
            got = sandbox.attempt(seeded, exam, fresh, single)
            if not expected.ok:
                continue
            worst = different(exam, got.value, expected.value) if got.ok else None
            if got.ok and worst is None:
                continue
            line = exam.subject.quoted(got.line(*exam.subject.files))
            lazy = exam.subject.find("set_materialize_grads", "forward", "setup_context")
            yield exam.finding(
                ALONE,
                f"backward raises when output {k} alone is used: {got.words}"
                if worst is None
                else f"the gradient is wrong when output {k} alone is used",
                did=f"{exam.subject.called}, then backward from output {k} alone, beside zeros for the others",
                got=got.words if worst is None else f"{float(got.value[worst]):.6g}",
                expected="the gradient that zeros for the other outputs give"
                if worst is None
                else f"{float(expected.value[worst]):.6g}",
                where="" if worst is None else f"element {worst} of the gradients",
                cause=f"the cotangent of an unused output is None{lazy}, because of set_materialize_grads(False), and "
                f"backward computes with it{line or ' in ' + exam.subject.place('backward')}",
                fix="test each cotangent (if grad is not None) before it is used, or leave out "
                "set_materialize_grads(False), so that it is zeros",
                sample=sample,
                body=ALL_OUTPUTS
                + f"print(torch.autograd.grad(outs[{k}], {{inputs}}, torch.ones_like(outs[{k}]), "
                "allow_unused=True))",
            )
            return


@DEAD.finder
def dead(exam: Exam) -> Iterator[Finding]:
    """Yield a floating output whose gradient is zero at every point that was tried."""
    exam.require(not exam.surrogate, "the gradient is a surrogate")
    exam.require(steady(exam, exam.base), "two calls give different gradients")
    run = exam.run(exam.base)
    outputs = run.outputs
    live = [k for k, t in enumerate(outputs) if t.requires_grad]
    if len(live) < 2:
        return
    points = [exam.base, *_points(exam)]
    for place, k in enumerate(live):
        if outputs[k].numel() == 0 or not all(_zero(exam, s, place) for s in points):
            continue
        moves = exam.repeatable and any(_moves(exam, s, k) for s in points)
        yield exam.finding(
            DEAD,
            f"output {k} requires a gradient, which is always zero"
            + (", although the output depends on the inputs" if moves else ""),
            severity="bug" if moves else "hazard",
            did=f"{exam.subject.called}, then backward from output {k} with random cotangents, at {len(points)} points",
            got="zero or None for every input",
            expected="forward's derivative" if moves else "requires_grad False on this output",
            where=f"output {k}",
            cause=f"backward ignores the cotangent of output {k} (see {exam.subject.place('backward')})"
            if moves
            else f"output {k} is piecewise constant and not marked as non-differentiable: its gradient is always zero "
            f"(dead output), silently{exam.subject.find('return', 'forward')}",
            fix="add this output's part to the gradients"
            if moves
            else f"call ctx.mark_non_differentiable on output {k} in "
            + ("forward" if exam.subject.combined else "setup_context"),
            body=f"out = {{call}}\nprint(out[{k}].requires_grad, torch.autograd.grad(out[{k}], {{inputs}}, "
            f"torch.randn_like(out[{k}]), allow_unused=True))",
        )
        return


def _points(exam: Exam) -> Iterator[Sample]:
    """Yield other inputs that forward takes."""
    generator = torch.Generator().manual_seed(5)

    def noisy(t: torch.Tensor) -> torch.Tensor:
        wide = torch.complex128 if t.is_complex() else torch.float64
        return t + torch.randn(t.shape, generator=generator, dtype=wide).to(t.dtype) * 0.3

    for change, words in (
        (lambda t: t * 0.5, "half"),
        (lambda t: t * 1.5, "half as much again"),
        (torch.neg, "negative"),
        (noisy, "moved"),
    ):
        sample = exam.base.changed(change, f"the inputs {words}")
        if exam.accepts(sample):
            yield sample


def _zero(exam: Exam, sample: Sample, place: int) -> bool:
    """Whether the gradient of one live output is zero for a random cotangent."""
    run = exam.run(sample)
    if place >= len(run.live):
        return True
    seeds = [s if n == place else None for n, s in enumerate(exam.cotangents(run))]
    outcome = sandbox.attempt(lambda: numeric.vector(run.gradients(seeds), run.leaves))
    return outcome.ok and not bool(outcome.value.any())


def _moves(exam: Exam, sample: Sample, k: int) -> bool:
    """Whether an output changes smoothly along a random direction."""
    size = numeric.real(sample.tensors).numel()
    direction = torch.randn(size, generator=torch.Generator().manual_seed(3), dtype=torch.float64)
    slope = exam.slope(sample, direction, [k])
    known = slope.error.isfinite()
    return bool((known & (slope.middle.abs() > 1e-4 + 16 * slope.error)).any())
