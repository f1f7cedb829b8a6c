"""CG901 to CG905: the same again gives the same again."""

import random
import sys
import threading
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import torch

from customgrad.checker import graph, holders, numeric, sandbox
from customgrad.checker.exam import Exam, Run
from customgrad.checker.report import Finding
from customgrad.checker.rule import Rule
from customgrad.checker.samples import Sample

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

DRAWS = Rule(
    code="CG903",
    name="random-backward",
    severity="hazard",
    summary="Backward draws random numbers: gradients cannot be repeated, and the caller's generator is changed.",
    explanation="""\
A mask that backward draws anew is not the mask of forward, so the gradient is wrong. Save the mask;
or save the state of the generator in forward, and draw inside torch.random.fork_rng in backward.
""",
)

STATE = Rule(
    code="CG904",
    name="forward-not-repeatable",
    severity="hazard",
    summary="forward gives other values on the same inputs and seeds: it depends on earlier calls.",
    explanation="""\
Equal inputs and equal seeds give equal outputs, unless forward keeps something from call to call.
Checkpointing, which runs forward twice, then gives another gradient.
""",
    after=("CG403",),
)

THREADS = Rule(
    code="CG905",
    name="threads",
    severity="bug",
    summary="Two threads on graphs of their own give other gradients than one.",
    explanation="""\
DataParallel and many training loops run one Function in several threads. State on the class or the
module is then shared by all of them.
""",
    after=("CG901", "CG902", "CG903", "CG904"),
    slow=True,
)


def _vector(exam: Exam, run: Run, seeds: Sequence[torch.Tensor], extra: int = 1) -> torch.Tensor:
    """Return the gradients as a vector of its own, backward's random numbers seeded."""
    sandbox.seed(exam.seed + extra)
    grads = run.gradients([s.clone() for s in seeds])
    pairs = zip(run.leaves, grads, strict=True)
    return numeric.real([torch.zeros_like(x) if g is None else g for x, g in pairs]).clone()


def _differ(exam: Exam, a: torch.Tensor, b: torch.Tensor, loose: float = 0.0) -> bool:
    """Whether two gradients differ by more than rounding; NaN equals NaN."""
    if a.shape != b.shape:
        return True
    relative = loose or (1e-9 if exam.dtype == torch.float64 else 1e-4)
    known = b[b.isfinite()].abs()
    size = float(known.max()) if known.numel() else 0.0
    return not torch.allclose(a, b, rtol=relative, atol=relative * size, equal_nan=True)


def _text(a: torch.Tensor, b: torch.Tensor) -> tuple[str, str, str]:
    off = (a - b).abs().nan_to_num(0.0) if a.shape == b.shape else torch.ones(1)
    k = int(off.argmax()) if off.numel() else 0
    return f"{float(a[k]):.6g}", f"{float(b[k]):.6g}", f"element {k} of the gradients"


AGAIN_SCRIPT = """\
out = {call}
out = out[0] if isinstance(out, tuple) else out
for k in range(3):
    out.backward(torch.full_like(out, 2.0), retain_graph=True)
    print(k + 1, "times the gradient:", [None if x.grad is None else x.grad.clone() for x in {inputs}])
"""


@AGAIN.finder
def again(exam: Exam) -> Iterator[Finding]:
    """Yield a backward that is not the same a second time."""
    run = exam.run(exam.base)
    u, v = exam.cotangents(run, 0), exam.cotangents(run, 1)
    twos = [torch.full_like(t, 2.0) for t in run.live]
    writes = exam.subject.find(
        r"\.(mul|add|sub|div|copy|neg|zero|fill|clamp|masked_fill|index_add|scatter)_\(|out=|[-+*/]=|\w\[.*\]\s*=[^=]",
        "backward",
    )
    for seeds in (u, twos):
        run = exam.run(exam.base)
        first = _vector(exam, run, seeds)
        second = sandbox.attempt(lambda run=run, seeds=seeds: [_vector(exam, run, seeds) for _ in range(2)])
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
                fix="do not write to what ctx keeps: compute a new tensor" if stale else "leave on ctx what is on it",
                body=AGAIN_SCRIPT,
            )
            return
        for other in second.value:
            if _differ(exam, other, first):
                got, expected, where = _text(other, first)
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


def _overwritten(exam: Exam, u: list[torch.Tensor], v: list[torch.Tensor], writes: str) -> Iterator[Finding]:
    """Yield a gradient that a later backward changes, or that does not accumulate."""
    run = exam.run(exam.base)
    held = run.gradients([c.clone() for c in u])
    kept = [None if g is None else g.clone() for g in held]
    run.gradients([c.clone() for c in v])
    pairs = [(g, k) for g, k in zip(held, kept, strict=True) if g is not None and k is not None]
    changed = any(_differ(exam, numeric.real([g]), numeric.real([k])) for g, k in pairs)
    run = exam.run(exam.base)
    once = _vector(exam, run, u)
    for _ in range(3):
        sandbox.seed(exam.seed + 1)
        torch.autograd.backward(run.live, [c.clone() for c in u], retain_graph=True)
    memory = [graph.storage(x.grad) for x in run.leaves if x.grad is not None and x.numel()]
    exam.require(len(set(memory)) == len(memory), "two gradients share memory, which is another fault")
    total = numeric.real([torch.zeros_like(x) if x.grad is None else x.grad for x in run.leaves])
    if changed or _differ(exam, total, 3 * once):
        got, expected, where = _text(total, 3 * once)
        name = exam.subject.find(r"return .*(ctx\.|view|buffer|cache)|return ", "backward")
        yield exam.finding(
            AGAIN,
            "backward returns memory that it uses again: .grad does not accumulate to three times the gradient"
            if _differ(exam, total, 3 * once)
            else "a gradient that was returned earlier is overwritten by the next backward",
            did=f"{exam.subject.called}, then three times backward with retain_graph=True into .grad",
            got=got,
            expected=expected,
            where=where,
            cause=f"the returned gradient is, or is a view of, a buffer or cached tensor that outlives the call{name}, so .grad "
            f"shares its storage{writes and ', and backward writes to it' + writes}",
            fix="return a tensor of new memory each time: .clone() it, or compute it without the buffer",
            body=AGAIN_SCRIPT,
        )


def _others(exam: Exam) -> Iterator[Sample]:
    """Yield other inputs that forward takes."""
    yield from exam.samples[1:]
    for change in (lambda t: t * -0.75 + 0.3, lambda t: t * 0.875 + 0.03125):
        sample = exam.base.changed(change, "other values")
        if exam.accepts(sample):
            yield sample
            break
    floats = [i for i, v in enumerate(exam.base.values) if type(v) is float]
    if floats:
        values = tuple(v * 1.25 if i in floats else v for i, v in enumerate(exam.base.values))
        sample = replace(exam.base, values=values, label="other numbers")
        if exam.accepts(sample):
            yield sample


@MIXED.finder
def mixed(exam: Exam) -> Iterator[Finding]:
    """Yield a gradient that another call, made before backward, changes."""
    for other in _others(exam):
        samples = (exam.base, other)
        runs = [exam.run(s) for s in samples[:1]]
        seeds = [exam.cotangents(runs[0], 0)]
        alone = [_vector(exam, runs[0], seeds[0])]
        run = exam.run(other)
        seeds.append(exam.cotangents(run, 0))
        alone.append(_vector(exam, run, seeds[1]))
        for order in ((0, 1), (1, 0)):
            before = {name: id(value) for name, value in holders.places(exam)}
            runs = [exam.run(s) for s in samples]
            after = {name: id(value) for name, value in holders.places(exam)}
            for k in order:
                outcome = sandbox.attempt(lambda k=k, runs=runs: _vector(exam, runs[k], seeds[k]))
                if outcome.ok and not _differ(exam, outcome.value, alone[k]):
                    continue
                shared = [n for n, value in after.items() if before.get(n) != value]
                shared = shared or [n for n, c in holders.counts(exam).items() if c]
                name = shared[0] if shared else ""
                line = exam.subject.find(
                    rf"\b{name.split('.')[-1]}\b" if name else r"^\s*global |__class__|cls\.", "setup_context", "forward"
                )
                got, expected, where = (
                    _text(outcome.value, alone[k]) if outcome.ok else (outcome.words, "the same gradient", "")
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
                    cause=f"{name or 'state outside ctx'}, shared by all calls (on the class, the module or a closure), is "
                    f"overwritten by the next call before backward reads it{line}",
                    fix="keep it on ctx: tensors by ctx.save_for_backward, anything else as an attribute of ctx",
                    body=(
                        "out = {call}\nout = out[0] if isinstance(out, tuple) else out\n"
                        "one = torch.autograd.grad(out.sum(), {inputs}, retain_graph=True, allow_unused=True)\n"
                        "with torch.no_grad():\n    for x in {inputs}:\n        x.data = x.data * 0.875 + 0.03125\n"
                        "other = {call}  # another call, before backward\n"
                        "two = torch.autograd.grad(out.sum(), {inputs}, allow_unused=True)\n"
                        "print('alone:', one)\nprint('after another call:', two)"
                    ),
                )
                return


def _states() -> dict[str, Any]:
    numpy = sys.modules.get("numpy")
    made: dict[str, Any] = {
        "torch's generator": torch.get_rng_state().tolist(),
        "Python's random": random.getstate(),
    }
    if numpy:
        state = numpy.random.get_state()
        made["NumPy's generator (np.random)"] = (state[1].tolist(), state[2:])
    return made


@DRAWS.finder
def draws(exam: Exam) -> Iterator[Finding]:
    """Yield a backward that draws random numbers from a global generator."""
    run = exam.run(exam.base)
    seeds = exam.cotangents(run, 0)
    sandbox.seed(exam.seed + 5)
    before = _states()
    run.gradients(seeds)
    after = _states()
    changed = [name for name, value in before.items() if after[name] != value]
    if not changed:
        return
    made = [_vector(exam, run, seeds, 5 + n) for n in range(4)]
    other = next((m for m in made[1:] if _differ(exam, m, made[0], 1e-13)), None)
    wrong = other is not None and _differ(exam, other, made[0], 1e-4)
    if wrong and exam.surrogate:
        return
    got, expected, where = _text(other, made[0]) if other is not None else ("another state", "the same state", "")
    line = exam.subject.find(
        r"rand|random|bernoulli|normal_|multinomial|dropout|uniform|manual_seed|set_rng_state|shuffle", "backward"
    )
    yield exam.finding(
        DRAWS,
        f"backward draws random numbers from {' and '.join(changed)}: "
        + ("the gradient differs from run to run on the same graph" if other is not None else "the caller's generator is changed"),
        severity="bug" if wrong else "hazard",
        did=f"{exam.subject.called}, then backward of the same graph with other seeds",
        got=got,
        expected=expected,
        where=where,
        cause=f"backward uses the global random generator{line}",
        fix="draw in forward and save what was drawn (a mask, say) by save_for_backward; or take the random numbers out",
        body=(
            "out = {call}\nout = out[0] if isinstance(out, tuple) else out\nstate = torch.get_rng_state()\n"
            "for _ in range(2):\n    print(torch.autograd.grad(out.sum(), {inputs}, retain_graph=True, allow_unused=True))\n"
            "print('torch generator unchanged:', torch.equal(state, torch.get_rng_state()))"
        ),
    )


def _generators(exam: Exam) -> bool:
    """Whether a generator object is passed or held: its numbers go on from call to call."""
    values = [*exam.base.values, *(value for _, value in holders.places(exam))]
    kinds = ("Generator", "RandomState", "Random")
    return any(type(v).__name__ in kinds for v in values)


@STATE.finder
def state(exam: Exam) -> Iterator[Finding]:
    """Yield a forward that depends on earlier calls."""
    other = next(iter(_others(exam)), None)

    def values() -> list[torch.Tensor]:
        return [t.detach().clone() for t in exam.run(exam.base, grad=False).outputs]

    one, two = values(), values()
    if other is not None:
        exam.run(other, grad=False)
    three = values()
    later = next((o for o in (two, three) if _differ(exam, numeric.real(o), numeric.real(one))), None)
    if later is None or _generators(exam):
        return
    got, expected, where = _text(numeric.real(later), numeric.real(one))
    held = [n for n, c in holders.counts(exam).items() if c]
    name = held[0].split(".")[-1] if held else ""
    line = exam.subject.find(rf"\b{name}\b" if name else r"global |cls\.|random|time", "forward", "setup_context")
    yield exam.finding(
        STATE,
        "forward gives other values when called again with the same inputs and seeds",
        did=f"{exam.subject.called} twice with equal inputs and seeds",
        got=got,
        expected=f"{expected}, as the first time",
        where=where.replace("gradients", "outputs"),
        cause=f"forward depends on state that it keeps from call to call{line}",
        fix="pass the state as an argument, and return its new value; or keep it in the module that calls",
        method="forward",
        body="print({call})\nprint({call})",
    )


def _plain(run: Run, seeds: list[torch.Tensor]) -> torch.Tensor:
    """Return the gradients as a vector; nothing is seeded."""
    grads = run.gradients([s.clone() for s in seeds])
    return numeric.real([g for g in grads if g is not None])


@THREADS.finder
def threads(exam: Exam) -> Iterator[Finding]:
    """Yield gradients that differ when two threads work at once."""
    sandbox.seed(exam.seed)
    fresh = _states()
    exam.subject.call(*exam.base.fresh(())[0])
    exam.require(_states() == fresh, "forward draws from global generators, which threads share")
    others = [exam.base, next(iter(_others(exam)), exam.base)]
    alone, seeds = [], []
    for sample in others:
        run = exam.run(sample)
        seeds.append(exam.cotangents(run, 0))
        alone.append(_plain(run, seeds[-1]))
    wrong: list[tuple[torch.Tensor, torch.Tensor]] = []

    def work(k: int) -> None:
        for _ in range(20):
            run = exam.run(others[k])
            got = _plain(run, seeds[k])
            if _differ(exam, got, alone[k]):
                wrong.append((got, alone[k]))

    workers = [threading.Thread(target=work, args=(k,), daemon=True) for k in range(2)]
    for w in workers:
        w.start()
    for w in workers:
        w.join(5)
    if wrong:
        got, expected, where = _text(*wrong[0])
        yield exam.finding(
            THREADS,
            "two threads on graphs of their own give other gradients than one",
            did=f"{exam.subject.called} and backward, 20 times in each of two threads",
            got=got,
            expected=expected,
            where=where,
            cause="state on the class or the module is shared by threads",
            fix="keep what belongs to a call on its ctx",
        )
