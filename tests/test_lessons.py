"""Each lesson runs whole, and prints what its page shows, in the page's order."""

import contextlib
import importlib
import io
import subprocess
import sys

import pytest

from sitetools import pages
from sitetools.collector import clean_state

LESSONS = [lesson for page in pages.pages() if (lesson := pages.lesson_of(page)).is_file()]


def module_name(lesson):
    return ".".join(lesson.relative_to(pages.ROOT).with_suffix("").parts)


def page_of(lesson):
    return (pages.DOCS / lesson.relative_to(pages.LESSONS)).with_suffix(".md")


def shown(lesson):
    """Return the outputs that the page shows for the demos of its own lesson."""
    page = page_of(lesson)
    own = lesson.relative_to(pages.ROOT).as_posix()
    text = ""
    for fence in pages.fences(page):
        held = pages.output_fence(page, fence.line)
        if fence.language == "python" and held and fence.targets[-1][1].partition(":")[0] == own:
            text += "".join(line + "\n" for line in held.body)
    return text


@pytest.mark.parametrize("lesson", LESSONS, ids=module_name)
def test_main_prints_what_the_page_shows(lesson):
    module = importlib.import_module(module_name(lesson))
    printed = io.StringIO()
    with clean_state(), contextlib.redirect_stdout(printed):
        module.main()
    assert printed.getvalue() == shown(lesson), (
        f"{pages.name(lesson)}: main() calls the demos in the order of "
        f"{pages.name(page_of(lesson))}, and prints what it shows"
    )


@pytest.mark.parametrize("lesson", LESSONS, ids=module_name)
def test_a_lesson_runs_as_a_script(lesson):
    ending = lesson.read_text(encoding="utf-8").rstrip().splitlines()[-2:]
    assert ending == ['if __name__ == "__main__":', "    main()"]


def test_one_lesson_runs_by_the_command_that_contributing_names():
    lesson = pages.LESSONS / "relu" / "solution.py"
    done = subprocess.run(
        [sys.executable, "-m", module_name(lesson)],
        capture_output=True,
        encoding="utf-8",
        check=True,
        cwd=pages.ROOT,
    )
    assert done.stdout == shown(lesson)
