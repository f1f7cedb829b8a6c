"""The detection matrix: each broken Function of the zoo, and which tool notices.

gradcheck and gradgradcheck are run here; what the checker says is what tests/zoo has, and its tests hold that.
"""

import functools
import importlib
import re
import tomllib
from collections.abc import Callable
from typing import Any

from sitetools import collector, pages
from sitetools.tables.rules import leaves, objects

FAMILIES = {
    "contract": "Contract", "firstorder": "First derivatives", "kinks": "Kinks and ties",
    "secondorder": "Second derivatives", "memory": "Memory", "aliasing": "Mutation and aliasing",
    "layout": "Layout", "shapes": "Shapes", "needsgrad": "Which inputs need a gradient", "outputs": "Outputs",
    "captured": "Captured tensors", "numerics": "Numbers", "dtypes": "Dtypes",
    "repeatability": "Repeatability", "transforms": "Transforms and compiling",
}  # fmt: skip
TOOLS = ("gradcheck", "fast", "gradgradcheck", "customgrad")
YES, NO = "✓", "·"


def render() -> dict[str, str]:
    """Return the matrix, its sums, and the strip of the home page."""
    seen = {family: _family(family) for family in FAMILIES}
    members = [row for rows in seen.values() for row in rows]
    return {
        "zoo.md": "\n\n".join(_table(FAMILIES[family], rows) for family, rows in seen.items())
        + "\n",
        "zoo-sums.md": _sums(members),
        "strip.md": _strip(members),
    }


@functools.cache
def noticed(family: str, name: str) -> tuple[bool, bool, bool]:
    """Return whether gradcheck, its fast mode and gradgradcheck object to a broken Function."""
    import torch

    from customgrad.checker.samples import Sample
    from customgrad.checker.subject import Subject

    module = importlib.import_module(f"customgrad.zoo.{family}.{name}")
    with collector.clean_state():
        torch.manual_seed(0)
        given = module.sample_inputs()
        checked = Subject(module.Broken)
        samples = [
            Sample.of((*g, *checked.extra)) for g in (given if isinstance(given, list) else [given])
        ]
        fast = functools.partial(torch.autograd.gradcheck, fast_mode=True)
        checks: tuple[Callable[..., bool], ...] = (
            torch.autograd.gradcheck, fast, torch.autograd.gradgradcheck,
        )  # fmt: skip
        found = [
            any(objects(check, checked.call, leaves(sample)) == "yes" for sample in samples)
            for check in checks
        ]
    return found[0], found[1], found[2]


def _family(family: str) -> list[dict[str, Any]]:
    with (pages.ROOT / "tests" / "zoo" / f"{family}.toml").open("rb") as file:
        expected = tomllib.load(file)
    rows = []
    for name, entry in expected.items():
        module = importlib.import_module(f"customgrad.zoo.{family}.{name}")
        source = re.search(r"Source: (https?://\S+)", module.__doc__ or "")
        tools = dict(zip(TOOLS, (*noticed(family, name), bool(entry.get("codes"))), strict=True))
        rows.append({"name": name, "fault": entry["fault"], "codes": entry.get("codes", []),
                     "source": source[1] if source else "", **tools})  # fmt: skip
    return rows


def _table(title: str, rows: list[dict[str, Any]]) -> str:
    lines = [
        f"## {title}",
        "",
        "| what is wrong | gradcheck | fast | gradgradcheck | customgrad |",
        "|---|:-:|:-:|:-:|---|",
    ]
    for row in rows:
        codes = ", ".join(_link(code) for code in row["codes"]) or NO
        marks = " | ".join(YES if row[tool] else NO for tool in TOOLS[:3])
        fault = row["fault"].replace("|", "\\|")
        thread = f" ([thread]({row['source']}))" if row["source"] else ""
        lines.append(f"| {fault}{thread}<br>`{row['name']}` | {marks} | {codes} |")
    return "\n".join(lines)


def _link(code: str) -> str:
    page = pages.DOCS / "check" / f"{code.lower()}.md"
    return f"[{code}]({page.name})" if page.is_file() else code


def _sums(rows: list[dict[str, Any]]) -> str:
    torch_ = sum(any(row[tool] for tool in TOOLS[:3]) for row in rows)
    lines = ["| tool | notices | of |", "|---|--:|--:|"]
    names = {"gradcheck": "`gradcheck`", "fast": "`gradcheck(fast_mode=True)`",
             "gradgradcheck": "`gradgradcheck`"}  # fmt: skip
    for tool, words in names.items():
        lines.append(f"| {words} | {sum(row[tool] for row in rows)} | {len(rows)} |")
    lines.append(f"| one of these three | {torch_} | {len(rows)} |")
    lines.append(f"| `customgrad.check` | {sum(row['customgrad'] for row in rows)} | {len(rows)} |")
    return "\n".join(lines) + "\n"


def _strip(rows: list[dict[str, Any]]) -> str:
    """Draw a square a broken Function, the same in each row; those that torch's checks notice come first."""
    any_of = [any(row[tool] for tool in TOOLS[:3]) for row in rows]
    order = sorted(
        range(len(rows)),
        key=lambda k: (not rows[k]["gradcheck"], not any_of[k], not rows[k]["customgrad"], k),
    )
    bars = {
        "gradcheck": [rows[k]["gradcheck"] for k in order],
        "every torch check": [any_of[k] for k in order],
        "customgrad": [rows[k]["customgrad"] for k in order],
    }
    side, gap, columns = 7, 2, 34
    parts = ['<div class="strip" data-search-exclude>']
    for words, filled in bars.items():
        squares = []
        for k, full in enumerate(filled):
            x, y = (k % columns) * (side + gap), (k // columns) * (side + gap)
            kind = ("ours" if words == "customgrad" else "theirs") if full else "none"
            squares.append(
                f'<rect class="{kind}" x="{x + 0.5}" y="{y + 0.5}" width="6" height="6"/>'
            )
        height = -(-len(filled) // columns) * (side + gap)
        count = f"{sum(filled)} of {len(filled)}"
        parts.append(
            f'<div><span>{words}</span><svg role="img" viewBox="0 0 {columns * (side + gap)} {height}">'
            f"<title>{words} notices {count}</title>{''.join(squares)}</svg><strong>{count}</strong></div>"
        )
    parts.append("</div>")
    return "\n".join(parts) + "\n"
