"""What works with what: every cell is tried, none is typed."""

from sitetools import catalogue

SAYS = {"yes": "yes", "refused": "no"}


def row(operations: list[catalogue.Operation]) -> dict[str, str]:
    """Return column → cell for the entries of one operation: "yes" where all of them pass.

    Raises:
        AssertionError: where something runs and gives a wrong number; such a cell is never published.
    """
    cells = {}
    for column, probe in catalogue.PROBES.items():
        found = {catalogue.works(probe, operation) for operation in operations}
        assert "wrong" not in found, f"{operations[0].name}: {column} runs and gives a wrong number"
        cells[column] = SAYS["yes" if found == {"yes"} else "refused"]
    return cells


def render() -> dict[str, str]:
    """Return the whole table, and the row of each page."""
    head = "| | " + " | ".join(catalogue.PROBES) + " |"
    rule = "|---|" + "---|" * len(catalogue.PROBES)
    lines, files = [], {}
    for page in dict.fromkeys(o.page for o in catalogue.OPERATIONS):
        operations = [o for o in catalogue.OPERATIONS if o.page == page]
        cells = row(operations)
        line = f"| `{operations[0].name}` | {' | '.join(cells.values())} |"
        upright = "\n".join(f"| {column} | {cell} |" for column, cell in cells.items())
        files[f"support-{page}.md"] = f"| feature | works |\n|---|---|\n{upright}\n"
        lines.append(line)
    return files | {"support.md": "\n".join([head, rule, *lines]) + "\n"}
