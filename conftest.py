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


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Keep a file on one worker, and all that opens one built site, so that nothing is built twice."""
    from xdist.scheduler import LoadScopeScheduling

    class ByFile(LoadScopeScheduling):
        def _split_scope(self, nodeid: str) -> str:
            path = nodeid.partition("::")[0]
            # The published site is a build of its own: its tests may run beside the others.
            local = path.startswith("tests/browser/") and not path.endswith("test_published.py")
            return "tests/browser" if local else path

    return ByFile(config, log)
