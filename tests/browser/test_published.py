"""The site as the workflow publishes it, with a repository's address, opened in dark."""

import html
import shutil
from pathlib import Path
from urllib.parse import urljoin, urlsplit

import pytest
from again import taking_over
from built import covering
from visits import ADDRESSES, Window, serious, unreadable

from sitetools import notebooks, pages


@pytest.fixture(scope="module")
def read(published):
    return published.read()


def test_dark_pages_are_readable_and_ask_no_other_host(browser, published, read, subtests):
    """Few pages that hold all that the site holds; test_pages.py has the colours of the others."""
    with Window(browser, published, "dark") as dark:
        for address in sorted(covering(read)):
            with subtests.test(address or "home"):
                dark.open(address)
                assert unreadable(dark.tab, "dark", dark.contrast) == []
                assert serious(dark.tab, {"runOnly": ["link-in-text-block"]}) == []
                dark.settle()
                assert dark.errors == []
                assert dark.elsewhere() == []


def test_every_page_asks_for_what_is_shipped(published, read):
    assert published.pages() == sorted(ADDRESSES)
    for address, page in read.items():
        assert page.assets, address
        for asset in page.assets:
            url = urljoin(published.base + address, asset)
            assert url.startswith(published.base), f"{address} loads {asset}"
            path = urlsplit(url.removeprefix(published.base)).path
            assert (published.folder / path).is_file(), f"{address} loads {asset}"


def test_a_missing_page_helps(browser, published):
    with Window(browser, published, "light") as opened:
        opened.open("404.html")
        text = opened.tab.locator("main").inner_text()
        assert "no page at this address" in text.lower()
        assert opened.tab.locator("main a[href]").count() >= 10


def test_home_says_what_to_clone_and_fits_the_first_screen(browser, published):
    with Window(browser, published, "light") as opened:
        opened.open("")
        text = opened.tab.locator("article").inner_text()
        assert "git clone https://github.com/owner/name" in text
        for link in opened.tab.locator(".doors p a").all():
            box = link.bounding_box()
            assert box["y"] + box["height"] <= 900


def test_the_published_site_links_to_its_sources(published):
    page = (published.folder / "relu" / "solution" / "index.html").read_text(encoding="utf-8")
    assert "https://github.com/owner/name/edit/main/docs/relu/solution.md" in page
    assert (
        f"https://github.com/owner/name/blob/{'0123456789' * 4}/customgrad/functions/relu.py"
        in page
    )
    assert '<link rel="canonical" href="https://owner.github.io/name/relu/solution/">' in page
    example = (published.folder / "examples" / "custom_relu" / "index.html").read_text(
        encoding="utf-8"
    )
    assert "https://github.com/owner/name/edit/main/examples/custom_relu.py" in example
    assert (pages.ROOT / "examples" / "custom_relu.py").is_file()


def test_an_example_is_taken_over_where_nothing_has_changed(published, executed, tmp_path):
    """The other site shows what this build has executed, and never what it has not."""
    asked = []
    run = taking_over(executed, lambda example, _: asked.append(example.path))
    for source in sorted((pages.ROOT / "examples").glob("*.py")):
        example = notebooks.read(source, pages.ROOT)
        run(example, {})
        assert not asked, "it was not executed again"
        shown = (published.folder / "examples" / source.stem / "index.html").read_text("utf-8")
        texts = [
            output["text"].splitlines()[0]
            for cell in example.cells
            for output in cell.get("outputs", [])
            if output["output_type"] == "stream"
        ]
        assert texts
        assert all(html.escape(text, quote=False) in shown for text in texts)
        changed = Path(shutil.copy(source, tmp_path))
        with changed.open("a", encoding="utf-8") as file:
            file.write("# another line\n")
        run(notebooks.read(changed, tmp_path), {})
        assert asked.pop() == changed
