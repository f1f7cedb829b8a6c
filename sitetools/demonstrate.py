"""Shows the suite catching a wrong gradient: `python -m sitetools.demonstrate`.

In a temporary copy of the project, one page shows `custom_relu_demo` with its output; the suite runs it, once as
it is and once after one comparison in customgrad/functions/relu.py was changed. What the two runs say is printed.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from sitetools.pages import ROOT

RIGHT, WRONG = "input <= 0", "input < 0"
LESSON = '''\
"""The classic example."""


def demo():
    # --8<-- [start:demo]
    from customgrad.functions import custom_relu_demo

    print(custom_relu_demo()["grad"])
    # --8<-- [end:demo]
'''
PAGE = """\
# The classic example

```python
--8<-- "customgrad/lessons/demo.py:demo"
```

<!--pytest-codeblocks:expected-output-->

```text title="Output"
[0.0, 0.0, 0.0, 1.0, 1.0]
```
"""
CONFIG = """\
site_name: demonstration
markdown_extensions:
  - pymdownx.snippets:
      base_path: [!relative $config_dir]
      check_paths: true
      dedent_subsections: true
"""


def run(folder: Path) -> str:
    """Run the suite on the page, and return its report without times and versions."""
    command = [
        sys.executable,
        "-m",
        "pytest",
        "docs/demo.md",
        "-q",
        "--no-header",
        "--tb=short",
        "-p",
        "no:cacheprovider",
    ]
    environment = {k: v for k, v in os.environ.items() if not k.startswith("PYTEST")} | {
        "PYTHONPATH": str(folder),
        "COLUMNS": "60",
    }
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, encoding="utf-8", check=False
    )
    lines = done.stdout.splitlines()
    start = next(
        (n for n, line in enumerate(lines) if line.startswith("docs/demo.md:")), len(lines)
    )
    end = next(
        (n for n, line in enumerate(lines) if line.startswith("=") and n > start), len(lines)
    )
    verdict = lines[-1].partition(" in ")[0]
    return "\n".join([*lines[start:end], verdict])


def main() -> None:
    """Run the demonstration and print it."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for part in ("customgrad", "sitetools"):
            shutil.copytree(
                ROOT / part, folder / part, ignore=shutil.ignore_patterns("__pycache__")
            )
        for part in ("conftest.py", "pyproject.toml"):
            shutil.copy(ROOT / part, folder / part)
        (folder / "docs").mkdir()
        (folder / "docs" / "demo.md").write_text(PAGE, encoding="utf-8")
        (folder / "customgrad" / "lessons" / "demo.py").write_text(LESSON, encoding="utf-8")
        (folder / "mkdocs.yml").write_text(CONFIG, encoding="utf-8")
        source = folder / "customgrad" / "functions" / "relu.py"
        text = source.read_text(encoding="utf-8")
        print(f"as it is: {run(folder)}\n")
        if text.count(f"({RIGHT},") != 1:
            raise SystemExit(
                f"demonstrate: customgrad/functions/relu.py no longer holds one '({RIGHT},'; change RIGHT and WRONG"
            )
        source.write_text(text.replace(f"({RIGHT},", f"({WRONG},"), encoding="utf-8")
        print(f"with `{RIGHT}` changed to `{WRONG}` in customgrad/functions/relu.py:\n")
        print(run(folder))


if __name__ == "__main__":
    main()
