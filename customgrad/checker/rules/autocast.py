"""CG806: forward under autocast, backward outside of it."""

from collections.abc import Iterator
from dataclasses import replace

import torch

from customgrad.checker import numeric, sandbox
from customgrad.checker.exam import Exam, Run
from customgrad.checker.report import Finding
from customgrad.checker.rule import Rule
from customgrad.checker.samples import Sample
from customgrad.checker.script import OUTPUT

AUTOCAST = Rule(
    code="CG806",
    name="autocast",
    severity="hazard",
    summary="With forward under autocast, backward raises or is wrong.",
    explanation="""\
Under autocast matrix products run in bfloat16 or float16 while other operations and the saved
inputs stay in float32. Backward runs outside of autocast, so the cotangent's dtype and that of what
is saved differ. Decorate forward with torch.amp.custom_fwd and backward with torch.amp.custom_bwd
(not together with setup_context, pytorch#132388), or cast by hand: grad_output.to(weight.dtype).
""",
    after=("CG804",),
)


def under(exam: Exam, sample: Sample) -> Run:
    """Run forward under autocast."""
    with torch.autocast("cpu", dtype=torch.bfloat16):
        return exam.run(sample)


@AUTOCAST.finder
def autocast(exam: Exam) -> Iterator[Finding]:
    """Yield a backward that autocast breaks."""
    exam.require(exam.repeatable, "forward gives other values when called again")
    sample = replace(exam.given[0].to(torch.float32), label="the inputs in float32")
    exam.require(exam.accepts(sample), "forward does not take float32")
    plain = exam.run(sample)
    seeds = exam.cotangents(plain)
    usual = sandbox.attempt(lambda: plain.gradients(seeds))
    exam.require(usual.ok, "backward raises in float32")
    outcome = sandbox.attempt(lambda: under(exam, sample))
    exam.require(outcome.ok and bool(outcome.value.live), "forward does not run under autocast")
    run: Run = outcome.value
    exam.require(len(run.live) == len(seeds), "forward has other outputs under autocast")
    script = (
        "with torch.autocast('cpu', dtype=torch.bfloat16):\n    out = {call}\n"
        "out = out[0] if isinstance(out, tuple) else out\n"
        "u = torch.ones_like(out)\n"
        "print('got:', torch.autograd.grad(out, {inputs}, u, allow_unused=True))\n"
        + OUTPUT
        + "print('without autocast:', torch.autograd.grad(out, {inputs}, u.to(out.dtype), allow_unused=True))"
    )
    cast = [s.to(t.dtype) for s, t in zip(seeds, run.live, strict=True)]
    got = sandbox.attempt(lambda: run.gradients(cast))
    did = f"{exam.subject.called} under torch.autocast('cpu', dtype=torch.bfloat16), then backward outside of it"
    decorators = (
        "torch.amp.custom_fwd(device_type=...) on forward and torch.amp.custom_bwd on backward"
        if exam.subject.combined
        else "cast by hand (custom_fwd and custom_bwd do not go with setup_context, pytorch#132388)"
    )
    if not got.ok:
        line = exam.subject.quoted(got.line(*exam.subject.files))
        yield exam.finding(
            AUTOCAST,
            f"with forward under autocast, backward raises {got.words}",
            severity="missing",
            did=did,
            got=got.words,
            expected="a gradient, as without autocast",
            cause=f"the cotangent comes in bfloat16, and what is saved is float32, so their dtypes differ{line}",
            fix=f"{decorators}; or grad_output.to(saved.dtype) in backward",
            sample=sample,
            body=script,
        )
        return
    a, b = (
        numeric.vector(grads, r.leaves) for r, grads in ((run, got.value), (plain, usual.value))
    )
    if not len(b) or not bool(b.isfinite().all()):
        return
    size = float(b.abs().max()) + 1e-30
    off = (a - b).abs().nan_to_num(torch.inf, posinf=torch.inf)
    # What rounding every input and cotangent to bfloat16 does to the gradient, several times over.
    share = _rounded(exam, sample, seeds, b)
    if float(off.max()) / size <= 0.25 + 20 * share:
        return
    at = int(off.argmax())
    yield exam.finding(
        AUTOCAST,
        "with forward under autocast the gradient is wrong, by more than bfloat16 rounds",
        did=did,
        got=f"{float(a[at]):.6g}",
        expected=f"{float(b[at]):.6g}, as without autocast",
        where=f"element {at} of the gradients",
        cause="what forward saves under autocast has another dtype or value than backward takes it for; see "
        f"{exam.subject.place('backward')}",
        fix=f"{decorators}, so that both run in the same dtype",
        sample=sample,
        body=script,
    )


def _rounded(exam: Exam, sample: Sample, seeds: list[torch.Tensor], right: torch.Tensor) -> float:
    """Return how far the gradient moves when inputs and cotangents are rounded to bfloat16."""

    def step() -> float:
        run = exam.run(sample.changed(lambda t: t.bfloat16().float(), ""))
        grads = run.gradients([s.bfloat16().to(s.dtype) for s in seeds])
        near = numeric.vector(grads, run.leaves)
        return float((near - right).abs().max() / (right.abs().max() + 1e-30))

    outcome = sandbox.attempt(step)
    return float(outcome.value) if outcome.ok and outcome.value == outcome.value else 1e9
