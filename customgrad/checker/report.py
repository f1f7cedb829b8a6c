"""What was found, and how it is told: text, JSON, GitHub annotations, SARIF."""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

__all__ = ["SEVERITIES", "CheckFailed", "Finding", "NotRun", "Report"]

SEVERITIES = ("bug", "hazard", "missing", "upstream")
"""A wrong number · wrong or leaking under stated conditions · a capability that raises · torch's own limit."""
FAILING = ("bug", "hazard")


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

    def __str__(self) -> str:
        """Return the finding as indented lines."""
        lines = [f"{self.code} {self.rule} · {self.severity}", f"  {self.message}"]
        rows = {
            "did": self.did,
            "with": self.variant,
            "got": self.got,
            "expected": self.expected,
            "where": self.where,
            "why": self.cause,
            "fix": self.fix,
            "more": self.page,
        }
        lines += [f"  {key:<8} {value}" for key, value in rows.items() if value]
        return "\n".join(lines)


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
            raise CheckFailed(str(self))

    def text(self, *, quiet: bool = False, not_run: bool = False) -> str:
        """Return the report as plain text.

        Args:
            quiet: tell what is missing at length, too.
            not_run: list the rules that were not run, with the reasons.
        """
        verdict = "nothing found" if self else _count(len(self.failures), "finding")
        ran = f"{len(self.passed)} rules passed, {len(self.not_run)} not run"
        parts = [f"customgrad check {self.name}: {verdict} ({ran})"]
        parts += [str(f) for f in self.failures]
        if quiet:
            parts += [str(f) for f in self.quiet]
        elif self.quiet:
            parts.append("missing: " + ", ".join(f"{f.code} {f.rule}" for f in self.quiet))
        if not_run:
            parts += [f"{n.code} {n.rule} not run: {n.reason}" for n in self.not_run]
        return "\n\n".join(parts)

    def __str__(self) -> str:
        """Return the report as plain text."""
        return self.text()

    def __rich__(self) -> Any:
        """Return a table for a rich console."""
        from rich.console import Group
        from rich.table import Table
        from rich.text import Text

        table = Table(title=f"customgrad check {self.name}", title_justify="left")
        for heading in ("code", "rule", "severity", "what"):
            table.add_column(heading, no_wrap=heading != "what")
        for f in self.findings:
            if f.severity in FAILING:
                style = "red" if f.severity == "bug" else "yellow"
                table.add_row(f.code, f.rule, Text(f.severity, style), f.message)
        return Group(*([table] if self.failures else []), Text(self.text()))

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
    """`customgrad.check` found a bug or a hazard."""


def _count(number: int, word: str) -> str:
    return f"{number} {word}{'s' * (number != 1)}"
