"""CG301 to CG303: the derivative of backward itself."""

from collections.abc import Iterator

from customgrad.checker import graph, twice
from customgrad.checker.exam import Exam
from customgrad.checker.report import Finding
from customgrad.checker.rule import Rule

DROPPED = Rule(
    code="CG301",
    name="second-derivative-dropped",
    severity="bug",
    summary="The gradient depends on the inputs, but has no graph: the second derivative is lost, without an error.",
    explanation="""\
With create_graph=True a gradient must carry a graph wherever it depends on the inputs. It does not
if backward works on a tensor that autograd does not know: an intermediate that forward kept (on ctx
or by save_for_backward), .detach(), .data, .item(), NumPy, no_grad. A gradient penalty then trains
on a part of its gradient, and nothing says so. Save inputs and outputs, and compute the rest in
backward with torch; or declare that there is one derivative only, by customgrad.once_differentiable,
which raises.
""",
    after=("CG201", "CG202"),
)

WRONG = Rule(
    code="CG302",
    name="second-derivative-wrong",
    severity="bug",
    summary="The derivative of backward, by autograd, is not the derivative of its values.",
    explanation="""\
The gradient with create_graph=True has a graph, and the derivative that this gives is compared with
finite differences of the gradient itself. They differ where a part of backward works on a tensor
without a graph (an intermediate that forward kept, .detach(), .item(), NumPy, no_grad), or where
backward is a Function of its own with a wrong backward. gradgradcheck sees most of these, if anyone
runs it.
""",
    after=("CG201", "CG202", "CG301"),
)

ONCE = Rule(
    code="CG303",
    name="once-differentiable",
    severity="missing",
    summary="There is no second derivative: backward is declared as differentiable once, or raises.",
    explanation="""\
torch's once_differentiable raises only if the cotangent itself needs a gradient. In the usual
gradient penalty, grad(f(x).sum(), x, create_graph=True), it does not: the gradient comes without a
graph, and no error. customgrad.once_differentiable raises there, too.
""",
    after=("CG301", "CG302"),
)

CUTS = (
    (r"no_grad|set_grad_enabled\(False\)|inference_mode", "backward runs under no_grad"),
    (r"\.numpy\(|from_numpy|\bnp\.|numpy\.", "backward computes in NumPy, which has no graph"),
    (r"\.item\(\)|\.tolist\(\)", "backward makes a Python number of a tensor, by item()"),
    (r"\bfloat\(|\bint\(", "backward makes a Python number of a tensor, by float()"),
    (r"\.detach\(\)|\.detach_\(\)", "backward detaches a tensor that depends on the inputs"),
    (r"\.data\b", "backward reads .data, which has no graph"),
)
"""What in backward takes a tensor out of the graph."""

SCRIPT = """\
out = {call}
out = out[0] if isinstance(out, tuple) else out
u = torch.ones_like(out)
grads = torch.autograd.grad(out, {inputs}, u, create_graph=True, allow_unused=True)
print("the gradients have a graph:", [None if g is None else g.requires_grad for g in grads])
print(torch.autograd.gradgradcheck(lambda *_: {call}, {inputs}, raise_exception=False))
"""


def _cause(exam: Exam) -> tuple[str, str]:
    """Return what cuts the graph, and how to mend it."""
    once = "; or declare backward with customgrad.once_differentiable, which raises instead"
    held = graph.intermediates(exam)
    names = ", ".join(dict.fromkeys(k.name for k in held))
    on_ctx = any(k.name.startswith("ctx.") for k in held)
    if line := graph.line_of(exam, CUTS[:1], "backward"):
        return line, f"take the no_grad away: autograd turns recording off by itself{once}"
    if line := graph.line_of(exam, CUTS[1:], "backward"):
        return line, f"compute this with torch, on saved inputs and outputs{once}"
    if held:
        pattern = (
            r"ctx\.\w+\s*=|save_for_backward"
            if not on_ctx
            else rf"{names.split(',')[0].split('[')[0]}\s*="
        )
        place = exam.subject.find(pattern, "setup_context", "forward")
        if all(k.role == "detached" for k in held):
            return (
                f"{names} shares memory with {held[0].of or 'the output'}, but is detached: it has no graph{place}",
                f"save {held[0].of or 'the output'} itself by save_for_backward, not .data or .detach() of it{once}",
            )
        how = "as an attribute on ctx" if on_ctx else "by save_for_backward"
        return (
            f"{names}, an intermediate kept {how}{place}, is neither an input nor an output, so autograd "
            "does not know that it depends on the inputs",
            f"save the inputs (or outputs) that {names} is made of by save_for_backward, and compute "
            f"{names} again in backward{once}",
        )
    if line := exam.subject.find(r"\b\w+\.apply\(|autograd\.grad\(", "backward"):
        return (
            f"the backward of the Function that backward calls{line} has a wrong formula",
            "mend its backward: the second derivative by the inputs, and the one by grad_output",
        )
    place = exam.subject.place("backward")
    return (
        f"a part of {place} works on tensors that have no graph",
        f"compute it with torch, on saved inputs and outputs{once}",
    )


def _asked(exam: Exam) -> None:
    """Raise unless a second derivative is meant: a surrogate's own, of masks that were saved, is not."""
    exam.require(
        not exam.surrogate or bool(graph.line_of(exam, CUTS, "backward")),
        "the gradient is a surrogate",
    )


@DROPPED.finder
def dropped(exam: Exam) -> Iterator[Finding]:
    """Yield a gradient that varies with the inputs and has no graph."""
    _asked(exam)
    if graph.once(exam, exam.run(exam.base)):
        return
    for sample in exam.samples:
        found = twice.dropped(exam, sample)
        if found is None:
            continue
        cause, fix = _cause(exam)
        names = ", ".join(found.names)
        yield exam.finding(
            DROPPED,
            f"the gradient of {names} depends on the inputs, but has no graph: its derivative is silently dropped",
            did=f"grad({exam.subject.called}(…), inputs, cotangent, create_graph=True), then its derivative",
            got=found.got,
            expected=f"{found.expected}, by differences of the gradient",
            where=f"the gradient of {names}",
            cause=cause,
            fix=fix,
            sample=sample,
            body=SCRIPT,
        )
        return


@WRONG.finder
def wrong(exam: Exam) -> Iterator[Finding]:
    """Yield a second derivative that is not the derivative of the gradient."""
    _asked(exam)
    if graph.once(exam, exam.run(exam.base)):
        return
    for sample in exam.samples:
        found = twice.wrong(exam, sample)
        if found is None:
            continue
        cause, fix = _cause(exam)
        by = "the cotangent" if found.names == ["cotangent"] else "the inputs"
        yield exam.finding(
            WRONG,
            f"the second derivative is wrong: autograd's derivative of the gradient by {by} is not "
            "that of its values",
            did=f"grad({exam.subject.called}(…), inputs, cotangent, create_graph=True), then its derivative",
            got=found.got,
            expected=f"{found.expected}, by differences of the gradient",
            where=f"a random sum of the gradients, along a random direction of {by}",
            cause=cause,
            fix=fix,
            sample=sample,
            body=SCRIPT,
        )
        return


@ONCE.finder
def once(exam: Exam) -> Iterator[Finding]:
    """Yield a Function that has one derivative only, and how it says so."""
    run = exam.run(exam.base)
    declared = graph.once(exam, run)
    outcome = twice.raised(exam, exam.base)
    if outcome.ok and not declared:
        return
    strict = "customgrad" in declared
    silent = declared and not strict
    place = exam.subject.place("backward")
    yield exam.finding(
        ONCE,
        f"there is no second derivative: backward is declared with {declared}"
        if declared
        else f"there is no second derivative: differentiating backward raised {outcome.words}",
        did=f"grad({exam.subject.called}(…), inputs, cotangent, create_graph=True), then its derivative",
        got=outcome.words or "a gradient without a graph",
        expected="a second derivative",
        cause=f"{declared or 'what is raised'} in {place}"
        + (
            ": silent where the cotangent needs no gradient, so a gradient penalty loses a term"
            if silent
            else ""
        ),
        fix="for an error in every case, declare it with customgrad.once_differentiable"
        if silent
        else "compute backward with torch, on saved inputs and outputs, if a second derivative is wanted",
        body=SCRIPT,
    )
