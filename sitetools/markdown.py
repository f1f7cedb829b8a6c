r"""The Markdown extension ``sitetools.markdown``: what a page's blocks say beyond their code.

It needs ``pymdownx.superfences``, ``pymdownx.highlight`` (with ``pygments_lang_class: true``) and
``attr_list``, adds no character to a block's own text, and depends on no site generator.

What an author writes, and what a reader gets:

- A fence with ``--8<-- "customgrad/relu.py:name"`` lines: a bar that names the last of these files,
  linked where ``GITHUB_REPOSITORY`` is set. A ``title="…"`` stands in the same bar.
- ``text title="Output"`` directly after a ``python`` fence (the expected-output comment may stand
  between): one object with the code, a seam row ``output`` and the seal ``verified``. A template
  fills in the seal's link by replacing `SEAL_LINK`.
- ``<div class="pair" markdown>`` around ``<div class="wrong" markdown>`` and
  ``<div class="right" markdown>``: headings, no copy button on the wrong code, and ``<mark>`` on
  the tokens in which the two outputs differ.
- ``console``: a terminal, one command a line; the ``$`` is drawn by the style sheet. A ``text``
  fence directly after it, or one written as ``text {.terminal title="Output"}`` anywhere, is shown
  as a terminal too: ``✓`` and ``✗`` lines, the keys ``why``, ``next``, ``where`` and ``fix`` at the
  start of a line, and marks where a line ``expected`` differs from the line ``got`` beside it
  (``want`` and ``yours`` mean the same).
- A table or a displayed formula: a wrapper that scrolls sideways and can be reached by keyboard.
"""

import difflib
import html
import os
import re
from dataclasses import dataclass
from typing import Any

from markdown import Extension, Markdown
from markdown.postprocessors import Postprocessor
from markdown.preprocessors import Preprocessor

SEAL_LINK = '<a class="verified" href="#"'
SEAL = f'{SEAL_LINK} title="A test ran this code and compared this output">verified</a>'

FENCE = re.compile(r"(?P<start>[ \t>]*(?P<ticks>`{3,})[\w#.+-]*)[ \t]*(?P<options>.*)$")
EMBEDDED = re.compile(r"""[ \t]*-+8<-+[ \t]+["'](?P<path>[^"':]+)[^"']*["']\s*$""")
BLOCK = re.compile(
    r'<div class="language-(?P<lang>[\w#.+-]+)(?P<classes>[^"]*) highlight"(?P<attributes>[^>]*)>'
    r'(?:<span class="filename">(?P<title>.*?)</span>)?<pre>(?P<pre>.*?)</pre></div>',
    re.DOTALL,
)
BETWEEN = re.compile(r"\s*(<!--\s*pytest-codeblocks:expected-output[\w-]*\s*-->\s*)?")
TOKEN = re.compile(r"[-+]?(?:\d[\d_]*\.?\d*(?:e[-+]?\d+)?|(?:inf|nan)\b)|\w+|[^\w\s]")
FORMULAS = re.compile(r'(?:<math [^>]*display="block".*?</math>\s*)+', re.DOTALL)
LABELLED = re.compile(r"(?P<label>\s*(?P<side>expected|want|got|yours)\b:?)(?P<values>.*)")
KEY = re.compile(r"(?P<space>\s*)(?P<key>why|next|where|fix)(?P<gap>:?\s{2,})(?P<rest>.*)")

Spans = list[tuple[int, int]]


class Sources(Preprocessor):
    """Write the file that a fence embeds into its opening line, before the snippet is expanded."""

    def run(self, lines: list[str]) -> list[str]:
        """Return the lines with ``data-source`` on each fence that embeds a file."""
        out: list[str] = []
        opening: re.Match[str] | None = None
        at, path = 0, ""
        for line in lines:
            if opening is None:
                opening, at, path = FENCE.match(line), len(out), ""
            elif line.strip(" \t>") == opening["ticks"]:
                if path:
                    options = opening["options"].strip().removeprefix("{").removesuffix("}")
                    attributes = f'{options} data-source="{path}"'.strip()
                    out[at] = f"{opening['start']} {{{attributes}}}"
                opening = None
            elif embedded := EMBEDDED.match(line):
                path = embedded["path"]
            out.append(line)
        return out


def source(path: str) -> str:
    """Name a source file, linked where the repository's address is known."""
    repository, commit = os.environ.get("GITHUB_REPOSITORY"), os.environ.get("GITHUB_SHA") or "main"
    if not repository:
        return f'<span class="source">{path}</span>'
    address = html.escape(f"https://github.com/{repository}/blob/{commit}/{path}")
    return f'<a class="source" href="{address}">{path}</a>'


def divisions(page: str, name: str) -> Spans:
    """Find each ``<div class="name">`` with its end, nested ones counted."""
    found = []
    for opening in re.finditer(f'<div class="{name}">', page):
        depth = 0
        for tag in re.finditer(r"<(/?)div\b", page[opening.start() :]):
            depth += -1 if tag[1] else 1
            if depth == 0:
                found.append((opening.start(), opening.start() + tag.start()))
                break
    return found


def differing(one: str, other: str) -> tuple[Spans, Spans]:
    """Find the tokens in which two texts differ; none where they have next to nothing in common."""
    a, b = list(TOKEN.finditer(one)), list(TOKEN.finditer(other))
    if len(a) == len(b):
        pairs = zip(a, b, strict=True)
        same = {(i, i) for i, (x, y) in enumerate(pairs) if x[0] == y[0]}
    else:
        matcher = difflib.SequenceMatcher(None, [x[0] for x in a], [x[0] for x in b], autojunk=False)
        same = {(m.a + k, m.b + k) for m in matcher.get_matching_blocks() for k in range(m.size)}
    if min(len(a), len(b)) > 3 and 3 * len(same) < max(len(a), len(b)):
        return [], []
    left, right = {i for i, _ in same}, {j for _, j in same}
    return (
        [x.span() for i, x in enumerate(a) if i not in left],
        [x.span() for j, x in enumerate(b) if j not in right],
    )


def marked(text: str, spans: Spans, verdict: str) -> str:
    """Escape a text and put ``<mark>`` around the spans."""
    out, at = "", 0
    for start, end in spans:
        token = html.escape(text[start:end], quote=False)
        out += html.escape(text[at:start], quote=False) + f'<mark class="{verdict}">{token}</mark>'
        at = end
    return out + html.escape(text[at:], quote=False)


def compared(wrong: str, right: str) -> tuple[str, str]:
    """Mark where two outputs differ, line by line where they have equally many lines."""
    a, b = wrong.split("\n"), right.split("\n")
    if len(a) != len(b):
        a, b = [wrong], [right]
    rows = [(x, y, *differing(x, y)) for x, y in zip(a, b, strict=True)]
    return (
        "\n".join(marked(x, spans, "bad") for x, _, spans, _ in rows),
        "\n".join(marked(y, spans, "ok") for _, y, _, spans in rows),
    )


def commands(text: str) -> str:
    """Show shell commands: what starts one gets the drawn prompt."""
    out, continued = [], False
    for line in text.split("\n"):
        kind = "" if continued or not line.strip() else "note" if line.startswith("#") else "cmd"
        shown = html.escape(line, quote=False)
        out.append(f'<span class="{kind}">{shown}</span>' if kind else shown)
        continued = line.endswith("\\")
    return "\n".join(out)


def report(text: str) -> str:
    """Show a program's report: verdicts, keys, and the values that are not as expected."""
    lines = text.split("\n")
    out = [html.escape(line, quote=False) for line in lines]
    for i, line in enumerate(lines):
        if line.lstrip().startswith("✓"):
            out[i] = out[i].replace("✓", '<span class="ok">✓</span>', 1)
        elif line.lstrip().startswith("✗"):
            out[i] = f'<span class="bad">{out[i]}</span>'
        elif key := KEY.fullmatch(line):
            rest = html.escape(key["rest"], quote=False)
            rest = f"<b>{rest}</b>" if key["key"] == "next" else rest
            out[i] = f'{key["space"]}<span class="key">{key["key"]}</span>{key["gap"]}{rest}'
        one, other = LABELLED.fullmatch(line), LABELLED.fullmatch("".join(lines[i + 1 : i + 2]))
        if one and other:
            wants = [match["side"] in ("expected", "want") for match in (one, other)]
            if wants[0] != wants[1]:
                pair = (one, other), differing(one["values"], other["values"]), (i, i + 1), wants
                for match, spans, row, want in zip(*pair, strict=True):
                    values = marked(match["values"], spans, "ok" if want else "bad")
                    out[row] = match["label"] + values
    return "\n".join(out)


@dataclass
class Block:
    """One highlighted fence of a page, and what has been found out about it."""

    match: re.Match[str]
    after: "Block | None"  # the block right before this one
    code: str
    wrong: bool = False
    sealed: bool = False  # is a verified output, or has one

    @property
    def lang(self) -> str:
        """The fence's language."""
        return str(self.match["lang"])

    @property
    def output(self) -> bool:
        """Whether this is an output."""
        return self.lang == "text" and self.match["title"] == "Output"

    @property
    def terminal(self) -> bool:
        """Whether this is shown as a terminal."""
        follows = self.output and self.after is not None and self.after.lang == "console"
        return self.lang == "console" or follows or "terminal" in self.match["classes"].split()

    def html(self) -> str:
        """Write the block with its bar or seam."""
        path = re.search(r'data-source="([^"]*)"', self.match["attributes"])
        classes = {f"language-{self.lang}": 1, **dict.fromkeys(self.match["classes"].split(), 1)}
        classes |= {"highlight": 1, "terminal": self.terminal, "output": self.output}
        classes["no-copy"] = self.wrong or self.lang == "text"
        head = ""
        if self.output:
            head = f'<span class="seam" data-search-exclude><span>output</span>{SEAL * self.sealed}</span>'
        elif self.match["title"] or path:
            title = f'<span class="title">{self.match["title"]}</span>' if self.match["title"] else ""
            name = source(path[1]) if path else ""
            head = f'<span class="bar" data-search-exclude>{title}{name}</span>'
        pre = self.match["pre"]
        start, end = pre.index("<code>") + 6, pre.rindex("</code>")
        names = " ".join(name for name, wanted in classes.items() if wanted)
        return f'<div class="{names}">{head}<pre>{pre[:start]}{self.code}{pre[end:]}</pre></div>'


class Blocks(Postprocessor):
    """Rewrite a page's blocks, once all of its HTML is in place."""

    def run(self, text: str) -> str:
        """Return the page with bars, seams, marks, terminals and scrolling wrappers."""
        blocks = self.read(text)
        for start, end in divisions(text, "pair"):
            inside = [b for b in blocks if b.output and start < b.match.start() < end]
            wrong = [b for b in inside if b.wrong]
            right = [b for b in inside if not b.wrong]
            for one, other in zip(wrong, right, strict=False):
                if not one.terminal and not other.terminal:
                    one.code, other.code = compared(plain(one.code), plain(other.code))
        out, at = "", 0
        for block in blocks:
            gap = text[at : block.match.start()]
            joined = block.sealed and block.output
            out += ("" if joined else gap) + ('<div class="run">' if self.opens(block) else "")
            out += block.html() + ("</div>" if joined else "")
            at = block.match.end()
        return wrapped(out + text[at:])

    def read(self, page: str) -> list[Block]:
        """Find the blocks of a page."""
        blocks: list[Block] = []
        wrongs = divisions(page, "wrong")
        for match in BLOCK.finditer(page):
            last = blocks[-1] if blocks else None
            if last and not BETWEEN.fullmatch(page, last.match.end(), match.start()):
                last = None
            block = Block(match, last, code_of(match["pre"]))
            block.wrong = any(start < match.start() < end for start, end in wrongs)
            if block.output and last and last.lang == "python":
                block.sealed = last.sealed = True
            if block.lang == "console":
                block.code = commands(plain(block.code))
            elif block.terminal:
                block.code = report(plain(block.code))
            blocks.append(block)
        return blocks

    def opens(self, block: Block) -> bool:
        """Whether a code block starts an object of code and output."""
        return block.sealed and not block.output


def code_of(pre: str) -> str:
    """Take the inside of ``<code>``."""
    return pre[pre.index("<code>") + 6 : pre.rindex("</code>")]


def plain(code: str) -> str:
    """Take the text of highlighted code."""
    return html.unescape(re.sub(r"<[^>]*>", "", code))


def wrapped(page: str) -> str:
    """Let wide tables and formulas scroll, and name the two sides of a pair."""
    for name, sign in (("wrong", "✗"), ("right", "✓")):
        label = f'<p class="verdict" data-search-exclude>{sign} {name}</p>'
        page = page.replace(f'<div class="{name}">', f'<div class="{name}">{label}')
    group = '<div class="{}" role="group" aria-label="{}" tabindex="0">'
    page = page.replace("<table>", group.format("table", "Table") + '<table class="data">')
    page = page.replace("</table>", "</table></div>")
    return FORMULAS.sub(lambda m: f"{group.format('formulas', 'Formula')}{m[0].strip()}</div>\n", page)


class Page(Extension):
    """Registers the two steps: one before snippets are expanded, one on the finished HTML."""

    def extendMarkdown(self, md: Markdown) -> None:  # noqa: N802  (Python-Markdown's name)
        """Add the steps to a Markdown instance."""
        md.preprocessors.register(Sources(md), "sources", 33)
        md.postprocessors.register(Blocks(md), "blocks", 1)


def makeExtension(**options: Any) -> Page:  # noqa: N802  (Python-Markdown's name)
    """Make the extension; it has no options."""
    return Page(**options)
