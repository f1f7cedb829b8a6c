"""Every exercise: its starter fails, its solution passes, each wrong answer is told what is wrong with it."""

import ast
import re
from pathlib import Path

import pytest

from customgrad.exercises import grade, names, problem
from customgrad.exercises.grading import LINES, WIDTH
from customgrad.exercises.problem import FOLDER

RIGHT = Path(__file__).with_name("right")
NAMES = names()


def tells(verdict):
    """A message is short, has no traceback, and says what to type next."""
    lines = verdict.message.splitlines()
    assert len(lines) <= LINES, verdict.message
    assert all(len(line) <= WIDTH + 32 for line in lines), verdict.message
    assert "Traceback" not in verdict.message
    assert verdict.next in verdict.message


@pytest.mark.parametrize("name", NAMES)
def test_starter(name):
    verdict = grade(name, problem(name).starter)
    assert not verdict.passed
    assert verdict.diagnosis, verdict.message
    tells(verdict)


@pytest.mark.parametrize("name", NAMES)
def test_solution(name):
    verdict = grade(name, problem(name).solution)
    assert verdict.passed, verdict.message


@pytest.mark.parametrize("name", NAMES)
def test_mutants(name):
    mutants = problem(name).mutants
    assert len(mutants) >= 6
    assert len({m.name for m in mutants}) == len({m.why for m in mutants}) == len(mutants)
    wrong = []
    for mutant in mutants:
        verdict = grade(name, mutant.source)
        if verdict.passed or verdict.diagnosis != f"{mutant.why}; {mutant.fix}":
            wrong.append(f"{mutant.name}:\n{verdict.message}")
        else:
            tells(verdict)
            if mutant.line:
                assert "  where " in verdict.message, f"{mutant.name}: the line is not found"
    assert not wrong, "\n\n".join(wrong)


def answers(name):
    text = (RIGHT / f"{name}.py").read_text(encoding="utf-8")
    return dict(zip(*[iter(re.split(r"^# === (.+)\n", text, flags=re.M)[1:])] * 2, strict=True))


@pytest.mark.parametrize("name", NAMES)
def test_right_in_other_ways(name):
    found = answers(name)
    assert len(found) >= 3
    refused = [grade(name, source).message for source in found.values()]
    assert not [m for m in refused if "checks pass" not in m], "\n\n".join(refused)
    trees = {ast.dump(ast.parse(source)) for source in [*found.values(), problem(name).solution]}
    assert len(trees) == len(found) + 1, "two answers are the same"


SPOILS = {
    "constant": "torch.ones_like(t)",
    "zero": "torch.zeros_like(t)",
    "scaled": "t * 1.02",
    "biased": "t + 0.01 * t.abs().mean()",
}
SPOILED = """

def _spoil(made):
    made = made if isinstance(made, tuple) else (made,)
    return tuple(
        {expression} if isinstance(t, torch.Tensor) and t.is_floating_point() else t for t in made
    )


_Right = {name}


class {name}(_Right):
    @staticmethod
    def backward(ctx, *g):
        {body}
"""
ONES = "g = tuple(torch.ones_like(t) if isinstance(t, torch.Tensor) else t for t in g)\n        "


def functions(task):
    """The Functions that an answer defines: their gradients are spoiled."""
    tree = ast.parse(task.solution)
    classes = [node for node in tree.body if isinstance(node, ast.ClassDef)]
    return [c.name for c in classes if "Function" in ast.unparse(c.bases[0] if c.bases else c)]


@pytest.mark.parametrize("name", [n for n in NAMES if problem(n).differentiates])
def test_spoiled_gradients(name):
    task = problem(name)
    assert functions(task)
    for function in functions(task):
        for words, expression in SPOILS.items():
            body = "return _spoil(_Right.backward(ctx, *g))"
            source = task.solution + SPOILED.format(name=function, expression=expression, body=body)
            assert not grade(name, source).passed, f"{function}: {words}"
        body = f"{ONES}return _Right.backward(ctx, *g)"
        source = task.solution + SPOILED.format(name=function, expression="t", body=body)
        assert not grade(name, source).passed, f"{function}: right for grad_output = 1 alone"


@pytest.mark.parametrize("name", NAMES)
def test_words(name):
    task = problem(name)
    assert task.hints[0].endswith("?")
    assert len(task.hints) == 3
    assert task.level in ("easy", "medium", "hard")
    assert task.needs.endswith(".md")
    assert Path("docs", task.needs).is_file(), task.needs
    compile(task.starter, "starter", "exec")
    for line in task.start.splitlines() + task.solution.splitlines():
        assert len(line) <= 88, line
    assert all(len(line) <= 72 for line in task.solution.splitlines())


@pytest.mark.parametrize("name", NAMES)
def test_reference_is_not_the_solution(name):
    text = (FOLDER / name / "checks.py").read_text(encoding="utf-8")
    assert "solution" not in text
