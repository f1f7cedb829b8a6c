"""llms.txt (https://llmstxt.org) and, beside each page, the Markdown it was made from.

That Markdown holds the code and the outputs: each embedded section stands in its place.
"""

import html
import posixpath
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.nav import Navigation, Section
from mkdocs.structure.pages import Page

from sitetools.pages import FENCE

LINK = re.compile(r"(?P<open>!?\[[^\]\n]*\])\((?P<target>[^)\s]+)(?P<title> \"[^\"]*\")?\)")
ATTRIBUTES = re.compile(
    r"(?:(?<=[\])`*])|[ \t]+|^)\{:?[ ]*(?:[.#][\w-]|[\w-]+=\")[^}\n]*\}[ \t]*$", re.M
)
SVG = re.compile(r"<svg\b.*?</svg>", re.S)
PAIR = {"wrong": "**Wrong:**", "right": "**Right:**"}


def write(config: MkDocsConfig, nav: Navigation, figures: Mapping[str, str] | None = None) -> None:
    """Write `llms.txt` and one Markdown file a page into the built site.

    Args:
        config: The build's configuration.
        nav: The navigation; its order and titles are llms.txt's.
        figures: What stands for a figure that is only a placeholder in a page's Markdown.

    Raises:
        LookupError: where a page embeds a section that does not exist.
    """
    site = Path(config.site_dir)
    addresses = {page.file.src_uri: markdown_uri(page) for page in nav.pages}
    for page in nav.pages:
        target = site / addresses[page.file.src_uri]
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(
            plain(page, config, addresses, figures or {}), encoding="utf-8", newline="\n"
        )
    (site / "llms.txt").write_text(index(config, nav, addresses), encoding="utf-8", newline="\n")


def markdown_uri(page: Page) -> str:
    """Return where a page's Markdown stands: beside its HTML, with the same name."""
    return posixpath.splitext(page.file.dest_uri)[0] + ".md"


def index(config: MkDocsConfig, nav: Navigation, addresses: Mapping[str, str]) -> str:
    """Return llms.txt: a title, a summary, and each section's pages with their descriptions."""
    lines = [f"# {config.site_name}", "", f"> {config.site_description or ''}".rstrip(), ""]
    for section, pages in sections(nav):
        lines += [f"## {section}", ""]
        for page in pages:
            text = str(page.meta.get("description") or "").strip()
            title = page.meta.get("title") or page.title
            link = f"- [{title}]({config.site_url or ''}{addresses[page.file.src_uri]})"
            lines.append(f"{link}: {text}" if text else link)
        lines.append("")
    return "\n".join(lines).rstrip() + "\n"


def sections(nav: Navigation) -> Iterator[tuple[str, list[Page]]]:
    """Yield the innermost sections with their pages; pages outside of any come first."""
    if loose := [item for item in nav.items if isinstance(item, Page)]:
        yield "Start", loose

    def inside(section: Section) -> Iterator[tuple[str, list[Page]]]:
        if own := [child for child in section.children if isinstance(child, Page)]:
            yield section.title, own
        for child in section.children:
            if isinstance(child, Section):
                yield from inside(child)

    for item in nav.items:
        if isinstance(item, Section):
            yield from inside(item)


def plain(
    page: Page, config: MkDocsConfig, addresses: Mapping[str, str], figures: Mapping[str, str]
) -> str:
    """Return a page's Markdown with its sections in place and without its layout."""
    text = expanded(page.markdown or "", config, page.file.src_uri)
    for marker, words in figures.items():
        text = text.replace(marker, words)
    text = SVG.sub(lambda m: titled(m[0]), text)
    parts: list[str] = []
    inside, ticks, prose = False, "", ""
    for line in text.splitlines(keepends=True):
        fence = FENCE.match(line.rstrip("\n"))
        if inside:
            if fence and fence["ticks"].startswith(ticks) and not fence["info"].strip():
                inside = False
                while parts[-1].isspace():  # a section ends in blank lines
                    parts.pop()
            parts.append(line)
        elif fence:
            parts += [_prose(prose, page, config, addresses), line]
            inside, ticks, prose = True, fence["ticks"], ""
        else:
            prose += line
    parts.append(_prose(prose, page, config, addresses))
    text = re.sub(r"\n{3,}", "\n\n", "".join(parts)).strip() + "\n"
    return text if re.search(r"^# ", text, re.M) else f"# {page.title}\n\n{text}"


def expanded(markdown: str, config: MkDocsConfig, where: str) -> str:
    """Return the Markdown with its sections in place, by pymdownx and mkdocs.yml's options.

    Raises:
        LookupError: where a file or a section is missing.
    """
    if "--8<--" not in markdown:
        return markdown
    from markdown import Markdown
    from pymdownx.snippets import SnippetExtension, SnippetMissingError, SnippetPreprocessor

    options = SnippetExtension(**config.mdx_configs.get("pymdownx.snippets", {})).getConfigs()
    try:
        return "\n".join(SnippetPreprocessor(options, Markdown()).run(markdown.splitlines())) + "\n"
    except SnippetMissingError as error:
        raise LookupError(
            f"{where}: {error}; check the path and the section's name in the --8<-- line"
        ) from None


def titled(svg: str) -> str:
    """Return what stands for a figure in plain Markdown: its title, or nothing."""
    title = re.search(r"<title[^>]*>(.*?)</title>", svg, re.S)
    return f"*Figure: {' '.join(html.unescape(title[1]).split())}*" if title else ""


def _prose(text: str, page: Page, config: MkDocsConfig, addresses: Mapping[str, str]) -> str:
    """Return prose without comments, layout elements and attribute lists."""
    text = re.sub(r"<!--.*?-->\n?", "", text, flags=re.S)
    text = re.sub(
        r'^[ \t]*<div class="(wrong|right)"[^>]*>', lambda m: PAIR[m[1]], text, flags=re.M
    )
    text = re.sub(r"</span>\s*<span\b[^>]*>", " · ", text)
    text = re.sub(r"</?(?:div|figure|figcaption|section|span|p|strong)\b[^>]*>", "", text)
    text = re.sub(r"\s*<br\s*/?>\s*", " ", text)
    text = ATTRIBUTES.sub("", text)
    text = LINK.sub(
        lambda m: f"{m['open']}({_address(m['target'], page, config, addresses)})", text
    )
    return re.sub(r"(?<=\))\{[^}\n]*\}", "", text)


def _address(target: str, page: Page, config: MkDocsConfig, addresses: Mapping[str, str]) -> str:
    """Return where a link of a page leads from that page's Markdown file."""
    if re.match(r"[a-zA-Z][a-zA-Z+.-]*:|#|/", target):
        return target
    path, mark, anchor = target.partition("#")
    uri = posixpath.normpath(posixpath.join(posixpath.dirname(page.file.src_uri), path))
    uri = addresses.get(uri, uri)
    base = posixpath.dirname(addresses[page.file.src_uri])
    address = f"{config.site_url}{uri}" if config.site_url else posixpath.relpath(uri, base or ".")
    return f"{address}{mark}{anchor}"
