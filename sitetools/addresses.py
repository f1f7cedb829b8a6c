"""What must not change unnoticed: addresses that readers link to, highlighted lines, and the catalogue's entries.

`python -m sitetools.addresses` writes them to tests/addresses.txt, highlights.txt and operations.txt, which a
test compares with what there is. A highlight is given by line number, and would move silently when its code does.
"""

import re

from sitetools import pages, rendered


def addresses() -> list[str]:
    """Return the navigation, and `page#anchor` of every heading, in page order, as the site has them."""
    config = (pages.ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    entries = config.partition("\nnav:\n")[2].splitlines()
    found = [f"nav: {entry.strip().removeprefix('- ')}" for entry in entries if entry.strip()]
    for page in pages.pages():
        relative = page.relative_to(pages.DOCS).as_posix()
        for node in rendered.render(page.read_text(encoding="utf-8")).root.all():
            if node.tag in rendered.HEADINGS:
                found.append(f"{relative}#{node.attributes['id']}")
    return found


def highlights() -> list[str]:
    """Return `page: text` of every highlighted line, in page order.

    Raises:
        LookupError: where a fence highlights a line that it does not have.
    """
    found = []
    for page in pages.pages():
        for fence in pages.fences(page):
            if not (numbers := re.search(r'hl_lines="([\d\s-]+)"', fence.info)):
                continue
            lines = fence.code().splitlines()
            for part in numbers[1].split():
                first, _, last = part.partition("-")
                for number in range(int(first), int(last or first) + 1):
                    if number > len(lines):
                        raise LookupError(
                            f"{fence.where}: hl_lines names line {number} of {len(lines)}"
                        )
                    found.append(
                        f"{page.relative_to(pages.DOCS).as_posix()}: {lines[number - 1].strip()}"
                    )
    return found


def operations() -> list[str]:
    """Return each entry of the catalogue with what decides which tests it gets."""
    from sitetools import catalogue  # imports torch

    return [
        f"{o.page}: {o.label}: {o.function.__name__}"
        + (", elementwise" if o.elementwise else "")
        + ("" if o.derivative else ", no derivative")
        + (f", beside {o.builtin.__name__}" if o.builtin else "")
        + (f", keeps {o.computed} more" if o.computed else "")
        + (f", within {o.tolerance:g}" if o.tolerance else "")
        + (", called in its own way" if o.through else "")
        + (f", {o.forward_mode.__name__}" if o.forward_mode else "")
        + "".join(f", no {column}" for column in o.lacks)
        for o in catalogue.OPERATIONS
    ]


LISTS = {"addresses.txt": addresses, "highlights.txt": highlights, "operations.txt": operations}
"""File in tests/ → what it lists."""


def main() -> None:
    """Write the lists."""
    for filename, listed in LISTS.items():
        target = pages.ROOT / "tests" / filename
        target.write_text("\n".join(listed()) + "\n", encoding="utf-8", newline="\n")
        print(f"{pages.name(target)}: {len(listed())} lines")


if __name__ == "__main__":
    main()
