"""CG105 and CG805: the dtype of what backward returns, before the engine casts it."""

from collections.abc import Iterator
from dataclasses import replace

import torch

from customgrad.checker import numeric, sandbox
from customgrad.checker.exam import Exam
from customgrad.checker.layouts import steady
from customgrad.checker.report import Finding
from customgrad.checker.rule import Rule
from customgrad.checker.samples import Sample
from customgrad.checker.script import spied
from customgrad.checker.spy import Raw, pairs, plain, raw

DTYPE = Rule(
    code="CG105",
    name="gradient-dtype",
    severity="hazard",
    summary="Backward returns a gradient of another dtype than its input's, and the engine casts it silently.",
    explanation="""\
A float64 gradient of a float32 input takes twice the memory and time until the engine casts it; a
float32 gradient of a float64 input has lost half its digits, silently. Compute in the dtype of the
input, or cast at the end: grad.to(input.dtype).
""",
    needs_class=True,
)

DEFAULT = Rule(
    code="CG805",
    name="default-dtype-gradient",
    severity="hazard",
    summary="The gradient depends on torch's default dtype.",
    explanation="""\
torch.zeros, torch.ones and torch.tensor make tensors of the default dtype, float32 as a rule. A
float64 gradient that is written into them is rounded to float32, silently, for the engine casts it
back. Make them with grad_output.new_zeros(...), torch.zeros_like(...) or dtype=grad_output.dtype.
""",
    needs_class=True,
    after=("CG105",),
)


@DTYPE.finder
def gradient_dtype(exam: Exam) -> Iterator[Finding]:
    """Yield gradients in double or in single precision whose input has the other."""
    for sample in precise(exam):
        outcome = sandbox.attempt(raw, exam, sample)
        if not outcome.ok:
            continue
        kinds = {t.dtype.to_real() for t in (*outcome.value.run.live, *sample.tensors)}
        if len(kinds) > 1:  # forward changes the dtype already
            continue
        for i, got, value in pairs(outcome.value, sample):
            if not strange(got, value) or follows_default(exam, sample, i):
                continue
            name = exam.names[i]
            pattern = {
                torch.float64: r"\.double\(|float64|numpy|np\.|\.to\(",
                torch.float32: r"\.float\(|float32|\.to\(|numpy|np\.",
            }.get(got.dtype, "return")
            line = exam.subject.find(pattern, "backward") or exam.subject.find(pattern)
            yield exam.finding(
                DTYPE,
                f"backward returns a {plain(got.dtype)} gradient for {name}, which is {plain(value.dtype)}; "
                "the engine casts it silently",
                did=f"{exam.subject.called} on {plain(value.dtype)} inputs, then backward; what it returned was "
                "looked at before the engine",
                got=f"dtype {plain(got.dtype)}",
                expected=f"dtype {plain(value.dtype)}",
                where=f"the gradient of {name}",
                cause=f"backward computes the gradient of {name} in {plain(got.dtype)}, whatever dtype {name} has"
                f"{line or exam.subject.find('return', 'backward')}",
                fix=f"compute in the dtype of {name}, or cast what is returned: grad.to({name}.dtype)",
                sample=sample,
                body=spied(f"print('{name}:', dtypes[{i}], 'for an input of', {value.dtype})"),
            )
            return


@DEFAULT.finder
def default_dtype(exam: Exam) -> Iterator[Finding]:
    """Yield gradients that the default dtype changes, where it does not change the outputs."""
    exam.require(steady(exam, exam.base), "two calls give different gradients")
    pattern = (
        r"torch\.(zeros|ones|empty|full|eye|tensor|rand|randn|linspace|arange)\(|torch\.Tensor\("
    )
    for sample in precise(exam):
        outcome = sandbox.attempt(raw, exam, sample)
        if not outcome.ok or any(strange(t, sample.tensors[0]) for t in outcome.value.run.live):
            continue
        for i in sample.wanted:
            got = outcome.value.returned[i] if i < len(outcome.value.returned) else None
            if not isinstance(got, torch.Tensor) or not strange(got, sample.values[i]):
                continue
            if follows_default(exam, sample, i):
                yield _default(exam, sample, i, pattern, f"dtype {got.dtype}")
                return
    sample = exam.given[0]
    exam.require({t.dtype for t in sample.tensors} == {torch.float64}, "the inputs are not float64")
    runs = [sandbox.attempt(under_default, exam, sample, d) for d in (torch.float32, torch.float64)]
    if not all(r.ok for r in runs):
        return
    single, double = (r.value for r in runs)
    if not torch.equal(numeric.real(single.run.live), numeric.real(double.run.live)):
        return
    for k, (a, b) in enumerate(zip(single.gradients, double.gradients, strict=True)):
        if a is None or b is None or a.shape != b.shape or not a.numel():
            continue
        off = float((a - b).abs().max())
        if off > 1e-11 * float(b.abs().max()):
            yield _default(exam, sample, sample.wanted[k], pattern, f"values off by {off:.2g}")
            return


def _default(exam: Exam, sample: Sample, i: int, pattern: str, got: str) -> Finding:
    """Return the finding."""
    name, plain = exam.names[i], str(sample.values[i].dtype).removeprefix("torch.")
    line = exam.subject.find(pattern, "backward") or exam.subject.find(
        pattern, "setup_context", "forward"
    )
    return exam.finding(
        DEFAULT,
        f"the gradient of {name} is made in torch's default dtype (float32 as a rule), not in {plain}, its own",
        did=f"{exam.subject.called} on {plain} inputs, then backward, with torch.set_default_dtype of both kinds",
        got=got,
        expected=f"dtype {plain}, and the same values whatever the default dtype is",
        where=f"the gradient of {name}",
        cause=f"backward makes a tensor of the default dtype{line}, and what is written into it is rounded to float32",
        fix="give it the dtype of the cotangent: grad_output.new_zeros(...), torch.zeros_like(...), or "
        "dtype=grad_output.dtype",
        sample=sample,
        body=(
            "def gradients():\n    torch.manual_seed(0)\n    out = {call}\n"
            "    out = out[0] if isinstance(out, tuple) else out\n"
            "    u = torch.rand(out.shape, dtype=torch.float64).to(out.dtype)\n"
            "    return torch.autograd.grad(out, {inputs}, u, allow_unused=True)\n"
            "torch.set_default_dtype(torch.float32)\nprint('got:', gradients())\n"
            "torch.set_default_dtype(torch.float64)\nprint('expected:', gradients())\n"
            "torch.set_default_dtype(torch.float32)"
        ),
    )


# What is looked at -------------------------------------------------------------------------------


def precise(exam: Exam) -> Iterator[Sample]:
    """Yield the first inputs as given, and in float32 where they are float64."""
    sample = exam.given[0]
    yield sample
    dtypes = [v.dtype for v in sample.tensors]
    if torch.float64 in dtypes and not any(isinstance(v, torch.dtype) for v in sample.values):
        lower = sample.to(torch.float32)
        yield replace(lower, label="the inputs in float32")


def strange(got: torch.Tensor, value: torch.Tensor) -> bool:
    """Whether one is in double and the other in single precision."""
    return {got.dtype, value.dtype} == {torch.float32, torch.float64}


def follows_default(exam: Exam, sample: Sample, i: int) -> bool:
    """Whether the gradient of argument i has the default dtype, whatever that is."""
    for dtype in (torch.float32, torch.float64):
        outcome = sandbox.attempt(under_default, exam, sample, dtype)
        if not outcome.ok or len(outcome.value.returned) <= i:
            return False
        got = outcome.value.returned[i]
        if not isinstance(got, torch.Tensor) or got.dtype != dtype:
            return False
    return True


def under_default(exam: Exam, sample: Sample, dtype: torch.dtype) -> Raw:
    """Look at the gradients while new tensors are made in this dtype."""
    before = torch.get_default_dtype()
    torch.set_default_dtype(dtype)
    try:
        return raw(exam, sample)
    finally:
        torch.set_default_dtype(before)
