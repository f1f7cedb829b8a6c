"""CG802: gradients in float32 and half precision beside those in float64, at the same inputs."""

import math
from collections.abc import Callable, Iterator
from dataclasses import replace

import torch

from customgrad.checker import sandbox
from customgrad.checker.exam import Exam, Run
from customgrad.checker.extremes import filled, masked, trusted
from customgrad.checker.report import Finding
from customgrad.checker.rule import Rule
from customgrad.checker.samples import Sample
from customgrad.checker.spy import composed, raw

LOW = Rule(
    code="CG802",
    name="low-precision",
    severity="hazard",
    summary="In float32 or half precision the gradient is far less exact than it could be.",
    explanation="""\
The gradient is compared with the one in float64 at the same rounded inputs, over many magnitudes
and for a small spread on a large offset. It is reported where inputs one rounding error away would
change it far less, and torch's own gradient of the same forward is at least 30 times as exact.
E[x²] - E[x]² cancels; the square of what is above 255 overflows in float16; 1 / x² does at 1e-3.
Centre before you square, divide twice instead of dividing by a square, or widen as forward does.
""",
    after=("CG801",),
)

Change = Callable[[torch.Tensor], torch.Tensor]


def _times(factor: float) -> Change:
    return lambda t: t * (factor / float(t.abs().max().clamp(min=1e-300)))


def _offset(base: float, spread: float) -> Change:
    return lambda t: base + spread * t


def _about(size: float) -> Change:
    """All elements of nearly one size, so that none outweighs the others."""
    return lambda t: size * (t.sign() + 0.1 * t / t.abs().max().clamp(min=1e-300))


def _variants(dtype: torch.dtype) -> list[tuple[str, Change]]:
    half = dtype == torch.float16
    sizes = (1e-3, 0.1, 10.0, 400.0, 2e4) if half else (1e-8, 1e-4, 1e-2, 1e2, 1e4, 1e8)
    made = [(f"{{}} of size {size:g}", _times(size)) for size in sizes]
    if half:
        made.append(("{} about 400 or -400", _about(400.0)))
    offsets = (
        ((10.0, 1.0), (100.0, 1.0)) if dtype.itemsize == 2 else ((1000.0, 1.0), (1000.0, 0.01))
    )
    made += [(f"{{}} = {a:g} + {b:g} x", _offset(a, b)) for a, b in offsets]
    return made


@LOW.finder
def low_precision(exam: Exam) -> Iterator[Finding]:
    """Yield the first inputs at which low precision costs far more than rounding does."""
    exam.require(exam.dtype == torch.float64, "forward does not take float64, to compare with")
    exam.require(exam.repeatable, "forward gives other values when called again")
    exam.require(not any(t.is_complex() for t in exam.base.tensors), "the inputs are complex")
    torch_too = trusted(exam)
    groups = [exam.base.wanted]
    if len(exam.base.wanted) > 1:
        groups += [(i,) for i in exam.base.wanted[:3]]
    for dtype in (torch.float32, torch.float16, torch.bfloat16):
        if not exam.accepts(exam.base.to(dtype)):
            continue
        plain = str(dtype).removeprefix("torch.")
        for words, change in _variants(dtype):
            for group in groups:
                values = list(exam.base.values)
                for i in group:
                    values[i] = change(values[i].detach()) if values[i].numel() else values[i]
                name = " and ".join(exam.names[i] for i in group)
                sample = replace(
                    exam.base,
                    values=tuple(values),
                    label=f"{words.format(name)}, in {plain}",
                ).to(dtype)
                outcome = sandbox.attempt(
                    lambda s=sample, d=dtype: _judge(exam, s, d, torch_too)  # type: ignore[misc]
                )
                if outcome.ok and outcome.value is not None:
                    yield _told(exam, sample, plain, *outcome.value)
                    return


Grads = list[torch.Tensor]


def _gradients(exam: Exam, run: Run | None, dtype: torch.dtype) -> Grads | None:
    """Return the gradients in float64, by cotangents that are exact in the low dtype."""
    if run is None or not run.live or not all(bool(t.isfinite().all()) for t in run.live):
        return None
    seeds = [c.to(dtype).to(t.dtype) for c, t in zip(exam.cotangents(run), run.live, strict=True)]
    return [g.double() for g in filled(run, run.gradients(seeds))]


def _judge(
    exam: Exam, sample: Sample, dtype: torch.dtype, torch_too: bool
) -> tuple[int, float, float, float, torch.Tensor, torch.Tensor] | None:
    """Return (input, error, torch's error, rounding's share, got, expected), or None."""
    if not all(bool(t.isfinite().all()) for t in sample.tensors):
        return None
    run = exam.run(sample)
    if any(t.dtype != dtype for t in run.live):
        return None
    got = _gradients(exam, run, dtype)
    wide = exam.run(sample.to(torch.float64))
    exact = _gradients(exam, wide, dtype)
    if got is None or exact is None or not all(bool(g.isfinite().all()) for g in exact):
        return None
    info = torch.finfo(dtype)
    floor = 1e-3 if dtype == torch.float32 else 0.1
    out = max((float(t.detach().abs().max()) for t in wide.live if t.numel()), default=0.0)
    for k, (mine, right, x) in enumerate(zip(got, exact, sample.tensors, strict=True)):
        if not right.numel():
            continue
        size = float(right.abs().max())
        if size > info.max / 4 or size < 16 * info.smallest_normal * info.eps:
            continue
        if size * float(x.abs().max()) < info.eps * out:  # less than forward's rounding
            continue
        error = _error(mine, right, size)
        if error <= floor:
            continue
        if masked(sample) and (math.isinf(error) or dtype.itemsize == 2):
            continue  # what a mask leaves out need not be in range
        theirs = _gradients(exam, composed(exam, sample), dtype) if torch_too else None
        if theirs is None:
            if not math.isinf(error) or float(x.abs().max()) > 1e3:
                continue
            other = math.nan
        else:
            other = _error(theirs[k], right, size)
            if not math.isfinite(other) or other * 30 > error:
                continue
        share = _conditioning(exam, sample, dtype, k, right, size)
        if dtype.itemsize == 2 and not math.isinf(error) and not _overflows(exam, sample):
            continue  # plain rounding in half precision is nobody's fault
        if error > 50 * share:
            return k, error, other, share, mine, right
    return None


def _overflows(exam: Exam, sample: Sample) -> bool:
    """Whether an infinity comes up in backward, as far as can be seen."""
    seen = sandbox.attempt(lambda: raw(exam, sample, watch=True))
    return not seen.ok or bool(seen.value.births)


def _error(got: torch.Tensor, right: torch.Tensor, size: float) -> float:
    """Return the largest deviation over the largest element; inf for NaN."""
    error = float((got - right).abs().max()) / size
    return error if math.isfinite(error) else math.inf


def _conditioning(
    exam: Exam, sample: Sample, dtype: torch.dtype, k: int, right: torch.Tensor, size: float
) -> float:
    """Return how far the gradient moves in float64 when the inputs move by one rounding error."""
    eps, share = torch.finfo(dtype).eps, torch.finfo(dtype).eps
    generator = torch.Generator().manual_seed(5)
    for _ in range(3):

        def moved(t: torch.Tensor) -> torch.Tensor:
            signs = torch.randint(0, 2, t.shape, generator=generator) * 2.0 - 1
            return t * (1 + eps * signs.double())

        wide = exam.run(sample.to(torch.float64).changed(moved, ""))
        near = _gradients(exam, wide, dtype)
        if near is None:
            return math.inf
        share = max(share, _error(near[k], right, size))
    return share


def _told(
    exam: Exam,
    sample: Sample,
    plain: str,
    k: int,
    error: float,
    other: float,
    share: float,
    got: torch.Tensor,
    right: torch.Tensor,
) -> Finding:
    """Return the finding."""
    off = (got - right).abs().nan_to_num(math.inf, posinf=math.inf)
    at = int(off.argmax())
    name = exam.named(k)
    cause, fix = _cause(exam, sample, plain)
    figure = "NaN or infinite" if math.isinf(error) else f"off by {100 * error:.2g} %"
    beside = (
        ""
        if math.isnan(other)
        else f"; torch's own gradient of this forward by {100 * other:.1g} %"
    )
    return exam.finding(
        LOW,
        f"in {plain} the gradient of {name} is {figure}, where rounding the inputs accounts for "
        f"{100 * share:.1g} %{beside}",
        did=f"{exam.subject.called} in {plain}, beside float64 at the same rounded inputs",
        got=f"{float(got.reshape(-1)[at]):.6g}",
        expected=f"{float(right.reshape(-1)[at]):.6g}",
        where=f"element {at} of the gradient of {name}",
        cause=cause,
        fix=fix,
        sample=sample,
        body=(
            "out = {call}\nout = out[0] if isinstance(out, tuple) else out\n"
            "u = torch.randn_like(out)\n"
            "print('got:', torch.autograd.grad(out, {inputs}, u, allow_unused=True))\n"
            "wide = [x.detach().double().requires_grad_(x.requires_grad) if isinstance(x, torch.Tensor) "
            "and x.is_floating_point() else x for x in [{args}]]\n"
            "out = {name}(*wide)\nout = out[0] if isinstance(out, tuple) else out\n"
            "wanted = [x for x in wide if isinstance(x, torch.Tensor) and x.requires_grad]\n"
            "print('in float64:', torch.autograd.grad(out, wanted, u.double(), allow_unused=True))"
        ),
    )


def _cause(exam: Exam, sample: Sample, plain: str) -> tuple[str, str]:
    """Name what costs the digits, and what to write instead."""
    seen = sandbox.attempt(lambda: raw(exam, sample, watch=True))
    births = [b for b in seen.value.births if b.kind == "inf"] if seen.ok else []
    if births:
        return (
            f"overflow in {plain}: {births[0].operation} gives inf in backward"
            f"{exam.subject.quoted(births[0].place)}, where the gradient itself is in range",
            f"keep every factor in {plain}'s range: multiply or divide twice instead of by a square, or compute "
            "in float32 and cast the result back",
        )
    for pattern, words in (
        (
            r"square\(\)\.mean|\*\*\s*2\b.*-|-.*\*\*\s*2\b|mean\(.*square|-.*square\(",
            "the difference of two nearly equal numbers, E[x²] - E[x]²: catastrophic cancellation",
        ),
        (r"\*\*|pow\(|square\(|(\b\w+\b) \* \1\b", "a power under- or overflows"),
        (r"-", "the difference of two nearly equal numbers: cancellation"),
    ):
        if place := exam.subject.find(pattern, "backward"):
            return (
                f"in {plain} backward loses precision, probably by {words}{place}",
                "centre before you square ((x - mean).square().mean()), as forward does; or save forward's value "
                f"instead of computing it anew; or compute in float32 or float64 where {plain} does not suffice",
            )
    return (
        f"backward loses precision in {plain}; see {exam.subject.place('backward')}",
        "compute it as forward does, or in a wider dtype, and cast the result",
    )
