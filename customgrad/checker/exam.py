"""One run of the checker over one subject: what rules ask, and what they share."""

import functools
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch

from customgrad.checker import links, numeric, sandbox
from customgrad.checker.report import Finding
from customgrad.checker.rule import NotJudged, Rule
from customgrad.checker.samples import Sample, flat, floating
from customgrad.checker.subject import Subject

__all__ = ["Exam", "Run"]

MOST = 24
"""How many single elements of inputs or outputs are looked at one by one."""


@dataclass
class Run:
    """One call: the leaves that need gradients, what was passed, what came back."""

    leaves: list[torch.Tensor]
    args: list[Any]
    result: Any

    @property
    def outputs(self) -> list[torch.Tensor]:
        """The tensors that came back."""
        return list(flat(self.result))

    @property
    def live(self) -> list[torch.Tensor]:
        """Those that require gradients."""
        return [t for t in self.outputs if t.requires_grad]

    @property
    def node(self) -> Any:
        """The node of the graph that the first live output hangs on; it is the Function's ctx."""
        return self.live[0].grad_fn if self.live else None

    def gradients(
        self,
        cotangents: Sequence[torch.Tensor | None] | None = None,
        *,
        create_graph: bool = False,
        retain_graph: bool = True,
    ) -> list[torch.Tensor | None]:
        """Return the gradient of each leaf, None where there is none; cotangents of ones if not given."""
        seeds = [torch.ones_like(t) for t in self.live] if cotangents is None else cotangents
        pairs = [(t, s) for t, s in zip(self.live, seeds, strict=True) if s is not None]
        if not self.leaves or not pairs:
            return [None] * len(self.leaves)
        return list(
            torch.autograd.grad(
                [t for t, _ in pairs],
                self.leaves,
                [s for _, s in pairs],
                create_graph=create_graph,
                retain_graph=retain_graph,
                allow_unused=True,
            )
        )


class Exam:
    """What is checked, on which inputs, and how; rules get one, and yield findings."""

    def __init__(
        self,
        subject: Subject,
        samples: Sequence[Sample],
        *,
        reference: Callable[..., Any] | None = None,
        surrogate: bool = False,
        seed: int = 0,
    ) -> None:
        """Take a subject and its inputs; find out in which dtype it can be differentiated."""
        self.subject, self.given, self.reference = subject, list(samples), reference
        self.surrogate, self.seed = surrogate, seed
        self.in_place = False
        self.found: set[str] = set()
        self.facts: dict[str, Any] = {}
        self.known: dict[str, Any] = {}
        """What one rule found out and others ask again; unlike the facts, no part of the report."""
        self._rounding: dict[tuple[int, ...], tuple[Sample, torch.Tensor | None]] = {}
        first = sandbox.attempt(lambda: self.run(self.given[0]))
        if not first.ok and "in-place operation" in str(first.error):
            self.in_place = True  # such a Function gets a copy of each leaf
            first = sandbox.attempt(lambda: self.run(self.given[0]))
        self.first = first
        self.dtype = torch.float64
        self.samples = self.given
        if first.ok:
            exact = [s.to(torch.float64) for s in self.given]
            if all(self._exact(s) for s in exact):
                self.samples = exact
            else:
                self.dtype = torch.float32

    def _exact(self, sample: Sample) -> bool:
        """Whether forward takes float64, and gives it back."""
        outcome = sandbox.attempt(lambda: self.run(sample))
        if not outcome.ok or not outcome.value.live:
            return False
        return all(t.dtype in (torch.float64, torch.complex128) for t in outcome.value.live)

    @property
    def base(self) -> Sample:
        """The first of the inputs as given, in float64 where forward takes it."""
        return self.samples[0]

    @property
    def epsilon(self) -> float:
        """The rounding error of the dtype that the run is done in."""
        return torch.finfo(self.dtype).eps

    @property
    def names(self) -> list[str]:
        """The names of the arguments."""
        return self.subject.names(len(self.base.values))

    def named(self, k: int, sample: Sample | None = None) -> str:
        """Return the name of the k-th input that needs a gradient."""
        return self.names[(sample or self.base).wanted[k]]

    # Calls --------------------------------------------------------------------------------------

    def run(
        self,
        sample: Sample,
        *,
        wanted: Sequence[int] | None = None,
        call: Callable[..., Any] | None = None,
        grad: bool = True,
        prepare: Callable[[torch.Tensor], torch.Tensor] | None = None,
    ) -> Run:
        """Call the subject once with tensors of its own, from the same random numbers each time.

        Args:
            sample: the inputs.
            wanted: positions of the inputs that need gradients, if not those of the sample.
            call: what to call instead of the subject.
            grad: whether a graph is recorded.
            prepare: makes of each leaf what is passed, such as a transposed view.
        """
        args, leaves = sample.fresh(wanted)
        chosen = sample.wanted if wanted is None else wanted
        for i in chosen:
            if prepare is not None:
                args[i] = prepare(args[i])
            elif self.in_place:
                args[i] = args[i].clone()
        sandbox.seed(self.seed)
        with torch.set_grad_enabled(grad):
            result = (call or self.subject.call)(*args)
        return Run(leaves, args, result)

    def accepts(self, sample: Sample, *, finite: bool = True) -> bool:
        """Whether forward takes these inputs; what it refuses is never a fault of backward."""
        outcome = sandbox.attempt(lambda: self.run(sample))
        if not outcome.ok or not outcome.value.live:
            return False
        return not finite or all(bool(t.isfinite().all()) for t in outcome.value.live)

    def cotangents(self, run: Run, number: int = 0) -> list[torch.Tensor]:
        """Return random cotangents for the live outputs, distinct in every element."""
        generator = torch.Generator().manual_seed(1000 + number)
        made = []
        for t in run.live:
            wide = torch.complex128 if t.is_complex() else torch.float64
            drawn = torch.randn(t.shape, generator=generator, dtype=wide)
            made.append(drawn.to(t.dtype))
        return made

    # Derivatives --------------------------------------------------------------------------------

    def evaluate(self, sample: Sample, live: Sequence[int]) -> Callable[..., torch.Tensor | None]:
        """Return forward as a function of one real vector, the inputs that need gradients."""

        def f(vector: torch.Tensor) -> torch.Tensor | None:
            values = list(sample.values)
            parts = numeric.unreal(vector, sample.tensors)
            for i, part in zip(sample.wanted, parts, strict=True):
                values[i] = part
            moved = replace(sample, values=tuple(values))
            outcome = sandbox.attempt(lambda: self.run(moved, wanted=(), grad=False))
            if not outcome.ok:
                return None
            outputs = outcome.value.outputs
            return numeric.real([outputs[k] for k in live if k < len(outputs)])

        return f

    def slope(
        self,
        sample: Sample,
        direction: torch.Tensor,
        live: Sequence[int],
        first: float | None = None,
    ) -> numeric.Slope:
        """Return forward's one-sided derivatives along a direction, from a first step if one is given."""
        coarse = self.dtype == torch.float32
        f, at = self.evaluate(sample, live), numeric.real(sample.tensors)
        return numeric.slope(
            f,
            at,
            direction,
            self.epsilon,
            steps=3 if coarse else 5,
            first=first or (0.125 if coarse else 2.0**-5),
            rounding=self.rounding(sample, live),
        )

    def shaky(self, sample: Sample, live: Sequence[int]) -> bool:
        """Whether a rounding error of the inputs moves most outputs by far more than that."""
        moved, here = (
            self.rounding(sample, live),
            self.evaluate(sample, live)(numeric.real(sample.tensors)),
        )
        if moved is None or here is None or not len(here):
            return False
        loose = 1e-8 if self.dtype == torch.float64 else 1e-3
        return bool((moved > loose * here.abs().max()).float().mean() > 0.5)

    def rounding(self, sample: Sample, live: Sequence[int]) -> torch.Tensor | None:
        """Return how far forward moves when its inputs move by a rounding error."""
        key = (id(sample), *live)
        if key not in self._rounding:
            f, at = self.evaluate(sample, live), numeric.real(sample.tensors)
            # The sample is kept beside it, so that its id is not given to another.
            self._rounding = {key: (sample, self._scatter(f, at))}
        return self._rounding[key][1]

    def _scatter(
        self, f: Callable[[torch.Tensor], torch.Tensor | None], at: torch.Tensor
    ) -> torch.Tensor | None:
        here = f(at)
        if here is None:
            return None
        generator = torch.Generator().manual_seed(3)
        moved = torch.zeros_like(here)
        for _ in range(2):
            signs = torch.randn(at.shape, generator=generator, dtype=at.dtype).sign()
            there = f(at * (1 + 4 * self.epsilon * signs))
            if there is None or there.shape != here.shape:
                return None
            moved = torch.maximum(moved, (there - here).abs().nan_to_num(torch.inf))
        return moved

    @functools.cached_property
    def repeatable(self) -> bool:
        """Whether forward gives the same values again, from the same inputs and random numbers."""

        def same() -> bool:
            # Another call between the two: what a Function keeps from call to call would show.
            one = self.run(self.base, grad=False).outputs
            self.run(self.base.changed(lambda t: t * 0.5, ""), grad=False)
            two = self.run(self.base, grad=False).outputs
            return all(torch.equal(a, b) for a, b in zip(one, two, strict=True))

        outcome = sandbox.attempt(same)
        return bool(outcome.value) if outcome.ok else self._again()

    def _again(self) -> bool:
        one, two = (self.run(self.base, grad=False).outputs for _ in range(2))
        return all(torch.equal(a, b) for a, b in zip(one, two, strict=True))

    @functools.cached_property
    def single(self) -> bool:
        """Whether a graph can be gone through once only: backward takes away what a second one needs."""
        run = self.run(self.base)
        seeds = self.cotangents(run)
        first = sandbox.attempt(run.gradients, [s.clone() for s in seeds])
        return first.ok and not sandbox.attempt(run.gradients, [s.clone() for s in seeds]).ok

    def ready(self, sample: Sample, run: Run) -> Run:
        """Return a run whose graph can be gone through: a new one where each can but once."""
        return self.run(sample) if self.single else run

    # Findings -----------------------------------------------------------------------------------

    def finding(self, rule: Rule, message: str, **more: Any) -> Finding:
        """Return a finding of a rule; the place of backward and a script are added if not given."""
        sample: Sample = more.pop("sample", self.base)
        body: str = more.pop("body", "")
        method: str = more.pop("method", "backward")
        place = self.subject.method(method)
        if place is not None:
            more.setdefault("file", place.__code__.co_filename)
            more.setdefault("line", place.__code__.co_firstlineno)
        if body:
            from customgrad.checker.script import script

            more["reproduction"] = script(self, sample, body)
        more.setdefault("severity", rule.severity)
        more.setdefault("did", f"{self.subject.called}, then backward")
        more.setdefault("page", links.more(rule.code))
        return Finding(
            code=rule.code, rule=rule.name, message=message, variant=sample.label, **more
        )

    def require(self, condition: bool, reason: str) -> None:
        """Raise `NotJudged` with the reason unless the condition holds."""
        if not condition:
            raise NotJudged(reason)


def directions(sample: Sample, most: int = MOST) -> Iterator[tuple[int | None, torch.Tensor]]:
    """Yield (k, direction): single real coordinates of the inputs, or some and two dense ones."""
    size = numeric.real(sample.tensors).numel()
    chosen = (
        range(size) if size <= most else sorted({math.floor(k * size / most) for k in range(most)})
    )
    for k in chosen:
        one = torch.zeros(size, dtype=torch.float64)
        one[k] = 1.0
        yield k, one
    if size > most:
        generator = torch.Generator().manual_seed(7)
        for _ in range(2):
            yield None, torch.randn(size, generator=generator, dtype=torch.float64)


def wanted_tensors(values: Sequence[Any]) -> list[int]:
    """Return the positions of the floating tensors."""
    return [i for i, v in enumerate(values) if floating(v)]
