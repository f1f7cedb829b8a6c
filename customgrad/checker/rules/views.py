"""CG505 and CG506: outputs that are an input's memory."""

from collections.abc import Iterator

import torch

from customgrad.checker import sandbox
from customgrad.checker.exam import Exam
from customgrad.checker.layouts import ALL_OUTPUTS
from customgrad.checker.report import Finding
from customgrad.checker.rule import Rule
from customgrad.checker.rules.sharing import equal, overlap
from customgrad.checker.samples import Sample

OUTPUT = Rule(
    code="CG505",
    name="output-shares-memory",
    severity="hazard",
    summary="The output shares an input's memory, and autograd does not know.",
    explanation="""\
An output that is input.data, a NumPy array's memory or a tensor set on the input's storage is not
known to be a view: changing it in place changes the input, silently, and no version counter moves.
Return a copy (clone), or a real view (view_as), for which torch raises.
""",
    after=("CG502",),
)

VIEW = Rule(
    code="CG506",
    name="output-is-view",
    severity="missing",
    summary="The output is a view of the input, so the caller cannot change it in place.",
    explanation="""\
An output that is a view of an input (input[...], view, the input itself) cannot be changed in
place: torch raises, since the change would bypass backward. Return a copy (clone) if callers should
be able to.
""",
    after=("CG502",),
)


@OUTPUT.finder
def output_shares(exam: Exam) -> Iterator[Finding]:
    """Yield an output through which an input can be changed without an error."""
    sample = exam.base
    for k, i, error in _shares(exam, sample):
        if error:
            continue
        line = exam.subject.find(r"\.data\b|numpy|as_strided|set_\(|storage", "forward")
        name = exam.names[i]
        yield exam.finding(
            OUTPUT,
            f"the output shares the memory of {name} without being a view of it: changing one silently changes "
            "the other",
            did=f"{exam.subject.called}; output.mul_(2).add_(1)",
            got=f"{name} changes as well, and no error is raised",
            expected=f"{name} as before, or torch's error about a view",
            where=f"output {k}",
            cause=f"forward returns {name}'s own storage{line or exam.subject.find('return', 'forward')}, and autograd "
            "is not told",
            fix=f"return {name}.clone(), or a real view such as {name}.view_as({name})",
            method="forward",
            sample=sample,
            body="inputs = {inputs}\nbefore = [x.detach().clone() for x in inputs]\n"
            + ALL_OUTPUTS
            + "outs[0].mul_(2).add_(1)\n"
            "print('got:', [x.detach() for x in inputs])\nprint('expected:', before)",
        )
        return


@VIEW.finder
def output_is_view(exam: Exam) -> Iterator[Finding]:
    """Yield an output that is a view of an input, and refuses to be changed."""
    sample = exam.base
    for k, i, error in _shares(exam, sample):
        if "view" not in error:
            continue
        name = exam.names[i]
        yield exam.finding(
            VIEW,
            f"the output is a view of {name}, so an in-place change of it raises",
            did=f"{exam.subject.called}; output.mul_(2)",
            got=error,
            expected="an output that can be changed in place",
            where=f"output {k}",
            cause=f"forward returns a view of {name}, or {name} itself{exam.subject.find('return', 'forward')}",
            fix="return a copy: .clone()",
            method="forward",
            sample=sample,
            body=ALL_OUTPUTS + "outs[0].mul_(2)",
        )
        return


def _shares(exam: Exam, sample: Sample) -> Iterator[tuple[int, int, str]]:
    """Yield (output, argument, error) for outputs on an input's storage that are changed, or cannot be."""
    count = len(exam.run(sample).live)
    for k in range(count):
        run = exam.run(sample)
        out = run.live[k]
        for i in sample.wanted:
            arg = run.args[i]
            if arg is out or not overlap(out, arg):
                continue
            before = arg.detach().clone()
            outcome = sandbox.attempt(_scaled, out)
            if not outcome.ok:
                yield k, i, outcome.words
            elif not equal(arg, before):
                yield k, i, ""
            break


def _scaled(tensor: torch.Tensor) -> torch.Tensor:
    return tensor.mul_(2).add_(1)
