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
  fence directly after it (sealed, with the comment between), or one written as
  ``text {.terminal title="Output"}`` anywhere, is shown as a terminal too: ``✓`` and ``✗`` lines,
  the keys ``why``, ``next``, ``where`` and ``fix`` at the start of a line, the ``-`` and ``+``
  lines of a difference, and marks where a line ``expected`` differs from the line ``got`` beside it
  (``want`` and ``yours`` mean the same). These marks stand in a Python block's output, too.
- A table or a displayed formula: a wrapper that scrolls sideways and can be reached by keyboard.
- Code in a line of text: its short words are never broken, its long ones after a dot or a slash.
"""

import difflib
import functools
import html
import itertools
import os
import re
from dataclasses import dataclass
from typing import Any

from markdown import Extension, Markdown
from markdown.postprocessors import Postprocessor
from markdown.preprocessors import Preprocessor

# The search plugin leaves out an element with this attribute, but not what follows a child of it.
UNSEARCHED = "data-search-exclude"
SEAL_LINK = '<a class="verified" href="#"'
SEAL = (
    f'{SEAL_LINK} title="A test ran this code and compared this output" {UNSEARCHED}>verified</a>'
)

FENCE = re.compile(r"(?P<start>[ \t>]*(?P<ticks>`{3,})[\w#.+-]*)[ \t]*(?P<options>[^`]*)$")
EMBEDDED = re.compile(r"""[ \t]*-+8<-+[ \t]+["'](?P<path>[^"':]+)[^"']*["']\s*$""")
BLOCK = re.compile(
    r'<div class="language-(?P<lang>[\w#.+-]+)(?P<classes>[^"]*) highlight"(?P<attributes>[^>]*)>'
    r'(?:<span class="filename">(?P<title>.*?)</span>)?'
    r"<pre>(?:<span></span>)?<code>(?P<code>.*?)</code></pre></div>",
    re.DOTALL,
)
BETWEEN = re.compile(r"\s*(<!--\s*pytest-codeblocks:expected-output[\w-]*\s*-->\s*)?")
TOKEN = re.compile(r"[-+]?(?:\d[\d_]*\.?\d*(?:e[-+]?\d+)?|(?:inf|nan)\b)|\w+|[^\w\s]")
CHIP = re.compile(r"(?<!<pre>)<code>([^<]+)</code>")
WHOLE, NAME = 22, 18  # characters of code on one line of a sentence, and of a phone's table
FORMULAS = re.compile(r'(?:<math [^>]*display="block".*?</math>\s*)+', re.DOTALL)
LABELLED = re.compile(r"(?P<label>\s*(?:(?P<want>expected|want)|got|yours)\b:?)(?P<values>.*)")
KEY = re.compile(r"(?P<space>\s*)(?P<key>why|next|where|fix)(?P<gap>:?\s{2,})(?P<rest>.*)")
FAILED = re.compile(r"(?P<space>\s*)(?P<row>✗ ?\S+(?: \S+)*)(?P<rest>.*)")
BOTH = re.compile(r"(?P<old>- .*\S)(?P<gap>\s{2,})(?P<new>\+ .*)")
VERDICT = re.compile(r"\s*(?P<severity>[×!~^] (?:bug|hazard|missing|upstream))(?P<rest> · CG\d.*)")
SEVERITIES = {"× bug": "bad"}
DIFFERENCE = re.compile(r"^(?:-.*\n)+(?:\+.*(?:\n|$))+", re.MULTILINE)

Spans = list[tuple[int, int]]
escape = functools.partial(html.escape, quote=False)


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
    shown = re.sub("([/_])", r"\1<wbr>", path)
    repository, commit = os.environ.get("GITHUB_REPOSITORY"), os.environ.get("GITHUB_SHA") or "main"
    if not repository:
        return f'<span class="source" {UNSEARCHED}>{shown}</span>'
    address = html.escape(f"https://github.com/{repository}/blob/{commit}/{path}")
    return f'<a class="source" href="{address}" {UNSEARCHED}>{shown}</a>'


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
    x, y = [token[0] for token in a], [token[0] for token in b]
    if len(x) == len(y):
        same = [(i, i) for i in range(len(x)) if x[i] == y[i]]
    else:
        found = difflib.SequenceMatcher(None, x, y, autojunk=False).get_matching_blocks()
        same = [(match.a + k, match.b + k) for match in found for k in range(match.size)]
    if min(len(x), len(y)) > 3 and 3 * len(same) < max(len(x), len(y)):
        return [], []
    left, right = {i for i, _ in same}, {j for _, j in same}
    return (
        [token.span() for i, token in enumerate(a) if i not in left],
        [token.span() for j, token in enumerate(b) if j not in right],
    )


def marked(text: str, spans: Spans, verdict: str) -> str:
    """Escape a text and put ``<mark>`` around the spans."""
    out, at = "", 0
    for start, end in spans:
        mark = f'<mark class="{verdict}">{escape(text[start:end])}</mark>'
        out, at = out + escape(text[at:start]) + mark, end
    return out + escape(text[at:])


def compared(wrong: str, right: str) -> tuple[str, str]:
    """Mark where two outputs differ, line by line where they have equally many lines."""
    a, b = wrong.split("\n"), right.split("\n")
    if len(a) != len(b):
        a, b = [wrong], [right]
    spans = [differing(x, y) for x, y in zip(a, b, strict=True)]
    return (
        "\n".join(marked(x, left, "bad") for x, (left, _) in zip(a, spans, strict=True)),
        "\n".join(marked(y, right, "ok") for y, (_, right) in zip(b, spans, strict=True)),
    )


def commands(text: str) -> str:
    """Show shell commands: what starts one gets the drawn prompt."""
    out, continued = [], False
    for line in text.split("\n"):
        kind = "" if continued or not line.strip() else "note" if line.startswith("#") else "cmd"
        out.append(f'<span class="{kind}">{escape(line)}</span>' if kind else escape(line))
        continued = line.endswith("\\")
    return "\n".join(out)


def differences(text: str) -> dict[int, str]:
    """Show the lines that a difference takes out and puts in, and a line that names the two signs."""
    out = {}
    for found in DIFFERENCE.finditer(text):
        first = text.count("\n", 0, found.start())
        for i, line in enumerate(found[0].rstrip("\n").split("\n"), first):
            if both := BOTH.fullmatch(line):
                old, new = escape(both["old"]), escape(both["new"])
                out[i] = (
                    f'<span class="old">{old}</span>{both["gap"]}<span class="new">{new}</span>'
                )
            else:
                kind = "old" if line.startswith("-") else "new"
                out[i] = f'<span class="{kind}">{escape(line)}</span>'
    return out


def report(text: str) -> str:
    """Show a program's report: verdicts, keys, and the values that are not as expected."""
    lines = text.split("\n")
    out = [escape(line) for line in lines]
    next_at = 0  # the column that a text after `next` starts in: its further lines start there, too
    for i, line in enumerate(lines):
        if next_at and line[:next_at].isspace() and line[next_at : next_at + 1].strip():
            out[i] = f"{line[:next_at]}<b>{escape(line[next_at:])}</b>"
            continue
        next_at = 0
        if line.lstrip().startswith("✓"):
            out[i] = out[i].replace("✓", '<span class="ok">✓</span>', 1)
        elif failed := FAILED.fullmatch(line):
            name = f'<span class="bad">{escape(failed["row"])}</span>'
            out[i] = f"{failed['space']}{name}{escape(failed['rest'])}"
        elif key := KEY.fullmatch(line):
            rest = escape(key["rest"])
            if key["key"] == "next":
                rest, next_at = f"<b>{rest}</b>", key.start("rest")
            out[i] = f'{key["space"]}<span class="key">{key["key"]}</span>{key["gap"]}{rest}'
        if verdict := VERDICT.fullmatch(line):
            kind = SEVERITIES.get(verdict["severity"], "key")
            out[i] = (
                f'<span class="{kind}">{escape(verdict["severity"])}</span>{escape(verdict["rest"])}'
            )
    for i, line in (labelled(text) | differences(text)).items():
        out[i] = line
    return "\n".join(out)


def labelled(text: str) -> dict[int, str]:
    """Mark the values that are not as expected: where a line says what came, and one beside it what should."""
    lines, out = text.split("\n"), {}
    for i, (line, after) in enumerate(itertools.pairwise(lines)):
        one, other = LABELLED.fullmatch(line), LABELLED.fullmatch(after)
        if one and other and bool(one["want"]) != bool(other["want"]):
            spans = differing(one["values"], other["values"])
            for row, match in enumerate((one, other)):
                # Where numbers differ, the words around them do not matter.
                values = match["values"]
                numbers = [(a, b) for a, b in spans[row] if values[a:b].strip("+-")[:1].isdigit()]
                verdict = "ok" if match["want"] else "bad"
                values = marked(values, numbers or spans[row], verdict)
                out[i + row] = match["label"] + values
    return out


def compare(text: str) -> str:
    """Show a block's output, with the values that are not as expected marked."""
    lines = [escape(line) for line in text.split("\n")]
    for i, line in labelled(text).items():
        lines[i] = line
    return "\n".join(lines)


@dataclass
class Block:
    """One highlighted fence of a page, and what has been found out about it."""

    match: re.Match[str]
    lang: str
    classes: list[str]
    output: bool
    code: str
    wrong: bool = False
    sealed: bool = False  # is a verified output, or has one
    ran: bool = False  # is what a command printed, and verified

    def html(self) -> str:
        """Write the block, with its bar or its seam."""
        name = re.search(r'data-source="([^"]*)"', self.match["attributes"])
        title = f'<span class="title">{self.match["title"]}</span>' if self.match["title"] else ""
        kind, inside = "bar", title + (source(name[1]) if name else "")
        if self.output:
            kind, inside = (
                "seam",
                f"<span {UNSEARCHED}>output</span>" + SEAL * (self.sealed or self.ran),
            )
        head = f'<span class="{kind}">{inside}</span>' if inside else ""
        copied = not self.wrong and self.lang != "text"
        more = ["highlight", *["output"] * self.output, *["no-copy"] * (not copied)]
        classes = " ".join([f"language-{self.lang}", *self.classes, *more])
        return f'<div class="{classes}">{head}<pre><code>{self.code}</code></pre></div>'


def blocks_of(page: str) -> list[Block]:
    """Find the blocks of a page."""
    blocks: list[Block] = []
    wrongs = divisions(page, "wrong")
    for match in BLOCK.finditer(page):
        lang, classes, code = match["lang"], match["classes"].split(), match["code"]
        block = Block(match, lang, classes, lang == "text" and match["title"] == "Output", code)
        block.wrong = any(start < match.start() < end for start, end in wrongs)
        last = blocks[-1] if blocks else None
        between = BETWEEN.fullmatch(page, last.match.end(), match.start()) if last else None
        if block.output and last and between:
            if last.lang == "python":
                block.sealed = last.sealed = True
            elif last.lang == "console":
                block.ran = bool(between[1])
                classes.append("terminal")
        if lang == "console":
            classes.append("terminal")
            block.code = commands(plain(code))
        elif "terminal" in classes:
            block.code = report(plain(code))
        elif block.sealed:
            block.code = compare(plain(code))
        blocks.append(block)
    return blocks


class Blocks(Postprocessor):
    """Rewrite a page's blocks, once all of its HTML is in place."""

    def run(self, text: str) -> str:
        """Return the page with bars, seams, marks, terminals and scrolling wrappers."""
        blocks = blocks_of(text)
        for start, end in divisions(text, "pair"):
            outputs = [b for b in blocks if b.output and start < b.match.start() < end]
            sides = [[b for b in outputs if b.wrong == wrong] for wrong in (True, False)]
            for one, other in zip(*sides, strict=False):
                if "terminal" not in one.classes + other.classes:
                    one.code, other.code = compared(plain(one.code), plain(other.code))
        out, at = "", 0
        for block in blocks:
            between = text[at : block.match.start()]
            if not block.sealed:
                out += between + block.html()
            elif block.output:
                out += block.html() + "</div>"
            else:
                out += f'{between}<div class="run">{block.html()}'
            at = block.match.end()
        return wrapped(out + text[at:])


def plain(code: str) -> str:
    """Take the text of highlighted code."""
    return html.unescape(re.sub(r"<[^>]*>", "", code))


def wrapped(page: str) -> str:
    """Name the two sides of a pair, and let wide tables and formulas scroll."""
    for name, sign in (("wrong", "✗"), ("right", "✓")):
        label = f'<p class="verdict" data-search-exclude>{sign} {name}</p>'
        page = page.replace(f'<div class="{name}">', f'<div class="{name}">{label}')
    group = '<div class="{}" role="group" aria-label="{}" tabindex="0">'
    page = page.replace("<table>", group.format("table", "Table") + '<table class="data">')
    page = page.replace("</table>", "</table></div>")
    page = page.replace("<mo>&#x02016;", '<mo stretchy="false">&#x02016;')  # norms, as high as text
    formulas = group.format("formulas", "Formula")
    page = FORMULAS.sub(lambda match: f"{formulas}{match[0].strip()}</div>\n", page)
    return CHIP.sub(lambda match: chip(match[1]), page)


def chip(code: str) -> str:
    """Say where a line may end in the code of a sentence; its characters stay what they are."""
    words = [(word, len(html.unescape(word))) for word in code.split(" ")]
    if sum(length + 1 for _, length in words) <= WHOLE + 1:
        if len(words) > 1 or words[0][1] <= NAME or "." not in code:
            return f"<code>{code}</code>"
        return f'<code class="dotted">{breakable(code)}</code>'
    parts = [breakable(w) if length > WHOLE else f"<span>{w}</span>" for w, length in words]
    return f'<code class="long">{" ".join(parts)}</code>'


def breakable(word: str) -> str:
    """Let a line end after the dots and slashes of a word."""
    return re.sub(r"(?<=\w)([./\\])(?=\w)", r"\1<wbr>", word)


class Page(Extension):
    """Registers the two steps: one before snippets are expanded, one on the finished HTML."""

    def extendMarkdown(self, md: Markdown) -> None:
        """Add the steps to a Markdown instance."""
        md.ESCAPED_CHARS = [*md.ESCAPED_CHARS, "$"]  # a dollar beside formulas
        md.preprocessors.register(Sources(md), "sources", 33)
        md.postprocessors.register(Blocks(md), "blocks", 1)


def makeExtension(**options: Any) -> Page:
    """Make the extension; it has no options."""
    return Page(**options)
