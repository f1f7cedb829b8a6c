"""Runs `mkdocs` with the examples as an earlier build has executed them: `python again.py FOLDER build ...`.

What that build kept in the folder is used where it belongs to the very example, package and torch; an example
without such is executed.
"""

import sys
from pathlib import Path

from sitetools import notebooks
from sitetools.hooks import installed
from sitetools.pages import ROOT


def taking_over(folder, execute):
    """Return what gives an example the outputs kept in the folder, or executes it."""

    def run(example, options):
        digest = notebooks.key(example.path, ROOT / "customgrad", installed("torch"))
        if not notebooks.reuse(folder / f"{example.path.stem}.json", example, digest):
            execute(example, options)

    return run


if __name__ == "__main__":
    notebooks.execute = taking_over(Path(sys.argv.pop(1)), notebooks.execute)
    from mkdocs.__main__ import cli

    cli(prog_name="mkdocs")
