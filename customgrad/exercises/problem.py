"""An exercise as its folder has it: solution, statement, stubs, hints and mutants.

Reading it needs no torch: the command line lists, starts and hints without importing it.
"""

import ast
import textwrap
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

__all__ = ["Mutant", "Problem", "Unknown", "ladder", "names", "problem"]

HERE = Path(__file__).parent
FOLDER = HERE / "problems"


class Unknown(ValueError):
    """No exercise has this name."""


@dataclass(frozen=True)
class Mutant:
    """A wrong answer that people give, and what is said of it."""

    name: str
    source: str
    why: str
    """What it does wrong: a fact about its behaviour, then where it comes from."""
    fix: str
    line: str
    """A regular expression for the line to look at; empty for none."""


@dataclass(frozen=True)
class Problem:
    """One exercise."""

    name: str
    title: str
    level: str
    needs: str
    """The page to read before."""
    statement: str
    constraints: tuple[str, ...]
    hints: tuple[str, str, str]
    explanation: str
    solution: str
    starter: str
    defines: tuple[str, ...]
    mutants: tuple[Mutant, ...]
    forbids: Mapping[str, str]
    """Operations of torch that may not be called, each with the reason."""
    differentiates: bool
    """Whether the answer returns a gradient."""

    @property
    def file(self) -> str:
        """The name of the learner's file."""
        return f"{self.name}.py"

    def mutant(self, name: str) -> Mutant:
        """Return a wrong answer by its name."""
        return next(mutant for mutant in self.mutants if mutant.name == name)

    @property
    def start(self) -> str:
        """What `customgrad exercise start` writes: the statement above the starter."""
        parts = [self.title, self.statement.strip()]
        if self.constraints:
            parts.append("\n".join(f"- {_plain(line)}" for line in self.constraints))
        parts.append(f"Check it with: customgrad exercise check {self.name}")
        text = "\n\n".join(_comment(_plain(part)) for part in parts)
        return f"{text}\n\n{self.starter}"


def _plain(text: str) -> str:
    """Return Markdown without its signs."""
    return text.replace("`", "").replace("**", "").replace("$", "")


def _comment(text: str) -> str:
    paragraphs = text.split("\n\n")
    lines: list[str] = []
    for paragraph in paragraphs:
        for item in paragraph.split("\n- "):
            item = item if item.startswith("- ") or item is paragraph else f"- {item}"
            indent = "  " if item.startswith("- ") else ""
            lines += textwrap.wrap(
                " ".join(item.split()), 86, subsequent_indent=indent, break_on_hyphens=False
            )
        lines.append("")
    return "\n".join(f"# {line}".rstrip() for line in lines[:-1])


@cache
def ladder() -> tuple[dict[str, Any], ...]:
    """Return the rungs, each with ``name``, ``words`` and ``exercises``."""
    with (HERE / "ladder.toml").open("rb") as file:
        return tuple(tomllib.load(file)["rung"])


def names() -> list[str]:
    """Return the names of all exercises, in their order."""
    return [name for rung in ladder() for name in rung["exercises"]]


@cache
def problem(name: str) -> Problem:
    """Return an exercise by its name.

    Raises:
        Unknown: there is none; the text lists those whose names are near.
    """
    if name not in names():
        import difflib

        near = difflib.get_close_matches(name, names(), 3, 0.5)
        hint = f"; did you mean {' or '.join(near)}?" if near else ""
        raise Unknown(
            f"no exercise is called {name!r}{hint} `customgrad exercise list` has them all"
        )
    folder = FOLDER / name
    with (folder / "exercise.toml").open("rb") as file:
        data = tomllib.load(file)
    solution = (folder / "solution.py").read_text(encoding="utf-8")
    starter = _starter(solution, data, name)
    return Problem(
        name=name,
        title=data["title"],
        level=data["level"],
        needs=data["needs"],
        statement=data["statement"].strip(),
        constraints=tuple(data.get("constraints", ())),
        hints=tuple(hint.strip() for hint in data["hints"]),
        explanation=data["explanation"].strip(),
        solution=shown(solution),
        starter=starter,
        defines=tuple(data["defines"]),
        mutants=tuple(_mutant(shown(solution), row, name) for row in data["mutant"]),
        forbids=data.get("forbids", {}),
        differentiates=data.get("differentiates", True),
    )


def shown(source: str) -> str:
    """Return what stands between the markers of a module, without lines that hold markers."""
    lines = source.splitlines()
    marks = [i for i, line in enumerate(lines) if "# --8<-- [" in line]
    inside = lines[marks[0] : marks[-1]] if marks else lines
    text = "\n".join(line for line in inside if "# --8<-- [" not in line)
    return text.strip("\n") + "\n"


def _starter(solution: str, data: Mapping[str, Any], name: str) -> str:
    """Make the starter: the named bodies become a stub, the named lines are replaced."""
    source = shown(solution)
    for edit in data.get("broken", ()):
        source = _edited(source, edit, f"{name}: the starter")
    stubs: Mapping[str, str] = data.get("stub", {})
    lines = source.splitlines()
    places = dict(_functions(ast.parse(source)))
    for path, words in sorted(stubs.items(), key=lambda pair: -places[pair[0]].lineno):
        node = places[path]
        body = node.body[0].lineno - 1
        indent = " " * node.body[0].col_offset
        lines[body : node.end_lineno] = [f'{indent}raise NotImplementedError("{words}")']
    return "\n".join(lines) + "\n"


def _functions(tree: ast.AST, prefix: str = "") -> list[tuple[str, Any]]:
    found = []
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            path = f"{prefix}{node.name}"
            if isinstance(node, ast.FunctionDef):
                found.append((path, node))
            found += _functions(node, f"{path}.")
    return found


def _edited(source: str, edit: Mapping[str, str], what: str) -> str:
    old, new = edit["old"], edit["new"]
    if source.count(old) != 1:
        raise ValueError(
            f"{what} edits {old!r}, which stands {source.count(old)} times in the solution"
        )
    return source.replace(old, new)


def _mutant(solution: str, row: Mapping[str, Any], name: str) -> Mutant:
    source = row.get("source", "")
    if not source:
        source = solution
        edits = row.get("edits") or [row]
        for edit in edits:
            source = _edited(source, edit, f"{name}: mutant {row['name']}")
    return Mutant(row["name"], source, row["why"].strip(), row["fix"].strip(), row.get("line", ""))
