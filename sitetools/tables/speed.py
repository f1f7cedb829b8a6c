"""Times and memory as the last `make bench` found them, one table a page."""

import json
from typing import Any

from sitetools import catalogue, pages

RESULTS = pages.ROOT / "tests" / "benchmarks" / "results"
WORDS = {"composed": "composed", "builtin": "torch's own"}


def reports() -> dict[str, Any]:
    """Return operation → what `make bench` found, in the order of the catalogue."""
    names = dict.fromkeys(o.name for o in catalogue.OPERATIONS)
    files = {name: RESULTS / f"{name}.json" for name in names}
    return {
        name: json.loads(file.read_text(encoding="utf-8"))
        for name, file in files.items()
        if file.is_file()
    }


def render() -> dict[str, str]:
    """Return the tables of each page: one for each operation that was measured."""
    page_of = {o.name: o.page for o in catalogue.OPERATIONS}
    files: dict[str, list[str]] = {}
    for name, report in reports().items():
        files.setdefault(f"speed-{page_of[name]}.md", []).append(table(report))
    return {name: "\n".join(tables) for name, tables in files.items()}


def table(report: dict[str, Any]) -> str:
    """Return one operation's figures, with what they were measured on."""
    base = WORDS[report["base"]]
    head = [label if "×" in label else f"{label} elements" for label in report["time"]]
    head += ["kept, B per element", "peak, B per element"]
    lines = [f"| time over {base} | " + " | ".join(head) + " |", "|---|" + "--:|" * len(head)]
    for case in report["saved"]:
        words = f"`{report['operation']}`" if case == "custom" else WORDS.get(case, case)
        cells = [f"{found[case][1]:.2f}" for found in report["time"].values()]
        cells += [f"{report['saved'][case]:g}", f"{report['peak'][case]:g}"]
        lines.append(f"| {words} | " + " | ".join(cells) + " |")
    words = stamp(report)
    if report.get("beside inputs"):
        words += " Inputs and weights are not counted as kept."
    return "\n".join(lines) + f"\n\n{words}\n{{.meta}}\n"


def stamp(report: dict[str, Any]) -> str:
    """Return what a result was measured on."""
    return (
        f"Forward and backward in float32; medians of {report['rounds']} rounds, measured side by side. "
        f"{report['processor']}, {report['threads']} threads, torch {report['torch']}, Python {report['python']}."
    )
