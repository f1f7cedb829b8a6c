"""What the pages of the exercises embed: level, statement, constraints, hints, known mistakes; and the ladder.

All of it stands once, in the folder of the exercise.
"""

import html
import re
from pathlib import Path
from typing import Any

from sitetools import pages

FOLDER = pages.DOCS / "exercises"
CODE = re.compile(
    r"(?<![\w`.])(\w+ \*\* \w+|\.?(?:\w+\.)*\w+\([^()\s]*\)|\w*_\w+|\w+\.\w+(?:\.\w+)*(?:\[[^]\s]*\])?)(?!\w)"
)


def render() -> dict[str, str]:
    """Return the ladder, and the parts of each page that there is."""
    from customgrad.exercises import ladder, problem

    files = {"exercises.md": _ladder(ladder())}
    for rung in ladder():
        for name in rung["exercises"]:
            if (FOLDER / f"{name}.md").is_file():
                for part, text in _parts(problem(name)).items():
                    files[f"exercise-{name}-{part}.md"] = text.strip() + "\n"
    return files


def starter(task: Any) -> str:
    """Return the module of an exercise's starter, which is made from its solution."""
    return (
        f'"""The starter of the exercise {task.name}, made from its solution: `make outputs`."""\n\n'
        f"# --8<-- [start:starter]\n{task.starter.rstrip()}\n\n\n# --8<-- [end:starter]\n"
    )


def _ladder(rungs: Any) -> str:
    from customgrad.exercises import problem

    parts = []
    for rung in rungs:
        rows = ["| exercise | what it is about |", "|---|---|"]
        for name in rung["exercises"]:
            task = problem(name)
            page = FOLDER / f"{name}.md"
            title = f"[{task.title}]({page.name})" if page.is_file() else task.title
            rows.append(f"| {title}<br>`{name}` · {task.level} | {_first(task.statement)} |")
        parts.append("\n".join([f"## {rung['name']}", "", rung["words"], "", *rows]))
    return "\n\n".join(parts) + "\n"


def _first(text: str) -> str:
    """Return the first sentence."""
    return re.split(r"(?<=[.!?])\s|:\s", " ".join(text.split()), maxsplit=1)[0].rstrip(".:") + "."


def _parts(task: Any) -> dict[str, str]:
    title = re.search(r'^title: "?([^"\n]+)', (pages.DOCS / task.needs).read_text("utf-8"), re.M)
    needs = re.search(r"^# (.+?)(?: \{.*)?$", (pages.DOCS / task.needs).read_text("utf-8"), re.M)
    words = (needs or title)[1] if needs or title else task.needs  # type: ignore[index]
    facts = [
        f"<span>Level <strong>{task.level}</strong></span>",
        f"<span>Needs [{words}](../{task.needs})</span>",
        f"<span>Its file <strong>{task.file}</strong></span>",
    ]
    hints = []
    for number, (kind, hint) in enumerate(
        zip(("a question", "the rule", "the line"), task.hints, strict=True), 1
    ):
        hints.append(_folded(f"Hint {number}: {kind}", hint))
    return {
        "meta": f'<p class="meta" markdown>{" ".join(facts)}</p>',
        "statement": task.statement,
        "constraints": "\n".join(f"- {line}" for line in task.constraints),
        "hints": "\n\n".join(hints),
        "explanation": task.explanation,
        "mistakes": _mistakes(task),
    }


def _folded(summary: str, text: str) -> str:
    return f"<details markdown>\n<summary>{html.escape(summary)}</summary>\n\n{text}\n\n</details>"


def _mistakes(task: Any) -> str:
    """List the mutants, each with what the grader says of it; that it does, the exercises' tests hold."""
    rows = []
    for mutant in task.mutants:
        name = mutant.name.replace("-", " ").capitalize()
        rows.append(f"- *{name}.* {_sentence(mutant.why)}<br>{_sentence(mutant.fix)}")
    return "\n".join(rows)


def _sentence(text: str) -> str:
    """Return a diagnosis with its code as code: calls, and names of Python's or torch's."""
    text = " ".join(text.split())
    if "`" not in text:
        text = CODE.sub(r"`\1`", text)
    pieces = text.rstrip(".").split("`")  # an asterisk in prose is no sign of emphasis
    pieces[::2] = [piece.replace("*", "\\*") for piece in pieces[::2]]
    text = "`".join(pieces) + "."
    return text[0].upper() + text[1:] if text[0] != "`" else text


def write_starters(folder: Path | None = None) -> None:
    """Write each exercise's starter beside its solution."""
    from customgrad.exercises import names, problem
    from customgrad.exercises.problem import FOLDER as PROBLEMS

    for name in names():
        place = (folder or PROBLEMS) / name / "starter.py"
        text = starter(problem(name))
        if not place.exists() or place.read_text(encoding="utf-8") != text:
            place.write_text(text, encoding="utf-8", newline="\n")
            print(f"{pages.name(place)}: written")
