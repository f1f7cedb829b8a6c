"""Collects the pages of the handbook as tests, beside the tests in tests/."""

from typing import Any

import pytest

from sitetools.collector import (
    pytest_addoption,
    pytest_collect_file,
    pytest_configure,
    pytest_sessionfinish,
    pytest_terminal_summary,
)

__all__ = [
    "pytest_addoption",
    "pytest_collect_file",
    "pytest_configure",
    "pytest_sessionfinish",
    "pytest_terminal_summary",
]


FIRST = (
    "tests/checker/test_zoo.py",  # longer than all others
    "tests/browser/test_published.py",  # executes the examples
    "tests/functions/test_catalogue.py",  # tries what works with what
    "tests/browser",  # shows the executed examples
    "tests/checker/test_control.py",
    "tests/test_harness.py",
    "tests/benchmarks/test_benchmarks.py",
    "tests/test_collector.py",
    "tests/test_hooks.py",
    "docs/reference/checks.md",
    "tests/test_examples.py",
    "tests/test_preview.py",
)
"""What runs longest for the number of its tests: begun last, it would leave the other workers idle at the end."""


def scope(nodeid: str) -> str:
    """Return the unit that a test belongs to: it stays on one worker, so that nothing is made twice."""
    path = nodeid.partition("::")[0]
    if path == "tests/test_generated.py":
        return "tests/functions/test_catalogue.py"  # takes over what is tried there
    # The published site is a build of its own: its tests may run beside the others.
    local = path.startswith("tests/browser/") and not path.endswith("test_published.py")
    return "tests/browser" if local else path


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Give each worker one unit after another: those named above first, then those of the most tests."""
    from xdist.scheduler import LoadScopeScheduling

    class ByUnit(LoadScopeScheduling):
        def _split_scope(self, nodeid: str) -> str:
            return scope(nodeid)

        def _assign_work_unit(self, node: Any) -> None:
            for unit in FIRST:
                if unit in self.workqueue:
                    self.workqueue.move_to_end(unit, last=False)
                    break
            super()._assign_work_unit(node)

    return ByUnit(config, log)
