"""CG963 and CG964: meta tensors give the right shapes, and CUDA gives CPU's gradients."""

from collections.abc import Iterator
from dataclasses import replace

import torch

from customgrad.checker import _private, batching, sandbox
from customgrad.checker.exam import Exam
from customgrad.checker.report import Finding
from customgrad.checker.rule import Rule
from customgrad.checker.samples import Sample, flat, mapped

META = Rule(
    code="CG963",
    name="meta-shapes",
    severity="hazard",
    summary="forward on meta tensors gives other shapes or dtypes than on real ones, or raises.",
    explanation="""\
Deferred initialisation, torch.export and memory planning run forward on tensors without data
(device="meta"), to learn shapes and dtypes. What reads values cannot run there.
""",
)

CUDA = Rule(
    code="CG964",
    name="cuda-gradient",
    severity="bug",
    summary="The gradient on CUDA is not the one on the CPU.",
    explanation="""\
Values and gradients on a CUDA device are compared with those on the CPU. Where there is no such
device, the rule is not run. Usual causes: a buffer made on the CPU (torch.zeros without device=), a
kernel that assumes strides, a missing synchronisation.
""",
)


def moved(sample: Sample, device: str) -> Sample:
    """Return the sample on another device."""
    return replace(
        sample, values=tuple(mapped(v, lambda t: t.detach().to(device)) for v in sample.values)
    )


@META.finder
def meta(exam: Exam) -> Iterator[Finding]:
    """Yield outputs whose shape or dtype is another on meta tensors."""
    exam.require(not exam.known.get("data dependent"), "CG951 says more")
    _private.load_compiler()
    real = exam.run(exam.base, grad=False).outputs
    there = moved(exam.base, "meta")
    outcome = sandbox.attempt(lambda: list(flat(exam.run(there, grad=False).result)))
    body = (
        "args = [a.detach().to('meta') if isinstance(a, torch.Tensor) else a for a in ({args},)]\n"
        "print({call})\nprint({name}(*args))"
    )
    did = f'{exam.subject.called} on tensors of device="meta"'
    if not outcome.ok:
        place = exam.subject.quoted(outcome.line(*exam.subject.files))
        yield exam.finding(
            META,
            f"forward on meta tensors raised {type(outcome.error).__name__}",
            severity="missing",
            did=did,
            got=outcome.words,
            cause=f"forward reads values, or makes tensors on the CPU{place}: {outcome.words}",
            fix="use torch operations, and make tensors by input.new_zeros or device=input.device",
            method="forward",
            body=body,
        )
        return
    for k, (got, right) in enumerate(zip(outcome.value, real, strict=False)):
        if (got.shape, got.dtype) != (right.shape, right.dtype):
            yield exam.finding(
                META,
                f"output {k} has another shape or dtype on meta tensors",
                did=did,
                got=f"{tuple(got.shape)}, {got.dtype}",
                expected=f"{tuple(right.shape)}, {right.dtype}",
                cause=f"forward takes shape or dtype from values or from a default: {exam.subject.place('forward')}",
                fix="take shape and dtype of what forward makes from its inputs",
                method="forward",
                body=body,
            )
            return


@CUDA.finder
def cuda(exam: Exam) -> Iterator[Finding]:
    """Yield a value or gradient that differs between CUDA and the CPU."""
    exam.require(torch.cuda.is_available(), "no CUDA device here")
    batching.settled(exam)
    here, there = exam.run(exam.base), sandbox.attempt(lambda: exam.run(moved(exam.base, "cuda")))
    exam.require(there.ok, f"forward on CUDA raised {there.words}")
    seeds = exam.cotangents(here)
    body = "print({call})"
    outcome = sandbox.attempt(lambda: there.value.gradients([s.cuda() for s in seeds]))
    if not outcome.ok:
        place = exam.subject.quoted(outcome.line(*exam.subject.files))
        yield exam.finding(
            CUDA,
            f"backward on CUDA raised {type(outcome.error).__name__}, where it works on the CPU",
            did=f"{exam.subject.called} on CUDA, then backward",
            got=outcome.words,
            cause=f"backward makes a tensor on the CPU, or calls what CUDA lacks{place}: {outcome.words}",
            fix="make tensors by grad_output.new_zeros, or with device=grad_output.device",
            body=body,
        )
        return
    pairs = list(zip(there.value.outputs, here.outputs, strict=True))
    names = [f"output {k}" for k in range(len(pairs))]
    for k, (a, b) in enumerate(zip(outcome.value, here.gradients(seeds), strict=True)):
        zero = torch.zeros_like(here.leaves[k])
        pairs.append((zero if a is None else a, zero if b is None else b))
        names.append(f"the gradient of {exam.named(k)}")
    for name, (got, right) in zip(names, pairs, strict=True):
        got, right = got.detach().cpu(), right.detach()
        if batching.differ(got, right):
            x, y, where = batching.worst(got, right)
            yield exam.finding(
                CUDA,
                f"{name} on CUDA is not that on the CPU",
                did=f"{exam.subject.called} on CUDA, beside the CPU",
                got=x,
                expected=y,
                where=where,
                cause=f"the CUDA code computes something else; see {exam.subject.place('backward')}",
                fix="compare the CUDA code with the CPU's for these inputs",
                body=body,
            )
            return
