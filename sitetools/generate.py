"""Writes docs/generated/: figures and tables, computed from real values. Run as `python -m sitetools.generate`.

Each module of `sitetools.figures` makes the SVG of its own name; each of `sitetools.tables` makes Markdown files.
`python -m sitetools.generate rules` runs the modules of that name alone.
"""

import importlib
import itertools
import pkgutil
import re
import sys
from types import ModuleType
from typing import Any

from sitetools import figures, pages, tables
from sitetools.tables import exercises

TOLERANCE = 0.1
"""Coordinates may differ by this much from one processor to another (they are rounded to 0.1)."""

NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
WORDS = re.compile(r">([^<>]*\S[^<>]*)<")
"""What a reader reads in a figure: the text between tags."""


def render_all(*only: str) -> dict[str, str]:
    """Return every generated file: name → text; with names of modules, what these make."""
    rendered = {}
    for module in modules(figures, *only):
        rendered[f"{module.__name__.rpartition('.')[2]}.svg"] = module.render().rstrip() + "\n"
    for module in modules(tables, *only):
        rendered |= module.render()
    return rendered


def modules(package: ModuleType, *only: str) -> list[Any]:
    """Return the modules of a package, in the order of their names; those named alone, if any is."""
    found = sorted(m.name for m in pkgutil.iter_modules(package.__path__))
    return [
        importlib.import_module(f"{package.__name__}.{name}")
        for name in found
        if name[0] != "_" and (not only or name in only)
    ]


def differs(stored: str, rendered: str) -> str:
    """Return what differs between two renderings of a file, apart from the tolerance; nothing if they agree."""
    for before, now in itertools.zip_longest(WORDS.findall(stored), WORDS.findall(rendered)):
        if before != now:
            return f"the text {before!r} is now {now!r}"
    if NUMBER.sub("#", stored) != NUMBER.sub("#", rendered):
        return "the structure differs"
    pairs = zip(NUMBER.findall(stored), NUMBER.findall(rendered), strict=True)
    far = [(a, b) for a, b in pairs if abs(float(a) - float(b)) > TOLERANCE + 1e-9]
    return f"{far[0][0]} is now {far[0][1]}" if far else ""


def main(*only: str) -> int:
    """Write every generated file that changed, and say which."""
    pages.GENERATED.mkdir(exist_ok=True)
    if not only or "exercises" in only:
        exercises.write_starters()
    rendered = render_all(*only)
    for filename, text in rendered.items():
        target = pages.GENERATED / filename
        change = differs(target.read_text(encoding="utf-8"), text) if target.exists() else "new"
        if change:
            target.write_text(text, encoding="utf-8", newline="\n")
        print(f"{pages.name(target)}: {change or 'unchanged'}")
    if only:
        return 0
    for stray in sorted({p.name for p in pages.GENERATED.iterdir()} - set(rendered)):
        print(f"{pages.name(pages.GENERATED / stray)}: no module writes it; remove it")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
