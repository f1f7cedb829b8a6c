"""The three pages of the ReLU problem: their parts, their tables, and a test for each constraint."""

import inspect
import re

import pytest
import torch

from customgrad.exercises import problem
from customgrad.functions import CustomReLU
from customgrad.lessons.relu import harness
from customgrad.lessons.relu.solution import SaveMask, SaveOutput
from sitetools import pages

PROBLEM = pages.DOCS / "relu" / "problem.md"
SOLUTION = pages.DOCS / "relu" / "solution.md"
PITFALLS = pages.DOCS / "relu" / "pitfalls.md"

HEADINGS = {
    PROBLEM: [
        "Statement", "Task", "Starter code", "Input and output format", "Worked example", "Constraints",
        "Hints", "Test your answer", "Related problems", "In short",
    ],
    SOLUTION: ["Approach", "Step by step", "The solution", "Edge cases", "Complexity", "Double backward", "In short"],
    PITFALLS: [
        "Nothing saved", "The wrong mask", "`>=` at zero", "Forgetting `grad_output`", "Without `@staticmethod`",
        "The wrong number of gradients", "A product with the mask", "Changing `grad_output` in place",
        "Saving on `ctx` instead of `save_for_backward`", "In short",
    ],
}  # fmt: skip
RELATED = {
    "SGD with momentum": "hard",
    "A custom SGD optimizer": "hard",
    "Weight decay for specific layers": "medium",
    "Freeze the backbone and train the head": "medium",
    "Per-layer learning rates": "easy",
}

# For each test that a constraint names: what is right, and a replacement that breaks the constraint.
VIOLATIONS = {
    "static methods": ("@staticmethod\n    def backward", "def backward"),
    "input left alone": ("ctx.save", "input.data.abs_(); ctx.save"),
    "gradient at 0": ("masked_fill(input <= 0, 0)", "masked_fill(input < 0, 0)"),
    "gradient at -0.0": ("input <= 0", "torch.signbit(input) & (input != 0)"),
    "uses grad_output": ("return grad_output", "return torch.ones_like(input)"),
    "grad_output left alone": ("return grad_output", "return grad_output.mul_(2)"),
    "saves for backward": ("(input,) = ctx.saved_tensors", "(input, _) = ctx.saved_tensors"),
    "0-d tensor": ("(input,) = ctx.saved_tensors", "(input,) = ctx.saved_tensors; len(input)"),
    "empty tensor": ("return grad_output", "assert input.numel(); return grad_output"),
    "transposed matrix": (
        "return grad_output",
        "input = input.t().reshape(input.shape); return grad_output",
    ),
    "dtypes kept": ("return input.clamp(min=0)", "return input.clamp(min=0).double()"),
}
ALSO = {"saves for backward": ("save_for_backward(input)", "save_for_backward(input, input)")}


def judged(tmp_path, source):
    """Return the harness's rows for a file with this source: test → passed."""
    file = tmp_path / "my_relu.py"
    file.write_text("import torch\n\n\n" + source, encoding="utf-8")
    seen = []
    harness.judge(str(file), seen.append)
    return {row.name: row.ok for row in harness.collect(file.name, seen).rows}


def rows(page, first):
    """Return the cells of the page's table whose head starts with a word."""
    lines = page.read_text(encoding="utf-8").splitlines()
    at = next(n for n, line in enumerate(lines) if line.startswith(f"| {first}")) + 2
    end = next(n for n in range(at, len(lines)) if not lines[n].startswith("|"))
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines[at:end]]


def output(page, section):
    """Return the verified output below the block that embeds a section."""
    fence = next(
        f for f in pages.fences(page) if any(t.endswith(f":{section}") for _, t in f.targets)
    )
    return pages.output_fence(page, fence.line).body


@pytest.mark.parametrize("page", HEADINGS, ids=lambda page: page.stem)
def test_a_page_has_its_parts_in_order(page):
    text = page.read_text(encoding="utf-8")
    assert [
        line[3:] for _, line in pages.outside(page, text) if line.startswith("## ")
    ] == HEADINGS[page]


@pytest.mark.parametrize("page", HEADINGS, ids=lambda page: page.stem)
def test_highlighted_lines_hold_code(page):
    for fence in pages.fences(page):
        lines = fence.code().splitlines()
        for span in re.findall(r"[\d-]+", "".join(re.findall(r'hl_lines="([^"]*)"', fence.info))):
            first, _, last = span.partition("-")
            for number in range(int(first), int(last or first) + 1):
                where = f"{pages.name(page)}:{fence.line}: highlighted line {number}"
                assert number <= len(lines), where
                assert lines[number - 1].startswith("    "), f"{where} is {lines[number - 1]!r}"


def test_the_starter_highlights_what_is_to_be_filled_in():
    fence = next(
        f
        for f in pages.fences(PROBLEM)
        if f.targets and f.targets[0][1].endswith("starter.py:starter")
    )
    lines = fence.code().splitlines()
    marked = re.search(r'hl_lines="([\d ]+)"', fence.info)[1].split()
    assert marked == [str(n) for n, line in enumerate(lines, 1) if "NotImplementedError" in line]


def test_the_difficulty_and_the_related_problems_are_named():
    text = PROBLEM.read_text(encoding="utf-8")
    assert "Difficulty <strong>easy</strong>" in text
    listed = re.findall(r"^- \[(.+)\]\(\.\./exercises/(\w+)\.md\) \((\w+)\)$", text, re.MULTILINE)
    assert {title: level for title, _, level in listed} == RELATED
    assert all(problem(name).level == level for _, name, level in listed)


def test_what_is_long_or_gives_away_is_closed_until_opened():
    lines = PROBLEM.read_text(encoding="utf-8").splitlines()
    opened = [n for n, line in enumerate(lines) if line == "<details markdown>"]
    assert [lines[n + 1] for n in opened] == [
        f"<summary>{summary}</summary>" for summary in (
            "Each constraint, broken once",
            "Hint 1: what backward needs to know",
            "Hint 2: how to save it and find the elements",
            "Hint 3: which operations do it",
            "The eighteen tests, and what each expects",
            "The run of the right answer",
        )
    ]  # fmt: skip
    ends = [n for n, line in enumerate(lines) if line == "</details>"]
    shown = next(n for n, line in enumerate(lines) if line.endswith('problem.py:constraints"'))
    assert opened[0] < shown < ends[0]
    assert len(ends) == len(opened)


def test_related_problems_are_exercises():
    text = PROBLEM.read_text(encoding="utf-8").partition("## Related problems")[2]
    for name in ("relu", "momentum", "sgd", "decay", "freeze", "rates"):
        assert f"(../exercises/{name}.md)" in text
    assert not re.search(r"soon|will|planned", text)


def test_a_reader_is_told_how_to_reach_the_harness():
    text = PROBLEM.read_text(encoding="utf-8").partition("## Test your answer")[2]
    before = text.partition("```console")[0]
    for way in (". .venv/bin/activate", ".venv\\Scripts\\Activate.ps1", ".venv/bin/python"):
        assert f"`{way}`" in before


def test_the_pair_about_zero_differs_in_one_character():
    wrong, right = (
        pages.expand(f'--8<-- "customgrad/lessons/relu/pitfalls.py:zero_{side}"', "pitfalls.md")
        for side in ("wrong", "right")
    )
    assert len(right) == len(wrong) + 1
    assert [right[:i] + right[i + 1 :] for i in range(len(right))].count(wrong) == 1


def test_the_worked_example_is_what_its_code_prints():
    table = [[float(cell) for cell in row[:4]] for row in rows(PROBLEM, "`x`")]
    printed = [[float(v) for v in line.split()[1:]] for line in output(PROBLEM, "example")]
    assert table == [list(column) for column in zip(*printed, strict=True)]


def test_the_page_counts_as_the_harness_does():
    text, tests = PROBLEM.read_text(encoding="utf-8"), len(harness.TESTS)
    assert tests == 18  # "eighteen tests" in the description
    assert "harness of eighteen tests" in text
    assert re.findall(r"^\d+/\d+ passed$", text, re.MULTILINE) == [
        f"0/{tests} passed", f"{tests - 3}/{tests} passed", f"{tests}/{tests} passed",
    ]  # fmt: skip


def test_each_constraint_names_tests_and_is_shown_failing_them():
    named = [
        test for row in rows(PROBLEM, "constraint") for test in re.findall(r"`([^`]+)`", row[1])
    ]
    assert set(named) <= {test.name for test in harness.TESTS}
    shown = [re.match(r"✗ (.+?)  ", line)[1] for line in output(PROBLEM, "constraints")]
    assert sorted(shown) == sorted(named) == sorted(VIOLATIONS)
    assert len(shown) == 11  # "Eleven" in the block's title


def test_a_right_answer_meets_every_constraint(tmp_path):
    result = judged(tmp_path, inspect.getsource(CustomReLU))
    assert all(result.values())
    assert set(VIOLATIONS) <= set(result)


@pytest.mark.parametrize("constraint", VIOLATIONS)
def test_an_answer_that_breaks_a_constraint_fails_its_test(constraint, tmp_path):
    source = inspect.getsource(CustomReLU)
    for old, new in filter(None, (VIOLATIONS[constraint], ALSO.get(constraint))):
        assert old in source
        source = source.replace(old, new)
    assert judged(tmp_path, source)[constraint] is False


@pytest.mark.parametrize("variant", [SaveOutput, SaveMask])
def test_what_is_saved_does_not_change_the_gradient(variant):
    inf, nan = float("inf"), float("nan")
    x = torch.tensor([-2.0, -0.0, 0.0, 3.0, nan, inf, -inf], requires_grad=True)
    for g in (torch.arange(10.0, 80.0, 10.0), torch.full((7,), inf)):
        (got,) = torch.autograd.grad(variant.apply(x), x, g)
        (want,) = torch.autograd.grad(torch.relu(x), x, g)
        assert torch.equal(got, want)
