"""What a page must not do: each check reads the pages and returns its problems as `page:line: what, and what to do`.

The collector runs what the pages show. These checks see what would slip past it: a fence that nothing runs,
Python typed by hand, a number that no output holds.
"""

import ast
import functools
import itertools
import pkgutil
import re
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path

import yaml

from sitetools import numbers, pages, rendered
from sitetools.pages import Fence
from sitetools.rendered import Problems

LANGUAGES = {"python", "text", "console"}
EMBEDDED = {"yaml", "toml", "makefile", "bibtex"}
SUFFIXES = {
    "python": {".py"},
    "yaml": {".yml", ".yaml", ".cff"},
    "toml": {".toml"},
    "makefile": {""},
    "bibtex": {".bib"},
}
"""Language of a fence → suffixes of the files that it may embed."""
WHOLE = {"CHANGELOG.md"}
"""Files beside docs/generated that a page may embed as prose."""
ASSETS = {".css", ".svg", ".woff2", ".txt", ".png"}
META = {"title", "description", "template", "hide", "search"}
"""What front matter may say."""
CLASSES = {"lede", "pair", "wrong", "right", "figure", "doors", "meta"}
"""Classes that authors write, in `class="…"` or `{.…}`."""
HTML = {
    "a", "br", "code", "details", "div", "figcaption", "figure", "p", "span", "strong", "summary",
}  # fmt: skip
"""Elements that authors write as HTML."""
FRONT = re.compile(r"\A---\n.*?\n---\n", re.DOTALL)
COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
CODE = re.compile(r"(?<!`)(`{1,2})(?!`)(?:(?!\n\n).)+?(?<!`)\1(?!`)", re.DOTALL)
FORMULA = re.compile(r"(?<!\\)(?:\$\$(?:(?!\n\n)[^$])*\$\$|\$(?:(?!\n\n)[^$])+\$)")
OUTPUT_INFO = re.compile(
    r'^text (\{\.terminal title="Output"\}|title="Output")$|^\{\.text \.terminal title="Output"\}$'
)
WIDTH, OUTPUT_WIDTH = 72, 88
"""Columns that lines may have: of shown Python, and of everything else."""
INSTALL = re.compile(
    r"\b(?:pip[\d.]*|pipx|uv|conda|mamba|poetry|pdm)\s+(?:pip\s+)?(?:install|add)\b[^`#]*?(?<![\w/.])customgrad\b(?![./])",
    re.IGNORECASE,
)
TORCH = re.compile(r"(?<![\w./])(?P<home>torch|nn|F)(?P<names>(?:\.[A-Za-z_]\w*)+)")
BOUND = re.compile(r"\b(?:torch|PyTorch|Python) ?(?:≥|>=) ?(\d+(?:\.\d+)*)")
UNFINISHED = re.compile(
    r"coming soon|work in progress|lorem ipsum|\b(?:TODO|FIXME|TBD|TBC|WIP|XXX)\b", re.IGNORECASE
)
NO_LESSON = {
    "check/rules.md",
    "check/zoo.md",
    "exercises/index.md",
    "functions/benchmarks.md",
    "functions/index.md",
    "reference/changelog.md",
    "reference/checks.md",
    "reference/citation.md",
}
"""Pages that show no section of the package."""
NO_PAGE = {"relu/harness.py", "relu/starter.py"}
"""Modules beside the lessons that pages use and that are no page's lesson."""


def fence_languages(page: Path, text: str) -> Problems:
    """Find fences that no test would run or hold."""
    for fence in pages.fences(page, text):
        where = f"{pages.name(page)}:{fence.line}"
        if fence.end > len(text.splitlines()):
            yield f"{where}: the fence is never closed"
        if fence.language in LANGUAGES:
            if fence.language == "text" and not OUTPUT_INFO.match(fence.info):
                yield f'{where}: a text fence is an output and reads ```text title="Output", got ```{fence.info}'
        elif fence.language in EMBEDDED:
            if any(line.strip() and not pages.SNIPPET.match(line) for line in fence.body):
                yield f"{where}: {fence.language} is embedded from a file (--8<-- lines), not typed in a page"
        else:
            yield f"{where}: nothing runs a fence of '{fence.info or 'no language'}'; use python, text or console"


def other_code(page: Path, text: str) -> Problems:
    """Find code in forms that are no fence: tildes, quotes, raw HTML, and whatever else is shown as code."""
    named = set()
    for number, line in enumerate(written(page, text).split("\n"), 1):
        where = f"{pages.name(page)}:{number}"
        found = ""
        if line.lstrip().startswith("~~~"):
            found = "a ~~~ fence is not run; use three backticks"
        elif re.match(r"(\s*>)+\s*(```|~~~)", line):
            found = "a fence inside a quotation is not run; take it out"
        elif re.search(r"<(pre|script|iframe)\b|<code\b(?!.*</code>)", line, re.IGNORECASE):
            found = "raw HTML code is not run; use a fence"
        if found:
            named.add(where)
            yield f"{where}: {found}"
    yield from (p for p in rendered.shown_code(page, text) if p.partition(": ")[0] not in named)


def written(page: Path, text: str) -> str:
    """Return what a page says itself, each line where it was: no front matter, fences, inline code or comments."""
    prose = dict(pages.outside(page, text))
    kept = "\n".join(prose.get(n, "") for n in range(1, len(text.splitlines()) + 1))
    for pattern in (FRONT, CODE, COMMENT):
        kept = blanked(pattern, kept)
    return kept


def blanked(pattern: re.Pattern[str], text: str) -> str:
    """Return a text with spaces in place of what matches."""
    return pattern.sub(lambda match: re.sub(r"\S", " ", match[0]), text)


def at(page: Path, text: str, match: re.Match[str]) -> str:
    """Return `page:line` of a match in the page's text."""
    return f"{pages.name(page)}:{text[: match.start()].count(chr(10)) + 1}"


def typed_html(page: Path, text: str) -> Problems:
    """Find HTML and classes that a page has no use for, and elements in which Markdown would stay raw."""
    words = blanked(FORMULA, written(page, text))
    tags = list(re.finditer(r"<(?P<name>/?[A-Za-z]\w*)(?P<more>(?:\s[^<>]*)?)>", words))
    for element in ("div", "figure", "details"):
        opened = [tag for tag in tags if tag["name"].lower() == element]
        closed = [tag for tag in tags if tag["name"].lower() == f"/{element}"]
        if len(opened) != len(closed):
            where = at(page, words, (opened or closed)[-1])
            yield f"{where}: {len(opened)} <{element}> and {len(closed)} </{element}>; balance the tags"
    for tag in tags:
        name = tag["name"].lower()
        if name.strip("/") not in HTML:
            yield f"{at(page, words, tag)}: <{name}> is not used on this site; write it in Markdown"
        elif name in {"div", "details"} and not re.search(r"\smarkdown\b", tag["more"]):
            yield f"{at(page, words, tag)}: <{name}> says `markdown`, or what stands in it stays raw"
    for given in re.finditer(
        r"""class\s*=\s*["']?([^"'>]*)|\{:?([^{}\n]*)\}""", words, re.IGNORECASE
    ):
        for name in (given[1] or " ".join(re.findall(r"(?:^|\s)\.(\S+)", given[2] or ""))).split():
            if name not in CLASSES:
                known = ", ".join(sorted(CLASSES))
                yield f"{at(page, words, given)}: no style has the class '{name}'; known are {known}"


def formulas(page: Path, text: str) -> Problems:
    """Find formulas that do not end, and braces in them that do not."""
    words = written(page, text)
    for formula in FORMULA.finditer(words):
        braces = re.findall(r"(?<!\\)[{}]", formula[0])
        if braces.count("{") != braces.count("}"):
            yield f"{at(page, words, formula)}: the braces of this formula are not balanced: {formula[0].strip()}"
        if not formula[0].startswith("$$") and (taken := re.search(r"\\[{}!_#]", formula[0])):
            yield f"{at(page, words, formula)}: Markdown takes the \\ of {taken[0]}; display the formula, between $$"
    for stray in re.finditer(r"(?<!\\)\$", blanked(FORMULA, words)):
        yield f"{at(page, words, stray)}: this $ has no other one; a dollar is written \\$"


def tables(page: Path, text: str) -> Problems:
    """Find rows of tables with more or fewer columns than their table."""

    def cells(row: str) -> int:
        return len(re.split(r"(?<!\\)\|", row.strip().removeprefix("|").removesuffix("|")))

    width = 0
    for number, line in enumerate(written(page, text).split("\n"), 1):
        if "|" in line and re.fullmatch(r"[\s|:-]*-[\s|:-]*", line):
            width = cells(line)
        elif not line.strip():
            width = 0
        elif width and cells(line) != width:
            yield f"{pages.name(page)}:{number}: the row has {cells(line)} columns, its table has {width}"


def typed_python(page: Path, text: str) -> Problems:
    """Find Python that was typed into a page, and embedding that is not by section."""
    for fence in pages.fences(page, text):
        if fence.language != "python":
            continue
        for offset, line in enumerate(fence.body, 1):
            if line.strip() and not pages.SNIPPET.match(line):
                yield f"{pages.name(page)}:{fence.line + offset}: Python is embedded, not typed: {line.strip()[:40]}"
        if not fence.targets:
            yield f"{pages.name(page)}:{fence.line}: the python fence embeds nothing"


def embeddings(page: Path, text: str) -> Problems:
    """Find embedded sections that do not exist, that are taken by line or whole, or that stand in no fence."""
    languages = {n: f.language for f in pages.fences(page, text) for n, _ in f.targets}
    for number, line in enumerate(text.splitlines(), 1):
        if not re.search(r"-+8<-+", line):
            continue
        where = f"{pages.name(page)}:{number}"
        match = pages.SNIPPET.match(line)
        if match is None:
            yield f'{where}: write one section a line: --8<-- "path/of/file.py:section"'
            continue
        path, _, section = match["target"].partition(":")
        source = pages.ROOT / path
        language = languages.get(number)
        if language is None and not (source.is_relative_to(pages.GENERATED) or path in WHOLE):
            yield f"{where}: {path} is embedded outside a fence, as prose; only docs/generated may be"
        elif language is not None and source.suffix not in SUFFIXES.get(language, {source.suffix}):
            yield f"{where}: a {language} fence embeds {path}, which is another language"
        elif not source.is_file():
            yield f"{where}: the embedded file {path} does not exist"
        elif not section:
            if not source.is_relative_to(pages.GENERATED) and path not in WHOLE:
                yield f"{where}: {path} is embedded whole; name a section (only docs/generated is embedded whole)"
        elif not re.fullmatch(r"[A-Za-z][\w-]*", section):
            yield f"{where}: {path} is embedded by lines ({section}); name a section"
        else:
            try:
                known = pages.sections(source)
            except ValueError as error:
                yield f"{where}: {error}"
                continue
            if section not in known:
                yield f"{where}: {path} has no section '{section}'; it has {', '.join(sorted(known)) or 'none'}"


def outputs(page: Path, text: str) -> Problems:
    """Find text fences that belong to no block, and comments that pytest-codeblocks would misread."""
    lines = text.splitlines()
    found = pages.fences(page, text)
    held = set()
    for block, after in itertools.pairwise(found):
        between = [line.strip() for line in lines[block.end : after.line - 1] if line.strip()]
        if (
            between == [pages.OUTPUT_COMMENT]
            and after.language == "text"
            and block.language in {"python", "console"}
        ):
            held.add(after.line)
    for fence in found:
        if fence.language == "text" and fence.line not in held:
            yield (
                f"{pages.name(page)}:{fence.line}: the text fence is nobody's output; "
                f"only {pages.OUTPUT_COMMENT} may stand between it and its block"
            )
    tied = {n for f in found if f.line in held for n in range(f.line - 3, f.line)}
    for number, line in pages.outside(page, text):
        where = f"{pages.name(page)}:{number}"
        if line.strip() == pages.OUTPUT_COMMENT:
            if number not in tied:
                yield f"{where}: the output comment stands alone; a text fence follows it, and a block precedes it"
        elif "<!--" in line and re.search(
            r"pytest|codeblock|expected.?ou|<!--\s*skip", line, re.IGNORECASE
        ):
            yield f"{where}: unknown comment {line.strip()[:60]}; the only one is {pages.OUTPUT_COMMENT}"


def fence_contents(page: Path, text: str) -> Problems:
    """Find expanded code that is too wide, or that would end its own fence."""
    for fence in pages.fences(page, text):
        try:
            code = fence.code()
        except LookupError:
            continue
        for line in code.splitlines():
            if line.lstrip().startswith("```"):
                yield f"{fence.where}: a line of the code starts with three backticks and would end the fence"
            width = WIDTH if fence.language == "python" else OUTPUT_WIDTH
            if len(line) > width:
                yield f"{fence.where}: a line has {len(line)} columns, more than {width}: {line.strip()[:50]}…"


def unverified_blocks(page: Path, text: str) -> Problems:
    """Find python blocks with no output whose names no later block with an output uses."""
    blocks = [f for f in pages.fences(page, text) if f.language == "python"]
    trees: list[tuple[Fence, ast.Module, bool]] = []
    for fence in blocks:
        try:
            tree = ast.parse(fence.code())
        except (SyntaxError, LookupError):
            continue
        trees.append((fence, tree, pages.output_fence(page, fence.line, text) is not None))
    for position, (fence, tree, verified) in enumerate(trees):
        if verified:
            continue
        defined = {n.name for n in tree.body if isinstance(n, ast.ClassDef | ast.FunctionDef)}
        used = {name for _, later, shown in trees[position + 1 :] if shown for name in names(later)}
        if not defined & used:
            yield (
                f"{pages.name(page)}:{fence.line}: the block has no verified output, and no later one that has uses "
                f"what it defines ({', '.join(sorted(defined)) or 'nothing'})"
            )


def names(tree: ast.AST) -> Iterator[str]:
    """Yield every name that code reads, imports or reaches by attribute."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            yield node.id
        elif isinstance(node, ast.Attribute):
            yield node.attr
        elif isinstance(node, ast.alias):
            yield node.name.rpartition(".")[2]


def front_matter(page: Path, text: str) -> Problems:
    """Find pages without a title and a description that a search engine can use."""
    where = f"{pages.name(page)}:1"
    match = re.match(r"---\n(.*?)\n---\n", text, re.DOTALL)
    try:
        meta = yaml.safe_load(match.group(1)) if match else None
    except yaml.YAMLError as error:
        yield f"{where}: front matter cannot be read: {' '.join(str(error).split())}; put quotes around it"
        return
    if not isinstance(meta, dict):
        yield f"{where}: the page starts with front matter (--- title: … description: … ---)"
        return
    if unknown := sorted(set(meta) - META):
        known = ", ".join(sorted(META))
        yield f"{where}: front matter says {', '.join(unknown)}, which nothing reads; known are {known}"
    title, description = str(meta.get("title", "")), str(meta.get("description", ""))
    if not 10 <= len(title) <= 60:
        yield f"{where}: title has {len(title)} characters, wants 10 to 60"
    if not 70 <= len(description) <= 160:
        yield f"{where}: description has {len(description)} characters, wants 70 to 160"
    heads = [line for _, line in pages.outside(page, text) if re.match(r"(# |<h1\b)", line)]
    if len(heads) != 1:
        yield f"{where}: the page has {len(heads)} first-level headings, wants one"


def wording(page: Path, text: str) -> Problems:
    """Find promises that the project does not make."""
    prose = {number for number, _ in pages.outside(page, text)}
    for number, line in enumerate(text.splitlines(), 1):
        where = f"{pages.name(page)}:{number}"
        if INSTALL.search(line):
            yield f"{where}: customgrad is installed from a clone, not by name"
        for bound in BOUND.findall(line):
            if not re.search(rf">={re.escape(bound)}\b(?!\.)", asked_for()):
                yield f"{where}: pyproject.toml does not ask for {bound}"
        if number in prose and UNFINISHED.search(line):
            yield f"{where}: a page shows what exists: {line.strip()[:50]}"


@functools.cache
def asked_for() -> str:
    """Return pyproject.toml, which says what versions the package needs."""
    return (pages.ROOT / "pyproject.toml").read_text(encoding="utf-8")


def torch_names(page: Path, text: str) -> Problems:
    """Find names in inline code that torch does not have: `torch.relu`, `nn.Linear`, `F.relu`."""
    homes = {"torch": "torch", "nn": "torch.nn", "F": "torch.nn.functional"}
    for node in rendered.render(text).root.all():
        for match in TORCH.finditer(node.text() if node.tag == "code" else ""):
            path = f"{homes[match['home']]}{match['names']}"
            try:
                with warnings.catch_warnings(action="ignore"):  # of deprecated names
                    pkgutil.resolve_name(path)
            except (AttributeError, ImportError):
                yield f"{rendered.where(page, text, match[0])}: torch has no `{path}`"


TYPED_CHECKS = (typed_html, formulas, tables)
EXAMPLE_CHECKS = (*TYPED_CHECKS, *rendered.EXAMPLE_CHECKS)
PAGE_CHECKS: tuple[Callable[[Path, str], Problems], ...] = (
    fence_languages, other_code, *TYPED_CHECKS, typed_python, embeddings, outputs, fence_contents, unverified_blocks,
    front_matter, wording, torch_names, *rendered.CHECKS, *numbers.CHECKS,
)  # fmt: skip


def lessons_and_pages(docs: Path = pages.DOCS, lessons: Path = pages.LESSONS) -> Problems:
    """Find pages without their lesson, and lessons without their page."""
    for page in pages.pages(docs):
        relative = page.relative_to(docs).as_posix()
        lesson = pages.lesson_of(page, docs, lessons)
        if relative not in NO_LESSON and not lesson.is_file():
            yield f"{pages.name(page)}:1: the page has no lesson; write {pages.name(lesson)}"
        if relative in NO_LESSON and lesson.is_file():
            yield f"{pages.name(page)}:1: the page has a lesson, {pages.name(lesson)}; NO_LESSON names it in vain"
    for lesson in sorted(lessons.rglob("*.py")):
        local = lesson.relative_to(lessons)
        if (
            local.name != "__init__.py"
            and local.as_posix() not in NO_PAGE
            and not (docs / local).with_suffix(".md").is_file()
        ):
            page = (docs / local).with_suffix(".md")
            yield f"{pages.name(lesson)}:1: the lesson has no page; write {pages.name(page)}"


def lesson_sections(
    docs: Path = pages.DOCS, lessons: Path = pages.LESSONS, root: Path = pages.ROOT
) -> Problems:
    """Find sections of lessons that no page shows, and sections that are not well formed."""
    shown = {
        target for page in pages.pages(docs) for f in pages.fences(page) for _, target in f.targets
    }
    shown |= {
        match["target"]
        for page in pages.pages(docs)
        for line in page.read_text(encoding="utf-8").splitlines()
        if (match := pages.CONSOLE_FILE.match(line.strip()))
    }
    for source in sorted(root.joinpath("customgrad").rglob("*.py")):
        path = source.relative_to(root).as_posix()
        try:
            known = pages.sections(source)
        except ValueError as error:
            yield str(error)
            continue
        if source.is_relative_to(lessons):
            for section, (line, _) in known.items():
                if f"{path}:{section}" not in shown:
                    yield f"{path}:{line}: no page shows the section '{section}'"


def files(docs: Path | None = None) -> Problems:
    """Find files in docs/ that are neither a page nor what pages use."""
    docs = docs or pages.DOCS
    for file in sorted(p for p in docs.rglob("*") if p.is_file()):
        parts = file.relative_to(docs).parts
        page = file.suffix == ".md" and "generated" not in parts and "assets" not in parts
        if not page and parts[0] not in {"assets", "generated"}:
            yield f"{pages.name(file)}:1: not a page (.md); what pages load stands in docs/assets"
        elif parts[0] == "assets" and file.suffix not in ASSETS:
            yield f"{pages.name(file)}:1: pages load no such file; docs/assets holds {', '.join(sorted(ASSETS))}"


def navigation(config: Path = pages.ROOT / "mkdocs.yml", docs: Path = pages.DOCS) -> Problems:
    """Find pages that the navigation lacks, and entries without a page."""
    lines = config.read_text(encoding="utf-8").splitlines()
    start = next(n for n, line in enumerate(lines) if line.startswith("nav:"))
    entries = {
        match.group(1): number
        for number, line in enumerate(lines[start:], start + 1)
        if (match := re.search(r"([\w/.-]+\.(?:md|py))\s*$", line))
    }
    for page in pages.pages(docs):
        if page.relative_to(docs).as_posix() not in entries:
            yield f"{pages.name(page)}:1: the navigation in {config.name} lacks the page"
    for entry, number in entries.items():
        source = docs / entry if entry.endswith(".md") else docs.parent / entry
        if not source.is_file():
            yield f"{config.name}:{number}: the navigation names {entry}, which does not exist"
