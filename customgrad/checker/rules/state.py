"""CG903 to CG905: random numbers in backward, state in forward, threads."""

import random
import sys
import threading
from collections.abc import Iterator
from typing import Any

import torch

from customgrad.checker import holders, numeric, sandbox
from customgrad.checker.again import differ, others, plain, text, vector
from customgrad.checker.exam import Exam
from customgrad.checker.report import Finding
from customgrad.checker.rule import Rule
from customgrad.checker.script import OUTPUT

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
    summary="forward depends on earlier calls, or makes later ones depend on it.",
    explanation="""\
Equal inputs and equal seeds give equal outputs, unless forward keeps something from call to call.
Checkpointing, which runs forward twice, then gives another gradient. And a forward that seeds the
global random generator makes everybody's random numbers after it the same in every step.
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
    after=("CG901", "CG902", "CG903", "CG904", "CG403"),
    slow=True,
)


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
    made = [vector(exam, run, seeds, 5 + n) for n in range(4)]
    other = next((m for m in made[1:] if differ(exam, m, made[0], 1e-13)), None)
    wrong = other is not None and differ(exam, other, made[0], 1e-4)
    if wrong and exam.surrogate:
        return
    got, expected, where = (
        text(other, made[0]) if other is not None else ("another state", "the same state", "")
    )
    line = exam.subject.find(
        r"rand|random|bernoulli|normal_|multinomial|dropout|uniform|manual_seed|set_rng_state|shuffle",
        "backward",
    )
    yield exam.finding(
        DRAWS,
        f"backward draws random numbers from {' and '.join(changed)}: "
        + (
            "the gradient differs from run to run on the same graph"
            if other is not None
            else "the caller's generator is changed"
        ),
        severity="bug" if wrong else "hazard",
        did=f"{exam.subject.called}, then backward of the same graph with other seeds",
        got=got,
        expected=expected,
        where=where,
        cause=f"backward uses the global random generator{line}",
        fix="draw in forward and save what was drawn (a mask, say) by save_for_backward; "
        "or take the random numbers out",
        body=(
            OUTPUT + "state = torch.get_rng_state()\n"
            "for _ in range(2):\n    "
            "print(torch.autograd.grad(out.sum(), {inputs}, retain_graph=True, allow_unused=True))\n"
            "print('torch generator unchanged:', torch.equal(state, torch.get_rng_state()))"
        ),
    )


def _reseeds(exam: Exam) -> list[str]:
    """Name the generators that are in one state after forward, whatever state they were in before."""
    after = []
    for number in (1, 2):
        sandbox.seed(exam.seed + number)
        args, _ = exam.base.fresh(())
        sandbox.attempt(exam.subject.call, *args)
        after.append(_states())
    return [name for name, value in after[0].items() if after[1][name] == value]


@STATE.finder
def state(exam: Exam) -> Iterator[Finding]:
    """Yield a forward that depends on earlier calls, or sets random numbers back for everybody."""
    if names := _reseeds(exam):
        line = exam.subject.find(
            r"seed\(|set_rng_state|setstate|set_state", "forward", "setup_context"
        )
        yield exam.finding(
            STATE,
            f"forward sets {' and '.join(names)} to a fixed state: all random numbers after it are the same in every "
            "step",
            did=f"{exam.subject.called} after two different seeds",
            got="the same state of the global generator",
            expected="different states, or the state from before the call",
            cause=f"forward seeds the global random generator{line}, which belongs to the caller",
            fix="draw from a torch.Generator of your own, or inside torch.random.fork_rng()",
            method="forward",
            body="for seed in (1, 2):\n    torch.manual_seed(seed)\n    {call}\n    print(torch.rand(2))",
        )
        return
    other = next(iter(others(exam)), None)

    def values() -> list[torch.Tensor]:
        return [t.detach().clone() for t in exam.run(exam.base, grad=False).outputs]

    one, two = values(), values()
    if other is not None:
        exam.run(other, grad=False)
    three = values()
    later = next(
        (o for o in (two, three) if differ(exam, numeric.real(o), numeric.real(one))), None
    )
    if later is None or holders.generators(exam):
        return
    got, expected, where = text(numeric.real(later), numeric.real(one))
    held = [n for n, c in holders.counts(exam).items() if c]
    name = held[0].split(".")[-1] if held else ""
    line = exam.subject.find(
        rf"\b{name}\b" if name else r"[-+*/]=|global |cls\.|random|time", "forward", "setup_context"
    )
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


@THREADS.finder
def threads(exam: Exam) -> Iterator[Finding]:
    """Yield gradients that differ when two threads work at once."""
    exam.require(not holders.generators(exam), "a random generator goes on from call to call")
    sandbox.seed(exam.seed)
    fresh = _states()
    exam.subject.call(*exam.base.fresh(())[0])
    exam.require(_states() == fresh, "forward draws from global generators, which threads share")
    pair = [exam.base, next(iter(others(exam)), exam.base)]
    alone, seeds = [], []
    for sample in pair:
        run = exam.run(sample)
        seeds.append(exam.cotangents(run, 0))
        alone.append(plain(run, seeds[-1]))
    wrong: list[tuple[torch.Tensor, torch.Tensor]] = []

    def work(k: int) -> None:
        for _ in range(20):
            run = exam.run(pair[k])
            got = plain(run, seeds[k])
            if differ(exam, got, alone[k]):
                wrong.append((got, alone[k]))

    workers = [threading.Thread(target=work, args=(k,), daemon=True) for k in range(2)]
    for w in workers:
        w.start()
    for w in workers:
        w.join(5)
    if wrong:
        got, expected, where = text(*wrong[0])
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
