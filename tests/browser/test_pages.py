"""Every page of the built site, opened once, in light: what it asks for, what it shows, and what it weighs."""

import gzip
import re
from urllib.parse import urlsplit

import pytest
from visits import ADDRESSES, EXAMPLES, PAGES, Window, inaccessible, unreadable

from sitetools import notebooks, pages

REACHABLE = """() => [...document.querySelectorAll("pre > code")].every(
    code => !code.checkVisibility() || code.scrollWidth <= code.clientWidth || code.tabIndex >= 0)"""
# A window asks again for a font that a page before needed; what a page loads, its document knows.
LOADED = """[...document.fonts].filter(font => font.status === "loaded")
    .map(font => font.family.replaceAll('"', ""))"""
WIDTHS = [360, 414, 800, 1024, 1220, 1280, 1440]
KILOBYTE = 1000
PACKED = {".woff2", ".png", ".jpg", ".gz"}
on_pages = pytest.mark.parametrize(
    "address", list(PAGES), indirect=True, scope="module", ids=lambda a: a or "home"
)
on_examples = pytest.mark.parametrize("address", EXAMPLES, indirect=True, scope="module")


@pytest.fixture(params=ADDRESSES, ids=lambda a: a or "home", scope="module")
def address(request):
    return request.param


@pytest.fixture(scope="module")
def window(browser, site):
    with Window(browser, site, "light") as opened:
        yield opened


@pytest.fixture(scope="module")
def visit(window, address):
    window.open(address)
    return window


def test_the_navigation_and_the_built_pages_agree(site):
    assert site.pages() == sorted(ADDRESSES)


def test_axe_finds_nothing_serious(visit):
    assert unreadable(visit.tab) == []
    assert inaccessible(visit.tab) == []
    visit.tab.set_viewport_size({"width": 360, "height": 900})
    visit.tab.wait_for_function(REACHABLE)  # the theme observes the new width, a little later
    assert inaccessible(visit.tab) == []  # colours do not depend on the width


def test_no_error_and_no_request_to_another_host(visit):
    visit.settle()
    assert visit.errors == []
    assert visit.elsewhere() == []


@pytest.mark.parametrize("text", [".language-python pre code span", "article p", "article p a"])
def test_a_text_that_is_hard_to_read_is_found(browser, site, text):
    """One text stands for all that look like it; one that looks otherwise must not hide among them."""
    with Window(browser, site, "light") as opened:
        opened.open("background/functions/")
        last = opened.tab.locator(f"{text}:visible").filter(has_text=re.compile(r"\w{4}")).last
        last.evaluate("e => e.style.color = '#dddddd'")
        assert [found for found in unreadable(opened.tab) if "rgb(221" in found]


def test_no_horizontal_scroll(visit):
    for width in WIDTHS:
        visit.tab.set_viewport_size({"width": width, "height": 800})
        over = visit.tab.evaluate("document.documentElement.scrollWidth - window.innerWidth")
        assert over <= 0, f"{over} px too wide at {width}"


def test_budgets(visit, site, address):
    weight = {"page": 0, "text font": 0, "maths font": 0, "search": 0}
    for url in visit.requests:
        path = urlsplit(url).path.removeprefix(urlsplit(site.base).path)
        file = site.folder / path
        file = file / "index.html" if file.is_dir() else file
        data = file.read_bytes()
        size = len(data) if file.suffix in PACKED else len(gzip.compress(data, 6))
        kind = "search" if path.startswith("search/") or "/workers/search" in path else "page"
        if file.suffix == ".woff2":
            kind = "maths font" if "math" in file.name else "text font"
        weight[kind] += size
    html = len(gzip.compress((site.folder / address / "index.html").read_bytes(), 6))
    if address in EXAMPLES:
        assert html <= 150 * KILOBYTE
    else:
        assert weight["page"] + weight["text font"] <= 90 * KILOBYTE, weight
    assert weight["maths font"] <= 20 * KILOBYTE
    assert weight["search"] <= 250 * KILOBYTE
    formulas = visit.tab.evaluate("document.querySelectorAll('math').length")
    loaded = visit.tab.evaluate(LOADED)
    assert ("STIX maths" in loaded) == (formulas > 0), (
        "the maths font loads where there is a formula, and only there"
    )


@on_pages
def test_what_is_shown_is_what_ran(visit, address):
    page = PAGES[address]
    for language in ("python", "console", "text"):
        written = [f.code().strip("\n") for f in pages.fences(page) if f.language == language]
        assert visit.blocks(language) == written, language


@on_examples
def test_what_an_example_shows_is_what_ran(visit, address):
    source = pages.ROOT / "examples" / f"{address.split('/')[1]}.py"
    example = notebooks.read(source, pages.ROOT)
    cells = [cell.source.strip("\n") for cell in example.cells if cell.cell_type == "code"]
    assert visit.blocks("python") == cells


@on_pages
def test_each_block_names_its_file(visit, address):
    page = PAGES[address]
    named = visit.tab.evaluate(
        "[...document.querySelectorAll('.language-python.highlight .source')].map(e => e.textContent.trim())"
    )
    assert named == [
        f.targets[-1][1].partition(":")[0] for f in pages.fences(page) if f.language == "python"
    ]
