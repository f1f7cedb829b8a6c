"""A page as it is once it has been opened, and what axe says about it."""

from axe_playwright_python.sync_playwright import Axe

from sitetools import pages

PAGES = {pages.address(page): page for page in pages.pages()}
"""Address on the site → the page's Markdown."""
EXAMPLES = [f"examples/{p.stem}/" for p in sorted((pages.ROOT / "examples").glob("*.py"))]
ADDRESSES = [*PAGES, *EXAMPLES]

BLOCKS = """language => [...document.querySelectorAll(`.language-${language}.highlight > pre > code`)].map(c => c.textContent)"""


# Axe takes its time with contrast, and with the tokens of blocks. Texts with the same colours, on the same
# backgrounds, in the same size, have the same contrast: the first of them stands for all, and the tokens that
# it stands for become plain text of their block.
LOOKS = """() => {
  const numbers = new Map(), looks = new Map([[null, ""]]), seen = new Set();
  const look = element => {
    if (!looks.has(element)) {
      const s = getComputedStyle(element), around = look(element.parentElement);
      const own = [around, s.color, s.backgroundColor, s.backgroundImage, s.fontSize, s.fontWeight, s.opacity].join();
      if (!numbers.has(own)) numbers.set(own, numbers.size);
      looks.set(element, numbers.get(own));
    }
    return looks.get(element);
  };
  for (const element of document.querySelectorAll("body *")) {
    if (![...element.childNodes].some(node => node.nodeType === 3 && node.data.trim())) continue;
    if (!element.checkVisibility({visibilityProperty: true})) continue;
    if (!seen.has(look(element))) element.dataset.look = seen.size;
    seen.add(look(element));
  }
  for (const token of document.querySelectorAll("pre code span:not([data-look])")) {
    if (!token.childElementCount) token.replaceWith(...token.childNodes);
  }
}"""


def unreadable(tab):
    """Return the texts of the page that a tab shows whose contrast is too low."""
    tab.evaluate(LOOKS)
    return serious(tab, {"runOnly": ["color-contrast"]}, {"include": [["[data-look]"]]})


def inaccessible(tab):
    """Return what else axe finds serious there."""
    return serious(tab, {"rules": {"color-contrast": {"enabled": False}}})


AXE = Axe().axe_script
RUN = """([context, options]) => axe.run(context ?? document, {resultTypes: ["violations"], ...options})
    .then(found => found.violations)"""


def serious(tab, options, context=None):
    """Return what axe finds serious."""
    # The package's own call sends axe, half a megabyte, each time; a page keeps it.
    if not tab.evaluate("'axe' in window"):
        tab.evaluate(AXE)
    return [
        f"{v['id']} ({v['impact']}): {node['html'][:160]}"
        for v in tab.evaluate(RUN, [context, options])
        if v["impact"] in {"serious", "critical"}
        for node in v["nodes"]
    ]


class Window:
    """A window that opens one page after another, and what the page it shows asked for and reported."""

    def __init__(self, browser, site, theme):
        self.site = site
        self.context = browser.new_context(color_scheme=theme, reduced_motion="reduce")
        self.tab = self.context.new_page()
        self.errors, self.requests = [], set()
        self.tab.on("request", lambda request: self.requests.add(request.url))
        self.tab.on(
            "console",
            lambda message: self.errors.append(message.text) if message.type == "error" else None,
        )
        self.tab.on("pageerror", lambda error: self.errors.append(str(error)))
        self.tab.on("requestfailed", lambda request: self.errors.append(f"failed: {request.url}"))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.context.close()

    def open(self, address):
        """Open a page, in a wide window."""
        self.tab.goto("about:blank")  # ends what the page before still does
        self.tab.set_viewport_size({"width": 1440, "height": 900})
        self.errors.clear()
        self.requests.clear()
        self.tab.goto(self.site.base + address, wait_until="load")
        self.tab.evaluate("document.fonts.ready")

    def settle(self):
        """Wait until the page has asked for all that it asks for."""
        self.tab.wait_for_load_state("networkidle")

    def elsewhere(self):
        """Return the requests to other hosts."""
        return [url for url in self.requests if not url.startswith((self.site.base, "data:"))]

    def blocks(self, language):
        return [text.strip("\n") for text in self.tab.evaluate(BLOCKS, language)]
