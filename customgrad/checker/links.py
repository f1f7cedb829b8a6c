"""Where a rule is explained: on its page, or by the command that prints it."""

import functools
from importlib import metadata

__all__ = ["documentation", "more", "page"]


@functools.cache
def documentation() -> str:
    """Return the address of the site that the installed package names, with a slash at its end, or nothing."""
    try:
        given = metadata.metadata("customgrad").get_all("Project-URL") or []
    except metadata.PackageNotFoundError:
        return ""
    for entry in given:
        label, _, address = entry.partition(",")
        if label.strip().lower() == "documentation" and address.strip():
            return str(address).strip().rstrip("/") + "/"
    return ""


def page(code: str) -> str:
    """Return the address of a rule's page, or nothing where none is known."""
    return f"{documentation()}check/{code.lower()}/" if documentation() else ""


def more(code: str) -> str:
    """Return what a finding names to read on: the page, or the command that explains the rule."""
    return page(code) or f"customgrad check --explain {code}"
