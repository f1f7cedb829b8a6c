"""What backward returns before the engine repairs it, and forward as torch itself would differentiate it."""

import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from torch.overrides import TorchFunctionMode

from customgrad.checker import sandbox
from customgrad.checker.exam import Exam, Run
from customgrad.checker.samples import Sample, flat, floating

__all__ = ["Birth", "Raw", "composed", "pairs", "plain", "raw"]


@dataclass(frozen=True)
class Birth:
    """Where in backward an infinity or a NaN came up that was in none of the operands."""

    kind: str
    """"inf" or "NaN"."""
    operation: str
    place: tuple[str, int] | None


class Watch(TorchFunctionMode):
    """Looks at each operation of backward for the first infinity and the first NaN."""

    def __init__(self, files: Sequence[str | None]) -> None:
        """Take the files in which the Function is written."""
        self.files, self.births = files, list[Birth]()

    def __torch_function__(
        self, func: Callable[..., Any], types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        """Run the operation, and compare its result with its operands."""
        result = func(*args, **(kwargs or {}))
        made = [t for t in flat(result) if floating(t)]
        taken = [t for t in flat([*args, *(kwargs or {}).values()]) if floating(t)]
        for kind, test in (("inf", torch.isinf), ("NaN", torch.isnan)):
            if any(b.kind == kind for b in self.births) or not made:
                continue
            if any(bool(test(t).any()) for t in made) and not any(
                bool(test(t).any()) for t in taken
            ):
                frame: Any = sys._getframe(1)
                while frame is not None and frame.f_code.co_filename not in self.files:
                    frame = frame.f_back
                place = (frame.f_code.co_filename, frame.f_lineno) if frame else None
                name = getattr(func, "__name__", str(func)).strip("_").lstrip("i")
                self.births.append(Birth(kind, name, place))
        return result


@dataclass
class Raw:
    """One call of backward: what it was given and what it returned, as it was."""

    run: Run
    taken: list[Any] = field(default_factory=list)
    returned: list[Any] = field(default_factory=list)
    """One value for each argument of forward."""
    gradients: list[torch.Tensor | None] = field(default_factory=list)
    """Of each leaf, after the engine's repair."""
    births: list[Birth] = field(default_factory=list)
    """Where infinities and NaNs came up, if that was watched."""


def raw(
    exam: Exam, sample: Sample, wanted: Sequence[int] | None = None, *, watch: bool = False
) -> Raw:
    """Run forward and backward once, and keep what backward returned.

    Raises whatever the Function raises.
    """
    watcher = Watch(exam.subject.files)
    function = exam.subject.function
    exam.require(function is not None, "needs the Function's class; a callable was given")
    assert function is not None
    user = function.backward
    exam.require(user is not torch.autograd.Function.backward, "the Function has no backward")
    found: list[Raw] = []

    def backward(ctx: Any, *cotangents: Any) -> Any:
        if watch:
            with watcher:
                returned = user(ctx, *cotangents)
        else:
            returned = user(ctx, *cotangents)
        found[0].taken = list(cotangents)
        found[0].returned = list(returned) if isinstance(returned, tuple) else [returned]
        return returned

    spy: Any = type(function.__name__, (function,), {"backward": staticmethod(backward)})
    run = exam.run(sample, wanted=wanted, call=spy.apply)
    found.append(Raw(run))
    found[0].gradients = run.gradients(exam.cotangents(run))
    found[0].births = watcher.births
    return found[0]


class Context:
    """Stands in for ctx where forward is run as plain torch operations."""

    def __init__(self, wanted: Sequence[bool]) -> None:
        """Take which arguments need a gradient."""
        self.needs_input_grad = tuple(wanted)
        self.saved_tensors: tuple[Any, ...] = ()

    def save_for_backward(self, *tensors: Any) -> None:
        """Keep them."""
        self.saved_tensors = tensors

    def save_for_forward(self, *tensors: Any) -> None:
        """Forward mode is not used."""

    def mark_dirty(self, *tensors: Any) -> None:
        """Autograd sees what is changed in place."""

    def mark_non_differentiable(self, *tensors: Any) -> None:
        """Keep which outputs have no gradient."""
        self.dead = tensors

    def set_materialize_grads(self, value: bool) -> None:
        """Do nothing: autograd's own nodes do as they like."""


def composed(exam: Exam, sample: Sample) -> Run | None:
    """Run the Function's forward under torch's own autograd; None where that is not possible.

    What forward computes by other means than torch's operations, or detaches, has no or only a
    part of its gradient: compare it with backward's at the inputs as given before you rely on it.
    """
    function = exam.subject.function
    if function is None:
        return None

    def call(*args: Any) -> Any:
        needed = [isinstance(a, torch.Tensor) and a.requires_grad for a in args]
        moved = [a.clone() if n else a for a, n in zip(args, needed, strict=True)]
        if exam.subject.combined:
            context = Context(needed)
            result = function.forward(context, *moved)
            dead = [id(t) for t in getattr(context, "dead", ())]
        else:
            result, dead = function.forward(*moved), []
        if isinstance(result, tuple):
            return tuple(
                t.detach() if isinstance(t, torch.Tensor) and id(t) in dead else t for t in result
            )
        return result

    outcome = sandbox.attempt(lambda: exam.run(sample, call=call))
    if not outcome.ok or not outcome.value.live:
        return None
    run: Run = outcome.value
    return run


def pairs(seen: Raw, sample: Sample) -> Iterator[tuple[int, torch.Tensor, torch.Tensor]]:
    """Yield (position, raw gradient, input) for inputs that need one."""
    for i in sample.wanted:
        got: Any = seen.returned[i] if i < len(seen.returned) else None
        if isinstance(got, torch.Tensor):
            yield i, got, sample.values[i]


def plain(dtype: torch.dtype) -> str:
    """Return a dtype's name without torch."""
    return str(dtype).removeprefix("torch.")
