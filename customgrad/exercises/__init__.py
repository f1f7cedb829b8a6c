"""Exercises in custom gradients, and a grader that says why an answer is wrong.

    customgrad exercise start relu
    customgrad exercise check relu

From Python, `grade` judges the source of an answer in this process:

    from customgrad.exercises import grade, problem
    print(grade("relu", problem("relu").starter))
"""

import textwrap
from typing import Any

from customgrad.exercises.problem import Mutant, Problem, Unknown, ladder, names, problem

__all__ = ["Mutant", "Problem", "Unknown", "grade", "ladder", "names", "problem", "solved"]


def grade(name: str, source: str, file: str = "") -> Any:
    """Judge the source of an answer in this process.

    Args:
        name: the exercise.
        source: the text of the answer; one that is indented as a whole is taken as if it were not.
        file: the name of its file, for the message.

    Returns:
        A verdict with ``passed``, ``check``, ``message``, ``diagnosis`` and ``next``; printed, it
        is what the command line shows.

    Raises:
        Unknown: no exercise has this name.
    """
    from customgrad.exercises.grading import grade  # torch is imported here, not above

    return grade(name, textwrap.dedent(source), file)


def solved(name: str) -> Any:
    """Return the solution of an exercise as a module: ``solved("relu").CustomReLU``.

    Raises:
        Unknown: no exercise has this name.
    """
    import importlib

    return importlib.import_module(f"customgrad.exercises.problems.{problem(name).name}.solution")
