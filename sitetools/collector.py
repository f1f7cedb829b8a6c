"""Runs every block of the pages as a test, and rewrites the stored outputs on request.

`pytest` collects the pages under docs/ and README.md through these hooks (the root conftest.py imports them).
A block is taken from its page by pytest-codeblocks, its `--8<--` lines are expanded by pymdownx.snippets with
the options of mkdocs.yml, and the result runs as a module of its own, in a clean state.
"""

import contextlib
import difflib
import io
import linecache
import os
import random
import shlex
import subprocess
import sys
import tempfile
import tomllib
import traceback
import types
import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from pytest_codeblocks import CodeBlock, extract_from_file

from sitetools import pages

CONSOLE_TABLE = pages.ROOT / "tests" / "console.toml"
CONSOLE_SECONDS = 60
HIDDEN = (DeprecationWarning, PendingDeprecationWarning, ImportWarning, ResourceWarning)
"""Warnings that Python itself does not show."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add `--update-outputs`."""
    parser.addoption(
        "--update-outputs",
        action="store_true",
        help="rewrite the verified outputs in the pages with what the blocks print, and show the difference",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Keep pytest-codeblocks from collecting the pages a second time, unexpanded."""
    config.option.codeblocks = False


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> "PageFile | None":
    """Collect the pages of the site, and the README."""
    in_docs = file_path.suffix == ".md" and file_path.is_relative_to(pages.DOCS)
    if (
        in_docs and not file_path.is_relative_to(pages.GENERATED)
    ) or file_path == pages.ROOT / "README.md":
        return PageFile.from_parent(parent, path=file_path)
    return None


@dataclass(frozen=True)
class Change:
    """An output that is not what the page shows."""

    page: Path
    line: int
    output: str
    diff: str


CHANGES = pytest.StashKey[list[Change]]()


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Rewrite the pages, where `--update-outputs` asks for it."""
    changed: dict[Path, dict[int, str]] = {}
    for change in session.config.stash.get(CHANGES, []):
        changed.setdefault(change.page, {})[change.line] = change.output
    for page, by_line in changed.items():
        rewrite_outputs(page, by_line)


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    """Show what `--update-outputs` changed."""
    if not config.getoption("--update-outputs"):
        return
    changes = config.stash.get(CHANGES, [])
    terminalreporter.section(
        f"outputs changed: {len(changes)}, on {len({c.page for c in changes})} pages"
    )
    for change in changes:
        terminalreporter.write_line(f"{pages.name(change.page)}:{change.line}")
        terminalreporter.write_line(change.diff)


class PageError(Exception):
    """A block of a page did not do what the page says; the message is the whole report."""


class PageFile(pytest.File):
    """A page; its items are its python and console blocks."""

    def collect(self) -> Iterable[pytest.Item]:
        """Yield one item a block, named by the line that its fence opens on."""
        try:
            blocks = extract_from_file(self.path)
        except RuntimeError as error:
            raise self.CollectError(f"{pages.name(self.path)}: {error}") from None
        for block in blocks:
            language = pages.Fence(self.path, block.lineno, 0, block.syntax or "", "").language
            kind = {"python": PythonBlock, "console": ConsoleBlock}.get(language)
            if kind is ConsoleBlock and not self.path.is_relative_to(pages.DOCS):
                continue  # the README's commands set up the environment that this runs in
            if kind is not None:
                yield kind.from_parent(self, name=f"line {block.lineno}", block=block)


class Block(pytest.Item):
    """What python and console blocks share: the comparison with the page, and the report."""

    def __init__(self, *, block: CodeBlock, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.block = block
        self.where = f"{pages.name(self.path)}:{block.lineno}"

    def hold(self, code: str, output: str) -> None:
        """Compare what the block printed with what the page shows, or rewrite the page."""
        if output and not output.endswith("\n"):
            output += "\n"
        expected = self.block.expected_output
        if expected == output or (expected is None and not output):
            return
        if expected is None:
            raise PageError(
                f"{self.where}: the block prints, but the page shows no output\n\n{quote(code)}\nprinted:\n{output}\n"
                f"Put an output fence below it (see CONTRIBUTING.md) and run `make outputs`."
            )
        diff = unified(expected, output)
        if pages.output_fence(self.path, self.block.lineno) is None:
            raise PageError(
                f"{self.where}: between a block and its output stands nothing but {pages.OUTPUT_COMMENT}"
            )
        if any(line.lstrip().startswith("```") for line in output.splitlines()):
            raise PageError(
                f"{self.where}: the output holds three backticks, which would end its fence; print it otherwise"
            )
        if not self.config.getoption("--update-outputs"):
            raise PageError(
                f"{self.where}: the output is not what the page shows\n\n{quote(code)}\n"
                f"- on the page   + printed now\n{diff}\n\nIf the change is intended, run `make outputs`."
            )
        self.config.stash.setdefault(CHANGES, []).append(
            Change(self.path, self.block.lineno, output, diff)
        )

    def reportinfo(self) -> tuple[Path, int, str]:
        """Name the block by page and line."""
        return self.path, self.block.lineno - 1, self.where

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """Show a failed block as a reader would want it: code, line, reason."""
        if isinstance(excinfo.value, PageError | LookupError):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)


class PythonBlock(Block):
    """A python block: runs as a module of its own."""

    def runtest(self) -> None:
        """Run the block and hold its output against the page."""
        code = pages.expand(self.block.code, self.where)
        self.hold(code, run_python(code, self.where))


class ConsoleBlock(Block):
    """A console block: its commands run in a temporary folder, unless another test is named for them."""

    def runtest(self) -> None:
        """Run the commands, or do nothing where tests/console.toml names the test that does."""
        code = pages.expand(self.block.code, self.where)
        commands = code.splitlines()
        covered = covered_commands()
        if self.block.expected_output is None and all(
            line in covered for line in commands if line.strip()
        ):
            return
        files = console_files(self.path, self.block.lineno)
        self.hold(code, run_console(commands, files, self.where))


def covered_commands() -> dict[str, str]:
    """Return the commands that a test of their own covers: command → test."""
    if not CONSOLE_TABLE.exists():
        return {}
    return {
        str(k): str(v) for k, v in tomllib.loads(CONSOLE_TABLE.read_text(encoding="utf-8")).items()
    }


def console_files(page: Path, line: int) -> dict[str, str]:
    """Return the files that a console block finds in its folder, from the comments right above it."""
    lines = page.read_text(encoding="utf-8").splitlines()
    files: dict[str, str] = {}
    for number in range(line - 2, -1, -1):
        text = lines[number].strip()
        if match := pages.CONSOLE_FILE.match(text):
            files[match["name"]] = pages.expand(
                f'--8<-- "{match["target"]}"', f"{pages.name(page)}:{number + 1}"
            )
        elif text:
            break
    return files


def run_console(commands: list[str], files: dict[str, str], where: str) -> str:
    """Run the commands in a temporary folder and return what they print."""
    printed = ""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    environment = os.environ | {
        "PATH": path,
        "PYTHONPATH": str(pages.ROOT),
        "PYTHONIOENCODING": "utf-8",
    }
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as data:
        # Not the progress of whoever runs the tests.
        environment |= {"XDG_DATA_HOME": data, "LOCALAPPDATA": data, "HOME": data}
        for filename, text in files.items():
            (Path(folder) / filename).write_text(text, encoding="utf-8")
        for command in filter(str.strip, commands):
            try:
                words = shlex.split(command)
                done = in_process(words, folder) if words[:2] == ["customgrad", "check"] else subprocess.run(
                    words, cwd=folder, env=environment, capture_output=True, encoding="utf-8",
                    timeout=CONSOLE_SECONDS, check=False, stdin=subprocess.DEVNULL,
                )  # fmt: skip
            except subprocess.TimeoutExpired:
                raise PageError(
                    f"{where}: `{command}` did not end within {CONSOLE_SECONDS} seconds"
                ) from None
            except (OSError, ValueError) as error:
                raise PageError(
                    f"{where}: `{command}` cannot be run ({error}); correct it, "
                    "or name the test that covers it in tests/console.toml"
                ) from None
            printed += done.stdout
            if done.stderr.strip() or done.returncode not in (0, 1):
                raise PageError(
                    f"{where}: `{command}` ended with code {done.returncode}:\n{done.stderr}"
                )
    return printed


def in_process(words: list[str], folder: str) -> subprocess.CompletedProcess[str]:
    """Run `customgrad` as its process would, without the seconds in which a process imports torch."""
    from customgrad import cli

    printed, complained = io.StringIO(), io.StringIO()
    modules, path = set(sys.modules), list(sys.path)
    with (
        clean_state(),
        contextlib.redirect_stdout(printed),
        contextlib.redirect_stderr(complained),
    ):
        # A warning is printed, as in a shell, and then fails the block; the checked code must not see it raised.
        warnings.showwarning = show_warning
        warnings.simplefilter("default")
        for hidden in HIDDEN:
            warnings.simplefilter("ignore", hidden)
        os.chdir(folder)
        try:
            code = cli.main(words[1:])
        finally:
            sys.path[:] = path
            for name in set(sys.modules) - modules:
                file = getattr(sys.modules[name], "__file__", None)
                if file and Path(file).resolve().is_relative_to(Path(folder).resolve()):
                    del sys.modules[name]
    return subprocess.CompletedProcess(words, code, printed.getvalue(), complained.getvalue())


def show_warning(
    message: Any, category: Any, filename: str, lineno: int, file: Any = None, line: Any = None
) -> None:
    """Print a warning to stderr; pytest would keep it to itself."""
    print(warnings.formatwarning(message, category, filename, lineno), file=sys.stderr, end="")


def run_python(code: str, where: str) -> str:
    """Run code as a reader's fresh interpreter would, and return what it prints.

    Raises:
        PageError: where it raises (SystemExit included) or writes to stderr: the code, the failing
            line and the traceback.
    """
    filename = f"<{where}>"
    lines = code.splitlines(keepends=True)
    linecache.cache[filename] = (len(code), None, lines, filename)
    module = types.ModuleType("__main__")
    module.__file__ = filename
    printed, complained = io.StringIO(), io.StringIO()
    main = sys.modules["__main__"]
    sys.modules["__main__"] = module
    try:
        with (
            clean_state(),
            contextlib.redirect_stdout(printed),
            contextlib.redirect_stderr(complained),
        ):
            exec(compile(code, filename, "exec"), module.__dict__)
    except (Exception, SystemExit) as error:
        raise PageError(report(error, code, filename, where)) from None
    finally:
        sys.modules["__main__"] = main
        linecache.cache.pop(filename, None)
    if complained.getvalue():
        raise PageError(
            f"{where}: the block writes to stderr, which the page does not show\n\n{quote(code)}\n"
            f"{complained.getvalue()}"
        )
    return printed.getvalue()


def report(error: BaseException, code: str, filename: str, where: str) -> str:
    """Return the code with the failing line marked, and the traceback from the block on."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [n for n, frame in enumerate(frames) if frame.filename == filename]
    failing = frames[own[-1]].lineno if own else getattr(error, "lineno", None)
    trace = "".join(traceback.format_list(frames[own[0] :] if own else []))
    trace += "".join(traceback.format_exception_only(error))
    return f"{where}: the block raises {type(error).__name__}\n\n{quote(code, failing)}\n{trace}"


def quote(code: str, failing: int | None = None) -> str:
    """Return code with line numbers, the failing line marked."""
    lines = code.splitlines()
    return (
        "\n".join(
            f"{'>' if n == failing else ' '} {n:3} | {line}" for n, line in enumerate(lines, 1)
        )
        + "\n"
    )


def unified(before: str, after: str) -> str:
    """Return the lines of a diff without its head."""
    lines = list(difflib.unified_diff(before.splitlines(), after.splitlines(), lineterm="", n=2))
    return "\n".join(line for line in lines[2:] if not line.startswith("@@"))


@contextlib.contextmanager
def clean_state() -> Iterator[None]:
    """Start from what a fresh interpreter has, and leave no trace of what the block sets."""
    import torch

    threads = torch.get_num_threads()
    directory, environment = Path.cwd(), dict(os.environ)
    random_state, torch_state = random.getstate(), torch.get_rng_state()

    def reset() -> None:
        torch.set_default_dtype(torch.float32)
        torch.set_default_device(None)
        torch.set_grad_enabled(True)
        torch.set_printoptions(profile="default", sci_mode=None)
        torch.set_num_threads(threads)
        torch.set_anomaly_enabled(False)
        # Not when nothing is to be undone: it imports all of torch._inductor, which takes longer than torch.
        if torch.are_deterministic_algorithms_enabled():
            torch.use_deterministic_algorithms(False)
        torch.set_flush_denormal(False)

    with warnings.catch_warnings(), tempfile.TemporaryDirectory() as folder:
        # A warning that a reader would see is a failure; those that Python hides stay hidden.
        warnings.simplefilter("error")
        for hidden in HIDDEN:
            warnings.simplefilter("ignore", hidden)
        warnings.filterwarnings("error", category=DeprecationWarning, module="__main__")
        reset()
        os.chdir(folder)
        # A block that draws without a seed must not print the same numbers twice.
        random.seed()
        torch.seed()
        try:
            yield
        finally:
            reset()
            random.setstate(random_state)
            torch.set_rng_state(torch_state)
            os.chdir(directory)
            os.environ.clear()
            os.environ.update(environment)


def rewrite_outputs(page: Path, changed: dict[int, str]) -> None:
    """Replace the bodies of output fences, and keep every other byte of the page.

    Args:
        page: the page.
        changed: what the block whose fence opens at a line has printed, by that line.
    """
    raw = page.read_bytes()
    lines = raw.split(b"\n")
    for block_line in sorted(
        changed, reverse=True
    ):  # from the end, so that earlier lines stay where they are
        fence = pages.output_fence(page, block_line, raw.decode("utf-8"))
        assert fence is not None
        ending = b"\r" if lines[fence.line - 1].endswith(b"\r") else b""
        body = [
            (fence.indent + line if line else "").encode() + ending
            for line in changed[block_line].splitlines()
        ]
        lines[fence.line : fence.end - 1] = body
    page.write_bytes(b"\n".join(lines))
