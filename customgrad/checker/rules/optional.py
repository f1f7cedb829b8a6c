"""CG706: an optional argument that is None."""

import inspect
from collections.abc import Iterator
from dataclasses import replace

from customgrad.checker import sandbox
from customgrad.checker.exam import Exam
from customgrad.checker.layouts import ALL_OUTPUTS
from customgrad.checker.report import Finding
from customgrad.checker.rule import Rule
from customgrad.checker.samples import Sample

OPTIONAL = Rule(
    code="CG706",
    name="optional-argument",
    severity="bug",
    summary="backward raises, or is wrong, when an optional argument is None.",
    explanation="""\
forward takes None for an argument such as bias. backward must return None in its place: a tensor
there is refused by the engine, since a value that is no tensor cannot have a gradient.
""",
    needs_class=True,
)


@OPTIONAL.finder
def optional(exam: Exam) -> Iterator[Finding]:
    """Yield an argument that may be None in forward and not in backward."""
    sample = exam.base
    function = exam.subject.function
    assert function is not None
    parameters = sandbox.attempt(
        lambda: list(inspect.signature(function.forward).parameters.values())
    )
    exam.require(parameters.ok, "forward has no signature")
    chosen = parameters.value[1:] if exam.subject.combined else parameters.value
    for i, parameter in enumerate(chosen[: len(sample.values)]):
        if parameter.default is not None or i not in sample.wanted or len(sample.wanted) < 2:
            continue
        values = list(sample.values)
        values[i] = None
        variant = replace(
            sample,
            values=tuple(values),
            wanted=tuple(k for k in sample.wanted if k != i),
            label=f"{parameter.name}=None",
        )
        if not exam.accepts(variant):
            continue

        def step(variant: Sample = variant) -> None:
            run = exam.run(variant)
            run.gradients(exam.cotangents(run))

        outcome = sandbox.attempt(step)
        if outcome.ok:
            continue
        name = parameter.name
        yield exam.finding(
            OPTIONAL,
            f"backward raises when {name} is None, which forward takes: {outcome.words}",
            did=f"{exam.subject.called} with {name}=None; then backward",
            got=outcome.words,
            expected=f"None in the place of {name}",
            cause=f"backward returns a gradient for {name}, or uses it, although it is None"
            f"{exam.subject.quoted(outcome.line(*exam.subject.files)) or exam.subject.find('return', 'backward')}",
            fix=f"return None for {name} unless ctx.needs_input_grad[{i}]",
            sample=variant,
            body=ALL_OUTPUTS
            + "print(torch.autograd.grad(outs, {inputs}, [torch.ones_like(t) for t in outs]))",
        )
        return
