"""Times and memory as the last `make bench` found them, one table a page."""

import json
from typing import Any

from sitetools import catalogue, pages

RESULTS = pages.ROOT / "tests" / "benchmarks" / "results.json"
CASES = {"custom": "`{name}`", "composed": "composed", "builtin": "torch's own"}


def render() -> dict[str, str]:
    """Return the table of each operation that was measured."""
    report = json.loads(RESULTS.read_text(encoding="utf-8"))
    return {
        f"speed-{page_of(result['operation'])}.md": table(result, report)
        for result in report["results"]
    }


def page_of(name: str) -> str:
    """Return the page of an operation."""
    return next(o.page for o in catalogue.OPERATIONS if o.name == name)


def table(result: dict[str, Any], report: dict[str, Any]) -> str:
    """Return one operation's figures, with what they were measured on."""
    sizes = list(result["time"])
    base = CASES[result["base"]].format(name=result["operation"])
    head = [f"{label} elements" for label in sizes] + ["kept, B per element", "peak, B per element"]
    lines = [f"| time over {base} | " + " | ".join(head) + " |", "|---|" + "--:|" * len(head)]
    for case, words in CASES.items():
        if case in result["saved"]:
            cells = [f"{result['time'][label][case][1]:.2f}" for label in sizes]
            cells += [f"{result['saved'][case]:g}", f"{result['peak'][case]:g}"]
            lines.append(
                f"| {words.format(name=result['operation'])} | " + " | ".join(cells) + " |"
            )
    stamp = (
        f"Forward and backward in float32; medians of {report['rounds']} rounds, measured side by side. "
        f"{report['processor']}, {report['threads']} threads, torch {report['torch']}, Python {report['python']}."
    )
    return "\n".join(lines) + f"\n\n{stamp}\n{{.meta}}\n"
