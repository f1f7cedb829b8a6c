"""A page as it is once it has been opened, and what axe says about it."""

import itertools

from axe_playwright_python.sync_playwright import Axe

from sitetools import pages

PAGES = {pages.address(page): page for page in pages.pages()}
"""Address on the site → the page's Markdown."""
EXAMPLES = [f"examples/{p.stem}/" for p in sorted((pages.ROOT / "examples").glob("*.py"))]
ADDRESSES = [*PAGES, *EXAMPLES]
MANY = 6


def mould(address):
    """Return what pages of one mould have in common: their folder, and their headings."""
    page = PAGES[address]
    lines = pages.outside(page, page.read_text(encoding="utf-8"))
    return str(page.parent), *(line.strip() for _, line in lines if line.startswith("## "))


MOULDS = {
    alike[0]: alike
    for _, group in itertools.groupby(sorted(PAGES, key=mould), mould)
    if len(alike := sorted(group)) >= MANY
}
"""The first page of a mould → the addresses of its pages."""
ALONE = [a for a in ADDRESSES if not any(a in alike for alike in MOULDS.values())]
"""The pages that have headings of their own."""

BLOCKS = """language => [...document.querySelectorAll(`.language-${language}.highlight > pre > code`)].map(c => c.textContent)"""


# Axe takes its time with contrast, and with the tokens of blocks. Texts with the same colours, on the same
# backgrounds, in the same size, have the same contrast: the first of them stands for all, on the pages that
# follow, too. The tokens that stand for nothing become plain text of their block.
LOOKS = """([known, mark]) => {
  const names = new Map([["", ""]]), looks = new Map([[null, ""]]), seen = new Set(known);
  const name = own => {
    if (!names.has(own)) {  // FNV-1a, twice, with different beginnings
      let a = 0x811c9dc5, b = 0x01234567;
      for (let i = 0; i < own.length; i++) {
        a = Math.imul(a ^ own.charCodeAt(i), 0x01000193);
        b = Math.imul(b ^ own.charCodeAt(i), 0x01000193);
      }
      names.set(own, (a >>> 0).toString(36) + "-" + (b >>> 0).toString(36));
    }
    return names.get(own);
  };
  const look = element => {
    if (!looks.has(element)) {
      const s = getComputedStyle(element), around = look(element.parentElement);
      looks.set(element, name(
        [around, s.color, s.backgroundColor, s.backgroundImage, s.fontSize, s.fontWeight, s.opacity].join()));
    }
    return looks.get(element);
  };
  const found = [];
  for (const element of document.querySelectorAll("body *")) {
    if (![...element.childNodes].some(node => node.nodeType === 3 && node.data.trim())) continue;
    if (!element.checkVisibility({visibilityProperty: true})) continue;
    if (seen.has(look(element))) continue;
    element.setAttribute(mark, "");
    seen.add(look(element));
    found.push(look(element));
  }
  return found;
}"""
FLAT = """() => {
  for (const token of document.querySelectorAll("pre code span:not([data-light], [data-dark])")) {
    if (!token.childElementCount) token.replaceWith(...token.childNodes);
  }
}"""


class Contrast:
    """The looks of texts that were judged, in each theme; they are judged once for all pages."""

    def __init__(self):
        self.known = {"light": set(), "dark": set()}

    def find(self, tab, theme):
        """Mark the texts of the page that a tab shows whose looks are new, and return these looks."""
        return tab.evaluate(LOOKS, [sorted(self.known[theme]), f"data-{theme}"])

    def unreadable(self, tab, theme, new):
        """Return those among the marked texts whose contrast is too low."""
        if not new:
            return []
        tab.evaluate(FLAT)
        found = serious(tab, {"runOnly": ["color-contrast"]}, {"include": [[f"[data-{theme}]"]]})
        if not found:
            self.known[theme].update(new)
        return found


def unreadable(tab, theme="light", contrast=None):
    """Return the texts of the page that a tab shows whose contrast is too low, in the theme that it has."""
    contrast = contrast or Contrast()
    return contrast.unreadable(tab, theme, contrast.find(tab, theme))


def unreadable_in_both(tab, contrast):
    """Return those in light and in dark, where the page has taken the light theme; it keeps it."""
    light = contrast.find(tab, "light")
    switch(tab, "dark")
    found = unreadable(tab, "dark", contrast)
    found += serious(tab, {"runOnly": ["link-in-text-block"]})
    switch(tab, "light")
    return [*found, *contrast.unreadable(tab, "light", light)]


SCHEMES = {"light": "default", "dark": "slate"}


def switch(tab, theme):
    """Give the page the other theme, as the system's setting does."""
    tab.emulate_media(color_scheme=theme, reduced_motion="reduce")
    tab.wait_for_function(
        "scheme => document.body.dataset.mdColorScheme === scheme", arg=SCHEMES[theme]
    )


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
        self.contrast = Contrast()
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
