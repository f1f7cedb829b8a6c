"""State beyond one call: what the class, its module and closures hold, and whether it grows."""

import collections
import contextlib
import gc
import types
import weakref
from collections.abc import Iterator
from typing import Any

import torch

from customgrad.checker import graph, sandbox
from customgrad.checker.exam import Exam

__all__ = ["CALLS", "counts", "generators", "growing", "leaves", "places", "undisturbed"]

CALLS = 6
METHODS = ("forward", "setup_context", "backward")
MOST = 4096
"""How many items of a container are looked at."""


def _tensors(value: Any, deep: int = 3) -> int:
    """Count the tensors in a value."""
    if isinstance(value, torch.Tensor):
        return 1
    if not deep:
        return 0
    if isinstance(value, dict):
        items = [*value.keys(), *value.values()] if len(value) < MOST else []
        return sum(_tensors(v, deep - 1) for v in items)
    if isinstance(value, list | tuple | set | collections.deque):
        return sum(_tensors(v, deep - 1) for v in list(value)[:MOST])
    plain = not isinstance(value, type | types.ModuleType | types.FunctionType | torch.nn.Module)
    own = getattr(value, "__dict__", None) if plain else None
    return sum(_tensors(v, deep - 1) for v in list(own.values())) if isinstance(own, dict) else 0


def places(exam: Exam) -> Iterator[tuple[str, Any]]:
    """Yield (name, value) of all that the methods can reach without their arguments."""
    function = exam.subject.function
    for owner in function.__mro__ if function else ():
        if not owner.__module__.startswith("torch."):
            for name, value in list(vars(owner).items()):
                yield f"{owner.__name__}.{name}", value
    seen: set[int] = set()
    for method in filter(None, map(exam.subject.method, METHODS)):
        code = method.__code__
        if code.co_filename.replace("\\", "/").endswith("torch/autograd/function.py"):
            continue
        scope = getattr(method, "__globals__", {})
        used = [n for n in code.co_names if n in scope]
        for name in used:
            if id(scope[name]) not in seen:
                seen.add(id(scope[name]))
                yield name, scope[name]
        for name, cell in zip(
            code.co_freevars, getattr(method, "__closure__", None) or (), strict=False
        ):
            try:
                yield name, cell.cell_contents
            except ValueError:
                continue
        for name, value in (getattr(method, "__dict__", None) or {}).items():
            yield f"{method.__name__}.{name}", value


def generators(exam: Exam) -> bool:
    """Whether a generator object is passed or held: its numbers go on from call to call."""
    values = [*exam.base.values, *(value for _, value in places(exam))]
    kinds = ("Generator", "RandomState", "Random")
    return any(type(v).__name__ in kinds for v in values)


def leaves(exam: Exam) -> list[torch.Tensor]:
    """Return the trainable tensors that the methods can reach, arguments that are modules among them."""
    found: dict[int, torch.Tensor] = {}

    def look(value: Any, deep: int) -> None:
        if isinstance(value, torch.Tensor):
            if value.requires_grad and value.is_leaf:
                found[id(value)] = value
        elif isinstance(value, torch.nn.Module):
            found.update({id(p): p for p in value.parameters()})
        elif deep and isinstance(value, dict) and len(value) < MOST:
            for item in list(value.values()):
                look(item, deep - 1)
        elif deep and isinstance(value, list | tuple) and len(value) < MOST:
            for item in list(value):
                look(item, deep - 1)
        else:
            look(getattr(value, "__self__", None), 0) if deep else None

    for value in exam.given[0].values:
        look(value, 2)
    for _, value in places(exam):
        look(value, 2)
    return list(found.values())


@contextlib.contextmanager
def undisturbed(exam: Exam) -> Iterator[None]:
    """Put .grad of what the methods can reach back: a backward of checkpoint's kind fills it."""
    kept = [(t, t.grad, None if t.grad is None else t.grad.clone()) for t in leaves(exam)]
    try:
        yield
    finally:
        for tensor, grad, values in kept:
            tensor.grad = grad
            if grad is not None and values is not None:
                grad.detach().copy_(values)


def counts(exam: Exam) -> dict[str, int]:
    """Return how many tensors each of these holds."""
    found: dict[str, int] = {}
    for name, value in places(exam):
        try:
            found[name] = _tensors(value)
        except Exception:
            continue
    return found


def growing(exam: Exam) -> tuple[str, str, str] | None:
    """Return the name of what grows from call to call, how it grew, and the line; None if nothing does."""
    grown = [counts(exam)]
    refs: list[list[Any]] = []
    kinds = (torch.Tensor, torch.autograd.function.BackwardCFunction)

    def call(k: int) -> None:
        run = exam.run(exam.base.changed(lambda t: t * (1 - k / 64), ""))
        run.gradients(retain_graph=False)
        held = [*run.leaves, *run.args, *run.outputs, *graph.nodes(run)]
        refs.append([weakref.ref(t) for t in held if isinstance(t, kinds)])

    for k in range(CALLS):
        if not sandbox.attempt(call, k).ok:
            return None
        if k in (CALLS // 2 - 1, CALLS - 1):
            grown.append(counts(exam))
    more = [
        name
        for name, count in grown[2].items()
        if count - grown[1].get(name, 0) >= CALLS // 2
        and grown[1].get(name, 0) - grown[0].get(name, 0) >= CALLS // 2
    ]
    if more:
        name = more[0]
        short = name.split(".")[-1]
        line = exam.subject.find(
            rf"\b{short}\b.*(append|add|\]\s*=)", "setup_context", "forward", "backward"
        ) or exam.subject.find(rf"\b{short}\b", "setup_context", "forward", "backward")
        return name, f"{grown[0].get(name, 0)}, {grown[1][name]}, then {grown[2][name]}", line
    alive: list[int] = []
    for collect in (False, True):  # collecting takes long, and mostly nothing is alive before
        if collect:
            gc.collect()
        alive = [sum(r() is not None for r in row) for row in refs]
        if sum(count > 0 for count in alive) < CALLS - 1:
            return None
    line = exam.subject.find(
        r"\.append\(|\]\s*=|cache|\.add\(", "setup_context", "forward", "backward"
    )
    return "something outside the call", str(sum(alive)), line
