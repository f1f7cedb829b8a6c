"""Find what a command line names: files, folders, dotted modules, the Functions in them, their samples.

A file is imported as its author would: from the root of its package, or from its own folder.
"""

import ast
import contextlib
import importlib
import importlib.util
import inspect
import io
import re
import sys
import tokenize
import traceback
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import torch

from customgrad.checker.rules import RULES

__all__ = ["Silence", "Unusable", "evaluate", "found", "functions", "load", "samples", "silence"]

SKIPPED = {"__pycache__", "node_modules", "site-packages", "build", "dist", "venv"}
"""Folders that hold nothing of the user's own; those with a leading dot are skipped, too."""
WORTH = re.compile(r"\bFunction\b|\bdef (backward|vjp|forward)\b")
"""What a file's text has if it can define a Function; no other one of a folder is imported."""
COMMENT = re.compile(r"#.*?\bcustomgrad:\s*ignore\b(?:\[(?P<codes>[^\]]*)\])?")


class Unusable(Exception):
    """What the command line names cannot be checked; the text says where, why and what to do."""


# Files and modules ------------------------------------------------------------------------------


def found(target: str) -> tuple[list[Path | str], str]:
    """Return the files (or the dotted module) that a target stands for, and the name after ``::``.

    Raises:
        Unusable: where there is no such file, folder or module.
    """
    place, _, name = target.partition("::")
    path = Path(place)
    if path.is_dir():
        if name:
            raise Unusable(f"{target}: a name needs a file: {place}/FILE.py::{name}")
        return [f for f in _files(path) if WORTH.search(_text(f))], ""
    if path.is_file():
        if path.suffix != ".py":
            raise Unusable(f"{place}: not a Python file (.py)")
        return [path], name
    if re.fullmatch(r"\w+(\.\w+)*", place) and not place.endswith(".py"):
        with _importing(Path.cwd()):
            spec = _spec(place)
        if spec is not None:
            if spec.submodule_search_locations:
                folders = [Path(p) for p in spec.submodule_search_locations]
                files = [f for folder in folders for f in _files(folder) if WORTH.search(_text(f))]
                return ([place], name) if name else (list(files), "")
            return [place], name
    raise Unusable(f"{place}: no such file, folder or module")


def load(where: Path | str) -> ModuleType:
    """Import a file, or a module by its dotted name.

    Raises:
        Unusable: where the import raises or exits, with the line that did.
    """
    if isinstance(where, str):
        with _importing(Path.cwd()), _told(where, None):
            return importlib.import_module(where)
    path = where.resolve()
    root = path.parent
    while (root / "__init__.py").is_file() and root.parent != root:
        root = root.parent
    parts = path.relative_to(root).with_suffix("").parts
    if len(parts) > 1 or parts == ("__init__",):
        name = ".".join(parts).removesuffix(".__init__")
        with _importing(root), _told(str(where), path):
            module = importlib.import_module(name)
        if not _same(module, path):
            raise Unusable(
                f"{where}: imports as {name}, which is another file, {module.__file__}; "
                "run from an environment in which this one comes first"
            )
        return module
    name = parts[0]
    known = sys.modules.get(name)
    if known is not None and _same(known, path):
        return known
    if known is not None or name in sys.stdlib_module_names or not name.isidentifier():
        plain = re.sub(r"\W", "_", name)
        name = f"checked_{plain}_{zlib.crc32(str(path).encode()):08x}"
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        with _importing(root), _told(str(where), path):
            spec.loader.exec_module(module)
    except BaseException:
        sys.modules.pop(name, None)
        raise
    return module


def _files(folder: Path) -> list[Path]:
    """Return the Python files below a folder, in order."""
    return sorted(
        path
        for path in folder.rglob("*.py")
        if not any(p in SKIPPED or p.startswith(".") for p in path.relative_to(folder).parts)
    )


def _text(path: Path) -> str:
    """Return a Python file's text, in the encoding that it declares."""
    try:
        with tokenize.open(path) as file:
            return file.read()
    except (OSError, SyntaxError, UnicodeDecodeError):
        return path.read_text(encoding="utf-8", errors="replace")


def _spec(name: str) -> Any:
    try:
        return importlib.util.find_spec(name)
    except (ImportError, AttributeError, ValueError):
        return None


def _same(module: ModuleType, path: Path) -> bool:
    file = getattr(module, "__file__", None)
    return file is not None and Path(file).resolve() == path


@contextlib.contextmanager
def _importing(root: Path) -> Iterator[None]:
    """Put a folder first on the path, and what an import prints on stderr."""
    if str(root) not in sys.path:
        sys.path.insert(0, str(root))  # stays: a Function may import when it is called
    importlib.invalidate_caches()
    with contextlib.redirect_stdout(sys.stderr):
        yield


@contextlib.contextmanager
def _told(shown: str, path: Path | None) -> Iterator[None]:
    """Turn whatever an import raises into one message with its line."""
    try:
        yield
    except Unusable:
        raise
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        line, words = _line(error, path), _words(error)
        raise Unusable(f"{line or shown}: cannot be imported: {words}") from None


def _words(error: BaseException) -> str:
    if isinstance(error, SystemExit):
        return f"it exits (SystemExit({error.code!r})) where it should only define"
    if isinstance(error, SyntaxError):
        return f"{type(error).__name__}: {error.msg}"
    text = str(error).strip().splitlines()
    return f"{type(error).__name__}: {text[0]}" if text else type(error).__name__


def _line(error: BaseException, path: Path | None) -> str:
    """Return file:line of the user's code that an import error comes from."""
    if isinstance(error, SyntaxError) and error.filename:
        return f"{_near(error.filename)}:{error.lineno}"
    frames = [f for f in traceback.extract_tb(error.__traceback__) if "<frozen" not in f.filename]
    own = [f for f in frames if path is not None and Path(f.filename).resolve() == path]
    # The last line that is neither of this package nor of an installed one is the user's.
    here = Path(__file__).resolve().parent
    other = [
        f
        for f in frames
        if "site-packages" not in f.filename
        and not Path(f.filename).resolve().is_relative_to(here)
        and not Path(f.filename).resolve().is_relative_to(Path(contextlib.__file__).parent)
    ]
    chosen = (other or own)[-1:] or []
    return f"{_near(chosen[0].filename)}:{chosen[0].lineno}" if chosen else ""


def _near(file: str) -> str:
    """Return a path as seen from the working directory, where it lies below it."""
    path, here = Path(file).resolve(), Path.cwd().resolve()
    return path.relative_to(here).as_posix() if path.is_relative_to(here) else file


# Functions and their samples --------------------------------------------------------------------


def functions(module: ModuleType, name: str = "") -> list[tuple[str, Any]]:
    """Return (name, subject): what the name means in a module, or all Functions defined in it.

    Raises:
        Unusable: where the module has no such name, or it is nothing that can be checked.
    """
    if name:
        value: Any = module
        for part in name.split("."):
            if not hasattr(value, part):
                has = ", ".join(n for n, _ in functions(module)) or "none"
                raise Unusable(f"{_shown(module)} has no {name}; the Functions in it: {has}")
            value = getattr(value, part)
        return [(name, value)]
    return [
        (key, value)
        for key, value in vars(module).items()
        if isinstance(value, type)
        and issubclass(value, torch.autograd.Function)
        and value.__module__ == module.__name__
        and value.__name__ == key
        and value.forward is not torch.autograd.Function.forward
    ]


def samples(module: ModuleType, name: str, subject: Any) -> Any:
    """Return the function (or the tuple) that gives a subject's inputs; None where there is none.

    The class's own ``sample_inputs`` comes first, then ``sample_inputs_NAME`` beside it, then
    ``sample_inputs``.
    """
    own = getattr(subject, "sample_inputs", None)
    last = name.rpartition(".")[2]
    beside = getattr(module, f"sample_inputs_{last}", None)
    for given in (own, beside, getattr(module, "sample_inputs", None)):
        if given is not None:
            return given
    return None


def _shown(module: ModuleType) -> str:
    file = getattr(module, "__file__", None)
    return _near(file) if file else module.__name__


# Inputs typed on the command line ---------------------------------------------------------------

PLAIN = (torch.Tensor, bool, int, float, complex, str, type(None), torch.dtype, torch.device)
PYTHON = {
    "float": float,
    "int": int,
    "bool": bool,
    "range": range,
    "sum": sum,
    "min": min,
    "max": max,
}
"""Names that mean Python's own in an expression, although torch has them, too."""


def evaluate(expression: str, seed: int = 0) -> Callable[[], Any]:
    """Return a function that makes the inputs which an expression with torch's names describes.

    Floating numbers are float64 unless the expression says otherwise.

    Raises:
        Unusable: where the expression cannot be evaluated, or holds something else than tensors,
            numbers, strings, None, and lists, tuples and dicts of these.
    """
    names = {**vars(torch), "torch": torch, "inf": torch.inf, "nan": torch.nan, **PYTHON}
    names.pop("__builtins__", None)
    before = torch.get_default_dtype()
    state = torch.get_rng_state()
    torch.set_default_dtype(torch.float64)
    torch.manual_seed(seed)
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            value = eval(expression, names)
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        raise Unusable(
            f"--inputs {expression!r}: {_words(error)}; write what the Function is called with, "
            'for example --inputs "randn(3, 4), 0.5"'
        ) from None
    finally:
        torch.set_default_dtype(before)
        torch.set_rng_state(state)
    if not isinstance(value, tuple):
        several = isinstance(value, list) and value and all(isinstance(v, tuple) for v in value)
        value = value if several else (value,)
    _plain(value, expression)
    return lambda: value


def _plain(value: Any, expression: str) -> None:
    if isinstance(value, list | tuple):
        for item in value:
            _plain(item, expression)
    elif isinstance(value, dict):
        for item in value.values():
            _plain(item, expression)
    elif not isinstance(value, PLAIN):
        raise Unusable(
            f"--inputs {expression!r}: holds a {type(value).__name__}; an expression may hold tensors, "
            "numbers, strings, None, and lists of these. For anything else write sample_inputs() "
            "beside the class"
        )


# Comments that silence --------------------------------------------------------------------------


@dataclass(frozen=True)
class Silence:
    """What a comment at a class silences."""

    codes: tuple[str, ...] = ()
    everything: bool = False
    problems: tuple[str, ...] = ()
    """What is wrong with the comment itself."""

    def covers(self, code: str) -> bool:
        """Whether findings with this code are silenced."""
        return self.everything or any(code.startswith(c) for c in self.codes)


def silence(subject: Any) -> Silence:
    """Read ``# customgrad: ignore[CG203]`` at a class: on its line, or above it and its decorators."""
    try:
        file = inspect.getsourcefile(subject)
        text = _text(Path(file)) if file else ""
        tree = ast.parse(text)
    except (OSError, TypeError, SyntaxError):
        return Silence()
    node = _class(tree, getattr(subject, "__qualname__", "").split("."))
    if node is None:
        return Silence()
    first = min([node.lineno, *(d.lineno for d in node.decorator_list)])
    codes: list[str] = []
    problems: list[str] = []
    everything = False
    for line, comment in _comments(text, first, node.lineno):
        match = COMMENT.search(comment)
        if match is None:
            continue
        where = f"{_near(str(file))}:{line}"
        if match["codes"] is None:
            everything = True
            continue
        words = [w.strip().upper() for w in match["codes"].split(",") if w.strip()]
        if not words:
            problems.append(f"{where}: ignore[] names no code; nothing is silenced")
        for word in words:
            if any(rule.code.startswith(word) for rule in RULES):
                codes.append(word)
            else:
                problems.append(
                    f"{where}: ignore[{word}]: no rule has this code; nothing is silenced"
                )
    return Silence(tuple(codes), everything, tuple(problems))


def _class(tree: ast.AST, names: list[str]) -> ast.ClassDef | None:
    """Return the last class of this qualified name; the last one is what the module holds."""
    node: ast.AST = tree
    for name in names:
        inner = [n for n in ast.walk(node) if isinstance(n, ast.ClassDef) and n.name == name]
        inner = [n for n in inner if n in getattr(node, "body", [])] or inner
        if not inner:
            return None
        node = inner[-1]
    return node if isinstance(node, ast.ClassDef) else None


def _comments(text: str, first: int, start: int) -> Iterator[tuple[int, str]]:
    """Yield (line, comment) from the line above the class to the end of its heading."""
    try:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            line = token.start[0]
            alone = token.type == tokenize.COMMENT and not token.line[: token.start[1]].strip()
            if token.type == tokenize.COMMENT and (line >= first or (line == first - 1 and alone)):
                yield line, token.string
            if token.type == tokenize.NEWLINE and line >= start:
                return
    except (tokenize.TokenError, IndentationError):
        return
