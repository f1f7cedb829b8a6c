"""A rule: its code, what it says, and the function that looks."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from customgrad.checker.exam import Exam
    from customgrad.checker.report import Finding

__all__ = ["Rule"]

Find = Callable[["Exam"], Iterator["Finding"]]


@dataclass
class Rule:
    """One rule of the checker.

    A rule module makes one or more of these, and gives each its function with ``@RULE.finder``.
    The function yields findings, made by ``exam.finding``; what it cannot judge, it says by
    raising ``NotJudged``.
    """

    code: str
    name: str
    severity: str
    summary: str
    """One sentence: what is wrong where the rule fires."""
    explanation: str = ""
    """What `--explain` prints: symptoms, cause, fix."""
    needs_class: bool = False
    """Cannot be run on a plain callable or a module."""
    surrogate: bool = True
    """Is run where the gradient deliberately differs from forward's derivative, too."""
    after: tuple[str, ...] = ()
    """Not run where one of these found something: it would say the same less well."""
    needs_backward: bool = True
    """Not run where forward or backward raises on the inputs as given."""
    compiles: bool = False
    """Starts torch.compile, which takes seconds."""
    slow: bool = False
    """Left out by `fast`."""
    seconds: float = 30.0
    since: str = "0.1"
    """The version that has it first."""
    find: Find | None = field(default=None, repr=False)

    def finder(self, find: Find) -> Find:
        """Take the function that looks."""
        self.find = find
        return find


class NotJudged(Exception):
    """A rule cannot say anything about this subject; the text says why."""
