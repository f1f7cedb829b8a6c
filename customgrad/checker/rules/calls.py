"""CG101 to CG103: forward and backward run at all on the inputs as given."""

import re
from collections.abc import Iterator

from customgrad.checker import sandbox
from customgrad.checker.exam import Exam
from customgrad.checker.report import Finding
from customgrad.checker.rule import Rule
from customgrad.checker.samples import flat
from customgrad.checker.script import OUTPUT

FORWARD = Rule(
    code="CG101",
    name="forward-raises",
    severity="bug",
    summary="forward raises on the inputs as given.",
    explanation="""\
Nothing can be said about a gradient where forward does not run. The usual causes: a missing
@staticmethod, so that ctx takes the place of the first argument; a forward in the setup_context
style whose class has no setup_context; inputs that the Function was not made for.
""",
    needs_backward=False,
)

PATH = Rule(
    code="CG102",
    name="no-gradient-path",
    severity="bug",
    summary="No output requires a gradient, although an input does.",
    explanation="""\
apply looks for tensors among its arguments, not inside lists, tuples and dicts; and it takes
outputs from a tensor or a tuple, not from a list. What it does not see has no gradient, silently.
Pass the tensors one by one, and return a tuple.
""",
    needs_backward=False,
)

BACKWARD = Rule(
    code="CG103",
    name="backward-raises",
    severity="bug",
    summary="backward raises on the inputs as given.",
    explanation="""\
backward must return one value for each argument of forward, in order: a tensor of the argument's
shape, or None for what has no gradient. The message says what torch said, and where.
""",
    needs_backward=False,
)


@FORWARD.finder
def forward_raises(exam: Exam) -> Iterator[Finding]:
    """Yield what forward raised."""
    if exam.first.ok:
        return
    static = _not_static(exam)
    error = exam.first
    cause = f"raised by forward{exam.subject.quoted(error.line(*exam.subject.files))}"
    fix = "mend forward, or give inputs that it takes"
    if static:
        cause = f"{static} lacks @staticmethod, so ctx and the arguments shift by one"
        fix = "write @staticmethod above it"
    elif exam.subject.combined and "positional argument" in error.words:
        cause = (
            f"the class has no setup_context, so apply passes ctx before the {len(exam.base.values)} arguments; "
            f"{exam.subject.place('forward')} takes other ones"
        )
        fix = "write setup_context(ctx, inputs, output), or take ctx first: forward(ctx, ...)"
    yield exam.finding(
        FORWARD,
        f"forward raised {error.words}",
        did=f"{exam.subject.called} on {exam.base.label}",
        got=error.words,
        expected="a tensor, or a tuple of tensors",
        cause=cause,
        fix=fix,
        method="forward",
        body="{call}",
    )


@PATH.finder
def no_path(exam: Exam) -> Iterator[Finding]:
    """Yield a Function whose outputs are cut off from its inputs."""
    exam.require(exam.first.ok, "forward raised")
    run = exam.first.value
    if run.live:
        return
    nested = [
        exam.names[i]
        for i, v in enumerate(exam.base.values)
        if isinstance(v, list | tuple | dict) and any(True for _ in flat(v))
    ]
    if nested:
        cause = f"the tensors in {', '.join(nested)} are inside a container, where apply does not see them"
        fix = f"pass them one by one: apply(*{nested[0]}), and forward(ctx, *{nested[0]})"
    elif isinstance(run.result, list):
        cause = f"forward returns a list{exam.subject.find('return', 'forward')}, which apply passes on untouched"
        fix = "return a tuple"
    else:
        line = exam.subject.find(
            r"mark_non_differentiable|detach\(\)|\.data\b|requires_grad", "forward", "setup_context"
        )
        cause = (
            f"every output is marked as non-differentiable, detached, or of an integer dtype{line}"
        )
        fix = "return floating tensors, and mark as non-differentiable only what has no gradient"
    yield exam.finding(
        PATH,
        "no output requires a gradient, although an input does: its gradient is silently lost",
        did=f"{exam.subject.called} on inputs that require gradients",
        got="requires_grad is False on every output",
        expected="requires_grad is True",
        cause=cause,
        fix=fix,
        method="forward",
        body="out = {call}\nprint(out)",
    )


@BACKWARD.finder
def backward_raises(exam: Exam) -> Iterator[Finding]:
    """Yield what backward raised."""
    exam.require(exam.first.ok, "forward raised")
    exam.require(bool(exam.first.value.live), "no output requires a gradient")

    def backward() -> None:
        run = exam.run(exam.given[0])
        run.gradients(exam.cotangents(run))

    error = sandbox.attempt(backward)
    if error.ok:
        return
    text = str(error.error)
    place = exam.subject.quoted(error.line(*exam.subject.files)) or exam.subject.find(
        "return", "backward"
    )
    count = re.search(r"incorrect number of gradients \(expected (\d+), got (\d+)\)", text)
    if count:
        cause = f"backward returns {count[2]} for the {count[1]} arguments of forward ({', '.join(exam.names)}){place}"
        fix = (
            "return one gradient for each argument, in forward's order, and None for what has none"
        )
    elif static := _not_static(exam):
        cause = f"{static} lacks @staticmethod, so ctx and the cotangents shift by one"
        fix = "write @staticmethod above it"
    elif "_fwd_used_autocast" in text:
        cause = (
            "custom_fwd keeps its state on forward's first argument, which is ctx only where the class has no "
            f"setup_context{exam.subject.find('custom_fwd', 'forward')} (pytorch#132388)"
        )
        fix = (
            "take custom_fwd and custom_bwd away and cast in forward and backward by hand, or write "
            "forward(ctx, ...) without setup_context"
        )
    elif extra := re.search(r"different (?:than|from) None at position (\d+)", text):
        k = int(extra[1]) - 1
        name = exam.names[k] if k < len(exam.names) else f"argument {k}"
        cause = (
            f"backward returns a tensor for {name}, which is not a tensor but a plain value{place}"
        )
        fix = f"return None for {name}; or pass {name} as a tensor if it is to have a gradient"
    elif "invalid gradient at index" in text:
        cause = f"backward returns a gradient of another shape than its input's{place}: {text.splitlines()[0]}"
        fix = "sum over the broadcast dimensions, or reshape to the input's shape"
    else:
        cause = f"{error.words}, raised in backward{place}"
        fix = "mend this line; the script below stops in it"
    yield exam.finding(
        BACKWARD,
        f"backward raised {error.words}",
        did=f"{exam.subject.called} on the inputs as given, then backward with a random cotangent",
        got=error.words,
        expected=f"{len(exam.base.values)} values, one for each argument of forward",
        cause=cause,
        fix=fix,
        sample=exam.given[0],
        body=OUTPUT + "out.backward(torch.randn_like(out))",
    )


def _not_static(exam: Exam) -> str:
    """Name a method of the Function that is not static."""
    function = exam.subject.function
    for name in ("forward", "setup_context", "backward"):
        for owner in function.__mro__ if function else ():
            if name in vars(owner) and owner.__module__ != "torch.autograd.function":
                if not isinstance(vars(owner)[name], staticmethod | classmethod):
                    return name
                break
    return ""
