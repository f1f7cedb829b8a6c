"""What a reader would get: each page as the site's own Markdown extensions render it, and what must not be there.

The checks of `sitetools.audit` read what the author wrote; these read the HTML that it becomes. Whatever the way
in which code, a number, a link or a piece of markup came into the page, here it has one form.
"""

import functools
import html
import re
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path

from sitetools import pages

Problems = Iterator[str]

VOID = {"br", "hr", "img", "wbr"}
TAGS = VOID | {
    "a", "blockquote", "code", "dd", "del", "details", "div", "dl", "dt", "em", "figcaption", "figure", "h1", "h2",
    "h3", "h4", "kbd", "li", "mark", "math", "ol", "p", "pre", "span", "strong", "sub", "summary", "sup", "svg",
    "table", "tbody", "td", "th", "thead", "tr", "ul",
}  # fmt: skip
ATTRIBUTES = {
    "alt", "aria-label", "aria-hidden", "class", "data-search-exclude", "height", "href", "id", "role", "src", "start",
    "tabindex", "title", "width",
}  # fmt: skip
"""Attributes that a page may have; `style` is one only as the alignment of a table's column."""
ADMONITIONS = {
    "abstract", "bug", "danger", "example", "failure", "info", "note", "question", "quote", "success", "tip", "warning",
}  # fmt: skip
HEADINGS = {"h1", "h2", "h3", "h4"}
BLOCKS = HEADINGS | {
    "p", "li", "td", "th", "figcaption", "dd", "dt", "summary", "div", "blockquote", "body", "details", "figure",
}  # fmt: skip
LEFTOVERS = {
    "command": r"\\[A-Za-z()\[\]]+", "dollar": r"\$(?!\d)", "bold": r"\*\*|(?<!\w)__(?=\w)",
    "emphasis": r"(?<![\w*])[*_](?=[\w…])|(?<=[\w…])\*(?![\w*])", "backtick": r"`", "strike": r"~~|==",
    "template": r"\{\{|\}\}|\{%", "link": r"(?<!\w)\[[A-Za-z…][^\][,=]+\]|\]\(|\]\[|\((?:[\w./-]*\.md\b|https?:)",
    "footnote": r"\[\^", "attribute": r"\{:?\s?[.#]\w", "admonition": r"!!!|\?\?\?", "snippet": r"--8<--",
    "icon": r"(?<![\w:]):[a-z]+(?:-[a-z]+)*:(?!\w)", "table": r"^\s*[|]|\|\s*:?-{2,}",
    "entity": r"&(?:\w+|#\d+);", "tag": r"<!--|-->|</?\w+>", "list": r"^(?:[-*+](?=[\sA-Za-z…])|1[.)]\s)",
    "heading": r"^#{1,6}\s",
}  # fmt: skip
"""Markup that the reader was not to see, as it stands in the text (`^` is the start of any line)."""
STATEMENT = re.compile(r"[;\n]|\b(?:import|def|class)\s+\w|\bprint\(")
"""What inline code does not hold, since nothing runs it."""


@dataclass
class Node:
    """An element of a page."""

    tag: str
    attributes: dict[str, str]
    children: list["Node | str"] = field(default_factory=list)

    def all(self) -> Iterator["Node"]:
        """Yield the element and all below it, but nothing inside a figure, a formula or a code block."""
        yield self
        if self.tag not in {"svg", "math", "pre"}:
            for child in self.children:
                if isinstance(child, Node):
                    yield from child.all()

    def text(self, leave: Collection[str] = ()) -> str:
        """Return the text, with `…` for formulas and inline code that are left out."""
        parts = []
        for child in self.children:
            if isinstance(child, str):
                parts.append(child)
            elif child.tag == "br":
                parts.append(" ")
            elif child.tag in leave:
                parts.append("…" if child.tag in {"code", "math"} else "")
            elif child.tag == "math":
                words = child.formula()
                if not re.fullmatch(
                    r"[-−]?[\d.]+", words
                ):  # factors and indices are the formula's own
                    words = f"… {re.sub(r'(?<![^ ])[0-9](?![^ ])', '…', words)} …"
                parts.append(words)
            elif not child.has("headerlink") and not child.has("footnote-ref"):
                parts.append(child.text(leave))
        return "".join(parts)

    def formula(self) -> str:
        """Return a formula's signs, words and numbers side by side, powers of numbers as `10^7`."""
        if self.tag == "mi" and len(self.text()) == 1:
            return "…"
        parts = [c.formula() if isinstance(c, Node) else c.strip() for c in self.children]
        if self.tag == "msup" and all(part.isdigit() for part in parts):
            return "^".join(parts)
        sign = len(parts) == 2 and parts[0] in {"-", "−"}
        return ("" if sign else " ").join(filter(None, parts))

    def has(self, name: str) -> bool:
        """Return whether the element has a class."""
        return name in self.attributes.get("class", "").split()


class Reader(HTMLParser):
    """Makes a tree of HTML, and notes tags that are not closed in order."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.root = Node("body", {})
        self.open = [self.root]
        self.near = ""
        self.wrong: list[tuple[str, str]] = []  # what, and the text before it
        self.feed(page)
        self.close()
        self.wrong += [(f"<{node.tag}> is never closed", start(node)) for node in self.open[1:]]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Open an element."""
        node = Node(tag, {name: value or "" for name, value in attrs})
        self.open[-1].children.append(node)
        if tag not in VOID:
            self.open.append(node)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Add an element that is closed at once."""
        self.open[-1].children.append(Node(tag, {name: value or "" for name, value in attrs}))

    def handle_endtag(self, tag: str) -> None:
        """Close an element, and those left open in it."""
        if tag in {node.tag for node in self.open[1:]}:
            while (node := self.open.pop()).tag != tag:
                self.wrong.append((f"<{node.tag}> is not closed before </{tag}>", start(node)))
        elif tag not in VOID:
            self.wrong.append((f"</{tag}> closes nothing", f"{self.near}</{tag}"))

    def handle_data(self, data: str) -> None:
        """Add text."""
        self.open[-1].children.append(data)
        self.near = data.rpartition("\n")[2] or self.near

    def handle_comment(self, data: str) -> None:
        """Leave comments out: the reader does not see them."""


@functools.lru_cache(maxsize=256)
def render(text: str) -> Reader:
    """Return a page's Markdown, front matter included, as the site renders it; what it embeds may be missing."""
    import markdown
    from mkdocs.utils import meta

    config = pages.config()
    body, _ = meta.get_data(text)
    options = dict(config["mdx_configs"])
    options["pymdownx.snippets"] = options["pymdownx.snippets"] | {"check_paths": False}
    reader = markdown.Markdown(extensions=config["markdown_extensions"], extension_configs=options)
    try:
        return Reader(reader.convert(body))
    except Exception as error:  # of whatever extension, as for a formula without its \end
        failed = Reader("")
        failed.wrong.append((f"cannot be rendered: {type(error).__name__} {error}".strip(), ""))
        return failed


def where(page: Path, text: str, *needles: str) -> str:
    """Return `page:line` of the first line that holds one of the needles, markup apart; else of the page's start."""
    strip = str.maketrans("", "", "*`$\\_")
    opening = [(f.line, f.info) for f in pages.fences(page, text)]
    lines = sorted([*pages.outside(page, text), *opening])
    for needle in filter(None, (n.translate(strip).strip() for n in needles)):
        pattern = re.compile(rf"(?<!\w){re.escape(needle)}(?!\w)")
        for number, line in lines:
            if pattern.search(html.unescape(line).replace("\u00a0", " ").translate(strip)):
                return f"{pages.name(page)}:{number}"
    return f"{pages.name(page)}:1"


def start(node: Node) -> str:
    """Return the first words of an element beside its formulas, to find it by in the page."""
    parts = (part.split() for part in node.text({"svg", "math"}).split("…"))
    return " ".join(next(filter(None, parts), [])[:4])


def prose(body: Node, *leave: str, line: str = " ") -> Iterator[tuple[Node, str]]:
    """Yield each element that holds text of its own, with that text on one line; alt texts and titles, too.

    Args:
        body: the page.
        leave: elements whose text is not wanted, beside code blocks and figures.
        line: what stands between two lines.
    """
    for node in body.all():
        for name in ("alt", "title", "aria-label"):
            if node.attributes.get(name) and not (
                node.has("headerlink") or node.has("footnote-backref")
            ):
                yield node, " ".join(node.attributes[name].split())
        if node.has("title") or (node.tag in BLOCKS and not node.has("highlight")):
            own = node.text({"pre", "svg", "table", "ul", "ol", "dl", *BLOCKS, *leave})
            if own.strip():
                own = own.replace("\u00a0", " ").strip()
                yield node, line.join(" ".join(part.split()) for part in own.split("\n"))


def markup(page: Path, text: str) -> Problems:
    """Find elements and attributes that a page has no use for, and what is not closed, empty or there twice."""
    reader = render(text)
    for wrong, near in reader.wrong:
        yield f"{where(page, text, near)}: {wrong}; every tag and formula has its end"
    ids: set[str] = set()
    for node in reader.root.all():
        at = functools.partial(where, page, text)
        if node.tag not in TAGS | {"body"}:
            yield f"{at(f'<{node.tag}', start(node))}: <{node.tag}> is not used on this site; write it in Markdown"
        for name, value in node.attributes.items():
            if node.tag in {"svg", "math", "mo"} or name in ATTRIBUTES:
                continue
            if name != "style" or not re.fullmatch(r"text-align: \w+;", value):
                place = at(f"{name}=", name, start(node))
                yield f"{place}: the attribute {name} of <{node.tag}> is not used on this site"
        if (name := node.attributes.get("id", "")) in ids:
            yield f"{at(f'#{name}', name, start(node))}: the id '{name}' is on this page twice"
        ids |= {name} - {""}
        if node.tag == "math" and (odd := re.search(r"\\[A-Za-z]*", node.formula())):
            yield f"{at(odd[0], start(node))}: '{odd[0]}' is shown in a formula as it stands"
        if node.has("admonition") or node.tag == "details":
            kinds = set(node.attributes.get("class", "").split()) - {"admonition"}
            for kind in kinds - ADMONITIONS:
                known = ", ".join(sorted(ADMONITIONS))
                yield f"{at(kind, start(node))}: there is no box '{kind}'; known are {known}"
            if sum(isinstance(child, Node) for child in node.children) < 2:
                yield f"{at(start(node), *kinds)}: the box has no text; indent it by four columns"


def inline(page: Path, text: str) -> Problems:
    """Find inline code that is more than a name or an expression, so that a block should hold and run it."""
    for node in render(text).root.all():
        if node.tag == "code" and (found := STATEMENT.search(node.text())):
            code = " ".join(node.text().split())
            at = where(page, text, code, *node.text().strip().split("\n"))
            yield f"{at}: inline code holds {found[0]!r}, a statement or a line's end; show it in a block: {code[:40]}"


def shown_code(page: Path, text: str) -> Problems:
    """Find code that the reader sees and that is no fence of the page, and fences that the reader does not see."""
    shown = [n.text().strip("\n") for n in render(text).root.all() if n.tag == "pre"]
    written = []
    for fence in pages.fences(page, text):
        try:
            code = fence.code().strip("\n")
        except LookupError:
            continue
        written.append(code)
        if code not in shown:
            yield f"{fence.where}: the fence is not shown as a block; check its indent, and its element's `markdown`"
    for code in shown:
        if code not in written:
            line = code.strip().splitlines()[0] if code.strip() else ""
            yield f"{where(page, text, line)}: code that no fence holds, so nothing runs it: {line.strip()[:40]}"


def headings(page: Path, text: str) -> Problems:
    """Find headings in raw HTML, which no list of addresses knows."""
    try:
        whole = pages.expand(text, pages.name(page))
    except LookupError:
        return
    written = [line for _, line in pages.outside(page, whole) if re.match(r"#{1,4} ", line)]
    for node in render(text).root.all():
        if node.tag in HEADINGS:
            if written:
                written.pop(0)
            else:
                yield f"{where(page, text, f'<{node.tag}', start(node))}: a heading is written with # signs"


def pairs(page: Path, text: str) -> Problems:
    """Find wrong and right examples that do not stand side by side, the wrong one first."""
    for node in render(text).root.all():
        children = [c for c in node.children if isinstance(c, Node)]
        kinds = [c.attributes.get("class", "") for c in children]
        if node.has("pair") and [k.split()[0] if k else "" for k in kinds] != ["wrong", "right"]:
            at = where(page, text, start(node), "pair")
            yield f"{at}: a pair is one `wrong` and one `right`, in this order, got {kinds}"
        sides = [
            c
            for c, kind in zip(children, kinds, strict=True)
            if {"wrong", "right"} & {*kind.split()}
        ]
        for side in sides:
            if all(inner.tag != "pre" for inner in side.all()):
                words = [start(c) for c in side.children if isinstance(c, Node)][
                    1:
                ]  # the first says which
                at = where(page, text, *words, f'class="{side.attributes["class"]}')
                yield f"{at}: a wrong or right example has code"
        if not node.has("pair"):
            for child in children:
                if child.has("right"):
                    at = where(page, text, 'class="right"')
                    yield f"{at}: a `right` block stands in a `pair`, after its `wrong` one"


def leftovers(page: Path, text: str) -> Problems:
    """Find markup that did not become anything, and stands in the text as it was typed."""
    for node, words in prose(render(text).root, "code", "math", line="\n"):
        for pattern in LEFTOVERS.values():
            if found := re.search(pattern, words, re.MULTILINE):
                around = words[max(0, found.start() - 20) : found.end() + 20].replace("\n", " ")
                at = where(
                    page,
                    text,
                    found[0] + re.split(r"[\n…]", words[found.end() :][:9])[0],
                    found[0],
                    start(node),
                )
                yield f"{at}: '{found[0]}' is shown to the reader as it stands: …{around}…"


def lede(page: Path, text: str) -> Problems:
    """Find pages that do not say at once what they are about."""
    nodes = [n for n in render(text).root.children if isinstance(n, Node)]
    nodes = [n for n in nodes if not n.has("meta")]  # a rule's, between its name and its lede
    head = next((i for i, n in enumerate(nodes) if n.tag == "h1"), None)
    if head is None or head + 1 >= len(nodes) or not nodes[head + 1].has("lede"):
        yield f"{where(page, text, '# ')}: after the first heading stands a paragraph marked {{.lede}}"


def links(page: Path, text: str) -> Problems:
    """Find links and pictures that lead nowhere or to another host unasked, and pictures without an alt text."""
    for node in render(text).root.all():
        if node.tag == "img" and not node.attributes.get("alt", "").strip():
            at = where(page, text, node.attributes.get("src", ""))
            yield f"{at}: the picture has no alt text that states its finding"
        if node.tag == "a" and not node.has("verified"):
            pictured = any(inner.tag in {"img", "svg"} for inner in node.all())
            if not node.text().strip() and not pictured and not node.attributes.get("aria-label"):
                yield f"{where(page, text, node.attributes.get('href', ''))}: the link has no text"
        for name in ("href", "src"):
            target = node.attributes.get(name)
            if target is None or node.has("verified"):  # the seal: a template fills its link in
                continue
            if problem := wrong_target(page, text, target, loaded=name == "src"):
                yield f"{where(page, text, target, target.partition('#')[0])}: {problem}"


def wrong_target(page: Path, text: str, target: str, *, loaded: bool) -> str:
    """Return what is wrong with where a link leads, or with what a page loads; nothing if all is well."""
    address, mark, anchor = target.partition("#")
    if re.match(r"[a-zA-Z][a-zA-Z+.-]*:|//", target):
        if not loaded and target.startswith(("https://", "http://127.0.0.1:")):
            return ""
        return f"{target} is on another host; the site ships what it shows, and links by https"
    examples = pages.DOCS / "examples"  # where the site has them; they stand beside docs/
    folder = examples if page.suffix == ".py" else page.parent
    file = (folder / address).resolve() if address else page
    if examples in file.parents:
        file = pages.DOCS.parent / "examples" / file.name
    if not target or address.startswith("/") or not file.is_file():
        return f"the link to {target or 'nothing'} leads nowhere"
    if mark and file.suffix in {".md", ".py"}:
        known = anchors(file, text if file == page else None)
        if anchor not in known:
            return f"{address or 'this page'} has no anchor '{anchor}'; it has {', '.join(sorted(known))}"
    return ""


def anchors(file: Path, text: str | None = None) -> set[str]:
    """Return what a link into a page or an example may name after its #."""
    if text is None:
        text = example_prose(file) if file.suffix == ".py" else file.read_text(encoding="utf-8")
    return {node.attributes["id"] for node in render(text).root.all() if node.attributes.get("id")}


def example_prose(file: Path) -> str:
    """Return an example's Markdown cells, each line where the file has it."""
    lines, inside = [], False
    for line in file.read_text(encoding="utf-8").splitlines():
        if line.startswith("# %%"):
            inside = line.startswith("# %% [markdown]")
            lines.append("")
        else:
            lines.append(line.removeprefix("#").removeprefix(" ") if inside else "")
    return "\n".join(lines) + "\n"


CHECKS: tuple[Callable[[Path, str], Problems], ...] = (
    markup, headings, pairs, inline, leftovers, lede, links,
)  # fmt: skip
EXAMPLE_CHECKS: tuple[Callable[[Path, str], Problems], ...] = (
    markup, shown_code, inline, leftovers, links,
)  # fmt: skip
