"""What a reader does: copies, searches, switches the theme, goes on, gets lost."""

import pytest

from sitetools import pages


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
    return tab.evaluate(
        "[...document.querySelectorAll('.md-search-result__item')].map("
        "i => new URL(i.querySelector('a').href).pathname.split('/some/path/')[1])"
    )


@pytest.mark.parametrize(
    ("queries", "page"),
    [
        (["ctx.saved_tensors", "saved_tensors", "saved"], "relu/solution/"),
        (["torch.autograd.Function", "autograd.Function"], "background/functions/"),
        (["save_for_backward", "save_for"], "background/functions/"),
        (["ctx.needs_input_grad", "needs_input_grad", "needs_input"], "backprop/inputs/"),
        (["staticmethod", "@staticmethod"], "relu/pitfalls/"),
        (["relu derivative"], "background/relu/"),
    ],
)
def test_names_are_found_by_whole_and_by_part(tab, site, queries, page):
    tab.goto(site.base, wait_until="networkidle")
    tab.keyboard.press("s")
    for query in queries:
        found = hits(tab, query)
        assert page in found, query
        assert not found[0].startswith("reference/"), query


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


def test_previous_and_next_lead_through_all_pages(tab, site):
    seen = ["/"]
    tab.goto(site.base, wait_until="domcontentloaded")
    while (following := tab.locator("footer a[rel='next']")).count():
        tab.goto(following.evaluate("a => a.href"), wait_until="domcontentloaded")
        seen.append(tab.url.removeprefix(site.base))
        assert tab.locator("footer a[rel='prev']").count() == 1, tab.url
        assert len(seen) < 1000
    assert len(seen) == len(set(seen)) == len(site.pages())


def test_the_first_snippet_is_on_the_first_screen(tab, site):
    tab.goto(site.base, wait_until="networkidle")
    for shown in (".lede >> nth=2", ".language-text.highlight", ".doors h2", ".doors p"):
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
