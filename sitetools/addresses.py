"""The addresses readers may have linked to: every page and every heading of it.

`python -m sitetools.addresses` writes them to tests/addresses.txt, which a test compares with the pages.
"""

from sitetools import pages


def addresses() -> list[str]:
    """Return `page#anchor` of every heading, in page order, with the anchors that the site gives them."""
    import markdown
    from markdown.extensions.toc import TocExtension, slugify

    found = []
    for page in pages.pages():
        relative = page.relative_to(pages.DOCS).as_posix()
        text = page.read_text(encoding="utf-8")
        body = "\n".join(line for _, line in pages.outside(page, text))
        reader = markdown.Markdown(
            extensions=["attr_list", "md_in_html", "tables", TocExtension(slugify=slugify)]
        )
        reader.convert(body)
        found += [f"{relative}#{token['id']}" for token in flat(getattr(reader, "toc_tokens", []))]
    return found


def flat(tokens: list[dict[str, list]]) -> list[dict[str, str]]:
    """Return the tokens of a table of contents without their nesting."""
    return [t for token in tokens for t in ({"id": str(token["id"])}, *flat(token["children"]))]


def main() -> None:
    """Write the list."""
    target = pages.ROOT / "tests" / "addresses.txt"
    target.write_text("\n".join(addresses()) + "\n", encoding="utf-8", newline="\n")
    print(f"{pages.name(target)}: {len(addresses())} addresses")


if __name__ == "__main__":
    main()
