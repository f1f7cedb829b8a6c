"""CG803 and CG804: dtypes of outputs, and dtypes in which backward stops."""

from collections.abc import Iterator
from dataclasses import replace

import torch

from customgrad.checker import sandbox
from customgrad.checker.exam import Exam
from customgrad.checker.report import Finding
from customgrad.checker.rule import Rule
from customgrad.checker.samples import Sample

OUTPUT = Rule(
    code="CG803",
    name="output-dtype",
    severity="hazard",
    summary="Forward gives float32 back for float64 inputs, and digits are lost.",
    explanation="""\
A .float() in forward, or a tensor of the default dtype, makes float32 of whatever comes in. Values
and gradients lose half their digits, gradcheck cannot be run, and under mixed precision the dtype
of everything that follows changes. Return the dtype of the input: output.to(input.dtype).
""",
)

RAISES = Rule(
    code="CG804",
    name="backward-raises-in-dtype",
    severity="bug",
    summary="Backward raises in a dtype that forward takes.",
    explanation="""\
Forward runs, and the error comes at the first backward: a tensor of a fixed dtype (torch.zeros,
.float(), float64 from NumPy) meets the cotangent's. Make tensors with new_zeros or zeros_like, and
cast to the input's dtype; or refuse the dtype in forward.
""",
)


@OUTPUT.finder
def output_dtype(exam: Exam) -> Iterator[Finding]:
    """Yield a forward that makes float32 of float64."""
    sample = exam.given[0]
    given = {t.dtype for v in sample.values if isinstance(v, torch.Tensor) for t in [v]}
    exam.require(
        {d for d in given if d.is_floating_point or d.is_complex} <= {torch.float64},
        "the inputs are not float64",
    )
    exam.require(
        not any(isinstance(v, torch.dtype) for v in sample.values), "a dtype is an argument"
    )
    run = exam.run(sample)
    for k, t in enumerate(run.outputs):
        if t.requires_grad and t.dtype == torch.float32:
            line = exam.subject.find(
                r"\.float\(|float32|\.to\(|torch\.(zeros|ones|empty|tensor|full)\(", "forward"
            )
            yield exam.finding(
                OUTPUT,
                f"forward gives float32 back for float64 inputs (output {k})",
                did=f"{exam.subject.called} on float64 inputs",
                got="float32",
                expected="float64",
                where=f"output {k}",
                cause=f"forward casts to float32, whatever the input's dtype is{line}",
                fix="compute in the input's dtype, or cast the result back: output.to(input.dtype)",
                method="forward",
                sample=sample,
                body="out = {call}\nout = out if isinstance(out, tuple) else (out,)\n"
                "print('got:', [t.dtype for t in out], 'expected: float64')",
            )
            return


UNSUPPORTED = (
    "not implemented for",
    "not supported for",
    "does not support",
    "expected a floating",
    "not support complex",
    "is not supported",
    "got unsupported scalartype",
)


@RAISES.finder
def raises_in_dtype(exam: Exam) -> Iterator[Finding]:
    """Yield the first dtype that forward takes and backward does not."""
    start = exam.given[0]
    exam.require(
        not any(isinstance(v, torch.dtype) for v in start.values), "a dtype is an argument"
    )
    quiet: Finding | None = None
    for dtype, words in _dtypes(start):
        sample = replace(_cast(start, dtype), label=f"the inputs in {words}")
        if not exam.accepts(sample):
            continue
        outcome = sandbox.attempt(_backward, exam, sample)
        if outcome.ok:
            continue
        text = str(outcome.error).lower()
        # Forward of many a Function for real numbers takes complex ones by accident.
        native = (
            any(u in text for u in UNSUPPORTED)
            or not isinstance(outcome.error, RuntimeError)
            or dtype.is_complex
        )
        line = exam.subject.quoted(outcome.line(*exam.subject.files)) or exam.subject.find(
            "return", "backward"
        )
        found = exam.finding(
            RAISES,
            f"backward raises in {words}, which forward takes: {outcome.words}",
            severity="missing" if native else "bug",
            did=f"{exam.subject.called} on inputs in {words}, then backward",
            got=outcome.words,
            expected="a gradient, as in the inputs' own dtype",
            cause=f"backward does not run in {words}{line}: {outcome.words}"
            + ("" if native else "; a tensor of a fixed dtype meets one of the input's dtype"),
            fix="make tensors in the input's dtype (new_zeros, zeros_like, dtype=input.dtype) and take fixed "
            "casts such as .float() or .double() away"
            if not native
            else f"refuse {words} in forward with a message of your own, or compute in another dtype and cast back",
            sample=sample,
            body="out = {call}\nout = out[0] if isinstance(out, tuple) else out\nout.backward(torch.ones_like(out))",
        )
        if not native:
            yield found
            return
        quiet = quiet or found
    if quiet is not None:
        yield quiet


def _dtypes(start: Sample) -> Iterator[tuple[torch.dtype, str]]:
    """Yield dtypes to try; complex ones only where the inputs are real."""
    for dtype in (torch.float32, torch.float64, torch.float16, torch.bfloat16):
        yield dtype, str(dtype).removeprefix("torch.")
    if not any(t.is_complex() for t in start.tensors):
        yield torch.complex128, "complex128"


def _cast(sample: Sample, dtype: torch.dtype) -> Sample:
    """Return the sample in a dtype, real or complex."""
    if not dtype.is_complex:
        return sample.to(dtype)
    return sample.changed(lambda t: t.to(dtype), "")


def _backward(exam: Exam, sample: Sample) -> None:
    run = exam.run(sample)
    run.gradients(exam.cotangents(run))
