"""ReLU and its derivative: two panels, drawn from what torch.relu and its backward return."""

import torch

UNIT = 50.0
"""Length of 1 on both axes."""
WIDTH, HEIGHT = 340, 152
X0, Y0 = 160.0, 126.0
"""The origin, in drawing units."""
LEFT, RIGHT, TOP = -3.2, 3.6, 2.4
"""Ends of the axes."""
STEP = 0.1

Points = list[tuple[float, float]]


def samples() -> tuple[list[float], list[float], list[float]]:
    """Return inputs from LEFT to RIGHT, torch.relu of them, and the gradients that its backward returns."""
    count = round((RIGHT - LEFT) / STEP)
    inputs = [round(LEFT + STEP * i, 1) for i in range(count + 1)]
    x = torch.tensor(inputs, dtype=torch.float64, requires_grad=True)
    y = torch.relu(x)
    y.backward(torch.ones_like(y))
    assert x.grad is not None
    return inputs, y.tolist(), x.grad.tolist()


def corners(points: Points) -> Points:
    """Drop the points that lie on the line between their neighbours."""
    kept = points[:1]
    for before, point, after in zip(points, points[1:], points[2:], strict=False):
        turn = (point[0] - before[0]) * (after[1] - before[1]) - (point[1] - before[1]) * (after[0] - before[0])
        if abs(turn) > 1e-9:
            kept.append(point)
    return [*kept, points[-1]]


def at(x: float, y: float) -> tuple[str, str]:
    """Return the place of a point in the drawing."""
    return f"{X0 + UNIT * x:.1f}", f"{Y0 - UNIT * y:.1f}"


def line(points: Points, kind: str) -> str:
    """Draw a line through points, cut off at the top."""
    clipped = [(TOP / (y / x) if y > TOP else x, min(y, TOP)) for x, y in points]
    return f'<path class="{kind}" d="M{" L".join(" ".join(at(x, y)) for x, y in clipped)}"/>'


def dot(x: float, y: float, kind: str) -> str:
    """Draw an open or a filled point."""
    left, top = at(x, y)
    return f'<circle class="{kind}" cx="{left}" cy="{top}" r="5"/>'


def label(x: float, y: float, text: str, kind: str = "", anchor: str = "middle") -> str:
    """Write a label, centred on its point unless told otherwise."""
    left, top = at(x, y)
    return f'<text class="{f"label {kind}".strip()}" x="{left}" y="{top}" text-anchor="{anchor}">{text}</text>'


def axes() -> list[str]:
    """Draw grid, axes and ticks."""
    whole = range(-3, 4)
    parts = [line([(x, 0), (x, TOP)], "grid") for x in whole if x] + [line([(LEFT, y), (RIGHT, y)], "grid") for y in (1, 2)]
    parts += [line([(LEFT, 0), (RIGHT, 0)], "axis"), line([(0, -0.14), (0, TOP)], "axis")]
    for x in whole:
        if x:
            left, _ = at(x, 0)
            number = str(x).replace("-", "\u2212")
            parts.append(f'<text class="tick" x="{left}" y="{HEIGHT - 5}" text-anchor="middle">{number}</text>')
    for y in (1, 2):
        _, top = at(0, y)
        parts.append(f'<text class="tick" x="{X0 - 7:.1f}" y="{float(top) - 5:.1f}" text-anchor="end">{y}</text>')
    return parts


def panel(name: str, title: str, parts: list[str]) -> str:
    """Put a panel together."""
    head = f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-labelledby="{name}"><title id="{name}">{title}</title>'
    return "\n".join([head, *axes(), *parts, "</svg>"])


def render() -> str:
    """Return both panels."""
    inputs, outputs, slopes = samples()
    value = corners(list(zip(inputs, outputs, strict=True)))
    flat = [(x, s) for x, s in zip(inputs, slopes, strict=True) if x <= 0]
    steep = [(x, s) for x, s in zip(inputs, slopes, strict=True) if x > 0]
    kink = dict(zip(inputs, slopes, strict=True))[0.0]
    f, x = "\U0001d453", "\U0001d465"
    prime = f'{f}<tspan dy="-5" font-size="10">\u2032</tspan><tspan dy="5">({x})'
    forward = panel(
        "relu-value",
        "ReLU: 0 for x below 0, then the line y = x",
        [line(value, "fwd"), label(2.1, 0.72, f"{f}({x}) = max({x}, 0)", "fwd")],
    )
    backward = panel(
        "relu-slope",
        f"The derivative of ReLU: {flat[0][1]:.0f} below 0, {steep[0][1]:.0f} above 0, and {kink:.0f} at 0",
        [
            line(corners(flat), "bwd"),
            line(corners([(0.0, steep[0][1]), *steep]), "bwd"),
            dot(0, steep[0][1], "open"),
            dot(0, kink, "filled"),
            label(-2.05, 0.2, f"{prime} = {flat[0][1]:.0f}</tspan>", "bwd"),
            label(1.9, 1.2, f"{prime} = {steep[0][1]:.0f}</tspan>", "bwd"),
            line([(0.14, 0.1), (0.42, 0.32)], "axis"),
            label(0.52, 0.3, f"at 0, torch picks {kink:.0f}", anchor="start"),
        ],
    )
    return f"{forward}\n{backward}"
