"""CG955 and CG956: forward mode is there, and nested Jacobians agree."""

import functools
import itertools
from collections.abc import Callable, Iterator
from typing import Any

import torch

from customgrad.checker import batching, sandbox
from customgrad.checker.exam import Exam
from customgrad.checker.forward import has_jvp
from customgrad.checker.report import Finding
from customgrad.checker.rule import Rule
from customgrad.checker.samples import flat
from customgrad.checker.vmapped import has_rule

NONE = Rule(
    code="CG955",
    name="no-jvp",
    severity="missing",
    summary="There is no jvp: forward-mode differentiation raises.",
    explanation="""\
torch.autograd.forward_ad, torch.func.jvp and jacfwd need a jvp staticmethod, and ctx.save_for_forward
for what it reads. A Function with a jvp cannot be compiled by torch.compile(fullgraph=True), so
leave it out where nobody needs it.
""",
    after=("CG952",),
    needs_class=True,
)

NESTED = Rule(
    code="CG956",
    name="nested-jacobians",
    severity="bug",
    summary="jacfwd and jacrev, nested, do not give the second derivative.",
    explanation="""\
The four nestings of torch.func.jacfwd and jacrev compute the same second derivatives; each is
compared with double backward. jacfwd of jacfwd through a Function is zero in torch itself,
silently (pytorch#197867); jacrev of jacrev, jacfwd of jacrev (torch.func.hessian) and jacrev of
jacfwd are not touched by that.
""",
    after=("CG201", "CG951", "CG953", "CG954"),
    needs_class=True,
)


@NONE.finder
def no_jvp(exam: Exam) -> Iterator[Finding]:
    """Yield that jvp is not there."""
    if not has_jvp(exam):
        yield exam.finding(
            NONE,
            "forward mode is refused: there is no jvp",
            did=f"torch.func.jvp of {exam.subject.called}",
            got="an error: jvp is not implemented",
            cause="the class has no jvp staticmethod",
            fix="write jvp(ctx, *tangents), if forward mode is needed",
            method="forward",
        )


@NESTED.finder
def nested(exam: Exam) -> Iterator[Finding]:
    """Yield the nestings whose second derivative is not that of double backward."""
    exam.require(has_rule(exam), "no vmap rule, which jacfwd and jacrev need")
    exam.require(exam.dtype == torch.float64, "forward does not take float64")
    batching.settled(exam)
    h = _scalar(exam)
    outcome = sandbox.attempt(lambda: (_twice(h), _differences(h)))
    exam.require(outcome.ok, f"double backward is refused: {outcome.words}")
    expected, measured = outcome.value
    size = float(measured.abs().max())
    exam.require(
        bool(((expected - measured).abs() <= 1e-3 * (size + 1e-3)).all()),
        "double backward itself is not the derivative of backward",
    )
    ways: dict[str, Callable[..., Any]] = {"jacrev": torch.func.jacrev}
    if has_jvp(exam):
        ways["jacfwd"] = torch.func.jacfwd
    wrong: dict[str, torch.Tensor] = {}
    refused = ""
    for outer, inner in itertools.product(ways, ways):
        tried = sandbox.attempt(
            functools.partial(ways[outer](ways[inner](h)), torch.zeros(2, dtype=torch.float64))
        )
        refused = refused if tried.ok else tried.words
        if tried.ok and not bool(((tried.value - expected).abs() <= 1e-4 * (size + 1e-6)).all()):
            wrong[f"{outer}(torch.func.{inner}(f))"] = tried.value.detach()
    if not wrong:
        exam.require(not refused, f"a nesting raised {refused}")
        return
    upstream = list(wrong) == ["jacfwd(torch.func.jacfwd(f))"]
    names, got = ", ".join(f"torch.func.{w}" for w in wrong), next(iter(wrong.values()))
    method = "jvp" if has_jvp(exam) else "backward"
    yield exam.finding(
        NESTED,
        f"{names} is silently wrong"
        + (
            ": torch's own limit, pytorch#197867"
            if upstream
            else ", although double backward is right"
        ),
        severity="upstream" if upstream else "bug",
        did=f"{names} of {exam.subject.called} along two random directions, beside double backward",
        got=f"{[[round(x, 4) for x in row] for row in got.tolist()]}",
        expected=f"{[[round(x, 4) for x in row] for row in expected.tolist()]}",
        cause="torch drops the outer tangent at a Function's jvp (https://github.com/pytorch/pytorch/issues/197867)"
        if upstream
        else f"{method} is not differentiable itself; see {exam.subject.place(method)}",
        fix="use torch.func.hessian (jacfwd of jacrev) or jacrev of jacfwd"
        if upstream
        else "compute jvp and backward by torch operations on saved tensors, without .data, detach or NumPy",
        method=method,
    )


def _scalar(exam: Exam) -> Callable[[torch.Tensor], torch.Tensor]:
    """Return a function of two numbers, steps along random directions, that all outputs enter."""
    sample = exam.base
    run = exam.run(sample)
    live = [k for k, t in enumerate(run.outputs) if t.requires_grad]
    weights = exam.cotangents(run)
    generator = torch.Generator().manual_seed(5)
    along = [
        [
            torch.randn(t.shape, generator=generator, dtype=torch.float64).to(t.dtype)
            for _ in range(2)
        ]
        for t in sample.tensors
    ]

    fixed, _ = sample.fresh(())  # torch.func forbids what fresh does

    def h(t: torch.Tensor) -> torch.Tensor:
        args = list(fixed)
        for i, (a, b) in zip(sample.wanted, along, strict=True):
            args[i] = args[i] + a * t[0] + b * t[1]
        out = list(flat(exam.subject.call(*args)))
        parts = [out[k] * w for k, w in zip(live, weights, strict=True)]
        return torch.stack([(p.real if p.is_complex() else p).sum() for p in parts]).sum()

    return h


def _slope(h: Callable[[torch.Tensor], torch.Tensor], at: list[float]) -> torch.Tensor:
    t = torch.tensor(at, dtype=torch.float64, requires_grad=True)
    return torch.autograd.grad(h(t), t)[0]


def _differences(h: Callable[[torch.Tensor], torch.Tensor]) -> torch.Tensor:
    """Return the second derivatives as differences of backward."""
    s = 1e-5
    rows = [[s, 0.0], [0.0, s]]
    return torch.stack([(_slope(h, r) - _slope(h, [-x for x in r])) / (2 * s) for r in rows])


def _twice(h: Callable[[torch.Tensor], torch.Tensor]) -> torch.Tensor:
    """Return the second derivatives by double backward."""
    t = torch.zeros(2, dtype=torch.float64, requires_grad=True)
    (g,) = torch.autograd.grad(h(t), t, create_graph=True)
    if not g.requires_grad:
        return torch.zeros(2, 2, dtype=torch.float64)
    rows = [
        torch.autograd.grad(g[k], t, retain_graph=True, allow_unused=True, materialize_grads=True)[
            0
        ]
        for k in range(2)
    ]
    return torch.stack(rows)
