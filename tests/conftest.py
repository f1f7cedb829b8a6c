"""Lets the tests import the helpers beside them, and keeps each file's tests on one worker."""

import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))


def pytest_collection_modifyitems(items):
    """Group tests for `pytest -n`: what shares a built site or a module's fixtures stays together."""
    for item in items:
        if item.path.is_relative_to(HERE):
            browser = item.path.is_relative_to(HERE / "browser")
            item.add_marker(pytest.mark.xdist_group("browser" if browser else item.path.name))
