"""Judges your solution of the ReLU problem: one row per test, and why a test failed.

    python -m customgrad.lessons.relu.harness my_relu.py

The file must define ``CustomReLU``, a ``torch.autograd.Function``; ``custom_relu_demo`` is
optional. It runs in a process of its own, with a time limit and without input; what it
prints is shown below the rows. Only finite numbers are judged.
"""

# torch is imported where it is used: the process that only reports does without it.
import argparse
import ast
import inspect
import io
import json
import os
import queue
import re
import signal
import subprocess
import sys
import textwrap
import threading
import tokenize
import tomllib
import types
import warnings
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import IO, Any, NoReturn

__all__ = ["TESTS", "Report", "Row", "judge", "main", "render", "run"]

WIDTH = 72
NARROW, NAME, KEY = 40, 23, 9  # columns of the table, which is read on phones, too
NOT_RUN = "not run"
DEMO = {"output": [0.0, 0.0, 0.0, 1.0, 2.0], "grad": [0.0, 0.0, 0.0, 1.0, 1.0]}
RUN = "Run CustomReLU.apply(x).sum().backward() for the traceback."
SPECIAL = ("0-d tensor", "empty tensor", "transposed matrix", "dtypes kept", "demo")

Apply = Callable[[Any], Any]
Send = Callable[[dict[str, Any]], None]


# --- the tests: each returns what it saw, and passes when that is what it expects ----------------


def _tensor(*values: float, dtype: str = "float32") -> Any:
    import torch

    return torch.tensor(values, dtype=getattr(torch, dtype))


def _plain(values: Any) -> str:
    """[0, 0.25] for [0.0, 0.25]; -0.0 shows as 0."""
    if isinstance(values, list):
        return "[" + ", ".join(map(_plain, values)) + "]"
    return f"{values + 0.0:g}"


def _show(result: Any) -> str:
    import torch

    if not isinstance(result, torch.Tensor):
        return "None" if result is None else f"a {type(result).__name__}, no tensor"
    return _plain(result.detach().tolist())


def _gradient(apply: Apply, x: Any, g: Any = None) -> Any:
    """Return the gradient of x for the cotangent g, or for ones."""
    import torch

    x = x.detach().requires_grad_()
    output = apply(x)
    if not isinstance(output, torch.Tensor):
        raise TypeError(f"forward returned {_show(output)}")
    g = torch.ones_like(output) if g is None else g
    return torch.autograd.grad(output, x, g, allow_unused=True)[0]


def _two_calls(apply: Apply) -> str:
    inputs = [x.requires_grad_() for x in (_tensor(-1, 1), _tensor(1, -1))]
    one, two = map(apply, inputs)
    (one.sum() + two.sum()).backward()
    return " ".join(_show(x.grad) for x in inputs)


def _backward_twice(apply: Apply) -> str:
    x = _tensor(-1, 1).requires_grad_()
    total = apply(x).sum()
    total.backward(retain_graph=True)
    total.backward()
    return _show(x.grad)


def _left_alone(apply: Apply, which: int) -> str:
    x, g = _tensor(-1, 2), _tensor(10, 20)
    _gradient(apply, x, g)
    return _show((x, g)[which])


def _both(apply: Apply, x: Any) -> str:
    return f"{_show(apply(x))}, {_show(_gradient(apply, x))}"


def _transposed(apply: Apply) -> str:
    x = _tensor(1, 2, -3, 4).view(2, 2).T
    g = _tensor(5, 6, 7, 8).view(2, 2).T
    return _show(_gradient(apply, x, g))


def _dtypes(apply: Apply) -> str:
    names = []
    for dtype in ("float16", "float64"):
        x = _tensor(-1, 2, dtype=dtype)
        _gradient(apply, x)
        names.append(str(apply(x).dtype).removeprefix("torch."))
    return ", ".join(names)


def _saved(apply: Apply) -> str:
    import torch

    saved: list[Any] = []
    with torch.autograd.graph.saved_tensors_hooks(saved.append, lambda nothing: nothing):
        apply(_tensor(-1, 2).requires_grad_())
    return f"{len(saved)} tensor" + "s" * (len(saved) != 1)


def _static(learned: Any) -> str:
    names = ("forward", "backward")
    static = [n for n in names if isinstance(inspect.getattr_static(learned, n), staticmethod)]
    return ", ".join(static) or "neither"


def _demo(demo: Callable[[], Any]) -> str:
    result = demo()
    if not isinstance(result, dict):
        return f"a {type(result).__name__}"
    if set(result) != set(DEMO):
        return f"keys {', '.join(map(str, result))}"
    for key, expected in DEMO.items():
        got = result[key]
        if not isinstance(got, list):
            return f"{key!r} is a {type(got).__name__}"
        if len(got) != len(expected):
            return f"{key!r} has {len(got)} numbers"
        for i, (number, right) in enumerate(zip(got, expected, strict=True)):
            if type(number) not in (int, float) or number != right:
                return f"{key!r}[{i}] is {number!r}"
    return "as in the task"


@dataclass(frozen=True)
class Test:
    """A row to be: its name, what must be seen, and how to see it."""

    name: str
    expected: str
    see: Callable[[Any], str]
    takes: str = "apply"  # what `see` is given: "apply", "class" or "demo"


TESTS = (  # in this order a cause comes before what follows from it
    Test("static methods", "forward, backward", _static, takes="class"),
    Test("values", "[0, 0, 0, 1, 2]", lambda f: _show(f(_tensor(-2, -1, 0, 1, 2)))),
    Test("fractions", "[0, 0.25, 100.5]", lambda f: _show(f(_tensor(-0.5, 0.25, 100.5)))),
    Test("saves for backward", "1 tensor", _saved),
    Test("gradient", "[0, 0, 1, 1]", lambda f: _show(_gradient(f, _tensor(-2, -1, 1, 2)))),
    Test("gradient at 0", "[0]", lambda f: _show(_gradient(f, _tensor(0.0)))),
    Test("gradient at -0.0", "[0]", lambda f: _show(_gradient(f, _tensor(-0.0)))),
    Test(
        "uses grad_output",
        "[0, 20, 30, -40]",
        lambda f: _show(_gradient(f, _tensor(-1, 1, 2, 3), _tensor(10, 20, 30, -40))),
    ),
    Test("input left alone", "[-1, 2]", lambda f: _left_alone(f, 0)),
    Test("grad_output left alone", "[10, 20]", lambda f: _left_alone(f, 1)),
    Test(
        "inside a larger graph",
        "[0, 24]",
        lambda f: _show(_gradient(lambda x: f(2 * x) ** 2, _tensor(-1, 3))),
    ),
    Test("two calls do not mix", "[0, 1] [1, 0]", _two_calls),
    Test("backward twice", "[0, 2]", _backward_twice),
    Test("0-d tensor", "3, 1", lambda f: _both(f, _tensor(3)[0])),
    Test("empty tensor", "[], []", lambda f: _both(f, _tensor())),
    Test("transposed matrix", "[[5, 0], [6, 8]]", _transposed),
    Test("dtypes kept", "float16, float64", _dtypes),
    Test("demo", "as in the task", _demo, takes="demo"),
)


# --- what torch.relu does with numbers that are not finite: noted, not judged ---------------------


def _notes(apply: Apply) -> Iterator[str]:
    import torch

    inf, nan = float("inf"), float("nan")
    for x, g, right, words in (
        (nan, 1.0, "1", "at a NaN input"),
        (-1.0, inf, "0", "for an infinite grad_output where x <= 0"),
        (-1.0, nan, "0", "for a NaN grad_output where x <= 0"),
    ):
        got = _show(_gradient(apply, _tensor(x), _tensor(g)))[1:-1]
        if got != right:
            product = g == inf and got == "nan"
            why = ": inf * 0 is nan, so choose with masked_fill or torch.where" if product else ""
            yield f"{words} your gradient is {got}, torch.relu's is {right}{why}."
    got = _show(apply(_tensor(nan)))[1:-1]
    if got != "nan":
        yield f"at a NaN input your output is {got}, torch.relu's is nan."
    x = _tensor(-1, 2).requires_grad_()
    try:
        (first,) = torch.autograd.grad((apply(x) ** 3).sum(), x, create_graph=True)
        second = _show(torch.autograd.grad(first.sum(), x, allow_unused=True)[0])
    except Exception as error:
        second = f"a {type(error).__name__}"
    if second != "[0, 12]":
        yield f"the second derivative of relu(x)^3 at -1, 2 is [0, 12], with yours {second}."


# --- the judging process: imports the learner's file and sends what it sees -----------------------


def judge(path: str, send: Send) -> None:
    """Import the file and run every test on it, in this process.

    Args:
        path: the learner's file.
        send: called with a dictionary for each thing seen: ``at`` (what comes next),
            ``fatal`` (a sentence; nothing follows), ``test`` with ``got`` and ``error``,
            ``absent`` (the number of a test that does not apply), ``note``, ``done``.
    """
    import torch

    name = _one_line(Path(path).name, 40)
    send({"at": "while it was imported"})
    try:
        source = Path(path).read_bytes()
        learned, demo = _import(path, source)
    except SystemExit:
        return send({"fatal": f"{name} called exit() while it was imported."})
    except BaseException as error:
        what = _raised(error, path)
        return send({"fatal": f"{name} raised {what} while it was imported."})
    if learned is None:
        return send({"fatal": f"{name} defines no CustomReLU."})
    if not (isinstance(learned, type) and issubclass(learned, torch.autograd.Function)):
        must = "must be a class that inherits torch.autograd.Function"
        return send({"fatal": f"CustomReLU in {name} {must}."})

    whole = re.search(rb"^\s*(\w+) *= *\w+\.saved_tensors *[;#\r\n]", source, re.M)
    bare = re.search(rb"\.saved_tensors *[-+*/<>=),]", source)
    send({"whole": whole[1].decode() if whole else "input" if bare else ""})
    given = {"apply": learned.apply, "class": learned, "demo": demo}
    with torch.enable_grad():
        for i, test in enumerate(TESTS):
            send({"at": f"in the test {test.name!r}"})
            if given[test.takes] is None:
                send({"absent": i})
                continue
            try:
                send({"test": i, "got": test.see(given[test.takes]), "error": None})
            except BaseException as error:
                raised = asdict(_raised(error, path))
                send({"test": i, "got": raised["kind"], "error": raised})
        send({"at": "after the tests"})
        try:
            for note in _notes(learned.apply):
                send({"note": note})
        except BaseException as error:
            send({"note": f"with numbers that are not finite: {_raised(error, path)}."})
    send({"done": True})


def _import(path: str, source: bytes) -> tuple[Any, Any]:
    """Return the file's CustomReLU and custom_relu_demo, None for what it lacks."""
    module = types.ModuleType("learner")
    module.__file__ = path
    sys.modules["learner"] = module
    # Compiled here and now: the import system could find an older cached file.
    code = compile(source, path, "exec", dont_inherit=True)
    exec(code, module.__dict__)
    return getattr(module, "CustomReLU", None), getattr(module, "custom_relu_demo", None)


@dataclass(frozen=True)
class Raised:
    """An error, and where in the learner's file it was raised."""

    kind: str
    message: str = ""
    line: int | None = None
    where: str = ""  # the function's name

    def __str__(self) -> str:
        """ValueError (line 9): its message, on one line."""
        where = f" (line {self.line})" if self.line else ""
        return f"{self.kind}{where}" + (f": {self.message}" if self.message else "")

    def same(self, other: "Raised") -> bool:
        """Whether it is the same mistake, met with other numbers perhaps."""
        mine, others = (re.sub("[0-9, ]", "", e.kind + e.message) for e in (self, other))
        return mine == others and self.line in (None, other.line)


def _raised(error: BaseException, path: str) -> Raised:
    line, where = None, ""
    trace = error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == path:
            line, where = trace.tb_lineno, trace.tb_frame.f_code.co_name
        trace = trace.tb_next
    try:
        message = _one_line(str(error))
    except Exception:
        message = ""
    return Raised(type(error).__name__, message, line, where)


def _one_line(text: str, length: int = 160) -> str:
    """Collapse white space, mask what does not print, and cut."""
    text = " ".join(text[: 10 * length].split())
    text = "".join(c if c.isprintable() else "?" for c in text)
    return text if len(text) <= length else text[: length - 3] + "..."


def _judge_here(path: str) -> NoReturn:
    """Judge in this process: send JSON lines to what was stdout, and give prints to stderr."""
    results = os.dup(1)
    os.dup2(2, 1)
    write, encode, leave = os.write, json.JSONEncoder().encode, os._exit  # the file may delete them

    def send(message: dict[str, Any]) -> None:
        write(results, encode(message).encode() + b"\n")

    sys.dont_write_bytecode = True
    warnings.simplefilter("ignore")
    sys.path.pop(0)  # this file's folder; torch comes before the learner's, which could hide
    import torch  # what it needs, and imports more on its first backward: not the file's time

    torch.set_num_threads(1)
    x = _tensor(1).requires_grad_()
    (2 * x).backward(_tensor(1))
    # As if the file had been run itself: it may import its neighbours.
    sys.path.insert(0, str(Path(path).parent.resolve()))
    sys.path.append(str(Path(__file__).resolve().parents[3]))
    send({"ready": True})
    judge(path, send)
    with suppress(BaseException):
        sys.stdout.flush()
    leave(0)  # whatever threads and exit handlers the file has left


# --- the reporting process ------------------------------------------------------------------------


@dataclass
class Row:
    """What one test saw; if it failed, why and what next, or the row that says so."""

    name: str
    expected: str
    got: str = NOT_RUN
    ok: bool = False
    error: Raised | None = None
    see: str = ""
    why: str = ""
    next: str = ""

    @property
    def failed(self) -> bool:
        """Whether it ran, and did not pass."""
        return not self.ok and self.got not in ("", NOT_RUN)

    @property
    def broken(self) -> bool:
        """Whether there was no value at all to compare."""
        return bool(self.error or re.search("None$|^None|no tensor|not written", self.got))


@dataclass
class Report:
    """All there is to say about one file."""

    name: str
    rows: list[Row] = field(default_factory=list)
    fatal: str | None = None
    notes: list[str] = field(default_factory=list)
    printed: list[str] = field(default_factory=list)

    @property
    def passed(self) -> bool:
        """Whether there are tests and all passed."""
        return bool(self.rows) and all(row.ok for row in self.rows) and self.fatal is None


def _blank(name: str, got: str = NOT_RUN) -> Report:
    return Report(name, [Row(t.name, t.expected, got=got) for t in TESTS])


def collect(name: str, messages: list[dict[str, Any]]) -> Report:
    """Make a report of what ``judge`` sent."""
    report = _blank(name)
    absent = []
    whole = ""
    for message in messages:
        if "test" in message:
            row = report.rows[message["test"]]
            row.got = _one_line(message["got"])
            row.error = Raised(**message["error"]) if message["error"] else None
            row.ok = row.error is None and message["got"] == row.expected
        elif "whole" in message:
            whole = message["whole"]
        elif "absent" in message:
            absent.append(message["absent"])
        elif "note" in message:
            report.notes.append(message["note"])
        elif "fatal" in message:
            report.fatal = message["fatal"]
    report.rows = [row for i, row in enumerate(report.rows) if i not in absent]
    _explain(report.rows, whole)
    return report


def run(path: str, seconds: float = 10.0) -> Report:
    """Judge a file in a process of its own.

    Args:
        path: the learner's file.
        seconds: how long importing it, and each test, may take.
    """
    name = _one_line(Path(path).name, 40)
    problem = _problem(Path(path))
    if problem:
        return replace(_blank(name), fatal=f"{name} {problem}")

    environment = os.environ | {"PYTHONIOENCODING": "utf-8:backslashreplace"}
    process = subprocess.Popen(
        [sys.executable, "-u", __file__, "--judge", path],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment,
        start_new_session=True,
    )
    lines: queue.Queue[bytes | None] = queue.Queue()
    printed = _Printed()
    threads = [
        threading.Thread(target=_read_lines, args=(process.stdout, lines), daemon=True),
        threading.Thread(target=printed.read, args=(process.stderr,), daemon=True),
    ]
    for thread in threads:
        thread.start()
    messages: list[dict[str, Any]] = []
    stopped = None
    at = "before its import"
    limit = 120.0  # for importing torch; the file's own time starts at "ready"
    try:
        while True:
            line = lines.get(timeout=limit)
            if line is None:
                code = process.wait(timeout=limit)
                stopped = f"{name} ended the process (exit code {code}) {at}."
                if not messages:
                    stopped = f"The judging process did not start (exit code {code})."
                break
            try:
                message = json.loads(line)
            except ValueError:
                message = None
            if not isinstance(message, dict):  # the file wrote where it should not
                continue
            messages.append(message)
            at = message.get("at", at)
            if "ready" in message:
                limit = seconds
            if "done" in message or "fatal" in message:
                break
    except (queue.Empty, subprocess.TimeoutExpired):
        stopped = f"{name} did not finish within {limit:g} s {at}; it was stopped."
    finally:
        _stop(process)
        for thread, stream in zip(threads, (process.stdout, process.stderr), strict=True):
            thread.join(timeout=1)
            if stream and not thread.is_alive():  # a child of the file's may hold it open
                stream.close()

    report = collect(name, messages)
    report.fatal = report.fatal or stopped
    report.printed = printed.lines()
    return report


def _problem(path: Path) -> str | None:
    """Return why the file cannot be judged, without running it."""
    if path.stem == "torch":
        return "hides the library torch by its name: rename it."
    for hiding in (path.with_name("torch.py"), path.with_name("torch") / "__init__.py"):
        if hiding.is_file():
            return f"cannot import torch: {_one_line(str(hiding), 200)} hides it; rename that."
    source = path.read_bytes()
    try:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(source).readline)
        source.decode(encoding)
    except UnicodeDecodeError as error:
        number = source.count(b"\n", 0, error.start) + 1
        return f"is not UTF-8 text (line {number}): save it as UTF-8."
    except SyntaxError as error:
        if "coding:" not in str(error):
            return "is not UTF-8 text (line 1 or 2): save it as UTF-8."
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ast.parse(source, str(path))
    except SyntaxError as error:
        line = f"line {error.lineno}: " if error.lineno else ""
        return f"does not parse: {line}{_one_line(error.msg)}."
    except (ValueError, RecursionError, MemoryError) as error:
        return f"does not parse: {_one_line(str(error))}."
    return None


def _stop(process: subprocess.Popen[bytes]) -> None:
    """Kill the process and what it has started."""
    with suppress(OSError):
        if hasattr(os, "killpg"):
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()
    process.wait()


def _read_lines(stream: IO[bytes], lines: queue.Queue[bytes | None]) -> None:
    for line in stream:
        lines.put(line)
    lines.put(None)


class _Printed:
    """Reads a stream to its end, and keeps only its beginning."""

    def __init__(self) -> None:
        self.kept = b""
        self.newlines = 0

    def read(self, stream: IO[bytes]) -> None:
        while chunk := stream.read1(1 << 16):  # type: ignore[attr-defined]
            self.newlines += chunk.count(b"\n")
            self.kept += chunk[: 4096 - len(self.kept)]

    def lines(self, at_most: int = 10) -> list[str]:
        text = self.kept.decode("utf-8", "replace").rstrip("\n")
        if not text:
            return []
        lines = [_one_line(line, WIDTH - 2) for line in text.split("\n")[:at_most]]
        more = self.newlines - len(lines)
        return lines + ([f"... and {more} more lines"] if more > 0 else [])


# --- why a row failed ------------------------------------------------------------------------------


def _explain(rows: list[Row], whole: str) -> None:
    """Give each failed row its reason, or the name of the earlier row that has it."""
    table = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
    got = {row.name: row.got for row in rows}
    for name in ("gradient", "values"):  # stubs that are static are no pass yet
        if got[name] == "NotImplementedError" and got["static methods"] == rows[0].expected:
            rows[0].got, rows[0].ok, rows[0].see = "not written yet", False, name
    for i, row in enumerate(rows):
        if not row.failed:
            continue
        causes = (
            first for first in rows[:i] if first.failed and _follows(row, first, table["after"])
        )
        row.see = row.see or next((first.see or first.name for first in causes), "")
        if row.see:
            continue
        row.why, row.next = _of_value(row, got, table["value"])
        if row.error:
            known = _of_error(row.error, whole, table["error"])
            row.why, row.next = known or (str(row.error), row.next if row.name in SPECIAL else RUN)


def _follows(row: Row, first: Row, after: dict[str, list[str]]) -> bool:
    """Whether a row failed because an earlier one did."""
    main = first.name in ("values", "gradient")
    if row.error is None:
        part = f"demo {row.got.partition('[')[0]}" if row.name == "demo" else row.name
        return first.name in after.get(part, ()) or (main and first.broken and row.broken)
    if first.name == "static methods":
        return "positional argument" in row.error.message
    if first.name == "saves for backward" and first.error is None:
        return bool(re.search("values to unpack|tuple index out of range", row.error.message))
    if first.error and first.error.same(row.error):
        return True
    own = row.name == "demo" and row.error.where not in ("forward", "backward")
    if own and (first.error or row.error.kind not in ("AttributeError", "TypeError")):
        return False
    return main and first.broken


def _of_value(row: Row, got: dict[str, str], table: list[dict[str, Any]]) -> tuple[str, str]:
    for entry in table:
        match = re.fullmatch(entry.get("got", ".*"), row.got)
        also = all(re.fullmatch(v, got.get(k, "")) for k, v in entry.get("also", {}).items())
        if entry["row"] == row.name and match and also:
            return entry["why"].format(row.got, *match.groups(), got=row.got), entry["next"]
    raise LookupError(f"no words for the row {row.name!r}")


def _of_error(error: Raised, whole: str, table: list[dict[str, Any]]) -> tuple[str, str] | None:
    for entry in table:
        match = re.search(entry["match"], f"{error.kind}: {error.message}")
        here = entry.get("where", error.where) == error.where
        if match and here and (whole or "needs" not in entry):
            words = (match[0], *match.groups())
            line = f"Line {error.line}: " if error.line else ""
            why, what = (entry[key].format(*words, name=whole) for key in ("why", "next"))
            return line + why, what
    return None


# --- the words ------------------------------------------------------------------------------------


def render(report: Report, marks: tuple[str, str] = ("✓", "✗")) -> str:
    """Return the report as text, its table some 40 columns wide, its last line "n/n passed"."""
    blocks = []
    if any(row.got != NOT_RUN for row in report.rows):
        blocks.append(_table(report.rows, marks))
    reasons = [report.fatal] if report.fatal else []
    if report.passed:
        reasons += [f"Not judged: {note}" for note in report.notes]
    if reasons:
        blocks.append("\n".join(_wrap(reason) for reason in reasons))
    if report.printed:
        blocks.append("\n  ".join([f"Printed by {report.name}:", *report.printed]))
    passed = sum(row.ok for row in report.rows)
    blocks.append(f"{passed}/{len(report.rows)} passed")
    return "\n\n".join(blocks) + "\n"


def _table(rows: list[Row], marks: tuple[str, str]) -> str:
    pad = max(map(len, marks))
    line = f"{{:<{pad}}} {{:<{NAME}}} {{}}".format
    lines = [line("", "test", "expected")]
    for row in rows:
        see = f"see {row.see}" if row.see else ""
        mark = "" if row.got == "" else marks[0] if row.ok else marks[1]
        if not row.failed or (row.broken and see):
            value = NOT_RUN if row.got == NOT_RUN else see or row.expected
            lines.append(line(mark, row.name, value))
            continue
        lines.append(line(mark, row.name, ""))  # what was got stands below what was expected
        indent = " " * (pad + KEY + 2)
        got = _fit(row.got, NARROW - len(indent))
        parts = {"expected": row.expected, "got": got, "why": row.why or see, "next": row.next}
        texts = [f"{'':{pad}} {key:<{KEY}} {text}" for key, text in parts.items() if text]
        lines += [_wrap(text, indent, NARROW) for text in texts]
    return "\n".join(map(str.rstrip, lines))


def _fit(text: str, width: int) -> str:
    return text if len(text) <= width else text[: width - 3] + "..."


def _wrap(text: str, indent: str = "  ", width: int = WIDTH) -> str:
    return textwrap.fill(text, width, subsequent_indent=indent, break_on_hyphens=False)


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        """Say it in one line."""
        _complain(f"{message}; try --help")
        raise SystemExit(2)


def _complain(message: str) -> None:
    print(f"harness: {message}", file=sys.stderr)


def main(argv: list[str] | None = None) -> int:
    """Run the command line; return its exit code."""
    parser = _Parser(
        prog="python -m customgrad.lessons.relu.harness",
        description="Judge a solution of the ReLU problem: one row per test.",
        epilog="Exit codes: 0 if every test passed, 1 if not, or if the file could not be "
        "judged, 2 for a wrong command line or a missing file.",
    )
    parser.add_argument("file", nargs="?", help="your solution, such as my_relu.py")
    parser.add_argument("--list", action="store_true", help="show the tests and run nothing")
    parser.add_argument(
        "--seconds",
        type=float,
        default=10.0,
        help="how long the import, and each test, may take (default: 10)",
    )
    try:
        options = parser.parse_args(argv)
    except SystemExit as stop:
        return int(stop.code or 0)

    if options.list:
        _print(_blank("", got=""))
        return 0
    path = Path(options.file or "")
    if not options.file:
        empty = "" if options.file is None else "an empty name is no file; "
        complaint = f"{empty}name your file, such as my_relu.py; try --help"
    elif not path.is_file():
        what = "is a folder" if path.is_dir() else "is no file"
        complaint = f"{options.file} {what if path.exists() else 'does not exist'}; name your file"
    elif not options.seconds > 0:
        complaint = f"--seconds must be more than 0, got {options.seconds:g}"
    else:
        complaint = ""
    if complaint:
        _complain(complaint)
        return 2
    try:
        report = run(options.file, options.seconds)
    except OSError as error:
        _complain(f"{options.file} cannot be read: {error.strerror}")
        return 2
    _print(report)
    return 0 if report.passed else 1


def _print(report: Report) -> None:
    """Print in what the terminal can show: some encodings have no check mark."""
    encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
    marks = ("✓", "✗")
    try:
        "".join(marks).encode(encoding)
    except UnicodeEncodeError:
        marks = ("ok", "no")
    text = render(report, marks)
    sys.stdout.write(text.encode(encoding, "backslashreplace").decode(encoding))


if __name__ == "__main__":
    if sys.argv[1:2] == ["--judge"]:
        _judge_here(sys.argv[2])
    raise SystemExit(main())
