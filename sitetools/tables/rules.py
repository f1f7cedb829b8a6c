"""The rules of the checker: a table of all, and the line that stands under the name of each on its page.

What gradcheck sees is tried, on the example that the page itself shows.
"""

import functools
import re
import shlex
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

from sitetools import collector, pages

GROUPS = {
    "CG1": "Contract", "CG2": "First derivatives", "CG3": "Second derivatives", "CG4": "Memory",
    "CG5": "Mutation and aliasing", "CG6": "Layout and shapes", "CG7": "Arguments and outputs",
    "CG8": "Numbers and dtypes", "CG90": "Repeatability", "CG95": "Transforms", "CG96": "Compiling and devices",
}  # fmt: skip
"""Beginning of a code → what the rules are about."""
COMMAND = re.compile(r"customgrad check (?P<file>[\w.]+)::(?P<name>[\w.]+)(?P<options>.*)")
FOLDER = pages.DOCS / "check"


def render() -> dict[str, str]:
    """Return the table, and the line of each page that there is."""
    from customgrad.checker.rules import RULES

    parts = []
    files = {}
    for prefix, title in GROUPS.items():
        rows = ["| code | what is wrong |", "|---|---|"]
        for rule in RULES:
            if not rule.code.startswith(prefix):
                continue
            page = FOLDER / f"{rule.code.lower()}.md"
            code = rule.code
            if page.is_file():
                code = f"[{code}]({page.name})"
                files[f"rule-{page.stem}.md"] = line(rule, *seen(page))
            cells = f"{code}<br>{chip(rule.severity)} | **{rule.name}**<br>{rule.summary}"
            rows.append(f"| {cells} |")
        parts.append("\n".join([f"## {title}", "", *rows]))
    return files | {"rules.md": "\n\n".join(parts) + "\n"}


def chip(severity: str) -> str:
    """Return a severity as the style sheet knows it: a shape, and a word."""
    return f'<span class="chip {severity}">{severity}</span>'


def line(rule: Any, first: str, second: str) -> str:
    """Return what stands under a rule's name."""
    facts = [
        f"seen by gradcheck: <strong>{first}</strong>",
        f"seen by gradgradcheck: <strong>{second}</strong>",
        f"since {rule.since}",
    ]
    spans = " ".join([chip(rule.severity), *(f"<span>{fact}</span>" for fact in facts)])
    return f'<p class="meta" data-search-exclude>{spans}</p>\n'


def seen(page: Path) -> tuple[str, str]:
    """Return what gradcheck and gradgradcheck say about a page's example: "yes" where they object."""
    import torch

    checks = (torch.autograd.gradcheck, torch.autograd.gradgradcheck)
    with tempfile.TemporaryDirectory() as folder, collector.clean_state():
        call, arguments = subject(page, Path(folder))
        first, second = (objects(check, call, arguments()) for check in checks)
    return first, second


def objects(check: Callable[..., bool], call: Callable[..., Any], arguments: list[Any]) -> str:
    """Return "no" where a check passes; an error of whatever kind is noticed."""
    import torch

    with warnings.catch_warnings(action="ignore"):
        torch.manual_seed(0)
        try:
            return "no" if check(call, arguments) else "yes"
        except Exception:
            return "yes"


def leaves(sample: Any) -> list[Any]:
    """Return arguments of their own for one check."""
    arguments: list[Any] = sample.fresh()[0]
    return arguments


def subject(page: Path, folder: Path) -> tuple[Callable[..., Any], Callable[[], list[Any]]]:
    """Return what a page's first command checks, and what makes its arguments.

    Raises:
        LookupError: where the page has no such command.
    """
    from customgrad.checker import loading
    from customgrad.checker.samples import Sample
    from customgrad.checker.subject import Subject

    for fence in pages.fences(page):
        match = COMMAND.search(fence.code()) if fence.language == "console" else None
        if match is None:
            continue
        for filename, text in collector.console_files(page, fence.line).items():
            (folder / filename).write_text(text, encoding="utf-8")
        module = loading.load(folder / match["file"])
        ((name, target),) = loading.functions(module, match["name"])
        words = shlex.split(match["options"])
        if "--inputs" in words:
            inputs: Any = loading.evaluate(words[words.index("--inputs") + 1])
        else:
            inputs = loading.samples(module, name, target)
        checked = Subject(target)
        given = inputs() if callable(inputs) else inputs
        first = given[0] if isinstance(given, list) else given
        sample = Sample.of((*first, *checked.extra))
        return checked.call, functools.partial(leaves, sample)
    raise LookupError(f"{pages.name(page)}: a rule's page shows `customgrad check FILE.py::NAME`")
