"""The figures of the handbook: one module a figure, computed from real values.

A figure's ``render()`` returns one or more panels. Colours, fonts and widths of lines come from
the style sheet, by class.
"""

WIDTH = 340
"""Width of a panel in drawing units, which is about its width on a phone in pixels."""


def panel(name: str, title: str, height: int, parts: list[str]) -> str:
    """Return a panel as an SVG element.

    Args:
        name: id of its title, unlike any other figure's.
        title: what the panel shows, for readers who do not see it.
        height: in drawing units.
        parts: the elements inside, in the order in which they are drawn.
    """
    head = f'<svg viewBox="0 0 {WIDTH} {height}" role="img" aria-labelledby="{name}">'
    return "\n".join([head, f'<title id="{name}">{title}</title>', *parts, "</svg>"])


def text(x: float, y: float, words: str, kind: str = "label", anchor: str = "start") -> str:
    """Return a text that starts at, ends at or is centred on a point of its baseline."""
    place = f'x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"'
    return f'<text class="{kind}" {place}>{words}</text>'


def path(points: list[tuple[float, float]], kind: str) -> str:
    """Return a line through points."""
    return f'<path class="{kind}" d="M{" L".join(f"{x:.1f} {y:.1f}" for x, y in points)}"/>'
