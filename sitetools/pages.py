"""The pages of the handbook as data: fences, the sections they embed, and the outputs that stand below them.

Nothing here imports torch, so that collecting the tests stays fast.
"""

import functools
import itertools
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
LESSONS = ROOT / "customgrad" / "lessons"
GENERATED = DOCS / "generated"

OUTPUT_COMMENT = "<!--pytest-codeblocks:expected-output-->"
FENCE = re.compile(r"^(?P<indent>[ \t]*)(?P<ticks>`{3,})(?P<info>[^`]*)$")
SNIPPET = re.compile(r'^(?P<indent>\s*)--8<-- "(?P<target>[^"]+)"\s*$')
CONSOLE_FILE = re.compile(r"^<!--console: (?P<name>[\w./-]+) = (?P<target>[\w./:-]+)-->$")
MARKER = re.compile(r"--8<--\s*\[\s*(?P<edge>start|end)\s*:\s*(?P<name>[A-Za-z][\w-]*)\s*\]")


@dataclass
class Fence:
    """One fenced block of a page, as it is written there."""

    page: Path
    line: int
    """Line of the opening fence, counted from 1."""
    end: int
    """Line of the closing fence."""
    info: str
    indent: str
    body: list[str] = field(default_factory=list)

    @property
    def language(self) -> str:
        """Return the fence's language: the first word, or the first class in braces."""
        info = self.info.strip()
        if info.startswith("{"):
            found = re.search(r"\.([\w+-]+)", info)
            return found.group(1) if found else ""
        return info.split()[0] if info else ""

    @property
    def targets(self) -> list[tuple[int, str]]:
        """Return (line, target) of each `--8<-- "target"` line inside the fence."""
        found = []
        for offset, text in enumerate(self.body, 1):
            if match := SNIPPET.match(text):
                found.append((self.line + offset, match["target"]))
        return found

    @property
    def where(self) -> str:
        """Return `page:line`, for messages."""
        return f"{name(self.page)}:{self.line}"

    def code(self) -> str:
        """Return the body with its sections in place.

        Raises:
            LookupError: where a file or a section is missing.
        """
        return expand("\n".join(self.body) + "\n", self.where)


def pages(docs: Path = DOCS) -> list[Path]:
    """Return every page of the site, in a stable order."""
    return sorted(p for p in docs.rglob("*.md") if GENERATED.name not in p.relative_to(docs).parts)


def name(path: Path) -> str:
    """Return a file's path as messages show it."""
    return path.relative_to(ROOT).as_posix() if path.is_relative_to(ROOT) else path.as_posix()


def address(page: Path, docs: Path = DOCS) -> str:
    """Return a page's address on the site: `relu/solution/`, `functions/` for its index, nothing for home."""
    path = page.relative_to(docs).with_suffix("")
    folder = path.parent if path.name == "index" else path
    return "" if folder == Path() else f"{folder.as_posix()}/"


def fences(page: Path, text: str | None = None) -> list[Fence]:
    """Return the page's fenced blocks; an unclosed one ends with the page."""
    lines = (page.read_text(encoding="utf-8") if text is None else text).splitlines()
    found: list[Fence] = []
    current: Fence | None = None
    ticks = ""
    for number, line in enumerate(lines, 1):
        match = FENCE.match(line)
        if current is None:
            if match:
                ticks = match["ticks"]
                current = Fence(
                    page, number, len(lines) + 1, match["info"].strip(), match["indent"]
                )
        elif match and match["ticks"].startswith(ticks) and not match["info"].strip():
            current.end = number
            found.append(current)
            current = None
        else:
            current.body.append(line.removeprefix(current.indent))
    if current is not None:
        found.append(current)
    return found


def outside(page: Path, text: str) -> list[tuple[int, str]]:
    """Return (line number, line) of everything that stands in no fence."""
    inside = {n for f in fences(page, text) for n in range(f.line, f.end + 1)}
    return [(n, line) for n, line in enumerate(text.splitlines(), 1) if n not in inside]


def sections(source: Path) -> dict[str, tuple[int, int]]:
    """Return the file's sections: name → (line of the start marker, line of the end marker).

    Raises:
        ValueError: for a section that is started twice, never ended, or ended before it starts.
    """
    opened: dict[str, int] = {}
    closed: dict[str, tuple[int, int]] = {}
    for number, line in enumerate(source.read_text(encoding="utf-8").splitlines(), 1):
        if not (match := MARKER.search(line)):
            continue
        section, where = match["name"], f"{name(source)}:{number}"
        if match["edge"] == "start":
            if section in opened or section in closed:
                raise ValueError(
                    f"{where}: section '{section}' is started twice; give the second one another name"
                )
            opened[section] = number
        elif section not in opened:
            raise ValueError(
                f"{where}: section '{section}' is ended but not started; check the start marker's name"
            )
        else:
            closed[section] = (opened.pop(section), number)
    if opened:
        section, number = next(iter(opened.items()))
        raise ValueError(
            f"{name(source)}:{number}: section '{section}' is never ended; add its end marker"
        )
    return closed


@functools.cache
def config() -> Any:
    """Return what mkdocs.yml says, as MkDocs loads it."""
    from mkdocs.config import load_config

    try:
        return load_config(str(ROOT / "mkdocs.yml"))
    except Exception as error:
        raise LookupError(
            f"mkdocs.yml: cannot be loaded ({error}); `mkdocs build` says why"
        ) from None


@functools.cache
def snippet_options() -> dict[str, Any]:
    """Return mkdocs.yml's own options for pymdownx.snippets, defaults filled in."""
    from pymdownx.snippets import SnippetExtension

    given = config()["mdx_configs"].get("pymdownx.snippets", {})
    options: dict[str, Any] = SnippetExtension(**given).getConfigs()
    return options


def expand(code: str, where: str) -> str:
    """Return the code with every `--8<--` line replaced, by pymdownx's own preprocessor.

    Raises:
        LookupError: where a file or a section is missing, naming the page and the line.
    """
    if "--8<--" not in code:
        return code
    import markdown
    from pymdownx.snippets import SnippetMissingError, SnippetPreprocessor

    preprocessor = SnippetPreprocessor(snippet_options(), markdown.Markdown())
    try:
        lines = preprocessor.run(code.splitlines())
    except SnippetMissingError as error:
        raise LookupError(
            f"{where}: {error}; check the path and the section's name in the --8<-- line"
        ) from None
    return "\n".join(lines).rstrip("\n") + "\n"


def lesson_of(page: Path, docs: Path = DOCS, lessons: Path = LESSONS) -> Path:
    """Return the lesson module that belongs to a page."""
    return lessons / page.relative_to(docs).with_suffix(".py")


def output_fence(page: Path, block_line: int, text: str | None = None) -> Fence | None:
    """Return the text fence that holds the output of the block whose fence opens at `block_line`."""
    found = fences(page, text)
    for block, after in itertools.pairwise(found):
        if block.line == block_line:
            lines = (page.read_text(encoding="utf-8") if text is None else text).splitlines()
            between = [line.strip() for line in lines[block.end : after.line - 1] if line.strip()]
            return after if between == [OUTPUT_COMMENT] else None
    return None
