"""The built files: links, titles, texts that must not be there, and what stands beside the pages."""

import itertools
import json
import re
from importlib import metadata
from urllib.parse import unquote, urljoin, urlsplit

import pytest
from built import Reader, covering, sample
from visits import EXAMPLES, PAGES

from sitetools import notebooks, pages


@pytest.fixture(scope="module")
def read(site, built):
    """Return every built page: path inside the site → what it holds."""
    missing = Reader((site.folder / "404.html").read_text(encoding="utf-8"))
    return {"404.html": missing} | {f"{a}index.html": page for a, page in built.items()}


def test_every_file_is_read(site, read):
    assert {p.relative_to(site.folder).as_posix() for p in site.files()} == set(read)


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
                and parts.fragment not in {*read[target].ids, "__skip"}
            ):
                problems.append(f"{path}: {link} (no such anchor)")
    assert not problems, "\n".join(problems)


def test_every_asset_is_shipped(site, read):
    for path, page in read.items():
        for asset in page.assets:
            parts = urlsplit(urljoin(f"http://site/{path}", asset))
            assert parts.netloc == "site", f"{path} loads {asset}"
            assert (site.folder / parts.path.lstrip("/")).is_file(), f"{path} loads {asset}"


@pytest.mark.parametrize("address", PAGES, ids=lambda a: a or "home")
def test_what_is_shown_is_what_ran(built, address):
    """The blocks of each page, in order; test_pages.py has those of opened pages with the scripts' doings."""
    for language in ("python", "console", "text"):
        found = [f for f in pages.fences(PAGES[address]) if f.language == language]
        assert built[address].code(language) == [f.code().strip("\n") for f in found], language


@pytest.mark.parametrize("address", EXAMPLES)
def test_what_an_example_shows_is_what_ran(built, address):
    source = pages.ROOT / "examples" / f"{address.split('/')[1]}.py"
    cells = notebooks.read(source, pages.ROOT).cells
    written = [cell.source.strip("\n") for cell in cells if cell.cell_type == "code"]
    assert built[address].code("python") == written


@pytest.mark.parametrize("address", PAGES, ids=lambda a: a or "home")
def test_each_block_names_its_file(built, address):
    assert [source.strip() for source in built[address].sources] == [
        f.targets[-1][1].partition(":")[0]
        for f in pages.fences(PAGES[address])
        if f.language == "python"
    ]


def test_what_axe_would_say_of_any_layout(read):
    """A browser opens some pages of a mould; this holds for all."""
    for path, page in read.items():
        assert not page.nameless, path
        assert len(set(page.ids)) == len(page.ids), path
        if path != "404.html":
            assert page.headings[0] == 1, path
        steps = itertools.pairwise(page.headings)
        assert all(after <= before + 1 for before, after in steps), f"{path}: {page.headings}"


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
        ours = [a for a in page.links if not a.startswith("https://github.com/pytorch/")]
        assert not [a for a in ours if "/edit/" in a or "/blob/" in a], path
        assert "canonical" not in (site.folder / path).read_text(encoding="utf-8"), path


# ---- The reader, and the choice of pages ----

PAGE = """<html><body><article><h1 id="top">Title</h1>
<div class="language-python highlight"><span class="bar"><span class="source">a/<wbr>b.py</span></span><pre><code>
<span class="n">x</span> &lt; 1
<mark>y</mark>
</code></pre></div>
<div class="run"><div class="language-text highlight"><pre><code>z</code></pre></div></div>
{}</article></body></html>"""


def test_blocks_and_their_files_are_read():
    page = Reader(PAGE.format("<pre><code>loose</code></pre>"))
    assert page.code("python") == ["x < 1\ny"]
    assert page.code("text") == ["z"]
    assert page.code("") == ["loose"]
    assert page.sources == ["a/b.py"]
    assert page.widest == 5


@pytest.mark.parametrize(
    ("text", "nameless"),
    [
        ('<a href="b">c</a><a title="c"></a><a><img alt="c" src="d"></a><img alt="" src="d">', []),
        ("<button aria-label='c'></button><details><summary>c</summary></details>", []),
        ('<a href="b"><span> </span></a>', ["a b"]),
        ('<a href="b"><img alt="" src="d"></a>', ["a b"]),
        ("<button></button><summary></summary>", ["button ", "summary "]),
        ('<img src="d">', ["img d"]),
    ],
)
def test_what_has_no_name_is_found(text, nameless):
    assert Reader(PAGE.format(text)).nameless == nameless


def test_headings_and_repeated_names_are_read():
    page = Reader(PAGE.format('<h3 id="top">three</h3><math><mi>x</mi></math>'))
    assert page.headings == [1, 3]
    assert page.ids == ["top", "top"]
    assert page.formulas == 1


def test_a_page_that_holds_what_no_other_holds_is_opened():
    plain = {f"p{n}/": Reader(PAGE.format("<p>text</p>")) for n in range(9)}
    assert sample(plain) == ["p0/", "p8/"]
    assert sample(plain, [plain["p0/"]]) == ["p0/", "p8/"]
    for other in ("<p class='note'>text</p>", "<div><p>text</p></div>", "<p tabindex='0'>text</p>"):
        assert sample(plain | {"p3/": Reader(PAGE.format(other))}) == ["p0/", "p3/", "p8/"]
    wide = PAGE.replace("x</span>", "x + x</span>").format("<p>text</p>")
    assert sample(plain | {"p5/": Reader(wide)}) == ["p0/", "p5/", "p8/"]
    heavy = Reader(PAGE.format(f"<p>{' '.join(map(str, range(99)))}</p>"))
    assert sample(plain | {"p6/": heavy}) == ["p0/", "p6/", "p8/"]
    assert len(covering(plain)) == 1
