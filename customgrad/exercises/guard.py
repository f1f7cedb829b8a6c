"""What an answer may not do: replace parts of torch, or call what it is to write itself."""

import ast
import builtins
import inspect
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import torch
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode

__all__ = ["Guard", "called", "named", "products"]


class Guard:
    """Remembers torch as it was, and says what an answer has replaced or deleted."""

    def __init__(self) -> None:
        """Look at torch now."""
        places = {
            "torch": torch,
            "torch.Tensor": torch.Tensor,
            "torch.autograd": torch.autograd,
            "torch.autograd.Function": torch.autograd.Function,
            "torch.nn": torch.nn,
            "torch.nn.functional": torch.nn.functional,
            "torch.optim": torch.optim,
            "builtins": builtins,
        }
        self.kept = [(words, place, dict(vars(place))) for words, place in places.items()]
        self.state = (torch.get_default_dtype(), torch.get_num_threads())

    def changed(self) -> str:
        """Return the first name that is gone or replaced, or ""; put everything back."""
        # Not forbidden, and felt by nobody else; torch itself replaces names for it.
        torch.set_default_dtype(self.state[0])
        torch.set_num_threads(self.state[1])
        torch.autograd.set_grad_enabled(True)
        found = ""
        for words, place, before in self.kept:
            now = vars(place)
            for name, value in before.items():
                if name.startswith("__") or _original(now.get(name, self)) is _original(value):
                    continue
                what = "replaces" if name in now else "deletes"
                found = (
                    found
                    or f"{what} {words.removeprefix('builtins')}{'.' if words != 'builtins' else ''}{name}"
                )
                setattr(place, name, value)
        return found


def _original(value: Any) -> Any:
    """Return what torch itself has wrapped: importing its compiler wraps some functions anew."""
    try:
        return inspect.unwrap(value) if callable(value) else value
    except ValueError:  # wraps itself
        return value


class _Record(TorchFunctionMode):
    def __init__(self) -> None:
        super().__init__()
        self.names: set[str] = set()

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self.names.add(getattr(func, "__name__", ""))
        return func(*args, **(kwargs or {}))


@contextmanager
def called() -> Iterator[set[str]]:
    """Yield a set that fills with the names of torch's functions that are called meanwhile, from whatever module."""
    with _Record() as record:
        yield record.names


def named(source: str, defines: Iterable[str], forbidden: Iterable[str]) -> tuple[str, int] | None:
    """Return the first forbidden name, such as ``autograd.grad``, that a definition uses, and its line."""
    try:
        tree = ast.parse(source)
    except SyntaxError:
        return None
    names = set(forbidden)
    aliases = {
        alias.asname or alias.name: f"{node.module}.{alias.name}"
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("torch")
        for alias in node.names
    }
    for top in tree.body:
        if getattr(top, "name", None) not in set(defines):
            continue
        for node in ast.walk(top):
            if isinstance(node, ast.Attribute | ast.Name) and isinstance(node.ctx, ast.Load):
                words = _words(node, aliases)
                if any(f".{words}".endswith(f".{name}") and "." in words for name in names):
                    return words, node.lineno
    return None


def _words(node: ast.expr, aliases: Mapping[str, str]) -> str:
    if isinstance(node, ast.Attribute):
        return f"{_words(node.value, aliases)}.{node.attr}"
    return aliases.get(node.id, node.id) if isinstance(node, ast.Name) else "tensor"


class _Products(TorchDispatchMode):
    def __init__(self) -> None:
        super().__init__()
        self.names: list[str] = []

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        name = func.overloadpacket.__name__
        if name in ("mm", "addmm", "bmm", "baddbmm", "mv", "addmv", "dot"):
            self.names.append(name)
        return func(*args, **(kwargs or {}))


@contextmanager
def products() -> Iterator[list[str]]:
    """Yield a list that grows by a name with each matrix product that torch computes meanwhile."""
    with _Products() as record:
        yield record.names
