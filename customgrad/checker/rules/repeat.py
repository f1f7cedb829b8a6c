"""CG901 and CG902: the same backward again, and another call between."""

from collections.abc import Iterator

import torch

from customgrad.checker import graph, holders, numeric, sandbox
from customgrad.checker.again import differ, others, text, vector
from customgrad.checker.exam import Exam, Run
from customgrad.checker.report import Finding
from customgrad.checker.rule import Rule
from customgrad.checker.script import OUTPUT

AGAIN = Rule(
    code="CG901",
    name="second-backward-differs",
    severity="bug",
    summary="A second backward through the same graph gives another gradient, or fails.",
    explanation="""\
With retain_graph=True backward runs as often as it is called, and each time gives the same. It does
not if it writes to a saved tensor or to one on ctx, or if it returns memory that it uses again:
.grad is then that memory, and three backwards do not add up to three times the gradient.
""",
    after=("CG507",),
)

MIXED = Rule(
    code="CG902",
    name="interleaved-calls",
    severity="bug",
    summary="A call changes the gradient of an earlier one: backward reads state that all calls share.",
    explanation="""\
A layer that is used twice, or two layers of one kind, call forward twice before the first backward.
What forward leaves on the class, in the module or in a closure is then the second call's. Keep it on
ctx: there is one for each call.
""",
    after=("CG901",),
)

AGAIN_SCRIPT = """\
out = {call}
out = out[0] if isinstance(out, tuple) else out
for k in range(3):
    out.backward(torch.full_like(out, 2.0), retain_graph=True)
    print(k + 1, "times the gradient:", [None if x.grad is None else x.grad.clone() for x in {inputs}])
"""


def _twice(exam: Exam, run: Run, seeds: list[torch.Tensor]) -> list[torch.Tensor]:
    return [vector(exam, run, seeds) for _ in range(2)]


@AGAIN.finder
def again(exam: Exam) -> Iterator[Finding]:
    """Yield a backward that is not the same a second time."""
    exam.require(not holders.generators(exam), "a random generator goes on from call to call")
    run = exam.run(exam.base)
    u, v = exam.cotangents(run, 0), exam.cotangents(run, 1)
    twos = [torch.full_like(t, 2.0) for t in run.live]
    writes = exam.subject.find(
        r"\.(mul|add|sub|div|copy|neg|zero|fill|clamp|masked_fill|index_add|scatter)_\(|out=|[-+*/]=|\w\[.*\]\s*=[^=]",
        "backward",
    )
    for seeds in (u, twos):
        run = exam.run(exam.base)
        first = vector(exam, run, seeds)
        second = sandbox.attempt(_twice, exam, run, seeds)
        if not second.ok:
            stale = "inplace operation" in str(second.error)
            yield exam.finding(
                AGAIN,
                f"a second backward through the same graph (retain_graph=True) raised {second.words}",
                severity="hazard" if stale else "missing",
                got=second.words,
                expected="the same gradient",
                cause=f"backward changes a saved tensor in place{writes}"
                if stale
                else f"backward takes away what a second one needs; see {exam.subject.place('backward')}",
                fix="do not write to what ctx keeps: compute a new tensor"
                if stale
                else "leave on ctx what is on it",
                body=AGAIN_SCRIPT,
            )
            return
        for other in second.value:
            if differ(exam, other, first):
                got, expected, where = text(other, first)
                yield exam.finding(
                    AGAIN,
                    "a second backward through the same graph gives another gradient",
                    did=f"{exam.subject.called}, then backward three times with retain_graph=True",
                    got=got,
                    expected=f"{expected}, as the first time",
                    where=where,
                    cause=f"backward changes in place a tensor that ctx keeps (a saved tensor or an attribute){writes}",
                    fix="do not write to what ctx keeps: compute a new tensor, a * b instead of a.mul_(b)",
                    body=AGAIN_SCRIPT,
                )
                return
    yield from _overwritten(exam, u, v, writes)


def _overwritten(
    exam: Exam, u: list[torch.Tensor], v: list[torch.Tensor], writes: str
) -> Iterator[Finding]:
    """Yield a gradient that a later backward changes, or that does not accumulate."""
    run = exam.run(exam.base)
    held = run.gradients([c.clone() for c in u])
    kept = [None if g is None else g.clone() for g in held]
    run.gradients([c.clone() for c in v])
    pairs = [(g, k) for g, k in zip(held, kept, strict=True) if g is not None and k is not None]
    changed = any(differ(exam, numeric.real([g]), numeric.real([k])) for g, k in pairs)
    run = exam.run(exam.base)
    once = vector(exam, run, u)
    for _ in range(3):
        sandbox.seed(exam.seed + 1)
        torch.autograd.backward(run.live, [c.clone() for c in u], retain_graph=True)
    memory = [graph.storage(x.grad) for x in run.leaves if x.grad is not None and x.numel()]
    exam.require(
        len(set(memory)) == len(memory), "two gradients share memory, which is another fault"
    )
    total = numeric.vector([x.grad for x in run.leaves], run.leaves)
    if changed or differ(exam, total, 3 * once):
        got, expected, where = text(total, 3 * once)
        name = exam.subject.find(r"return .*(ctx\.|view|buffer|cache)|return ", "backward")
        yield exam.finding(
            AGAIN,
            "backward returns memory that it uses again: .grad does not accumulate to three times the gradient"
            if differ(exam, total, 3 * once)
            else "a gradient that was returned earlier is overwritten by the next backward",
            did=f"{exam.subject.called}, then three times backward with retain_graph=True into .grad",
            got=got,
            expected=expected,
            where=where,
            cause=f"the returned gradient is, or is a view of, a buffer or cached tensor that outlives "
            f"the call{name}, so .grad "
            f"shares its storage{writes and ', and backward writes to it' + writes}",
            fix="return a tensor of new memory each time: .clone() it, or compute it without the buffer",
            body=AGAIN_SCRIPT,
        )


@MIXED.finder
def mixed(exam: Exam) -> Iterator[Finding]:
    """Yield a gradient that another call, made before backward, changes."""
    exam.require(not holders.generators(exam), "a random generator goes on from call to call")
    for other in others(exam):
        samples = (exam.base, other)
        runs = [exam.run(s) for s in samples[:1]]
        seeds = [exam.cotangents(runs[0], 0)]
        alone = [vector(exam, runs[0], seeds[0])]
        run = exam.run(other)
        seeds.append(exam.cotangents(run, 0))
        alone.append(vector(exam, run, seeds[1]))
        for order in ((0, 1), (1, 0)):
            before = {name: id(value) for name, value in holders.places(exam)}
            runs = [exam.run(s) for s in samples]
            after = {name: id(value) for name, value in holders.places(exam)}
            for k in order:
                outcome = sandbox.attempt(vector, exam, runs[k], seeds[k])
                if outcome.ok and not differ(exam, outcome.value, alone[k]):
                    continue
                shared = [n for n, value in after.items() if before.get(n) != value]
                shared = shared or [n for n, c in holders.counts(exam).items() if c]
                name = shared[0] if shared else ""
                line = exam.subject.find(
                    rf"\b{name.split('.')[-1]}\b" if name else r"^\s*global |__class__|cls\.",
                    "setup_context",
                    "forward",
                )
                got, expected, where = (
                    text(outcome.value, alone[k])
                    if outcome.ok
                    else (outcome.words, "the same gradient", "")
                )
                yield exam.finding(
                    MIXED,
                    "interleaved calls: another call before backward changes the gradient"
                    if outcome.ok
                    else f"interleaved calls: another call before backward makes it raise {outcome.words}",
                    did=f"{exam.subject.called} on two inputs, then backward of both",
                    got=got,
                    expected=f"{expected}, as alone",
                    where=where,
                    cause=f"{name or 'state outside ctx'}, shared by all calls (on the class, "
                    f"the module or a closure), is "
                    f"overwritten by the next call before backward reads it{line}",
                    fix="keep it on ctx: tensors by ctx.save_for_backward, anything else as an attribute of ctx",
                    body=(
                        OUTPUT + "one = torch.autograd.grad(out.sum(), {inputs}, "
                        "retain_graph=True, allow_unused=True)\n"
                        "with torch.no_grad():\n    for x in {inputs}:\n        x.data = x.data * 0.875 + 0.03125\n"
                        "other = {call}  # another call, before backward\n"
                        "two = torch.autograd.grad(out.sum(), {inputs}, allow_unused=True)\n"
                        "print('alone:', one)\nprint('after another call:', two)"
                    ),
                )
                return
