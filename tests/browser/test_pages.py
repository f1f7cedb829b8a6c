"""Every page of the built site, opened in a browser: what it asks for, what it shows, and what it weighs."""

import gzip
from urllib.parse import urlsplit

import pytest

from sitetools import notebooks, pages

PAGES = {pages.address(page): page for page in pages.pages()}
"""Address on the site → the page's Markdown."""
ADDRESSES = list(PAGES)
EXAMPLES = [
    f"examples/{example.stem}/" for example in sorted((pages.ROOT / "examples").glob("*.py"))
]
WIDTHS = [360, 414, 800, 1024, 1220, 1280, 1440]
KILOBYTE = 1000
SERIOUS = {"serious", "critical"}
PACKED = {".woff2", ".png", ".jpg", ".gz"}
BLOCKS = """language => [...document.querySelectorAll(`.language-${language}.highlight > pre > code`)].map(c => c.textContent)"""


class Visit:
    """What one opening of a page asked for and reported."""

    def __init__(self, browser, site, address, theme):
        context = browser.new_context(
            viewport={"width": 1440, "height": 900}, color_scheme=theme, reduced_motion="reduce"
        )
        self.tab = context.new_page()
        self.errors, self.requests = [], set()
        self.tab.on("request", lambda request: self.requests.add(request.url))
        self.tab.on(
            "console",
            lambda message: self.errors.append(message.text) if message.type == "error" else None,
        )
        self.tab.on("pageerror", lambda error: self.errors.append(str(error)))
        self.tab.on("requestfailed", lambda request: self.errors.append(f"failed: {request.url}"))
        self.tab.goto(site.base + address, wait_until="networkidle")
        self.context = context

    def blocks(self, language):
        return [text.strip("\n") for text in self.tab.evaluate(BLOCKS, language)]


in_light = pytest.mark.parametrize("theme", ["light"], indirect=True, scope="module")
on_pages = pytest.mark.parametrize(
    "address", ADDRESSES, indirect=True, scope="module", ids=lambda a: a or "home"
)
on_examples = pytest.mark.parametrize("address", EXAMPLES, indirect=True, scope="module")


@pytest.fixture(params=["light", "dark"], scope="module")
def theme(request):
    return request.param


@pytest.fixture(params=[*ADDRESSES, *EXAMPLES], ids=lambda a: a or "home", scope="module")
def address(request):
    return request.param


@pytest.fixture(scope="module")
def visit(browser, site, address, theme):
    opened = Visit(browser, site, address, theme)
    yield opened
    opened.context.close()


def test_the_navigation_and_the_built_pages_agree(site):
    assert site.pages() == sorted([*ADDRESSES, *EXAMPLES])


def test_no_error_and_no_request_to_another_host(visit, site):
    assert visit.errors == []
    assert [u for u in visit.requests if not u.startswith((site.base, "data:"))] == []


# Tokens of code that look alike have one contrast: the first of each kind is enough. A thousand of them take seconds.
ALIKE = """() => {
  const seen = new Set();
  for (const token of document.querySelectorAll('.highlight code span')) {
    const around = ['.highlight', '.pair > div', 'code > span'].map(s => token.closest(s)?.className);
    const style = getComputedStyle(token);
    const kind = [token.className, style.color, style.backgroundColor, style.fontSize, ...around].join('|');
    token.classList.toggle('alike', seen.has(kind));
    seen.add(kind);
  }
}"""
CONTRAST = {"runOnly": ["color-contrast"]}
REST = {"rules": {"color-contrast": {"enabled": False}}}


def serious(visit, options, left_out):
    from axe_playwright_python.sync_playwright import Axe

    context = {"exclude": [[left_out]]}
    options = {"resultTypes": ["violations"], **options}
    found = Axe().run(visit.tab, context=context, options=options).response["violations"]
    return [
        f"{v['id']} ({v['impact']}): {node['html'][:160]}"
        for v in found
        if v["impact"] in SERIOUS
        for node in v["nodes"]
    ]


def test_axe_finds_no_serious_lack_of_contrast(visit):
    """In either theme; colours do not depend on the width."""
    visit.tab.set_viewport_size({"width": 1440, "height": 900})
    visit.tab.evaluate(ALIKE)
    assert serious(visit, CONTRAST, ".alike") == []


@in_light
@pytest.mark.parametrize("width", [1440, 360])
def test_axe_finds_nothing_else_serious(visit, width):
    """Nothing but colours depends on the theme, and no rule but that of contrast looks into code."""
    visit.tab.set_viewport_size({"width": width, "height": 900})
    assert serious(visit, REST, ".highlight code span") == []


@in_light
def test_no_horizontal_scroll(visit):
    for width in WIDTHS:
        visit.tab.set_viewport_size({"width": width, "height": 800})
        over = visit.tab.evaluate("document.documentElement.scrollWidth - window.innerWidth")
        assert over <= 0, f"{over} px too wide at {width}"


@in_light
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
    assert (weight["maths font"] > 0) == (formulas > 0), (
        "the maths font loads where there is a formula, and only there"
    )


@in_light
@on_pages
def test_what_is_shown_is_what_ran(visit, address):
    page = PAGES[address]
    for language in ("python", "console", "text"):
        written = [f.code().strip("\n") for f in pages.fences(page) if f.language == language]
        assert visit.blocks(language) == written, language


@in_light
@on_examples
def test_what_an_example_shows_is_what_ran(visit, address):
    source = pages.ROOT / "examples" / f"{address.split('/')[1]}.py"
    example = notebooks.read(source, pages.ROOT)
    cells = [cell.source.strip("\n") for cell in example.cells if cell.cell_type == "code"]
    assert visit.blocks("python") == cells


@in_light
@on_pages
def test_each_block_names_its_file(visit, address):
    page = PAGES[address]
    named = visit.tab.evaluate(
        "[...document.querySelectorAll('.language-python.highlight .source')].map(e => e.textContent.trim())"
    )
    assert named == [
        f.targets[-1][1].partition(":")[0] for f in pages.fences(page) if f.language == "python"
    ]


def test_the_published_site_asks_no_other_host(browser, published, address):
    opened = Visit(browser, published, address, "light")
    assert opened.errors == []
    assert [u for u in opened.requests if not u.startswith((published.base, "data:"))] == []
    opened.context.close()
