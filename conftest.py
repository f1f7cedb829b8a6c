"""Collects the pages of the handbook as tests, beside the tests in tests/."""

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
