"""A small project in a temporary folder with the real collector and the real audit, for tests of both."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

EXTENSIONS = (
    (ROOT / "mkdocs.yml").read_text(encoding="utf-8").partition("\nmarkdown_extensions:\n")[2]
)
CONFIG = "site_name: mini\nmarkdown_extensions:\n" + EXTENSIONS.split("\n\n")[0] + "\nnav:\n"


def make_project(folder, lessons, pages):
    """Write a project whose lessons and pages are given as name → text, and return its folder."""
    shutil.copytree(
        ROOT / "sitetools", folder / "sitetools", ignore=shutil.ignore_patterns("__pycache__")
    )
    for name in ("conftest.py", "pyproject.toml"):
        shutil.copy(ROOT / name, folder / name)
    for name in ("customgrad", "customgrad/lessons"):
        (folder / name).mkdir(parents=True, exist_ok=True)
        (folder / name / "__init__.py").touch()
    for name, text in lessons.items():
        write(folder / "customgrad" / "lessons" / name, text)
    for name, text in pages.items():
        write(folder / "docs" / name, text)
    write(folder / "mkdocs.yml", CONFIG + "".join(f"  - {name}\n" for name in pages))
    return folder


def write(path, text):
    """Write a file with the line ends that the text has."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode("utf-8"))


def run_pytest(folder, *arguments):
    """Run pytest in the project, and return its exit code and what it printed."""
    environment = os.environ | {"PYTHONPATH": str(folder), "COLUMNS": "160", "PYTHONUTF8": "1"}
    for name in [n for n in environment if n.startswith("PYTEST_")]:
        del environment[name]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *arguments],
        cwd=folder, env=environment, capture_output=True, encoding="utf-8", check=False,
    )  # fmt: skip
    return done.returncode, done.stdout + done.stderr


def python(section, title=""):
    """Return a python fence that embeds `lesson.py:section` of the small project."""
    info = f' title="{title}"' if title else ""
    return f'```python{info}\n--8<-- "customgrad/lessons/{section}"\n```\n'


def output(text):
    """Return the comment and the fence that hold a block's output."""
    return f'\n<!--pytest-codeblocks:expected-output-->\n\n```text title="Output"\n{text}```\n'
