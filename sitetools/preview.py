"""What a preview keeps from one build to the next: the HTML and the search entries of pages that did not change.

With it a save costs what the changed page costs. A build to publish keeps nothing.
"""

import hashlib
import logging
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import Files
from mkdocs.structure.pages import Page
from mkdocs.utils import CountHandler

MADE = ("content", "toc", "_title_from_render", "present_anchor_ids")
"""What `Page.render` leaves on a page, beside its links to anchors."""

Entries = list[dict[str, Any]]


@dataclass
class Rendered:
    """What MkDocs made of a page, and the digest of all that it was made of."""

    made_of: bytes
    made: dict[str, Any]
    links: dict[str, dict[str, str]]
    """Page → the anchors that this page links to there."""


class Preview:
    """Keeps what was made of each page."""

    def __init__(self) -> None:
        self.rendered: dict[str, Rendered] = {}
        self.entries: dict[str, tuple[bytes, Entries]] = {}

    def render(self, page: Page, expanded: str, config: MkDocsConfig, files: Files) -> None:
        """Do what `Page.render` does; the same text becomes what it became before.

        Args:
            page: The page, with its Markdown.
            expanded: The Markdown with its sections in place.
            config: The build's configuration, read from mkdocs.yml.
            files: The files that the page may link to.
        """
        settings = Path(str(config.config_file_path)).read_bytes()
        made_of = digest(settings, page.markdown, expanded, [(f.src_uri, f.url) for f in files])
        kept = self.rendered.get(page.file.src_uri)
        if kept and kept.made_of == made_of:
            for name, value in kept.made.items():
                setattr(page, name, value)
            found = ((files.get_file_from_path(uri), links) for uri, links in kept.links.items())
            page.links_to_anchors = {file: links for file, links in found if file}
            return
        warnings = CountHandler()
        warnings.setLevel(logging.WARNING)
        logging.getLogger("mkdocs").addHandler(warnings)
        try:
            Page.render(page, config, files)
        finally:
            logging.getLogger("mkdocs").removeHandler(warnings)
        if not warnings.get_counts():  # else the next build warns again
            links = {file.src_uri: links for file, links in (page.links_to_anchors or {}).items()}
            made = {name: getattr(page, name) for name in MADE}
            self.rendered[page.file.src_uri] = Rendered(made_of, made, links)

    def indexed(self, add: Callable[[Page], None], entries: Entries) -> Callable[[Page], None]:
        """Return the search plugin's way to add a page's entries; it reads the HTML of a changed page alone."""

        def add_changed(page: Page) -> None:
            made_of = digest(page.content, page.url, page.title, page.meta)
            kept = self.entries.get(page.url)
            if kept and kept[0] == made_of:
                entries.extend(kept[1])
                return
            before = len(entries)
            add(page)
            self.entries[page.url] = made_of, entries[before:]

        return add_changed


def digest(*parts: object) -> bytes:
    """Return one digest of all the parts."""
    return hashlib.sha256(repr(parts).encode()).digest()
