"""The built files: links, titles, texts that must not be there, and what stands beside the pages."""

import html.parser
import json
import re
from importlib import metadata
from urllib.parse import unquote, urljoin, urlsplit

import pytest


class Reader(html.parser.HTMLParser):
    """Collects what the tests below look at."""

    def __init__(self, text):
        super().__init__()
        self.ids, self.links, self.assets, self.meta, self.title, self.text, self.edit = (
            set(),
            [],
            [],
            {},
            "",
            [],
            [],
        )
        self.stack = []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        values = dict(attributes)
        self.stack.append(tag)
        if "id" in values:
            self.ids.add(values["id"])
        if tag == "a" and "href" in values:
            self.links.append(values["href"])
        if tag in {"img", "script", "source"} and values.get("src"):
            self.assets.append(values["src"])
        if tag == "link" and values.get("rel") in {"stylesheet", "icon", "preload"}:
            self.assets.append(values["href"])
        if tag == "meta" and "name" in values:
            self.meta[values["name"]] = values.get("content", "")

    def handle_endtag(self, tag):
        while self.stack and self.stack.pop() != tag:
            pass

    def handle_data(self, data):
        if self.stack and self.stack[-1] == "title" and "svg" not in self.stack:
            self.title += data
        if not {"code", "pre", "script", "style", "annotation"} & set(self.stack):
            self.text.append(data)


@pytest.fixture(scope="module")
def read(site):
    """Return every built page, read once: path inside the site → what it holds."""
    return {
        p.relative_to(site.folder).as_posix(): Reader(p.read_text(encoding="utf-8"))
        for p in site.files()
    }


def test_every_link_and_anchor_leads_somewhere(site, read):
    problems = []
    for path, page in read.items():
        for link in page.links:
            parts = urlsplit(urljoin(f"http://site/{path}", link))
            if parts.netloc != "site":
                continue
            target = unquote(parts.path).lstrip("/")
            if target.endswith("/") or not target:
                target += "index.html"
            if not (site.folder / target).is_file():
                problems.append(f"{path}: {link}")
            elif (
                parts.fragment
                and target in read
                and parts.fragment not in read[target].ids | {"__skip"}
            ):
                problems.append(f"{path}: {link} (no such anchor)")
    assert not problems, "\n".join(problems)


def test_every_asset_is_shipped(site, read):
    for path, page in read.items():
        for asset in page.assets:
            parts = urlsplit(urljoin(f"http://site/{path}", asset))
            assert parts.netloc == "site", f"{path} loads {asset}"
            assert (site.folder / parts.path.lstrip("/")).is_file(), f"{path} loads {asset}"


def test_titles_and_descriptions_are_there_and_unique(read):
    pages = {p: r for p, r in read.items() if p != "404.html"}
    titles = [r.title.strip() for r in pages.values()]
    descriptions = [r.meta.get("description", "") for r in pages.values()]
    assert len(set(titles)) == len(titles), titles
    assert len(set(descriptions)) == len(descriptions)
    for path, page in pages.items():
        assert len(page.title.strip()) > 10, path
        assert len(page.meta.get("description", "")) >= 50, path


@pytest.mark.parametrize(
    "pattern",
    [
        r"No description has been provided",
        r"\$[^$\n]{1,80}\$",
        r"\\(frac|begin|partial|mathbf|sum|cdot)\b",
        r"--8<--",
        r"\{\.\w+\}",
        r"\[TOC\]",
    ],
)
def test_nothing_is_left_unrendered(read, pattern):
    for path, page in read.items():
        found = re.search(pattern, "".join(page.text))
        assert not found, f"{path}: {found.group()}"


def test_the_footer_says_what_was_verified_and_how_to_copy(read):
    torch_version = metadata.version("torch").split("+")[0]
    for path, page in read.items():
        text = " ".join("".join(page.text).split())
        assert f"verified with torch {torch_version}" in text, path
        assert "may be copied under MIT" in text, path


def test_llms_txt_names_the_markdown_of_every_page(site):
    text = (site.folder / "llms.txt").read_text(encoding="utf-8")
    assert text.startswith("# customgrad\n\n> ")
    named = re.findall(r"\]\(([^)]+\.md)\)", text)
    assert len(named) == len(site.pages())
    for path in named:
        markdown = (site.folder / path).read_text(encoding="utf-8")
        assert "--8<--" not in markdown, path
    assert "class CustomReLU(torch.autograd.Function):" in (
        site.folder / "relu" / "solution" / "index.md"
    ).read_text(encoding="utf-8")


def test_notebooks_can_be_downloaded(site, read):
    import nbformat

    for page in [p for p in site.pages() if p.startswith("examples/")]:
        links = [a for a in read[f"{page}index.html"].links if a.endswith(".ipynb")]
        assert len(links) == 1, page
        path = urlsplit(urljoin(f"http://site/{page}", links[0])).path.lstrip("/")
        notebook = json.loads((site.folder / path).read_text(encoding="utf-8"))
        nbformat.validate(notebook)


def test_no_address_is_invented(site, read):
    for path, page in read.items():
        assert not [a for a in page.links if "/edit/" in a or "/blob/" in a], path
        assert "canonical" not in (site.folder / path).read_text(encoding="utf-8"), path
