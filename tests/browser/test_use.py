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
    page = pages.DOCS / f"{address.rstrip('/') or 'index'}.md"
    tab.goto(site.base + address, wait_until="networkidle")
    copied = 0
    for language in ("python", "console"):
        blocks = tab.locator(f".language-{language}.highlight")
        written = [
            pages.expand("\n".join(f.body) + "\n", f"{pages.name(page)}:{f.line}").strip("\n")
            for f in pages.fences(page)
            if f.language == language
        ]
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


def test_a_missing_page_helps(tab, published):
    tab.goto(published.base + "404.html", wait_until="networkidle")
    text = tab.locator("main").inner_text()
    assert "no page at this address" in text.lower()
    assert tab.locator("main a[href]").count() >= 10


def test_the_first_snippet_is_on_the_first_screen(tab, site):
    tab.goto(site.base, wait_until="networkidle")
    box = tab.locator(".language-text.highlight").first.bounding_box()
    assert box["y"] + box["height"] <= 900
    tab.set_viewport_size({"width": 360, "height": 800})
    box = tab.locator(".language-text.highlight").first.bounding_box()
    assert box["y"] + box["height"] <= 1600, "the output's end is at most one swipe down"


def test_the_seal_leads_to_what_it_means(tab, site):
    tab.goto(site.base + "relu/solution/", wait_until="networkidle")
    tab.locator("a.verified").first.click()
    tab.wait_for_url("**/reference/checks/**")
    assert "verified" in tab.locator("article").inner_text()


def test_outputs_are_labelled_in_text(tab, site):
    tab.goto(site.base + "relu/solution/", wait_until="networkidle")
    outputs = tab.locator(".language-text.highlight")
    assert outputs.count()
    for number in range(outputs.count()):
        assert outputs.nth(number).inner_text().lower().startswith("output")
