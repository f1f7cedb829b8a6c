"""Judge an answer: the first check that fails, what is right before it, and why it fails.

Runs the answer in this process; `customgrad.exercises.session` gives it one of its own.
"""

import ast
import importlib
import re
import sys
import textwrap
import traceback
import types
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

import torch

from customgrad.exercises import facts
from customgrad.exercises.checking import Check, Difference, Seen, compare, same, shown
from customgrad.exercises.guard import Guard, called, named
from customgrad.exercises.problem import Mutant, Problem, problem

__all__ = ["Verdict", "grade"]

WIDTH = 88
LINES = 12
SEED = 0


# What mutants and references show is always the same.
_SEEN: dict[tuple[str, Check], "Result | None"] = {}
_EXPECTED: dict[Check, Mapping[str, Any]] = {}


@dataclass(frozen=True)
class Verdict:
    """What is said of an answer."""

    exercise: str
    passed: bool
    check: str
    """The check that failed, in words; empty when all passed."""
    message: str
    """All of it, as printed."""
    diagnosis: str
    """Why it failed, where that is known."""
    next: str
    """The command to type next."""

    def __str__(self) -> str:
        """Return the message."""
        return self.message


@dataclass(frozen=True)
class Result:
    """What one check saw: values, or the error that the answer raised."""

    seen: Seen | None = None
    kind: str = ""
    message: str = ""
    line: int = 0
    code: str = ""
    where: str = ""

    @property
    def error(self) -> str:
        """The error in one line."""
        return f"{self.kind}: {self.message}" if self.message else self.kind

    def like(self, other: "Result") -> bool:
        """Whether two answers showed the same."""
        if self.seen is None or other.seen is None:
            digits = re.compile(r"0x[0-9a-f]+|\d+|'\w*Backward'")
            mine, theirs = (digits.sub("", r.error) for r in (self, other))
            return self.seen is other.seen is None and mine == theirs and self.where == other.where
        mine_, theirs_ = self.seen.values, other.seen.values
        return list(mine_) == list(theirs_) and all(_alike(mine_[k], theirs_[k]) for k in mine_)


def _alike(a: Any, b: Any) -> bool:
    if isinstance(a, torch.Tensor) and isinstance(b, torch.Tensor) and a.dtype != b.dtype:
        return False
    return same(a, b, 1e-5)


@cache
def checks(name: str) -> tuple[tuple[Check, ...], Any]:
    """Return the checks of an exercise and its reference."""
    module = importlib.import_module(f"customgrad.exercises.problems.{name}.checks")
    return tuple(module.CHECKS), getattr(module, "REFERENCE", None)


def grade(
    name: str,
    source: str,
    file: str = "",
    *,
    guard: Guard | None = None,
    at: Callable[[str], None] = lambda words: None,
) -> Verdict:
    """Judge the source of an answer.

    Args:
        name: the exercise.
        source: what the file holds.
        file: its name, for the message.
        guard: torch as it was before anything of the answer ran.
        at: called with the words for each step before it begins.

    Raises:
        Unknown: no exercise has this name.
    """
    task = problem(name)
    return _Grading(task, source, file or task.file, guard or Guard(), at).verdict()


class _Grading:
    """One run over the checks of one answer."""

    def __init__(
        self, task: Problem, source: str, file: str, guard: Guard, at: Callable[[str], None]
    ) -> None:
        self.task, self.source, self.file, self.guard, self.at = task, source, file, guard, at
        self.checks, self.reference = checks(task.name)
        self.judged = [check for check in self.checks if not check.note]

    def verdict(self) -> Verdict:
        self.at("while it was imported")
        try:
            answer = load(self.source, self.file)
        except SyntaxError as error:
            place = f"{self.file}:{error.lineno}" if error.lineno else self.file
            return self.refused(
                f"{place} does not parse: {error.msg}", "mend the line, then check again"
            )
        except BaseException as error:
            raised = self.raised(error)
            what = _where(self.file, raised, "while it was imported")
            return self.refused(f"{what}\n{raised.error}", "mend it, then check again")
        if changed := self.guard.changed():
            return self.refused(
                f"{self.file} {changed}",
                "leave torch and Python as they are, and write the task's own code",
            )
        if borrowed := borrows(self.source):
            return self.refused(
                f"{self.file}:{borrowed} imports from customgrad",
                "the task is to write it yourself",
            )
        missing = [name for name in self.task.defines if not hasattr(answer, name)]
        if missing:
            return self.refused(
                f"{self.file} does not define {' and '.join(missing)}",
                f"the starter has the names: customgrad exercise start {self.task.name} --print",
            )
        passed: list[Check] = []
        for check in self.judged:
            self.at(f"in the check “{check.name}”")
            expected = self.expected(check)
            result, ran = self.run(check, answer)
            if changed := self.guard.changed():
                return self.refused(
                    f"{self.file} {changed}", "leave torch as it is, and write the task's own code"
                )
            found = self.differs(check, result, expected)
            if found is not None:
                return self.failed(answer, passed, check, result, found, expected)
            if dodge := self.dodges(ran):
                return self.refused(*dodge, check=check, passed=passed)
            passed.append(check)
        return self.passed(answer)

    # --- running -------------------------------------------------------------------------------

    def expected(self, check: Check) -> Mapping[str, Any]:
        if check.expected is not None:
            return check.expected
        if check not in _EXPECTED:
            torch.manual_seed(SEED)
            _EXPECTED[check] = check.see(self.reference).values
        return _EXPECTED[check]

    def run(self, check: Check, answer: Any) -> tuple[Result, set[str]]:
        torch.manual_seed(SEED)
        ran: set[str] = set()
        try:
            with warnings.catch_warnings(), torch.enable_grad():
                warnings.simplefilter("ignore")
                if self.task.forbids:
                    with called() as ran:
                        return Result(check.see(answer)), ran
                return Result(check.see(answer)), ran
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            return self.raised(error), ran

    def raised(self, error: BaseException) -> Result:
        line, where = 0, ""
        for frame in traceback.extract_tb(error.__traceback__):
            if frame.filename == self.file and frame.lineno:
                line, where = frame.lineno, frame.name
        lines = self.source.splitlines()
        code = lines[line - 1].strip() if 0 < line <= len(lines) else ""
        if isinstance(error, SystemExit):
            return Result(kind="exit()", message="", line=line, code=code, where=where)
        text = " ".join(str(error).split())
        return Result(None, type(error).__name__, text[:300], line, code, where)

    def differs(
        self, check: Check, result: Result, expected: Mapping[str, Any]
    ) -> Difference | None:
        if result.seen is None:
            return Difference("", result.error, "")
        return compare(result.seen.values, expected, check.tolerance)

    def dodges(self, ran: set[str]) -> tuple[str, str] | None:
        """Return what of the forbidden the answer has called, and why it may not."""
        forbids = self.task.forbids
        by_name = named(self.source, self.task.defines, forbids)
        if by_name:
            words, line = by_name
            key = next(name for name in forbids if f".{words}".endswith(f".{name}"))
            return f"{self.file}:{line} calls {words}", forbids[key]
        operation = next((name for name in forbids if name in ran), None)
        return (
            (f"{self.file} runs torch's own {operation}", forbids[operation]) if operation else None
        )

    # --- why -----------------------------------------------------------------------------------

    def diagnosis(
        self,
        answer: Any,
        check: Check,
        result: Result,
        found: Difference,
        expected: Mapping[str, Any],
    ) -> tuple[str, str, str]:
        """Return why it failed, what to do, and the pattern of the line; empty where unknown."""
        if result.kind == "NotImplementedError" and result.line:
            return "this is not written yet", "replace the raise by your code", ""
        mutant = self.mutant(answer, check, result)
        if mutant is not None:
            return mutant.why, mutant.fix, mutant.line
        fact = (
            facts.of_error(result.kind, result.message, result.where, self.source)
            if result.seen is None
            else facts.of_values(check, result.seen, expected, found)
        )
        if fact is not None:
            return (*fact, "")
        return check.why if result.seen is not None else "", "", ""

    def mutant(self, answer: Any, check: Check, result: Result) -> Any:
        """Return the mutant that fails this check first, as the answer does; of several, the nearest."""
        like = []
        for mutant in self.task.mutants:
            self.at(
                f"while its result was compared with known mistakes, after the check “{check.name}”"
            )
            known = self.known(mutant, check)
            if known is None or not known.like(result):
                continue
            # Alike is meant loosely, for other roundings: a mutant that is right here is no match.
            if self.first_failing(mutant) is check:
                like.append(mutant)
        if len(like) < 2:
            return like[0] if like else None
        others = [(c, self.run(c, answer)[0]) for c in self.judged if c is not check]
        scores = [
            (
                sum(
                    (known := self.known(mutant, c)) is not None and known.like(r)
                    for c, r in others
                ),
                self.at_line(mutant.line),
            )
            for mutant in like
        ]
        return like[max(range(len(like)), key=lambda k: (scores[k], -k))]

    def first_failing(self, mutant: Mutant) -> Check | None:
        """Return the check at which a mutant stops: what it does wrong there is what is told of it."""
        for check in self.judged:
            known = self.known(mutant, check)
            if known and self.differs(check, known, self.expected(check)) is not None:
                return check
        return None

    def known(self, mutant: Mutant, check: Check) -> Result | None:
        """Return what a mutant shows in a check."""
        key = (mutant.name, check)
        if key not in _SEEN:
            wrong = module_of(self.task.name, mutant.name, mutant.source)
            _SEEN[key] = None if wrong is None else self.run(check, wrong)[0]
        return _SEEN[key]

    def at_line(self, pattern: str) -> int:
        """Return the number of the only line that a pattern matches, or 0."""
        if not pattern:
            return 0
        lines = self.source.splitlines()
        hits = [k for k, line in enumerate(lines, 1) if re.search(pattern, line.partition("#")[0])]
        return hits[0] if len(hits) == 1 else 0

    def returns(self, label: str) -> int:
        """Return the line of backward's only return, for a wrong gradient; 0 elsewhere."""
        if not label.startswith(("gradient of", "second derivative")):
            return 0
        lines = self.source.splitlines()
        inside, hits = False, []
        for k, line in enumerate(lines, 1):
            if re.match(r"\s*def ", line):
                inside = "def backward" in line
            if inside and re.match(r"\s*return\b", line):
                hits.append(k)
        return hits[0] if len(hits) == 1 else 0

    # --- words ---------------------------------------------------------------------------------

    @property
    def hint(self) -> str:
        return f"customgrad exercise hint {self.task.name}"

    def passed(self, answer: Any) -> Verdict:
        total = len(self.judged)
        lines = [f"{self.task.name}: all {total} checks pass"]
        for check in self.checks:
            if not check.note:
                continue
            result, _ = self.run(check, answer)
            found = self.differs(check, result, self.expected(check))
            if found is not None:
                seen = shown(found.got, 40) if result.seen else result.error[:80]
                also = f"; torch's: {shown(found.expected, 30)}" if result.seen else ""
                lines += _row("note", f"not judged: {check.name}: yours: {seen}{also}")
        lines += _row(
            "next",
            f"customgrad exercise solution {self.task.name}, or the next one: customgrad exercise",
        )
        return Verdict(
            self.task.name, True, "", "\n".join(lines[:LINES]), "", "customgrad exercise"
        )

    def refused(
        self, what: str, fix: str, *, check: Check | None = None, passed: list[Check] | None = None
    ) -> Verdict:
        where = check.name if check else "before the first check"
        first, _, more = what.partition("\n")
        lines = [f"{self.task.name}: {'not judged' if check is None else 'refused'}"]
        lines += _row("what", first)
        lines += _row("", more) if more else []
        lines += _row("do", fix)
        lines += _row("next", self.hint)
        return Verdict(
            self.task.name,
            False,
            where,
            "\n".join(lines[:LINES]),
            what.replace("\n", ": "),
            self.hint,
        )

    def failed(
        self,
        answer: Any,
        passed: list[Check],
        check: Check,
        result: Result,
        found: Difference,
        expected: Mapping[str, Any],
    ) -> Verdict:
        why, fix, pattern = self.diagnosis(answer, check, result, found, expected)
        number = len(passed) + 1
        head = [f"{self.task.name}: check {number} of {len(self.judged)}: {check.name}"]
        line = result.line
        body: list[list[str]] = []
        if result.seen is None:
            body.append(_row("raised", result.error, 2))
            line = line or self.at_line(pattern)
        else:
            body.append(_row("called", result.seen.called, 1))
            given = [f"{k} = {shown(v, 48)}" for k, v in result.seen.given.items()]
            body.append(_row("with", ", ".join(given), 2) if given else [])
            label = f"{found.label}: " if found.label else ""
            body.append(_row("got", f"{label}{shown(found.got)}", 1))
            worst = f" ({found.worst})" if found.worst else ""
            body.append(_row("expected", f"{shown(found.expected)}{worst}", 2))
            line = self.at_line(pattern) or (self.returns(found.label) if why else 0)
        lines = self.source.splitlines()
        at = f"{self.file}:{line}  {lines[line - 1].strip()}" if 0 < line <= len(lines) else ""
        right = [c.name for c in passed]
        tail = [
            _row("right", _short(right), 1) if right else [],
            _row("why", why, 3) if why else [],
            _row("where", at, 1) if at else [],
            _row("do", fix, 2) if fix else [],
            _row("next", f"{self.hint}   (seed {SEED}, tolerance {check.tolerance:g})", 1),
        ]
        rows = [*head, *(row for part in (*body, *tail) for row in part)]
        if len(rows) > LINES:  # what was called is known best
            body[1 if result.seen else 0] = body[1 if result.seen else 0][:1]
            rows = [*head, *(row for part in (*body, *tail) for row in part)]
        text = "\n".join(rows[: LINES - 1] + rows[-1:] if len(rows) > LINES else rows)
        diagnosis = f"{why}; {fix}" if why and fix else why
        return Verdict(self.task.name, False, check.name, text, diagnosis, self.hint)


def _where(file: str, raised: Result, otherwise: str) -> str:
    return (
        f"{file}:{raised.line} in {raised.where}: {raised.code}"
        if raised.line
        else f"{file}, {otherwise}"
    )


def _row(key: str, text: str, at_most: int = 2) -> list[str]:
    lines = textwrap.wrap(
        text,
        WIDTH,
        initial_indent=f"  {key:<9} ",
        subsequent_indent=" " * 12,
        break_on_hyphens=False,
    )
    if len(lines) > at_most:
        lines = [*lines[: at_most - 1], f"{lines[at_most - 1][: WIDTH - 4]} ..."]
    return lines


def _short(names: list[str]) -> str:
    """Return the names of the checks that passed, in one line."""
    text = "; ".join(names)
    while len(text) > WIDTH - 12 and len(names) > 1:
        names = names[1:]
        text = f"... {'; '.join(names)}"
    return text


def borrows(source: str) -> int:
    """Return the line that imports from customgrad, whose Functions solve half of the exercises; or 0."""
    for node in ast.walk(ast.parse(source)):
        modules = (
            [alias.name for alias in node.names]
            if isinstance(node, ast.Import)
            else [node.module or ""]
            if isinstance(node, ast.ImportFrom)
            else []
        )
        if any(module.partition(".")[0] == "customgrad" for module in modules):
            return node.lineno  # type: ignore[attr-defined,no-any-return]
    return 0


def load(source: str, file: str) -> types.ModuleType:
    """Run the source as a module of its own; `exit()` and errors come through."""
    module = types.ModuleType("answer")
    module.__file__ = file
    sys.modules["answer"] = module
    code = compile(source, file, "exec", dont_inherit=True)
    exec(code, module.__dict__)
    return module


@cache
def module_of(task: str, name: str, source: str) -> types.ModuleType | None:
    """Return a mutant as a module; None for one that cannot be imported."""
    try:
        return load(source, f"{task}.py")
    except BaseException:
        return None
