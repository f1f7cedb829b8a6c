"""The examples: each runs as a plain script, prints what it promises, and holds to the rules."""

import ast
import os
import re
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

from sitetools import notebooks

ROOT = Path(__file__).resolve().parent.parent
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))
SECONDS = 20
COLUMNS = 72

example = pytest.mark.parametrize("path", EXAMPLES, ids=lambda p: p.stem)


@cache
def run(path):
    """Run an example once; return what it printed and the processor time that it took."""
    environment = os.environ | {"MPLBACKEND": "Agg", "PYTHONPATH": str(ROOT)}
    before = os.times()
    done = subprocess.run(
        [sys.executable, "-W", "error", path.name],
        cwd=path.parent,
        env=environment,
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=6 * SECONDS,  # of a busy machine's clock
        check=False,
    )
    after = os.times()
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    spent = after.children_user + after.children_system
    return done.stdout, spent - before.children_user - before.children_system


def printed(path):
    """Return the `name: value` lines of an example's output."""
    return dict(re.findall(r"^([\w' ,]+?): +(.+)$", run(path)[0], re.M))


def table(path):
    """Return the rows of the example's table, as numbers."""
    rows = re.findall(r"^ *\d+(?: +[\d.e+-]+)+$", run(path)[0], re.M)
    return [[float(number) for number in row.split()] for row in rows]


@example
def test_runs_as_a_script_in_time(path):
    output, seconds = run(path)
    assert output
    assert seconds < SECONDS


def test_every_example_has_its_facts():
    assert {p.stem for p in EXAMPLES} == {"custom_relu", "custom_linear_training"}


def test_custom_relu():
    path = ROOT / "examples" / "custom_relu.py"
    said, rows = printed(path), table(path)
    assert said["same start"] == "True"
    assert said["ours"] == "CustomReLUBackward"
    assert said["torch's"] == "ReluBackward0"
    assert said["steps"] == "440"
    assert said["largest difference"] == "0.0"
    assert said["identical"] == "True"
    assert said["same parameters"] == "True"
    assert len(rows) == 7
    assert all(ours == torchs for _, ours, torchs in rows)
    assert rows[-1][1] < rows[0][1] / 10
    assert said["same answers"] == "True"
    assert said["right, ours"] == said["right, torch's"]
    assert int(said["right, ours"]) > 0.85 * int(said["held out"])


def test_custom_linear_training():
    path = ROOT / "examples" / "custom_linear_training.py"
    said, rows = printed(path), table(path)
    assert said["steps compared"] == "60"
    assert said["all close"] == "True"
    assert float(said["largest gap"]) < 1e-3
    assert len(rows) == 8
    assert all(gap < 1e-3 for *_, gap in rows)
    assert rows[-1][1] < rows[0][1] / 1000
    # What regression_data is made with.
    assert ast.literal_eval(said["weight"]) == [1.5, -2.0, 0.5]
    assert said["bias"] == "0.7"
    assert said["same predictions"] == "True"


@example
def test_defines_nothing(path):
    definitions = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)
    tree = ast.parse(path.read_text(encoding="utf-8"))
    found = [f"line {node.lineno}" for node in ast.walk(tree) if isinstance(node, definitions)]
    assert not found, "an example only imports, calls, prints and plots; move it to customgrad/"


@example
def test_is_plain_python(path):
    text = path.read_text(encoding="utf-8")
    assert not re.findall(r"^\s*(?:# ?)?(?:%(?!%)|!)\w.*|get_ipython", text, re.M)


@example
def test_each_figure_has_an_alt_that_says_something(path):
    for index, cell in enumerate(notebooks.read(path, ROOT).cells):
        alts = cell.metadata.get("alt", [])
        alts = [alts] if isinstance(alts, str) else alts
        where = f"{path.name}, cell {index + 1}"
        assert len(alts) == cell.source.count("plt.show()"), where
        for alt in alts:
            assert len(alt.split()) >= 6, where
            assert alt.endswith("."), where
            assert "image" not in alt.split()[:3], where


@example
def test_teaches(path):
    cells = notebooks.read(path, ROOT).cells
    prose = [cell.source for cell in cells if cell.cell_type == "markdown"]
    assert re.match(r"# [^\n]+\n\n(?!#)[^#]+\n\{\.lede\}\Z", prose[0])
    assert prose[-1].startswith("## Where to go next\n")
    assert len(re.findall(r"\]\([\w./-]+\.(?:md|py)\)", prose[-1])) >= 2


@example
def test_front_matter(path):
    meta = notebooks.read(path, ROOT).meta
    assert 10 <= len(meta["title"]) <= 60
    assert 70 <= len(meta["description"]) <= 160


@example
def test_code_lines_fit(path):
    for index, cell in enumerate(notebooks.read(path, ROOT).cells):
        if cell.cell_type == "code":
            long = [line for line in cell.source.splitlines() if len(line) > COLUMNS]
            assert not long, f"{path.name}, cell {index + 1}"


@example
def test_numbers_in_prose_are_in_the_code_or_printed(path):
    cells = notebooks.read(path, ROOT).cells
    shown = run(path)[0] + "".join(c.source for c in cells if c.cell_type == "code")
    for cell in cells:
        if cell.cell_type == "markdown":
            text = re.sub(r"`[^`]*`|\]\([^)]*\)", "", cell.source)
            for number in re.findall(r"(?<![\w.])\d+(?:\.\d+)?", text):
                assert re.search(rf"(?<![\d.]){re.escape(number)}(?![\d])", shown), number
