"""CG961: torch.compile gives what eager gives."""

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import torch

from customgrad.checker import _private, batching, sandbox
from customgrad.checker.exam import Exam
from customgrad.checker.report import Finding
from customgrad.checker.rule import Rule

COMPILE = Rule(
    code="CG961",
    name="compile-wrong",
    severity="bug",
    summary="torch.compile(fullgraph=True) gives other values or gradients than eager, or refuses.",
    explanation="""\
The Function is compiled with backend="aot_eager" and fullgraph=True, which needs no C++ compiler, and
its values and gradients are compared with eager. What Dynamo cannot trace (NumPy calls on data,
branches on values, a jvp) is refused; torch.compiler.disable keeps it out of the graph.
""",
    after=("CG951",),
    compiles=True,
    seconds=60.0,
)


@COMPILE.finder
def compile_wrong(exam: Exam) -> Iterator[Finding]:
    """Yield what torch.compile has wrong, or refuses."""
    exam.require(not exam.known.get("data dependent"), "CG951 says more")
    batching.settled(exam)
    with _private.fresh_compiler():
        target = exam.subject.target if not exam.subject.function else exam.subject.call
        if isinstance(target, torch.nn.Module):
            target = exam.subject.call
        outcome = sandbox.attempt(lambda: _results(exam, _private.compiled(target)), seconds=50.0)
    did = f'torch.compile({exam.subject.called}, backend="aot_eager", fullgraph=True)'
    body = (
        "for f in ({name}, torch.compile({name}, backend='aot_eager', fullgraph=True)):\n"
        "    out = f({args})\n    out = out[0] if isinstance(out, tuple) else out\n"
        "    print(out, torch.autograd.grad(out.sum(), {inputs}, allow_unused=True))"
    )
    if not outcome.ok:
        if isinstance(outcome.error, sandbox.TimeUp):
            exam.require(False, "torch.compile took too long")
        reason = _reason(outcome)
        jvp = "custom jvp" in str(outcome.error)
        place = exam.subject.quoted(outcome.line(*exam.subject.files)) or _quoted(outcome.error)
        if not place and re.search(r"data-dependent|nbacked", str(outcome.error)):
            place = exam.subject.find(r"\.item\(|\.tolist\(|\b(float|int|bool)\(|^\s*(if|while)\b")
        yield exam.finding(
            COMPILE,
            "torch.compile(fullgraph=True) refuses it"
            + (": torch's own limit" if jvp else f": {reason}"),
            severity="upstream" if jvp else "missing",
            did=did,
            got=reason,
            cause="Dynamo does not trace a Function that defines jvp"
            if jvp
            else f"{reason}{place}",
            fix="leave jvp out, or wrap the call in torch.compiler.disable and leave out fullgraph=True"
            if jvp
            else "stay with tensors (no Python numbers from their values), or wrap the call in torch.compiler.disable "
            "and leave out fullgraph=True",
            method="forward",
            body=body,
        )
        return
    eager = _results(exam, exam.subject.call)
    for (words, got), (_, right) in zip(outcome.value, eager, strict=True):
        if not batching.differ(got, right):
            continue
        earlier = sorted(code for code in exam.found if code < "CG95")
        exam.require(not earlier, f"differs from eager, but {', '.join(earlier)} comes first")
        a, b, where = batching.worst(got, right)
        known = _known(exam)
        if not known and exam.subject.find(r"\bnp\.|\bnumpy\b", "forward", "backward"):
            known = "the compiler runs NumPy calls as torch calls, which differ at the edges"
        yield exam.finding(
            COMPILE,
            f"{words} under torch.compile differs from eager"
            + (": torch's own limit" if known else ""),
            severity="upstream" if known else "bug",
            did=did + ", beside eager",
            got=a,
            expected=b,
            where=f"{words}, {where}" if where else words,
            cause=known
            or "forward or backward does what the compiler does not see"
            + (
                exam.subject.find(r"\.data\b|detach\(|numpy|storage|ctx\.\w+ = ")
                or f"; see {exam.subject.place('forward')}"
            ),
            fix="compute the same without it, or keep the Function out of the graph by torch.compiler.disable"
            if known
            else "change nothing in place, on ctx, in globals or in storage that is not saved or marked",
            method="forward",
            body=body,
        )
        return


def _known(exam: Exam) -> str:
    """Name the known gap of torch that the source may run into."""
    if exam.subject.find(r"set_materialize_grads\(False\)"):
        return "Dynamo ignores ctx.set_materialize_grads(False): backward gets zeros, not None (see pytorch#133978)"
    if exam.in_place or exam.subject.find("mark_dirty"):
        return "torch.compile does not call backward where a graph input is overwritten (compare pytorch#184113)"
    return ""


def _reason(outcome: sandbox.Outcome) -> str:
    """Return torch's reason in one line."""
    lines = [line.strip() for line in str(outcome.error).splitlines() if line.strip()]
    said = [line for line in lines if line.startswith("Explanation:")]
    if lines and lines[0].endswith("raised:"):
        return lines[1] if len(lines) > 1 else outcome.words
    return f"{outcome.words}. {said[0]}" if said else outcome.words


def _quoted(error: BaseException | None) -> str:
    """Return the user's line that Dynamo names in its error."""
    found = re.findall(r'File "([^"]+)", line (\d+), in (?!<)\w+\n\s+(.+)', str(error))
    if not found:
        return ""
    file, line, text = found[-1]
    return f" ({re.split(r'[/]', file)[-1]}:{line}: `{text.strip()}`)"


def _results(exam: Exam, call: Callable[..., Any]) -> list[tuple[str, torch.Tensor]]:
    """Return the outputs and gradients, by all outputs and by each alone."""
    run = exam.run(exam.base, call=call)
    made = [(f"output {k}", t.detach()) for k, t in enumerate(run.outputs)]
    seeds = exam.cotangents(run)
    choices: list[tuple[str, Sequence[torch.Tensor | None]]] = [("", seeds)]
    if len(seeds) > 1:
        choices += [
            (f" by output {k} alone", [s if n == k else None for n, s in enumerate(seeds)])
            for k in range(len(seeds))
        ]
    for words, chosen in choices:
        for k, (g, x) in enumerate(zip(run.gradients(chosen), run.leaves, strict=True)):
            made.append(
                (
                    f"the gradient of {exam.named(k)}{words}",
                    torch.zeros_like(x) if g is None else g.detach(),
                )
            )
    return made
