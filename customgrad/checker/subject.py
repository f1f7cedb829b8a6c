"""What is checked: a Function, its ``apply``, a callable around it, or a module."""

import ast
import functools
import inspect
import linecache
import re
import textwrap
from collections.abc import Callable, Sequence
from typing import Any

import torch

__all__ = ["Subject"]


class Subject:
    """Something differentiable, how it is called, and where it is written."""

    def __init__(self, target: Any) -> None:
        """Take a Function class, its ``apply``, a callable or a module.

        Raises:
            TypeError: for anything else.
        """
        self.target = target
        self.function: type[torch.autograd.Function] | None = None
        self.extra: tuple[torch.Tensor, ...] = ()
        self.extra_names: tuple[str, ...] = ()
        owner = getattr(target, "__self__", None)
        if isinstance(target, type) and issubclass(target, torch.autograd.Function):
            self.function, self.call = target, lambda *args: target.apply(*args)
        elif isinstance(owner, type) and issubclass(owner, torch.autograd.Function):
            self.function, self.call = owner, target
        elif isinstance(target, torch.nn.Module):
            named = dict(target.named_parameters())
            self.extra_names, self.extra = tuple(named), tuple(named.values())
            self.call = functools.partial(_module, target, self.extra_names)
        elif callable(target) and not isinstance(target, type):
            self.call = target
        else:
            raise TypeError(
                f"check: subject must be a torch.autograd.Function, its apply, a callable or an nn.Module, "
                f"got {target!r}; pass the class itself, for example check(MyFunction, (x,))"
            )
        named_like = self.function or target
        self.name: str = getattr(named_like, "__name__", type(named_like).__name__)

    @property
    def called(self) -> str:
        """How a script calls it."""
        return f"{self.name}.apply" if self.function else self.name

    @functools.cached_property
    def combined(self) -> bool:
        """Whether forward takes ctx itself, and there is no setup_context."""
        f = self.function
        return f is not None and f.setup_context is torch.autograd.Function.setup_context

    def names(self, count: int) -> list[str]:
        """Return the names of the first `count` arguments."""
        try:
            source = self.function.forward if self.function else self.target
            if isinstance(source, torch.nn.Module):
                source = source.forward
            parameters = list(inspect.signature(source).parameters.values())
        except (TypeError, ValueError):
            parameters = []
        if self.combined:
            parameters = parameters[1:]
        found: list[str] = []
        for p in parameters:
            if p.kind is p.VAR_POSITIONAL:
                found += [f"{p.name}[{k}]" for k in range(count)]
            elif p.kind is not p.VAR_KEYWORD:
                found.append(p.name)
        given = count - len(self.extra_names)
        found = found[:given] + [f"input {k}" for k in range(len(found[:given]), given)]
        return found + list(self.extra_names)

    # Where it is written ------------------------------------------------------------------------

    def method(self, name: str) -> Callable[..., Any] | None:
        """Return a method of the Function as its author wrote it, decorators taken away."""
        if self.function is None:
            return None
        given = getattr(self.function, name, None)
        if given is None or given is getattr(torch.autograd.Function, name, None):
            return None  # torch's own
        found = inspect.unwrap(given)
        return found if hasattr(found, "__code__") else None

    @property
    def file(self) -> str | None:
        """The file of the class, or of the callable."""
        try:
            return inspect.getsourcefile(self.function or inspect.unwrap(self.target))
        except TypeError:
            return None

    def place(self, name: str) -> str:
        """Say where a method is written: "``backward``, file.py:12"."""
        method = self.method(name)
        if method is None:
            return name
        code = method.__code__
        return f"{name} ({_short(code.co_filename)}:{code.co_firstlineno})"

    def lines(self, name: str) -> list[tuple[int, str]]:
        """Return the numbered source lines of a method, comments and docstrings taken out."""
        method = self.method(name)
        if method is None:
            return []
        try:
            lines, first = inspect.getsourcelines(method)
        except (OSError, TypeError):
            return []
        hidden: set[int] = set()
        try:
            tree = ast.parse(textwrap.dedent("".join(lines)))
        except SyntaxError:
            tree = ast.Module([], [])
        for node in ast.walk(tree):
            if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
                hidden.update(range(node.lineno, (node.end_lineno or node.lineno) + 1))
        return [
            (first + k, re.sub(r"\s#.*$", "", line.rstrip()))
            for k, line in enumerate(lines)
            if k + 1 not in hidden and not line.lstrip().startswith("#")
        ]

    def find(self, pattern: str, *methods: str) -> str:
        """Return " (file.py:12: `the line`)" for the first line that matches, or nothing."""
        for name in methods or ("backward", "forward", "setup_context"):
            method = self.method(name)
            for number, line in self.lines(name):
                if method is not None and re.search(pattern, line):
                    return f" ({_short(method.__code__.co_filename)}:{number}: `{line.strip()}`)"
        return ""

    def quoted(self, place: tuple[str, int] | None) -> str:
        """Return " (file.py:12: `the line`)" for a file and a line."""
        if place is None:
            return ""
        text = linecache.getline(*place).strip()
        return f" ({_short(place[0])}:{place[1]}: `{text}`)"

    @property
    def files(self) -> Sequence[str | None]:
        """The files in which its methods are written."""
        methods = (self.method(n) for n in ("forward", "setup_context", "backward", "vmap", "jvp"))
        return [m.__code__.co_filename for m in methods if m is not None] + [self.file]

    @property
    def said(self) -> str:
        """What the docstrings of the class, or callable, and of its module say."""
        target = self.function or self.target
        module = inspect.getmodule(target)
        told = (getattr(t, "__doc__", None) or "" for t in (target, module))
        return " ".join(told)

    def source(self) -> str:
        """Return the lines of a script that bring it: an import, or its own source."""
        target = self.function or self.target
        module = getattr(target, "__module__", "") or ""
        plain = module not in ("", "__main__", "builtins") and "<" not in module
        if plain and getattr(target, "__qualname__", self.name) == self.name:
            return f"from {module} import {self.name}"
        try:
            return textwrap.dedent(inspect.getsource(target)).rstrip()
        except (OSError, TypeError):
            return f"# … and {self.name} itself"


def _module(module: torch.nn.Module, names: Sequence[str], *args: Any) -> Any:
    """Call a module with its parameters given after its inputs, and buffers that are its own for one call."""
    count = len(args) - len(names)
    chosen = {name: buffer.detach().clone() for name, buffer in module.named_buffers()}
    chosen |= dict(zip(names, args[count:], strict=True))
    return torch.func.functional_call(module, chosen, args[:count])


def _short(path: str) -> str:
    return re.split(r"[\\/]", path)[-1]
