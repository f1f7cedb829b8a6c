"""The collector runs every block, from a clean state, and says what is wrong and where."""

import random
import re
import sys

import pytest
import torch
from projects import make_project, output, python, run_pytest

from sitetools import collector

LESSON = '''\
"""Blocks that do what the tests below say."""


def right():
    # --8<-- [start:right]
    import inspect

    def double(x):
        return 2 * x

    class Thing:
        size = 3

    print(double(21))
    print(inspect.getsource(double), end="")
    print(inspect.getsource(Thing), end="")
    # --8<-- [end:right]


def raises():
    # --8<-- [start:raises]
    import torch

    a = torch.ones(2)
    b = a @ torch.ones(3)
    # --8<-- [end:raises]


def leaves():
    # --8<-- [start:leaves]
    raise SystemExit(0)
    # --8<-- [end:leaves]


def warns():
    # --8<-- [start:warns]
    import warnings

    warnings.warn("mind the step")
    # --8<-- [end:warns]


def pollutes():
    # --8<-- [start:pollutes]
    import os

    import torch

    torch.set_default_dtype(torch.float64)
    torch.set_grad_enabled(False)
    torch.set_printoptions(precision=1)
    torch.set_num_threads(1)
    torch.manual_seed(0)
    os.chdir("/")
    os.environ["LEFT_BEHIND"] = "1"
    # --8<-- [end:pollutes]


def clean():
    # --8<-- [start:clean]
    import os

    import torch

    print(torch.get_default_dtype(), torch.is_grad_enabled())
    print(torch.tensor(1 / 3))
    print(torch.initial_seed() == 0, "LEFT_BEHIND" in os.environ, os.getcwd() == "/")
    # --8<-- [end:clean]


def complains():
    # --8<-- [start:complains]
    import sys

    print("mind the step", file=sys.stderr)
    # --8<-- [end:complains]


def writes():
    # --8<-- [start:writes]
    import os

    open("left behind", "w").close()
    print(os.listdir())
    # --8<-- [end:writes]


def padded():
    # --8<-- [start:padded]
    print("  a  ")
    # --8<-- [end:padded]


def spaced():
    # --8<-- [start:spaced]
    print("a\\n")
    # --8<-- [end:spaced]


def light():
    # --8<-- [start:light]
    import sys

    print("torch._inductor" in sys.modules)
    # --8<-- [end:light]


def main_block():
    # --8<-- [start:main_block]
    if __name__ == "__main__":
        print("as a script")
    # --8<-- [end:main_block]
'''

CLEAN = "torch.float32 True\ntensor(0.3333)\nFalse False False\n"
SOURCE = "42\ndef double(x):\n    return 2 * x\nclass Thing:\n    size = 3\n"
PAGES = {
    "right.md": "Text.\n\n" + python("x.py:right", title="A title") + output(SOURCE),
    "main.md": python("x.py:main_block") + output("as a script\n"),
    "clean.md": python("x.py:pollutes") + "\n" + python("x.py:clean") + output(CLEAN),
    # What a block does not use costs a reader nothing, and a run of a page nothing either.
    "light.md": python("x.py:light") + output("False\n"),
    "console.md": "<!--console: a.py = customgrad/lessons/x.py:main_block-->\n\n```console\npython a.py\n```\n" + output("as a script\n"),
    "wrong.md": "One.\n\nTwo.\n\n" + python("x.py:main_block") + output("as a module\n"),
    "raises.md": python("x.py:raises"),
    "leaves.md": python("x.py:leaves"),
    "warns.md": python("x.py:warns"),
    "complains.md": python("x.py:complains"),
    "writes.md": (python("x.py:writes") + output("['left behind']\n") + "\n") * 2,
    "unknown.md": "```console\nno-such-command --now\n```\n",
    "unquoted.md": "```console\npython -c 'print(1)\n```\n",
    "silent.md": python("x.py:main_block"),
    "missing.md": "Text.\n\n" + python("x.py:no_such_section"),
    "nofile.md": python("y.py:right"),
    "before.md": python("x.py:padded") + output("a  \n"),
    "after.md": python("x.py:padded") + output("  a\n"),
    "blank_line.md": python("x.py:spaced") + output("a\n"),
    "padded.md": python("x.py:padded") + output("  a  \n"),
    "refuses.md": "```console\npython -c \"raise SystemExit(1)\"\n```\n",
    "usage.md": "```console\npython -c \"raise SystemExit(2)\"\n```\n",
    "grumbles.md": "```console\npython -c \"import sys; print('mind the step', file=sys.stderr)\"\n```\n",
    "failing.md": "```console\npython -c \"raise SystemExit(3)\"\n```\n",
    "console_wrong.md": "```console\npython -c \"print(1)\"\n```\n" + output("2\n"),
}  # fmt: skip
PASS = {
    "padded.md": 1,
    "refuses.md": 1,
    "right.md": 1,
    "writes.md": 2,
    "main.md": 1,
    "clean.md": 2,
    "light.md": 1,
    "console.md": 1,
}


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    return make_project(tmp_path_factory.mktemp("project"), {"x.py": LESSON}, PAGES)


@pytest.fixture(scope="module")
def report(project):
    return run_pytest(project, "docs")[1]


def test_what_is_right_passes_and_the_rest_does_not(report):
    passing = sum(PASS.values())
    failing = len(PAGES) - len(PASS)
    assert re.search(rf"{failing} failed, {passing} passed", report), report
    for page in PASS:
        assert f"FAILED docs/{page}" not in report


@pytest.mark.parametrize(
    ("page", "line", "said"),
    [
        (
            "wrong.md",
            5,
            [
                "the output is not what the page shows",
                "-as a module",
                "+as a script",
                "make outputs",
            ],
        ),
        (
            "raises.md",
            1,
            [
                "the block raises RuntimeError",
                ">   4 | b = a @ torch.ones(3)",
                "line 4, in <module>",
            ],
        ),
        ("leaves.md", 1, ["the block raises SystemExit", ">   1 | raise SystemExit(0)"]),
        ("warns.md", 1, ["the block raises UserWarning", "mind the step"]),
        ("complains.md", 1, ["the block writes to stderr", "mind the step"]),
        ("unknown.md", 1, ["`no-such-command --now` cannot be run", "tests/console.toml"]),
        ("unquoted.md", 1, ["cannot be run (No closing quotation)"]),
        ("silent.md", 1, ["the block prints, but the page shows no output", "as a script"]),
        ("missing.md", 3, ["no_such_section", "check the path and the section's name"]),
        ("nofile.md", 1, ["y.py", "check the path and the section's name"]),
        ("before.md", 1, ["the output is not what the page shows", "-a  ", "+  a  "]),
        ("after.md", 1, ["the output is not what the page shows", "-  a", "+  a  "]),
        ("blank_line.md", 1, ["the output is not what the page shows", " a\n+\n"]),
        ("failing.md", 1, ["ended with code 3"]),
        ("usage.md", 1, ["ended with code 2"]),
        ("grumbles.md", 1, ["ended with code 0:", "mind the step"]),
        ("console_wrong.md", 1, ["-2", "+1"]),
    ],
)
def test_a_failure_names_page_and_line_and_says_what(report, page, line, said):
    start = report.index(f"docs/{page}:{line}: ")
    part = report[start : report.find("\n____", start)]
    for text in said:
        assert text in part, part
    assert "sitetools/collector.py" not in part, "the report shows the machinery"


def test_a_command_that_does_not_end_is_stopped(monkeypatch):
    monkeypatch.setattr(collector, "CONSOLE_SECONDS", 0.2)
    with pytest.raises(collector.PageError, match=r"^docs/a.md:3: `python .*` did not end within"):
        collector.run_console(['python -c "import time; time.sleep(9)"'], {}, "docs/a.md:3")


CHECKED = """\
import warnings
import torch

{}


class Twice(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return 2 * x

    @staticmethod
    def backward(ctx, grad_output):
        return 3 * grad_output
"""
COMMAND = 'customgrad check twice.py::Twice --inputs "randn(3)" --select CG201'


def test_the_checker_prints_the_same_in_this_process_and_in_one_of_its_own():
    files, before = {"twice.py": CHECKED.format("pass")}, list(sys.path)
    here, again = (collector.run_console([COMMAND], files, "docs/a.md:3") for _ in range(2))
    assert "× bug · CG201 wrong-gradient" in here
    assert here == again
    assert here == collector.run_console([f"python -m {COMMAND}"], files, "docs/a.md:3")
    assert "twice" not in sys.modules
    assert sys.path == before


@pytest.mark.parametrize(
    ("line", "command", "said"),
    [
        ("warnings.warn('mind the step')", COMMAND, "mind the step"),
        ("pass", "customgrad check none.py", "none.py: no such file"),
    ],
)
def test_the_checker_must_not_complain(line, command, said):
    with pytest.raises(collector.PageError, match=said):
        collector.run_console([command], {"twice.py": CHECKED.format(line)}, "docs/a.md:3")


def test_a_block_starts_unseeded_and_leaves_the_generators_as_they_were():
    code = (
        "import random, torch\nprint(torch.initial_seed(), torch.rand(1).item(), random.random())"
    )
    torch.manual_seed(5)
    random.seed(5)
    drawn = [collector.run_python(code, "docs/a.md:3").split() for _ in range(2)]
    for first, second in zip(*drawn, strict=True):
        assert first != second
    assert torch.initial_seed() == 5
    assert torch.rand(1).item() == torch.rand(1, generator=torch.Generator().manual_seed(5)).item()
    assert random.random() == random.Random(5).random()


def test_a_block_does_not_decide_how_the_next_computes():
    code = "import torch\ntorch.use_deterministic_algorithms(True, warn_only=True)\nprint(1)"
    assert collector.run_python(code, "docs/a.md:3") == "1\n"
    assert torch.get_deterministic_debug_mode() == 0


def test_the_plugins_own_option_changes_nothing(project):
    """Each block is collected once, not a second time by the plugin itself."""
    report = run_pytest(project, "docs", "--collect-only", "-q", "--codeblocks")[1]
    collected = [line for line in report.splitlines() if "::" in line]
    assert len(collected) == len(PAGES) + 2


def test_update_outputs_changes_the_fences_and_no_other_byte(tmp_path):
    lesson = "def f():\n    # --8<-- [start:f]\n    print('a')\n    print()\n    print('b')\n    # --8<-- [end:f]\n"
    lesson += "def g():\n    # --8<-- [start:g]\n    print('a')\n    1 / 0\n    # --8<-- [end:g]\n"
    raises = python("x.py:g") + output("old\n")
    before = (
        "Ends with spaces.  \r\n\r\n" + python("x.py:f").replace("\n", "\r\n") + output("old\n").replace("\n", "\r\n")
        + "\tTab, no-break\u00a0space.\r\n\r\n" + python("x.py:f").replace("\n", "\r\n") + output("").replace("\n", "\r\n")
        + "\r\nNo newline at the end"
    )  # fmt: skip
    project = make_project(
        tmp_path,
        {"x.py": lesson},
        {
            "page.md": before,
            "same.md": python("x.py:f") + output("a\n\nb\n"),
            "raises.md": raises,
        },
    )
    untouched = (project / "docs" / "same.md").stat().st_mtime_ns
    code, report = run_pytest(project, "docs", "--update-outputs")
    assert code == 1, report
    assert "1 failed, 3 passed" in report
    assert (project / "docs" / "raises.md").read_text() == raises, "its output is kept"
    assert "outputs changed: 2, on 1 pages" in report
    assert "-old" in report
    assert "+a" in report
    after = (project / "docs" / "page.md").read_bytes().decode()
    assert after == before.replace(
        'title="Output"\r\nold\r\n```', 'title="Output"\r\na\r\n\r\nb\r\n```'
    ).replace('title="Output"\r\n```', 'title="Output"\r\na\r\n\r\nb\r\n```')  # fmt: skip
    assert (project / "docs" / "same.md").stat().st_mtime_ns == untouched
    assert run_pytest(project, "docs/page.md", "docs/same.md")[0] == 0
