"""The pages of the built site, opened in a window: what they ask for, what they show, and what they weigh.

Each page that has headings of its own is opened. Of the pages of one mould those are that built.sample names; the
others, which hold nothing that these do not hold, are laid out without scripts, and read in test_files.py.
"""

import functools
import gzip
import re
from urllib.parse import urlsplit

import pytest
from built import sample
from visits import (
    ADDRESSES,
    ALONE,
    EXAMPLES,
    MOULDS,
    PAGES,
    Window,
    inaccessible,
    unreadable,
    unreadable_in_both,
)

from sitetools import notebooks, pages

REACHABLE = """() => [...document.querySelectorAll("pre > code")].every(
    code => !code.checkVisibility() || code.scrollWidth <= code.clientWidth || code.tabIndex >= 0)"""
# A window asks again for a font that a page before needed; what a page loads, its document knows.
LOADED = """[...document.fonts].filter(font => font.status === "loaded")
    .map(font => font.family.replaceAll('"', ""))"""
WIDTHS = [360, 414, 800, 1024, 1220, 1280, 1440]
KILOBYTE = 1000
PACKED = {".woff2", ".png", ".jpg", ".gz"}


@pytest.fixture(scope="module")
def window(browser, site):
    with Window(browser, site, "light") as opened:
        yield opened


@pytest.fixture(params=ALONE, ids=lambda a: a or "home", scope="module")
def address(request):
    return request.param


@pytest.fixture(scope="module")
def visit(window, address):
    window.open(address)
    return window


def test_the_navigation_and_the_built_pages_agree(site):
    assert site.pages() == sorted(ADDRESSES)


def test_axe_finds_nothing_serious(visit, site, address):
    assert unreadable_in_both(visit.tab, visit.contrast) == []
    assert inaccessible(visit.tab) == []
    visit.tab.set_viewport_size({"width": 360, "height": 900})
    visit.tab.wait_for_function(REACHABLE)  # the theme observes the new width, a little later
    assert inaccessible(visit.tab) == []  # colours do not depend on the width


def test_no_error_and_no_request_to_another_host(visit, site, address):
    visit.settle()
    assert visit.errors == []
    assert visit.elsewhere() == []


def test_no_horizontal_scroll(visit, site, address):
    for width in WIDTHS:
        visit.tab.set_viewport_size({"width": width, "height": 800})
        over = visit.tab.evaluate("document.documentElement.scrollWidth - window.innerWidth")
        assert over <= 0, f"{over} px too wide at {width}"


@functools.cache
def weighed(file):
    """Return the bytes in which a file is sent."""
    data = file.read_bytes()
    return len(data) if file.suffix in PACKED else len(gzip.compress(data, 6))


def test_budgets(visit, site, address):
    weight = {"page": 0, "text font": 0, "maths font": 0, "search": 0}
    for url in visit.requests:
        path = urlsplit(url).path.removeprefix(urlsplit(site.base).path)
        file = site.folder / path
        file = file / "index.html" if file.is_dir() else file
        kind = "search" if path.startswith("search/") or "/workers/search" in path else "page"
        if file.suffix == ".woff2":
            kind = "maths font" if "math" in file.name else "text font"
        weight[kind] += weighed(file)
    if address in EXAMPLES:
        assert weighed(site.folder / address / "index.html") <= 150 * KILOBYTE
    else:
        assert weight["page"] + weight["text font"] <= 90 * KILOBYTE, weight
    assert weight["maths font"] <= 20 * KILOBYTE
    assert weight["search"] <= 250 * KILOBYTE
    formulas = visit.tab.evaluate("document.querySelectorAll('math').length")
    loaded = visit.tab.evaluate(LOADED)
    assert ("STIX maths" in loaded) == (formulas > 0), (
        "the maths font loads where there is a formula, and only there"
    )


def test_what_is_shown_is_what_ran(visit, site, address):
    """With the scripts' doings; test_files.py has all pages without."""
    if address in EXAMPLES:
        source = pages.ROOT / "examples" / f"{address.split('/')[1]}.py"
        cells = notebooks.read(source, pages.ROOT).cells
        written = [cell.source.strip("\n") for cell in cells if cell.cell_type == "code"]
        assert visit.blocks("python") == written
        return
    for language in ("python", "console", "text"):
        found = [f for f in pages.fences(PAGES[address]) if f.language == language]
        assert visit.blocks(language) == [f.code().strip("\n") for f in found], language


# ---- The pages of a mould ----

OF_EACH = [
    test_axe_finds_nothing_serious,
    test_no_error_and_no_request_to_another_host,
    test_no_horizontal_scroll,
    test_budgets,
    test_what_is_shown_is_what_ran,
]


@pytest.fixture(scope="module")
def samples(built):
    """Return which pages of each mould are opened."""
    alone = [built[a] for a in ALONE]
    return {name: sample({a: built[a] for a in alike}, alone) for name, alike in MOULDS.items()}


@pytest.mark.parametrize("mould", MOULDS)
def test_pages_of_one_mould(window, site, samples, mould, subtests):
    for address in samples[mould]:
        window.open(address)
        for test in OF_EACH:
            with subtests.test(f"{test.__name__}[{address}]"):
                test(window, site, address)


def test_nothing_is_built_that_no_opened_page_holds(built, samples):
    opened = [*ALONE, *(a for chosen in samples.values() for a in chosen)]
    held = set().union(*(built[a].kinds for a in opened))
    assert set().union(*(page.kinds for page in built.values())) == held
    assert {"index.md", "problem.md", "checks.md"} <= {PAGES[a].name for a in ALONE if a in PAGES}


# A frame lays a page out for a sixth of what a window costs, scripts aside.
TOO_WIDE = """async ([addresses, widths]) => {
  const wide = [];
  const frames = await Promise.all(addresses.map(address => new Promise(done => {
    const frame = document.createElement("iframe");
    frame.sandbox = "allow-same-origin";
    frame.style.border = 0;
    frame.height = 800;
    frame.src = address;
    frame.onload = () => done(frame);
    document.body.append(frame);
  })));
  for (const frame of frames) {
    const page = frame.contentDocument;
    if (!page.querySelector("article")) wide.push(`${frame.src} is no page`);
    await page.fonts.ready;
    for (const width of widths) {
      frame.width = width;
      const over = page.documentElement.scrollWidth - frame.contentWindow.innerWidth;
      if (over > 0) wide.push(`${frame.src} is ${over} px too wide at ${width}`);
    }
    frame.remove();
  }
  return wide;
}"""
AT_ONCE = 8


@pytest.fixture(scope="module")
def frames(window, site):
    """Return a function that says which pages are too wide, laid out without their scripts."""
    window.tab.goto(site.base + "llms.txt")

    def too_wide(addresses):
        urls = [site.base + a for a in addresses]
        return [
            said
            for n in range(0, len(urls), AT_ONCE)
            for said in window.tab.evaluate(TOO_WIDE, [urls[n : n + AT_ONCE], WIDTHS])
        ]

    return too_wide


def test_no_page_of_a_mould_scrolls_horizontally(frames, samples):
    for mould, alike in MOULDS.items():
        assert frames([a for a in alike if a not in samples[mould]]) == []


# ---- The tests above can say no ----


def test_a_page_that_is_too_wide_is_found(frames, site):
    page = site.folder / "reference" / "citation" / "index.html"
    wide = site.folder / "reference" / "wide.html"
    text = page.read_text(encoding="utf-8")
    wide.write_text(
        text.replace("</h1>", '</h1><div style="width: 900px">wide</div>', 1), encoding="utf-8"
    )
    try:
        found = frames(["reference/wide.html"])
    finally:
        wide.unlink()
    assert [said.rpartition(" ")[2] for said in found] == ["360", "414", "800"]


@pytest.mark.parametrize("text", [".language-python pre code span", "article p", "article p a"])
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_a_text_that_is_hard_to_read_is_found(browser, site, text, theme):
    """One text stands for all that look like it; one that looks otherwise must not hide among them."""
    with Window(browser, site, "light") as opened:
        opened.open("background/functions/")
        assert unreadable_in_both(opened.tab, opened.contrast) == []
        opened.open("background/functions/")
        last = opened.tab.locator(f"{text}:visible").filter(has_text=re.compile(r"\w{4}")).last
        last.evaluate(
            "(e, colour) => e.style.color = colour", {"light": "#dddddd", "dark": "#222222"}[theme]
        )
        shown = {"light": "rgb(221", "dark": "rgb(34"}[theme]
        found = unreadable_in_both(opened.tab, opened.contrast)
        assert [said for said in found if shown in said]
        opened.open("background/functions/")
        assert unreadable(opened.tab, "light", opened.contrast) == []
