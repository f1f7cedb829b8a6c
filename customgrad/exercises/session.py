"""Judge a learner's file in a process of its own, with limits on time, memory and what it prints."""

import ast
import json
import os
import queue
import signal
import subprocess
import sys
import threading
import time
import tokenize
import warnings
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import IO

from customgrad.exercises.problem import FOLDER, Problem, names, problem

__all__ = ["Judged", "Unusable", "Worker", "judge", "read", "which"]

SECONDS = 10.0
"""How long the import of a file, and each check, may take."""
TOTAL = 60.0
START = 120.0
"""How long the process may take to import torch."""


class Unusable(ValueError):
    """The command cannot be carried out; the text says why, and what to do."""


@dataclass(frozen=True)
class Judged:
    """What the process said of a file."""

    exercise: str
    passed: bool
    check: str
    message: str
    diagnosis: str
    next: str


def read(path: Path) -> str:
    """Return the text of a Python file.

    Raises:
        Unusable: it cannot be read, or is not in the encoding that it declares.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        raise Unusable(f"{path} cannot be read: {error.strerror}") from None
    try:
        encoding, _ = tokenize.detect_encoding(BytesIO(data).readline)
        return data.decode(encoding).replace("\r\n", "\n")
    except (SyntaxError, UnicodeDecodeError) as error:
        raise Unusable(f"{path} is not UTF-8 text ({error}): save it as UTF-8") from None


def which(path: Path, source: str, chosen: str | None = None) -> str:
    """Return the exercise that a file answers: as chosen, by its name, or by what it defines.

    Raises:
        Unusable: none, or more than one.
    """
    if chosen is not None:
        found = [n for n in names() if chosen.lower() in (n, problem(n).title.lower())]
        found = found or [n for n in names() if chosen in problem(n).defines]
        if found:
            return found[0]
        return problem(chosen).name  # raises, and names those that are near
    if path.stem in names():
        return path.stem
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            tree = ast.parse(source)
        except (SyntaxError, ValueError):
            tree = ast.parse("")
    has = {n.name for n in tree.body if isinstance(n, ast.ClassDef | ast.FunctionDef)}
    found = [n for n in names() if set(problem(n).defines) <= has]
    if len(found) == 1:
        return found[0]
    near = [n for n in names() if path.stem.lower().split("_")[0].split("-")[0] == n]
    if len(near) == 1:
        return near[0]
    some = f" (its names fit {' and '.join(found[:4])})" if found else ""
    raise Unusable(
        f"which exercise does {path} answer{some}? Say it: customgrad exercise check {path} --as NAME"
    )


class Worker:
    """A process that has torch imported, or is about to, and waits for one file."""

    def __init__(self) -> None:
        """Start it; `judge` waits until it is ready."""
        environment = os.environ | {"PYTHONIOENCODING": "utf-8:backslashreplace"}
        root = str(FOLDER.parents[2])
        paths = [root, *filter(None, [environment.get("PYTHONPATH")])]
        environment["PYTHONPATH"] = os.pathsep.join(paths)
        self.process = subprocess.Popen(
            [sys.executable, "-P", "-u", "-m", "customgrad.exercises.worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=environment,
            start_new_session=True,
        )
        self.lines: queue.Queue[bytes | None] = queue.Queue()
        self.printed = _Printed()
        self.threads = [
            threading.Thread(target=_read, args=(self.process.stdout, self.lines), daemon=True),
            threading.Thread(target=self.printed.read, args=(self.process.stderr,), daemon=True),
        ]
        for thread in self.threads:
            thread.start()

    def judge(self, task: Problem, path: Path, source: str) -> Judged:
        """Judge one file, and end the process."""
        try:
            return self._judge(task, path, source)
        finally:
            self.stop()

    def _judge(self, task: Problem, path: Path, source: str) -> Judged:
        at, limit, began = "before it began", START, time.monotonic()
        while True:
            try:
                line = self.lines.get(timeout=limit)
            except queue.Empty:
                if limit == START:
                    raise Unusable(f"torch was not imported within {START:g} s") from None
                more = "" if limit == SECONDS else f" ({TOTAL:g} s in all)"
                words = f"{path.name} did not end within {SECONDS:g} s{more}, {at}"
                return _stopped(task, words, "is there a loop that never ends?", self.printed)
            if line is None:
                with suppress(subprocess.TimeoutExpired):
                    self.process.wait(5)
                code = self.process.returncode
                if limit == START:
                    last = self.printed.lines(40)[-1:]
                    raise Unusable(
                        f"torch cannot be imported: {''.join(last) or f'exit code {code}'}"
                    )
                how = (
                    f"by signal {-code}"
                    if code is not None and code < 0
                    else f"with exit code {code}"
                )
                words = f"{path.name} ended the process {how}, {at}"
                return _stopped(task, words, "take out what ends Python itself", self.printed)
            try:
                message = json.loads(line)
            except ValueError:  # the file wrote where it should not
                continue
            if not isinstance(message, dict):
                continue
            if "ready" in message:
                request = {
                    "exercise": task.name,
                    "path": str(path),
                    "file": path.name,
                    "source": source,
                }
                with suppress(OSError):
                    assert self.process.stdin is not None
                    self.process.stdin.write(json.dumps(request).encode() + b"\n")
                    self.process.stdin.flush()
                began = time.monotonic()
            if "verdict" in message:
                self.stop()
                verdict = Judged(**message["verdict"])
                return _with(verdict, self.printed)
            at = message.get("at", at)
            limit = max(0.1, min(SECONDS, TOTAL - (time.monotonic() - began)))

    def stop(self) -> None:
        """Kill the process, and what it has started."""
        with suppress(OSError):
            if hasattr(os, "killpg"):
                os.killpg(self.process.pid, signal.SIGKILL)
            else:
                self.process.kill()
        self.process.wait()
        for thread in self.threads:
            thread.join(timeout=1)
        for stream, thread in zip(
            (self.process.stdout, self.process.stderr), self.threads, strict=True
        ):
            if stream and not thread.is_alive():  # a child of the file's may hold it open
                stream.close()
        if self.process.stdin:
            with suppress(OSError):
                self.process.stdin.close()


def judge(name: str, path: Path, source: str, worker: Worker | None = None) -> Judged:
    """Judge a file in a process of its own."""
    task = problem(name)
    hiding = [
        p for p in (path.with_name("torch.py"), path.with_name("customgrad.py")) if p.is_file()
    ]
    if hiding:
        raise Unusable(f"{hiding[0]} hides a library by its name; rename it")
    return (worker or Worker()).judge(task, path, source)


def _stopped(task: Problem, what: str, do: str, printed: "_Printed") -> Judged:
    after = f"customgrad exercise hint {task.name}"
    lines = [
        f"{task.name}: not judged",
        f"  what      {what}",
        f"  do        {do}",
        f"  next      {after}",
    ]
    verdict = Judged(task.name, False, "before its end", "\n".join(lines), what, after)
    return _with(verdict, printed)


def _with(verdict: Judged, printed: "_Printed") -> Judged:
    """Add what the file printed, in one line."""
    lines = printed.lines(1)
    if not lines:
        return verdict
    more = printed.newlines - 1
    text = f"  printed   {lines[0]}" + (f" ... and {more} more lines" if more > 0 else "")
    message = f"{verdict.message}\n{text}"
    return Judged(**{**verdict.__dict__, "message": message})


def _read(stream: IO[bytes] | None, lines: "queue.Queue[bytes | None]") -> None:
    for line in stream or ():
        lines.put(line)
    lines.put(None)


class _Printed:
    """Reads a stream to its end, and keeps only its beginning."""

    def __init__(self) -> None:
        self.kept = b""
        self.newlines = 0

    def read(self, stream: IO[bytes] | None) -> None:
        if stream is None:
            return
        while chunk := stream.read1(1 << 16):  # type: ignore[attr-defined]
            self.newlines += chunk.count(b"\n")
            self.kept += chunk[: 8192 - len(self.kept)]

    def lines(self, at_most: int) -> list[str]:
        """Return the first lines, without what does not print."""
        text = self.kept.decode("utf-8", "replace").rstrip("\n")
        return [_plain(line) for line in text.split("\n")[:at_most]] if text else []


def _plain(line: str, width: int = 60) -> str:
    line = "".join(c if c.isprintable() else "?" for c in line.strip())
    return line if len(line) <= width else f"{line[: width - 3]}..."


def unfinished(solved: Iterable[str]) -> str | None:
    """Return the first exercise that is not solved, or None."""
    done = set(solved)
    return next((name for name in names() if name not in done), None)
