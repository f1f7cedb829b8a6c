"""What a Function keeps for backward: its nodes, the saved tensors, the attributes of ctx."""

import ast
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from customgrad.checker import _private
from customgrad.checker.exam import Exam, Run
from customgrad.checker.samples import floating

__all__ = [
    "Kept",
    "attributes",
    "intermediates",
    "kept",
    "line_of",
    "nodes",
    "once",
    "saved",
    "storage",
]

DEEP = 2
"""How many containers on ctx, one in another, are looked into."""


def nodes(run: Run) -> list[Any]:
    """Return the nodes of custom Functions in the graph of a run, the one nearest the outputs first."""
    found: list[Any] = []
    seen: set[int] = set()
    waiting = [t.grad_fn for t in run.live]
    while waiting:
        node = waiting.pop(0)
        if node is None or id(node) in seen:
            continue
        seen.add(id(node))
        if isinstance(node, torch.autograd.function.BackwardCFunction):
            found.append(node)
        waiting += [following for following, _ in node.next_functions]
    return found


def storage(tensor: torch.Tensor) -> int:
    """Return the address of the memory that a tensor is a view of; 0 where it has none."""
    try:
        return tensor.untyped_storage().data_ptr()
    except (NotImplementedError, RuntimeError):
        return 0


@dataclass(frozen=True)
class Kept:
    """A tensor that a node keeps."""

    name: str
    """How the author calls it: `ctx.mask`, or the argument of save_for_backward."""
    tensor: torch.Tensor
    role: str
    """`input`, `output`, `detached` (the memory of one of them, without its graph) or `intermediate`."""
    of: str = ""
    """The name of the input that it is."""


def _inside(name: str, value: Any, deep: int) -> Iterator[tuple[str, torch.Tensor]]:
    if isinstance(value, torch.Tensor):
        yield name, value
    elif deep and isinstance(value, dict):
        for key, item in value.items():
            yield from _inside(f"{name}[{key!r}]", item, deep - 1)
    elif deep and isinstance(value, list | tuple):
        for k, item in enumerate(value):
            yield from _inside(f"{name}[{k}]", item, deep - 1)


def attributes(node: Any) -> list[tuple[str, torch.Tensor]]:
    """Return the tensors among the attributes of ctx, in lists, tuples and dicts, too."""
    found: list[tuple[str, torch.Tensor]] = []
    for name, value in vars(node).items():
        if name not in _private.OWN_ATTRIBUTES:
            found += _inside(f"ctx.{name}", value, DEEP)
    return found


def saved(node: Any) -> list[torch.Tensor | None]:
    """Return the tensors that save_for_backward kept; empty where they cannot be read."""
    try:
        return list(node.saved_tensors)
    except Exception:
        return []


def saved_names(source: str, count: int) -> list[str]:
    """Return how the author calls each saved tensor, from the arguments of save_for_backward."""
    names: list[str] = []
    try:
        tree = ast.parse(textwrap.dedent(source))
    except SyntaxError:
        tree = ast.Module([], [])
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and node.func.attr == "save_for_backward"
            and len(node.args) == count
            and not any(isinstance(a, ast.Starred) for a in node.args)
        ):
            names = [ast.unparse(a) for a in node.args]
    return names or [f"saved tensor {k}" for k in range(count)]


def _source(exam: Exam) -> str:
    for name in ("setup_context", "forward"):
        lines = [line for _, line in exam.subject.lines(name)]
        if any("save_for_backward" in line for line in lines):
            return "\n".join(lines)
    return ""


def kept(exam: Exam, run: Run, node: Any) -> tuple[list[Kept], list[Kept]]:
    """Return what a node keeps: by save_for_backward, and on ctx."""
    passed = {storage(a): i for i, a in enumerate(run.args) if isinstance(a, torch.Tensor)}
    came = {storage(t) for t in run.outputs}
    passed.pop(0, None)
    came.discard(0)

    live = {storage(a) for a in (*run.leaves, *run.live)}

    def told(name: str, tensor: torch.Tensor) -> Kept:
        where = storage(tensor)
        if where in live and not tensor.requires_grad:
            return Kept(
                name, tensor, "detached", exam.names[passed[where]] if where in passed else ""
            )
        if where in passed:
            return Kept(name, tensor, "input", exam.names[passed[where]])
        return Kept(name, tensor, "output" if where in came else "intermediate")

    tensors = saved(node)
    names = saved_names(_source(exam), len(tensors))
    first = [told(n, t) for n, t in zip(names, tensors, strict=True) if t is not None]
    return first, [told(n, t) for n, t in attributes(node)]


def intermediates(exam: Exam) -> list[Kept]:
    """Return the floating tensors that a node keeps which are neither input nor output, and vary with the inputs."""
    one = exam.run(exam.base)
    other = exam.run(exam.base.changed(lambda t: t * 0.875 + 0.03125, ""))
    found: list[Kept] = []
    for a, b in zip(nodes(one), nodes(other), strict=False):
        pairs = zip(
            [k for part in kept(exam, one, a) for k in part],
            [k for part in kept(exam, other, b) for k in part],
            strict=False,
        )
        found += [
            p
            for p, q in pairs
            if p.role in ("intermediate", "detached")
            and floating(p.tensor)
            and not (p.tensor.shape == q.tensor.shape and torch.equal(p.tensor, q.tensor))
        ]
    return found


def once(exam: Exam, run: Run) -> str:
    """Name the decorator that declares a backward as differentiable only once; empty if there is none."""
    classes = [exam.subject.function, *(_private.function_of(node) for node in nodes(run))]
    for function in classes:
        layer: Any = getattr(function, "backward", None)
        while layer is not None:
            path = getattr(getattr(layer, "__code__", None), "co_filename", "").replace("\\", "/")
            if path.endswith("torch/autograd/function.py"):
                return "torch.autograd.function.once_differentiable"
            if path.endswith("customgrad/once.py"):
                return "customgrad.once_differentiable"
            layer = getattr(layer, "__wrapped__", None)
    return ""


def line_of(exam: Exam, patterns: Sequence[tuple[str, str]], *methods: str) -> str:
    """Return the words of the first pattern that a source line matches, with the line."""
    for pattern, words in patterns:
        if place := exam.subject.find(pattern, *methods):
            return f"{words}{place}"
    return ""
