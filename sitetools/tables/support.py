"""What works with what: every cell is tried, none is typed."""

from sitetools import catalogue
from sitetools.operation import Operation

REFUSES = {"yes": "yes", "refused": "no"}
ELSEWHERE = {"relu": "../relu/solution.md", "linear": "../backprop/function.md"}
"""Pages of the handbook that stand for a page of the catalogue, as seen from docs/functions/."""


def row(operations: list[Operation]) -> dict[str, str]:
    """Return column → cell for the entries of one operation: "yes" where all of them pass.

    Raises:
        AssertionError: where something runs and gives a wrong number; such a cell is never published.
    """
    cells = {}
    for column, probe in catalogue.PROBES.items():
        found = {catalogue.works(probe, operation) for operation in operations}
        assert "wrong" not in found, f"{operations[0].name}: {column} runs and gives a wrong number"
        cells[column] = REFUSES["yes" if found == {"yes"} else "refused"]
    if subclass := operations[0].forward_mode:
        cells["jvp"] = f"by `{subclass.__name__}`"
    return cells


def render() -> dict[str, str]:
    """Return the whole table, and that of each page."""
    tried: dict[str, dict[str, dict[str, str]]] = {}
    for name in dict.fromkeys(o.name for o in catalogue.OPERATIONS):
        operations = [o for o in catalogue.OPERATIONS if o.name == name]
        tried.setdefault(operations[0].page, {})[name] = row(operations)
    head = ["| | " + " | ".join(catalogue.PROBES) + " |", "|---|" + "---|" * len(catalogue.PROBES)]
    lines = [
        f"| {linked(name, page)} | {' | '.join(short(cell) for cell in cells.values())} |"
        for page, rows in tried.items()
        for name, cells in rows.items()
    ]
    files = {f"support-{page}.md": upright(page, rows) for page, rows in tried.items()}
    return files | {"support.md": "\n".join([*head, *lines]) + "\n"}


def short(cell: str) -> str:
    """Return a cell of the wide table."""
    return "subclass" if cell.startswith("by ") else cell


def linked(name: str, page: str) -> str:
    """Return an operation's name, with a link to its page."""
    return f"[`{name}`]({ELSEWHERE.get(page, f'{page}.md')})"


def upright(page: str, rows: dict[str, dict[str, str]]) -> str:
    """Return a page's table: a row for each feature, a column for each operation, then the reasons."""
    names = ["works"] if len(rows) == 1 else [f"`{name}`" for name in rows]
    lines = [f"| feature | {' | '.join(names)} |", "|---|" + "---|" * len(names)]
    for column in catalogue.PROBES:
        lines.append(f"| {column} | {' | '.join(cells[column] for cells in rows.values())} |")
    reasons = {
        f"- **{column}**: {why}"
        for o in catalogue.OPERATIONS
        for column, why in o.lacks.items()
        if o.page == page
    }
    return "\n".join([*lines, "", *sorted(reasons)]).rstrip() + "\n"
