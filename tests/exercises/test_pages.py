"""Each exercise has a page, of one form; what the page embeds is what the exercise's folder has."""

import re

import pytest

from customgrad.exercises import names, problem
from customgrad.exercises.problem import FOLDER
from sitetools import pages
from sitetools.tables import exercises

PAGES = {page.stem: page for page in (pages.DOCS / "exercises").glob("*.md")}
OTHERS = {"index", "grader"}
NAMES = names()


def test_every_exercise_has_a_page_and_every_page_an_exercise():
    assert set(PAGES) - OTHERS == set(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_the_starter_is_made_from_the_solution(name):
    stored = (FOLDER / name / "starter.py").read_text(encoding="utf-8")
    assert stored == exercises.starter(problem(name)), "run `make outputs`"


@pytest.mark.parametrize("name", NAMES)
def test_headings_are_those_that_contributing_names(name):
    table = (pages.ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    row = next(line for line in table.splitlines() if line.startswith("| exercise, "))
    wanted = re.findall(r"\*([^*]+)\*[,\s]", row)
    text = PAGES[name].read_text(encoding="utf-8")
    assert re.findall(r"^## (.+)$", text, re.M) == wanted
    assert f"\n# {problem(name).title}\n" in text
    assert text.split("\n---\n")[0].endswith("\nsearch:\n  boost: 0.5")
    for part in ("meta", "statement", "constraints", "hints", "explanation", "mistakes"):
        assert f'--8<-- "docs/generated/exercise-{name}-{part}.md"' in text
    for file in ("starter.py:starter", "solution.py:solution"):
        assert f'--8<-- "customgrad/exercises/problems/{name}/{file}"' in text
    marks = [int(n) for n in re.search(r'hl_lines="([\d ]+)"', text)[1].split()]
    lines = problem(name).starter.splitlines()
    if raised := [n for n, line in enumerate(lines, 1) if "raise NotImplementedError" in line]:
        assert marks == raised, "highlight what is to be written"
