"""The benchmarks' page: every operation in one table, and the bars with what was found."""

import tomllib
from typing import Any

from sitetools.tables import speed

BARS = speed.RESULTS.with_name("bars.toml")
QUANTITIES = {"time": "time", "saved": "bytes kept", "peak": "peak bytes"}


def bars() -> list[dict[str, Any]]:
    """Return each bar with `found`: the ratio in the stored results."""
    stored = speed.reports()
    listed = tomllib.loads(BARS.read_text(encoding="utf-8"))["bar"]
    return [bar | {"found": found(bar, stored[bar["operation"]])} for bar in listed]


def found(bar: dict[str, Any], report: dict[str, Any]) -> float:
    """Return the ratio that a bar is about."""
    values = report[bar["quantity"]]
    if bar["quantity"] == "time":
        medians = {case: quartiles[1] for case, quartiles in values[bar["size"]].items()}
    else:
        medians = values
    ratio: float = medians[bar.get("case", "custom")] / medians[bar["over"]]
    return ratio


def render() -> dict[str, str]:
    """Return the two tables."""
    lines = ["| what | found | at most | |", "|---|--:|--:|---|"]
    for bar in bars():
        over = speed.WORDS.get(bar["over"], bar["over"])
        says = f"{bar['says']}: {QUANTITIES[bar['quantity']]} over {over}"
        found = f"{bar['found']:.3g}"
        met = "met" if float(found) <= bar["most"] else "missed"
        lines.append(f"| {says} | {found} | {bar['most']:g} | {met} |")
    return {"bars.md": "\n".join(lines) + "\n", "benchmarks.md": everything()}


def everything() -> str:
    """Return a row for each operation, in one table for each thing that they are compared with."""
    stored = speed.reports()
    tables = []
    for base, words in speed.WORDS.items():
        rows = [row(name, r) for name, r in stored.items() if r["base"] == base]
        head = f"| over {words} | time, small | time, large | kept | peak |\n|---|--:|--:|--:|--:|"
        tables.append("\n".join([head, *rows]))
    # What was measured on, once for each different machine or version.
    stamps = dict.fromkeys(f"{speed.stamp(r)}\n{{.meta}}" for r in stored.values())
    return "\n\n".join([*tables, *stamps]) + "\n"


def row(name: str, report: dict[str, Any]) -> str:
    """Return an operation's ratios at the smallest and the largest size, and of its bytes."""
    base, times = report["base"], list(report["time"].values())
    cells = [f"{times[n]['custom'][1]:.2f}" for n in (0, largest(report))]
    for quantity in ("saved", "peak"):
        over = report[quantity][base]
        cells.append(f"{report[quantity]['custom'] / over:.2f}" if over else "–")
    return f"| `{name}` | {' | '.join(cells)} |"


def largest(report: dict[str, Any]) -> int:
    """Return which of the sizes is the largest in float32, which stand in rising order."""
    return len([label for label in report["time"] if not label.endswith("bfloat16")]) - 1
