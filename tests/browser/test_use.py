"""What a reader does: copies, searches, switches the theme, goes on, gets lost."""

import io
import re
from urllib.parse import urljoin

import matplotlib.image
import pytest

from sitetools import pages


def red_of(png):
    """The red of a picture's first pixel, 0 to 255."""
    return round(255 * float(matplotlib.image.imread(io.BytesIO(png))[0, 0, 0]))


@pytest.fixture
def tab(browser):
    context = browser.new_context(
        viewport={"width": 1440, "height": 900}, permissions=["clipboard-read", "clipboard-write"]
    )
    yield context.new_page()
    context.close()


@pytest.mark.parametrize(
    "address", ["", "relu/solution/", "relu/problem/", "relu/pitfalls/", "reference/checks/"]
)
def test_the_copy_button_gives_exactly_the_code(tab, site, address):
    page = next(p for p in pages.pages() if pages.address(p) == address)
    tab.goto(site.base + address, wait_until="networkidle")
    copied = 0
    for language in ("python", "console"):
        blocks = tab.locator(f".language-{language}.highlight")
        written = [f.code().strip("\n") for f in pages.fences(page) if f.language == language]
        for number, code in enumerate(written):
            block = blocks.nth(number)
            closed = block.locator("xpath=ancestor::details[not(@open)]")
            if closed.count():
                closed.locator("> summary").click()
            button = block.locator("button[data-md-type='copy'], button.md-clipboard")
            wrong = block.evaluate("e => e.closest('.wrong') !== null")
            assert button.count() == (0 if wrong else 1), f"{address} block {number}"
            if not wrong:
                button.click()
                tab.wait_for_function("document.querySelector('.md-dialog--active') !== null")
                assert tab.evaluate("navigator.clipboard.readText()").strip("\n") == code
                copied += 1
    assert copied


def test_outputs_have_no_copy_button(tab, site):
    tab.goto(site.base + "relu/solution/", wait_until="networkidle")
    assert tab.locator(".language-text.highlight button").count() == 0


def test_search_finds_save_for_backward(tab, site):
    tab.goto(site.base, wait_until="networkidle")
    tab.keyboard.press("s")
    tab.keyboard.type("save_for_backward")
    result = tab.locator(".md-search-result__item a").first
    result.wait_for()
    assert "save_for_backward" in tab.locator(".md-search-result__list").inner_text()
    result.click()
    tab.wait_for_load_state()
    assert tab.url != site.base
    assert "save_for_backward" in tab.locator("article").inner_text()


def hits(tab, query):
    """The pages that a search finds, best first."""
    field = tab.locator(".md-search__input")  # the theme listens for keys
    field.press("ControlOrMeta+a")
    field.press("Delete")
    tab.wait_for_function("!document.querySelector('.md-search-result__item')")
    field.press_sequentially(query)
    tab.locator(".md-search-result__item a").first.wait_for()
    found = None
    while found != (found := tab.evaluate(FOUND)):
        tab.wait_for_timeout(300)  # each key asks anew; the last answer is the one that stays
    return found


FOUND = """[...document.querySelectorAll('.md-search-result__item')].map(
    i => new URL(i.querySelector('a').href).pathname.split('/some/path/')[1])"""


@pytest.mark.parametrize(
    ("queries", "page"),
    [
        (["ctx.saved_tensors", "saved_tensors", "saved"], "relu/solution/"),
        (["torch.autograd.Function", "autograd.Function"], "background/functions/"),
        (["save_for_backward", "save_for"], "background/functions/"),
        (["ctx.needs_input_grad", "needs_input_grad", "needs_input"], "backprop/inputs/"),
        (["staticmethod", "@staticmethod"], "relu/pitfalls/"),
        (["relu derivative"], "background/relu/"),
        (["why is my gradient None", "gradient is None"], "backprop/broken/"),
    ],
)
def test_names_are_found_by_whole_and_by_part(tab, site, queries, page):
    tab.goto(site.base, wait_until="networkidle")
    tab.keyboard.press("s")
    for query in queries:
        found = hits(tab, query)
        assert page in found, query
        assert not found[0].startswith("reference/"), query


def test_a_gradient_that_is_none_is_found_at_its_heading(tab, site):
    tab.goto(site.base, wait_until="networkidle")
    tab.keyboard.press("s")
    for query in ("why is my gradient None", "gradient None", "grad is None"):
        assert hits(tab, query)[0] == "backprop/broken/", query
        links = tab.locator(".md-search-result__item").first.locator("a")
        assert (
            links.nth(1)
            .get_attribute("href")
            .partition("#")[2]
            .startswith("why-is-my-gradient-none")
        )


def test_names_of_files_are_not_searched(site):
    index = (site.folder / "search" / "search_index.json").read_text("utf-8")
    assert "customgrad/lessons/index.py" not in index
    assert ">verified<" not in index


FOCUS = """() => {
  const e = document.activeElement, box = e.getBoundingClientRect();
  return {seen: box.right > 0 && box.left < innerWidth && e.checkVisibility({visibilityProperty: true}),
    menu: e.closest('.md-sidebar--primary') !== null, name: e.ariaLabel || e.textContent.trim()};
}"""


def test_the_menu_of_a_narrow_window_is_worked_by_keyboard(tab, site):
    tab.set_viewport_size({"width": 360, "height": 800})
    tab.emulate_media(reduced_motion="reduce")
    tab.goto(site.base + "relu/solution/", wait_until="networkidle")
    for _ in range(30):  # shut, it takes no focus
        tab.keyboard.press("Tab")
        assert not tab.evaluate(FOCUS)["menu"]
    for key in ("Enter", "Space"):
        button = tab.get_by_role("button", name="Navigation")
        button.focus()
        tab.keyboard.press(key)
        assert button.get_attribute("aria-expanded") == "true"
        seen = []
        while (focus := tab.evaluate(FOCUS))["menu"]:
            assert focus["seen"], focus
            seen.append(focus["name"])
            tab.keyboard.press("Tab")
        assert {"The problem", "Common pitfalls"} <= set(seen)
        assert button.get_attribute("aria-expanded") == "false", "to leave it shuts it"
    button.focus()
    tab.keyboard.press("Enter")
    tab.keyboard.press("Space")  # back, from the area to the list of areas
    focus = tab.evaluate(FOCUS)
    assert focus["menu"]
    assert focus["seen"]
    tab.keyboard.press("Escape")
    assert button.evaluate("e => e === document.activeElement")
    assert button.get_attribute("aria-expanded") == "false"


def test_the_search_of_a_narrow_window_is_worked_by_keyboard(tab, site):
    tab.set_viewport_size({"width": 360, "height": 800})
    tab.goto(site.base + "relu/solution/", wait_until="networkidle")
    button = tab.get_by_role("button", name="Search")
    button.focus()
    tab.keyboard.press("Space")
    tab.keyboard.type("gradcheck")
    tab.locator(".md-search-result__item a").first.wait_for()
    tab.keyboard.press("Escape")
    tab.wait_for_function("document.activeElement.dataset.opens === '__search'")
    tab.keyboard.press("Tab")
    assert tab.evaluate("document.activeElement.name") != "query"


def test_a_table_keeps_its_columns_readable_on_a_phone(tab, site):
    tab.set_viewport_size({"width": 360, "height": 800})
    tab.goto(site.base + "relu/problem/", wait_until="networkidle")
    table = tab.locator(".table").first
    assert table.get_attribute("tabindex") == "0"
    assert table.evaluate("e => e.scrollWidth > e.clientWidth")
    last = table.locator("tr").nth(1).locator("td").last
    assert last.bounding_box()["width"] >= 150


def test_a_table_that_is_cut_off_casts_a_shade_there(tab, site):
    tab.set_viewport_size({"width": 360, "height": 800})
    for theme, paper in (("light", 255), ("dark", 16)):
        tab.emulate_media(color_scheme=theme)
        tab.goto(site.base + "relu/problem/", wait_until="networkidle")
        table = tab.locator(".table").first
        table.scroll_into_view_if_needed()
        box = table.bounding_box()
        red = {}
        for at in (0, 9999):
            table.evaluate("(e, at) => e.scrollLeft = at", at)
            for side, x in (("left", 1), ("right", box["width"] - 2)):
                strip = {"x": box["x"] + x, "y": box["y"] + 8, "width": 1, "height": 1}
                red[at, side] = red_of(tab.screenshot(clip=strip))
        for lit in ((0, "left"), (9999, "right")):
            assert red[lit] == paper, (theme, lit, red)
        for shaded in ((0, "right"), (9999, "left")):
            assert abs(red[shaded] - paper) >= 30, (theme, shaded, red)


def test_a_table_of_two_columns_fits_a_phone(tab, site):
    tab.set_viewport_size({"width": 360, "height": 800})
    tab.goto(site.base + "background/functions/", wait_until="networkidle")
    table = tab.locator(".table").first
    assert table.evaluate("e => e.scrollWidth <= e.clientWidth")
    assert table.locator("td").first.bounding_box()["width"] >= 180


LINES_OF_CODE = """() => [...document.querySelectorAll('article :not(pre) > code')]
  .filter(c => c.textContent.length <= 22 && !c.closest('table') && c.getClientRects().length > 1).map(c => c.textContent)"""


@pytest.mark.parametrize(
    "address", ["relu/problem/", "relu/pitfalls/", "relu/solution/", "background/relu/"]
)
def test_short_code_in_a_sentence_stays_on_one_line(tab, site, address):
    tab.set_viewport_size({"width": 360, "height": 800})
    tab.goto(site.base + address, wait_until="networkidle")
    assert tab.evaluate(LINES_OF_CODE) == []


def test_a_phone_shows_what_a_failed_test_expected_and_got(tab, site):
    tab.set_viewport_size({"width": 360, "height": 800})
    tab.goto(site.base + "relu/problem/", wait_until="networkidle")
    run = tab.locator(".terminal.output", has_text="15/18 passed")
    right = run.bounding_box()["x"] + run.bounding_box()["width"]
    marks = run.locator("mark")
    assert [marks.nth(i).inner_text() for i in range(4)] == ["0", "1", "0", "1"]
    for i in range(marks.count()):
        box = marks.nth(i).bounding_box()
        assert box["x"] + box["width"] <= right
    for key in run.locator(".key").all():
        assert key.is_visible()


def test_only_a_title_has_a_rule_below_it(tab, site):
    tab.goto(site.base + "relu/solution/", wait_until="networkidle")
    for bar in tab.locator(".bar").all():
        border = bar.evaluate("e => getComputedStyle(e).borderBottomWidth")
        assert (border != "0px") == (bar.locator(".title").count() > 0)


def test_a_picture_in_a_figure_takes_the_colours_of_the_theme(tab, site):
    page = site.base + "examples/custom_relu/"
    for theme, least, most in (("light", 255, 255), ("dark", 16, 40)):
        tab.emulate_media(color_scheme=theme)
        tab.goto(page, wait_until="networkidle")
        figure = tab.locator("svg.notebook-figure:has(image)").first
        figure.scroll_into_view_if_needed()
        box = figure.locator("image").bounding_box()
        corner = {"x": box["x"] + 3, "y": box["y"] + 3, "width": 1, "height": 1}
        assert least <= red_of(tab.screenshot(clip=corner)) <= most, theme


def test_the_theme_can_be_chosen_and_is_kept(tab, site):
    tab.emulate_media(color_scheme="light")
    tab.goto(site.base, wait_until="networkidle")
    seen = []
    for _ in range(3):
        seen.append(tab.evaluate("getComputedStyle(document.body).backgroundColor"))
        tab.locator("form[data-md-component='palette'] label:not([hidden])").click()
    assert len(set(seen)) == 2, seen
    while tab.evaluate("document.body.getAttribute('data-md-color-scheme')") != "slate":
        tab.locator("form[data-md-component='palette'] label:not([hidden])").click()
    dark = tab.evaluate("getComputedStyle(document.body).backgroundColor")
    tab.goto(site.base + "relu/solution/", wait_until="networkidle")
    assert tab.evaluate("getComputedStyle(document.body).backgroundColor") == dark


def test_previous_and_next_lead_through_all_pages(site):
    """Read from the built files: a browser that opens each page for it would take minutes."""
    seen, address = [""], ""
    while following := linked(site, address, "next"):
        assert linked(site, following, "prev") == address
        address = following
        seen.append(address)
        assert len(seen) < 1000
    assert len(seen) == len(set(seen)) == len(site.pages())


def linked(site, address, direction):
    """Return the address that a page's footer leads to, or nothing."""
    text = (site.folder / address / "index.html").read_text(encoding="utf-8")
    found = re.search(rf'<a href="([^"]+)"[^>]* rel="{direction}"', text.partition("<footer")[2])
    return urljoin("/" + address, found[1]).removeprefix("/") if found else None


def test_home_fits_the_first_screen(tab, site):
    tab.goto(site.base, wait_until="networkidle")
    for link in tab.locator(".doors p a").all():
        box = link.bounding_box()
        assert box["y"] + box["height"] <= 900


def test_the_first_snippet_is_on_the_first_screen(tab, site):
    tab.goto(site.base, wait_until="networkidle")
    for shown in (".lede >> nth=2", ".language-text.highlight"):
        box = tab.locator(shown).first.bounding_box()
        assert box["y"] + box["height"] <= 900, shown
    tab.set_viewport_size({"width": 360, "height": 800})
    box = tab.locator(".language-text.highlight").first.bounding_box()
    assert box["y"] + box["height"] <= 1600, "the output's end is at most one swipe down"


def test_the_seal_leads_to_what_it_means(tab, site):
    tab.goto(site.base + "relu/solution/", wait_until="networkidle")
    tab.locator("a.verified").first.click()
    tab.wait_for_url("**/reference/checks/#what-verified-means")
    assert "verified" in tab.locator("article").inner_text()


def test_outputs_are_labelled_in_text(tab, site):
    tab.goto(site.base + "relu/solution/", wait_until="networkidle")
    outputs = tab.locator(".language-text.highlight")
    assert outputs.count()
    for number in range(outputs.count()):
        assert outputs.nth(number).inner_text().lower().startswith("output")
