"""CG954: the directional derivative of jvp is that of forward and of backward."""

import itertools
import re
from collections.abc import Iterator, Sequence

import torch

from customgrad.checker import numeric, sandbox
from customgrad.checker.exam import Exam
from customgrad.checker.forward import has_jvp, pushed, tangents
from customgrad.checker.jacobian import gradient
from customgrad.checker.report import Finding
from customgrad.checker.rule import Rule

JVP = Rule(
    code="CG954",
    name="jvp-wrong",
    severity="bug",
    summary="jvp is not forward's directional derivative.",
    explanation="""\
jvp gets one tangent for each argument of forward, and returns that of each output: the derivative
along the tangents, linear in them, summed over the inputs. It is compared with finite differences
of forward and with backward, for tangents on each subset of the inputs. An input without a tangent
comes as zeros, or as None after ctx.set_materialize_grads(False).
""",
    needs_class=True,
)


@JVP.finder
def jvp_wrong(exam: Exam) -> Iterator[Finding]:
    """Yield the first subset of tangents for which jvp is wrong, or raises."""
    exam.require(has_jvp(exam), "there is no jvp")
    exam.require(exam.repeatable, "forward gives other values when called again")
    sample = exam.base
    run = exam.run(sample)
    live = [k for k, t in enumerate(run.outputs) if t.requires_grad]
    count = len(sample.wanted)
    sets = [*[(k,) for k in range(count)], tuple(range(count))]
    sets += [
        c
        for n in range(2, count)
        for c in itertools.islice(itertools.combinations(range(count), n), 3)
    ]
    for chosen in list(dict.fromkeys(sets))[:8]:
        along = tangents(sample, chosen)
        names = " and ".join(exam.named(k) for k in chosen)
        others = ", ".join(exam.named(k) for k in range(count) if k not in chosen)
        did = f"forward mode of {exam.subject.called} with a tangent on {names}"
        outcome = sandbox.attempt(pushed, exam, sample, along)
        if not outcome.ok:
            place = exam.subject.quoted(outcome.line(*exam.subject.files))
            meant = isinstance(outcome.error, NotImplementedError) or re.search(r"`raise\b", place)
            none = "; the tangent of " + others + " is None there" if others else ""
            yield exam.finding(
                JVP,
                f"jvp raised {type(outcome.error).__name__} with a tangent on {names}"
                + (f" and none on {others}" if others else ""),
                severity="missing" if meant else "bug",
                did=did,
                got=outcome.words,
                expected="a tangent for each output",
                cause=f"jvp raises {outcome.words}{place}{none}",
                fix="return one tangent for each output; leave out the terms whose tangent is None"
                if others
                else "return one tangent for each output, computed from tensors saved by ctx.save_for_forward",
                method="jvp",
                body=_body(exam, chosen),
            )
            return
        yield from (found := list(_compared(exam, outcome.value, along, live, names, did, chosen)))
        if found:
            return


def _compared(
    exam: Exam,
    got: list[torch.Tensor | None],
    along: Sequence[torch.Tensor | None],
    live: Sequence[int],
    names: str,
    did: str,
    chosen: Sequence[int],
) -> Iterator[Finding]:
    """Yield a tangent that neither finite differences nor backward agree with."""
    sample = exam.base
    run = exam.run(sample)
    outs = [run.outputs[k].detach() for k in live]
    pushed_ = [
        torch.zeros_like(o) if got[k] is None else got[k] for k, o in zip(live, outs, strict=True)
    ]
    value = numeric.real([t for t in pushed_ if t is not None])
    if any(t is not None and t.shape != o.shape for t, o in zip(pushed_, outs, strict=True)):
        return  # torch itself refuses such a tangent
    direction = numeric.vector(along, sample.tensors)
    slope = exam.slope(sample, direction, live)
    if slope.left.shape != value.shape:
        return
    # Beside backward: the inner product with each of some cotangents.
    loose = 1e-6 if exam.dtype == torch.float64 else 2e-2
    apart = False
    for number in range(3):
        seeds = exam.cotangents(run, number)
        back, ahead = gradient(run, seeds) * direction, numeric.real(seeds) * value
        size = float(back.abs().sum() + ahead.abs().sum())
        difference = float((back.sum() - ahead.sum()).abs())
        apart = apart or not difference <= loose * size + 1e-12
    scale = float(slope.middle.abs().nan_to_num(0, posinf=0).max()) if value.numel() else 0.0
    away = slope.outside(value, 1e-5 if exam.dtype == torch.float64 else 2e-2, max(scale, 1e-9))
    at = int(away.argmax()) if value.numel() else 0
    if not apart or not value.numel() or not float(away[at]) > 0:
        return
    right = float(slope.middle[at])
    yield exam.finding(
        JVP,
        f"jvp with a tangent on {names} is wrong: got {float(value[at]):.6g}, expected {right:.6g}",
        did=did + ", beside finite differences and the transposed backward",
        got=f"{float(value[at]):.6g}",
        expected=f"{right:.6g}",
        where=f"element {at} of the outputs' tangents",
        cause=_cause(exam, value, chosen, along),
        fix="return the sum over the inputs of derivative times tangent",
        method="jvp",
        body=_body(exam, chosen),
    )


def _cause(
    exam: Exam, value: torch.Tensor, chosen: Sequence[int], along: Sequence[torch.Tensor | None]
) -> str:
    """Name what jvp does with the tangent."""
    place = exam.subject.place("jvp")
    line = exam.subject.find(r"^\s*return\b", "jvp")
    names = " and ".join(exam.named(k) for k in chosen)
    if not bool(value.any()):
        return f"jvp ignores the tangent of {names}: its term is missing in {place}{line}"
    scaled = sandbox.attempt(
        lambda: pushed(exam, exam.base, [None if a is None else 3 * a for a in along])
    )
    if scaled.ok:
        three = numeric.real([t for t in scaled.value if t is not None])
        if three.shape == value.shape and torch.equal(three, value):
            return f"jvp does not multiply by the tangent of {names}: {place}{line}"
    return f"the formula of jvp for the tangent of {names} is wrong: {place}{line}"


def _body(exam: Exam, chosen: Sequence[int]) -> str:
    """Return a script's body: jvp beside a difference quotient."""
    return f"""\
from torch.autograd import forward_ad

moved = [{{inputs}}[k] for k in {tuple(chosen)}]
v = [torch.randn_like(x) for x in moved]
args = ({{args}},)


def call(values):
    full = [a.detach() if isinstance(a, torch.Tensor) else a for a in args]
    for k, value in zip({tuple(exam.base.wanted[k] for k in chosen)}, values):
        full[k] = value
    out = {{name}}(*full)
    return out[0] if isinstance(out, tuple) else out


h = 1e-6
up, down = ([x.detach() + s * h * t for x, t in zip(moved, v)] for s in (1, -1))
print('difference:', (call(up) - call(down)) / (2 * h))
with forward_ad.dual_level():
    out = call([forward_ad.make_dual(x.detach(), t) for x, t in zip(moved, v)])
    print('jvp:', forward_ad.unpack_dual(out).tangent)
"""
