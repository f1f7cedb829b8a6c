"""Time and memory of the catalogue's Functions, as `make bench` found them: a row for each operation."""

import math
from typing import Any

from sitetools.figures import WIDTH, panel, path, text
from sitetools.tables.bars import largest
from sitetools.tables.speed import reports

ROW, TOP = 22, 36
LEFT, RIGHT = 172.0, WIDTH - 10.0
TIMES = (0.1, 1.0, 10.0)
SHARES = (0.0, 0.5, 1.0, 1.5)
"""What is labelled on the axes of times and of bytes."""


def at_time(ratio: float) -> float:
    """Return the place of a ratio of times; the axis is logarithmic, and ends where its labels do."""
    low, high = math.log10(TIMES[0]), math.log10(TIMES[-1])
    return LEFT + (RIGHT - LEFT) * (min(max(math.log10(ratio), low), high) - low) / (high - low)


def at_share(ratio: float) -> float:
    """Return the place of a ratio of bytes."""
    return LEFT + (RIGHT - LEFT) * min(ratio, SHARES[-1]) / SHARES[-1]


def rows(found: dict[str, Any]) -> list[str]:
    """Return the operations' names, one below the other."""
    return [text(LEFT - 12, y(n) + 4.5, name, "code", "end") for n, name in enumerate(found)]


def y(row: float) -> float:
    """Return the height of a row's middle."""
    return TOP + ROW * (row + 0.5)


def frame(places: dict[str, float], count: int) -> list[str]:
    """Return the grid; the line at 1 is the one to compare with."""
    bottom = y(count - 0.5)
    parts = []
    for label, x in places.items():
        parts.append(path([(x, TOP), (x, bottom)], "axis" if label == "1" else "grid"))
        parts.append(text(x, TOP - 8, label, "tick", "middle"))
    return parts


def dot(x: float, row: int, kind: str) -> str:
    """Return a mark."""
    return f'<circle class="{kind}" cx="{x:.1f}" cy="{y(row):.1f}" r="4.5"/>'


def times(found: dict[str, Any]) -> str:
    """Return the panel of times: open for few elements, filled for many."""
    parts = frame({f"{t:g}": at_time(t) for t in TIMES}, len(found)) + rows(found)
    for row, report in enumerate(found.values()):
        sizes = list(report["time"].values())
        small, large = (at_time(sizes[n]["custom"][1]) for n in (0, largest(report)))
        parts += [dot(small, row, "open"), dot(large, row, "filled")]
    title = "Ratios of times: a filled point for each Function on large tensors, an open one on small ones"
    return panel("speed-time", title, round(y(len(found))), parts)


def shares(found: dict[str, Any]) -> str:
    """Return the panel of bytes: open for what is kept, filled for the peak."""
    parts = frame({f"{s:g}": at_share(s) for s in SHARES}, len(found)) + rows(found)
    for row, report in enumerate(found.values()):
        for quantity, kind in (("saved", "open"), ("peak", "filled")):
            if over := report[quantity][report["base"]]:
                parts.append(dot(at_share(report[quantity]["custom"] / over), row, kind))
    title = "Ratios of bytes: an open point for what each Function keeps, a filled one for its peak"
    return panel("speed-bytes", title, round(y(len(found))), parts)


def render() -> str:
    """Return both panels."""
    found = reports()
    return "\n".join([times(found), shares(found)])
