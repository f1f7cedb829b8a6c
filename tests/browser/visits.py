"""A page as it is once it has been opened, and what axe says about it."""

from axe_playwright_python.sync_playwright import Axe

from sitetools import pages

PAGES = {pages.address(page): page for page in pages.pages()}
"""Address on the site → the page's Markdown."""
EXAMPLES = [f"examples/{p.stem}/" for p in sorted((pages.ROOT / "examples").glob("*.py"))]
ADDRESSES = [*PAGES, *EXAMPLES]

BLOCKS = """language => [...document.querySelectorAll(`.language-${language}.highlight > pre > code`)].map(c => c.textContent)"""


# Axe's time goes into contrast, token by token. Tokens with the same colours, on the same backgrounds, in the same
# size, have the same contrast: the first of them stands for all.
SAME_TOKENS = """() => {
  const seen = new Set();
  for (const token of document.querySelectorAll("pre code span")) {
    let look = "";
    for (let e = token; e.tagName !== "PRE"; e = e.parentElement) {
      const s = getComputedStyle(e);
      look += [s.color, s.backgroundColor, s.fontSize, s.fontWeight, s.opacity].join() + "/";
    }
    token.toggleAttribute("data-same", seen.has(look) && token.childElementCount === 0);
    seen.add(look);
  }
}"""


def serious(tab, options=()):
    """Return what axe finds serious on the page that a tab shows."""
    tab.evaluate(SAME_TOKENS)
    found = Axe().run(
        tab,
        context={"exclude": [["[data-same]"]]},
        options={"resultTypes": ["violations"], **dict(options)},
    )
    return [
        f"{v['id']} ({v['impact']}): {node['html'][:160]}"
        for v in found.response["violations"]
        if v["impact"] in {"serious", "critical"}
        for node in v["nodes"]
    ]


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
        self.site, self.context = site, context

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.context.close()

    def elsewhere(self):
        """Return the requests to other hosts."""
        return [url for url in self.requests if not url.startswith((self.site.base, "data:"))]

    def blocks(self, language):
        return [text.strip("\n") for text in self.tab.evaluate(BLOCKS, language)]
