"""The built pages, read without a browser, and the choice of those that a browser must open."""

import gzip
import html.parser
import re
from pathlib import PurePosixPath
from typing import NamedTuple

VOID = {"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "wbr"}
SAID = re.compile(r"aria-(?!label|describedby|controls)|role$|tabindex$|hidden$|open$|type$")
"""Attributes whose values decide how an element behaves; others name it, or say where it is."""


class Element(NamedTuple):
    """An element that is open."""

    tag: str
    classes: frozenset
    attributes: dict
    kind: str
    """What it is, whatever it holds."""

    @classmethod
    def read(cls, tag, attributes):
        values = {name: value or "" for name, value in attributes}
        classes = frozenset(values.get("class", "").split())
        said = sorted(f"{name}={values[name]}" for name in values if SAID.match(name))
        loaded = {"script": "src", "link": "href"}.get(tag, "")
        file = (
            PurePosixPath(values.get(loaded, "")).name
            if values.get("rel") not in {"canonical", "prev", "next"}
            else ""
        )
        kind = f"{tag}.{'.'.join(sorted(classes))}[{','.join(said)}]{file}"
        return cls(tag, classes, values, kind)


class Reader(html.parser.HTMLParser):
    """What the tests look at in one page."""

    def __init__(self, text):
        super().__init__()
        self.ids, self.links, self.assets, self.meta = [], [], [], {}
        self.title, self.text = "", []
        self.kinds = set()
        """Each element's kind, with that of the element (or the formula) around it."""
        self.blocks, self.sources = [], []
        """Each block's language and code, and the name of its file."""
        self.headings, self.formulas = [], 0
        self.nameless = []
        """Links, buttons and pictures that nothing names."""
        self.weight = len(gzip.compress(text.encode("utf-8"), 6))
        """The bytes in which it is sent, without what it asks for."""
        self.stack = []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        around = self.stack[-1] if self.stack else None
        element = Element.read(tag, attributes)
        values = element.attributes
        formula = "math" if self.inside("math") else None  # whose parts are no layout of ours
        self.kinds.add((formula or (around and around.kind), element.kind))
        if "id" in values:
            self.ids.append(values["id"])
        if tag == "a" and "href" in values:
            self.links.append(values["href"])
        if tag in {"img", "script", "source"} and values.get("src"):
            self.assets.append(values["src"])
        if tag == "link" and values.get("rel") in {"stylesheet", "icon", "preload"}:
            self.assets.append(values["href"])
        if tag == "meta" and "name" in values:
            self.meta[values["name"]] = values.get("content", "")
        if tag == "img" and "alt" not in values:
            self.nameless.append(f"img {values.get('src')}")
        if re.fullmatch("h[1-6]", tag) and self.inside("article"):
            self.headings.append(int(tag[1]))
        self.formulas += tag == "math"
        if tag == "code" and around and around.tag == "pre" and len(self.stack) > 1:
            self.blocks.append((language(self.stack[-2]), []))
        if "source" in element.classes and any(language(e) == "python" for e in self.stack):
            self.sources.append("")
        if tag not in VOID:
            self.stack.append(element)
            names = (values.get(name, "") for name in ("aria-label", "aria-labelledby", "title"))
            element.attributes["said"] = next(filter(None, names), "")
        elif values.get("alt"):
            self.say(values["alt"])

    def handle_startendtag(self, tag, attributes):
        depth = len(self.stack)
        self.handle_starttag(tag, attributes)
        del self.stack[depth:]

    def handle_endtag(self, tag):
        while self.stack:
            element = self.stack.pop()
            if element.tag in {"a", "button", "summary"} and not element.attributes["said"].strip():
                self.nameless.append(f"{element.tag} {element.attributes.get('href', '')}")
            if element.tag == tag:
                break

    def handle_data(self, data):
        self.say(data)
        open_now = {e.tag for e in self.stack}
        if self.stack and self.stack[-1].tag == "title" and "svg" not in open_now:
            self.title += data
        if not {"code", "pre", "script", "style", "annotation"} & open_now:
            self.text.append(data)
        if {"pre", "code"} <= open_now:
            self.blocks[-1][1].append(data)
        if self.sources and any("source" in e.classes for e in self.stack):
            self.sources[-1] += data

    def say(self, text):
        """Add a text to the names of the elements that are open."""
        for element in self.stack:
            if element.tag in {"a", "button", "summary"}:
                element.attributes["said"] += text

    def inside(self, tag):
        return any(e.tag == tag for e in self.stack)

    def code(self, of):
        """Return the blocks of a language, in order."""
        return ["".join(texts).strip("\n") for language, texts in self.blocks if language == of]

    @property
    def widest(self):
        """Return the length of the longest line of code."""
        lines = [line for _, texts in self.blocks for line in "".join(texts).splitlines()]
        return max(map(len, lines), default=0)


def language(element):
    """Return the language of a block, and nothing for an element that is none."""
    found = [c for c in element.classes if c.startswith("language-")]
    return found[0].removeprefix("language-") if found and "highlight" in element.classes else ""


def sample(alike, opened=()):
    """Return the addresses of few pages that hold all that the pages hold.

    The first, the last, the one with the widest line of code and the heaviest come first. Then follow those that
    hold most of what no opened page holds, until nothing is left.

    Args:
        alike: address → page, for pages of one mould.
        opened: the pages that are opened anyway.
    """
    widest = max(alike, key=lambda a: alike[a].widest)
    heaviest = max(alike, key=lambda a: alike[a].weight)
    chosen = {min(alike), max(alike), widest, heaviest}
    return sorted(chosen | covering(alike, [*opened, *(alike[a] for a in chosen)]))


def covering(pages, opened=()):
    """Return the addresses of few pages that hold all that the pages hold, and no opened page does."""
    left = set().union(*(p.kinds for p in pages.values())) - set().union(*(p.kinds for p in opened))
    chosen = set()
    while left:
        best = max(pages, key=lambda a: len(pages[a].kinds & left))
        chosen.add(best)
        left -= pages[best].kinds
    return chosen
