"""What was found, and how it is told: text, colour on a terminal, and JSON."""

import json
import os
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

__all__ = ["SEVERITIES", "CheckFailed", "Finding", "NotRun", "Report"]

SEVERITIES = ("bug", "hazard", "missing", "upstream")
"""A wrong number · wrong or leaking under stated conditions · a capability that raises · torch's own limit."""
FAILING = ("bug", "hazard")
MARKS = {"bug": "× bug", "hazard": "! hazard", "missing": "~ missing", "upstream": "^ upstream"}
"""Each severity with a shape of its own, so that nothing hangs on colour alone."""
WIDTH = 88
"""Columns of a line, at most."""


@dataclass(frozen=True)
class Finding:
    """One thing that is wrong, and all that is needed to mend it."""

    code: str
    rule: str
    severity: str
    message: str
    """What is wrong, in one sentence."""
    variant: str
    """Which inputs showed it."""
    did: str
    """What was called."""
    got: str = ""
    expected: str = ""
    where: str = ""
    """The worst element."""
    cause: str = ""
    """The likely cause, in terms of the checked code."""
    fix: str = ""
    file: str = ""
    line: int = 0
    reproduction: str = ""
    """A script that shows the fault without customgrad."""
    page: str = ""

    def text(self, width: int = WIDTH, *, script: bool = False) -> str:
        """Return the finding as lines of at most this width.

        Args:
            width: in columns; what cannot be broken, such as a path, may run over it.
            script: add the reproduction, unbroken.
        """
        lines = [f"{MARKS.get(self.severity, self.severity)} · {self.code} {self.rule}"]
        lines += _wrapped(self.message, width, "  ", "  ")
        place = f"{os.path.basename(self.file)}:{self.line}" if self.line else ""
        rows = {
            "did": self.did,
            "with": self.variant if self.variant not in self.did else "",
            "got": self.got,
            "expected": self.expected,
            "where": self.where,
            "why": self.cause,
            "at": "" if os.path.basename(self.file) in self.cause else place,
            "fix": self.fix,
            "more": self.page,
        }
        for key, value in rows.items():
            if value:
                lines += _wrapped(value, width, f"  {key:<9}", " " * 11)
        if script and self.reproduction:
            lines += ["", "  Without customgrad:", ""]
            lines += [f"    {line}".rstrip() for line in self.reproduction.strip().splitlines()]
        return "\n".join(lines)

    def __str__(self) -> str:
        """Return the finding as indented lines."""
        return self.text()


@dataclass(frozen=True)
class NotRun:
    """A rule that could not be run, and why."""

    code: str
    rule: str
    reason: str


@dataclass(frozen=True)
class Report:
    """The result of `customgrad.check`; true when nothing failed.

    A bug or a hazard fails. What is merely missing (a vmap rule, say) or torch's own limit is
    listed among the findings, and leaves the report true.
    """

    name: str
    findings: Sequence[Finding] = ()
    passed: Sequence[str] = ()
    """Codes of the rules that ran and found nothing."""
    not_run: Sequence[NotRun] = ()
    facts: dict[str, Any] = field(default_factory=dict)
    """What was measured on the way: bytes saved per element, the dtype of the run."""

    def __bool__(self) -> bool:
        """Whether nothing failed."""
        return not self.failures

    @property
    def failures(self) -> list[Finding]:
        """The bugs and hazards."""
        return [f for f in self.findings if f.severity in FAILING]

    @property
    def quiet(self) -> list[Finding]:
        """What is missing, and what torch itself cannot do."""
        return [f for f in self.findings if f.severity not in FAILING]

    def raise_if_failed(self) -> None:
        """Raise `CheckFailed`, with the whole report as its text, if there is a bug or a hazard."""
        if self.failures:
            raise CheckFailed(self)

    def text(
        self,
        *,
        quiet: bool = False,
        not_run: bool = False,
        script: bool = False,
        width: int = WIDTH,
    ) -> str:
        """Return the report as plain text: a table where there is more than one finding, then each.

        Args:
            quiet: tell what is missing at length, too.
            not_run: list the rules that were not run, with the reasons.
            script: add the reproduction to each finding.
            width: of the lines, in columns.
        """
        verdict = "nothing found" if self else _count(len(self.failures), "finding")
        ran = f"{_count(len(self.passed), 'rule')} passed, {len(self.not_run)} not run"
        # A path with a name says itself what was checked.
        head = f"{self.name if '::' in self.name else f'customgrad check {self.name}'}: {verdict}"
        fits = len(head) + len(ran) + 3 <= width
        parts = [f"{head} ({ran})" if fits else f"{head}\n  {ran}"]
        shown = [*self.failures, *(self.quiet if quiet else [])]
        if len(shown) > 1:
            parts.append(_table([(f.code, MARKS[f.severity], f.rule) for f in shown]))
        parts += [f.text(width, script=script) for f in shown]
        if self.quiet and not quiet:
            names = ", ".join(f"{f.code} {f.rule}" for f in self.quiet)
            parts.append("\n".join(_wrapped(names, width, "missing: ", " " * 9)))
        if silenced := self.facts.get("silenced"):
            parts.append(f"silenced by a comment: {', '.join(silenced)}")
        if not_run and self.not_run:
            rows = [
                _wrapped(n.reason, width, f"  {n.code} {n.rule}: ", " " * 8) for n in self.not_run
            ]
            parts.append("\n".join(["not run:", *("\n".join(row) for row in rows)]))
        return "\n\n".join(parts)

    def __str__(self) -> str:
        """Return the report as plain text."""
        return self.text()

    def __rich_console__(self, console: Any, options: Any) -> Iterator[Any]:
        """Yield the report for a rich console: the same text, as wide as the terminal, in colour."""
        yield coloured(self.text(width=min(WIDTH, options.max_width)))

    def to_dict(self) -> dict[str, Any]:
        """Return the report as plain dictionaries, lists and strings."""
        return {
            "name": self.name,
            "ok": bool(self),
            "findings": [asdict(f) for f in self.findings],
            "passed": list(self.passed),
            "not_run": [asdict(n) for n in self.not_run],
            "facts": self.facts,
        }

    def to_json(self, indent: int | None = 2) -> str:
        """Return the report as JSON."""
        return json.dumps(self.to_dict(), indent=indent, ensure_ascii=False)


class CheckFailed(AssertionError):
    """`customgrad.check` found a bug or a hazard; the text is the report."""

    def __init__(self, report: Report) -> None:
        """Keep the report."""
        super().__init__(str(report))
        self.report = report

    def __reduce__(self) -> tuple[Any, ...]:
        """Make it again from the report: pytest-xdist and multiprocessing pickle errors."""
        return type(self), (self.report,)


def _count(number: int, word: str) -> str:
    return f"{number} {word}{'s' * (number != 1)}"


def _table(rows: Sequence[tuple[str, ...]]) -> str:
    """Return rows in columns."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join(
        "  " + "  ".join(c.ljust(w) for c, w in zip(row, widths, strict=True)).rstrip()
        for row in rows
    )


def _wrapped(text: str, width: int, first: str, rest: str) -> list[str]:
    """Return a text as lines, each line break in it kept."""
    lines: list[str] = []
    for part in text.splitlines() or [""]:
        lines += textwrap.wrap(
            part,
            max(width, len(first) + 20),
            initial_indent=rest if lines else first,
            subsequent_indent=rest,
            break_long_words=False,
            break_on_hyphens=False,
        ) or [rest.rstrip()]
    return lines


def coloured(text: str) -> Any:
    """Return a report's text as rich text."""
    from rich.text import Text

    told = Text(text)
    told.highlight_regex(r"(?m)^(customgrad check |\S+::).*$", "bold")
    told.highlight_regex(r"(?m)^(  CG\d+  )?× bug.*$", "bold red")
    told.highlight_regex(r"(?m)^(  CG\d+  )?! hazard.*$", "bold yellow")
    told.highlight_regex(r"(?m)^(  CG\d+  )?[~^] (missing|upstream).*$", "bold cyan")
    told.highlight_regex(r"(?m)^  (did|with|got|expected|where|why|at|fix|more)  ", "dim")
    return told
