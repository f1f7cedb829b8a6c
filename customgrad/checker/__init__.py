"""``customgrad.check``: says whether the gradient of a custom Function can be trusted."""

from customgrad.checker.report import CheckFailed, Finding, NotRun, Report
from customgrad.checker.rule import Rule
from customgrad.checker.runner import assert_ok, check

__all__ = ["CheckFailed", "Finding", "NotRun", "Report", "Rule", "assert_ok", "check"]
