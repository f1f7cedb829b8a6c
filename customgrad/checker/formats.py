"""Reports for machines: JSON of several, GitHub's annotations, and SARIF 2.1.0."""

import json
import urllib.parse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from customgrad import __version__
from customgrad.checker import links
from customgrad.checker.report import Finding, Report
from customgrad.checker.rules import RULES

__all__ = ["github", "sarif", "to_json"]

LEVELS = {"bug": "error", "hazard": "warning", "missing": "note", "upstream": "note"}
"""Severity → SARIF's level."""
SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"


def to_json(reports: Sequence[Report], **more: Any) -> str:
    """Return the reports as one JSON object, with what else is to be said beside them."""
    told = {"ok": all(reports), "reports": [r.to_dict() for r in reports], **more}
    return json.dumps(told, indent=2, ensure_ascii=False)


def github(reports: Sequence[Report], *, quiet: bool = False) -> str:
    """Return the findings as GitHub's workflow commands, one a line; empty if there is none.

    A bug is an error, a hazard a warning; what is missing is a notice, and left out unless `quiet`.
    """
    lines = []
    for report in reports:
        for f in report.findings if quiet else report.failures:
            kind = {"error": "error", "warning": "warning"}.get(LEVELS[f.severity], "notice")
            place = {"file": _relative(f.file), "line": f.line, "title": f"{f.code} {f.rule}"}
            given = ",".join(f"{k}={_property(str(v))}" for k, v in place.items() if v)
            lines.append(f"::{kind} {given}::{_data(_message(report, f))}")
    return "\n".join(lines)


def sarif(reports: Sequence[Report]) -> str:
    """Return the findings as a SARIF 2.1.0 log."""
    places = {rule.code: k for k, rule in enumerate(RULES)}
    rules = [
        {
            "id": rule.code,
            "name": rule.name,
            "shortDescription": {"text": rule.summary},
            "fullDescription": {"text": rule.explanation.strip() or rule.summary},
            "defaultConfiguration": {"level": LEVELS[rule.severity]},
            **({"helpUri": links.page(rule.code)} if links.page(rule.code) else {}),
        }
        for rule in RULES
    ]
    results = []
    for report in reports:
        for f in report.findings:
            result: dict[str, Any] = {
                "ruleId": f.code,
                "level": LEVELS[f.severity],
                "message": {"text": _message(report, f)},
            }
            if f.code in places:
                result["ruleIndex"] = places[f.code]
            if _relative(f.file):
                where: dict[str, Any] = {"artifactLocation": {"uri": _uri(f.file)}}
                if f.line:
                    where["region"] = {"startLine": f.line}
                result["locations"] = [{"physicalLocation": where}]
            results.append(result)
    driver = {"name": "customgrad", "version": __version__, "rules": rules}
    run = {"tool": {"driver": driver}, "columnKind": "unicodeCodePoints", "results": results}
    return json.dumps({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2)


def _message(report: Report, f: Finding) -> str:
    parts = [f"{report.name}: {f.message}"]
    rows = {"With": f.variant, "Got": f.got, "Expected": f.expected, "Why": f.cause, "Fix": f.fix}
    parts += [f"{key}: {value}" for key, value in rows.items() if value]
    return "\n".join(parts)


def _relative(file: str) -> str:
    """Return a path as seen from the working directory, where it lies below it."""
    if not file or file.startswith("<"):
        return ""  # typed into an interpreter
    path = Path(file)
    try:
        return path.resolve().relative_to(Path.cwd().resolve()).as_posix()
    except (OSError, ValueError):
        return path.as_posix()


def _uri(file: str) -> str:
    """Return a file's address: relative where it lies below the working directory."""
    near = _relative(file)
    return Path(near).as_uri() if Path(near).is_absolute() else urllib.parse.quote(near)


def _data(text: str) -> str:
    """Return a workflow command's message, escaped."""
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    """Return a workflow command's property, escaped."""
    return _data(text).replace(":", "%3A").replace(",", "%2C")
