"""ReLU and its derivative, drawn from what torch.relu and its backward return."""

import torch

from sitetools.figures import WIDTH, panel, path, text

HEIGHT = 152
UNIT = 50
"""Length of 1 on both axes."""
LEFT, RIGHT, TOP = -3.2, 3.6, 2.4
"""Ends of the axes."""
STEP = 0.1

Points = list[tuple[float, float]]


def samples() -> tuple[list[float], list[float], list[float]]:
    """Return inputs from LEFT to RIGHT, torch.relu of them, and the gradients of backward."""
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
    for (x0, y0), (x1, y1), (x2, y2) in zip(points, points[1:], points[2:], strict=False):
        if abs((x1 - x0) * (y2 - y0) - (y1 - y0) * (x2 - x0)) > 1e-9:
            kept.append((x1, y1))
    return [*kept, points[-1]]


def at(x: float, y: float) -> tuple[float, float]:
    """Return the place of a point in the drawing."""
    return WIDTH - UNIT * (RIGHT - x), 6 + UNIT * (TOP - y)


def line(points: Points, kind: str) -> str:
    """Return a line through points, cut off at the top."""
    return path([at(*(p if p[1] <= TOP else (TOP * p[0] / p[1], TOP))) for p in points], kind)


def dot(x: float, y: float, kind: str) -> str:
    """Return an open or a filled point."""
    left, top = at(x, y)
    return f'<circle class="{kind}" cx="{left:.1f}" cy="{top:.1f}" r="5"/>'


def axes() -> list[str]:
    """Return grid, axes and ticks."""
    across = [x for x in range(-3, 4) if x]
    parts = [line([(x, 0), (x, TOP)], "grid") for x in across]
    parts += [line([(LEFT, y), (RIGHT, y)], "grid") for y in (1, 2)]
    parts += [line([(LEFT, 0), (RIGHT, 0)], "axis"), line([(0, -0.14), (0, TOP)], "axis")]
    for x in across:
        number = str(x).replace("-", "\u2212")
        parts.append(text(at(x, 0)[0], HEIGHT - 5, number, "tick", "middle"))
    parts += [text(at(-0.14, y)[0], at(0, y + 0.1)[1], str(y), "tick", "end") for y in (1, 2)]
    return parts


def render() -> str:
    """Return both panels."""
    inputs, outputs, slopes = samples()
    flat = [(x, s) for x, s in zip(inputs, slopes, strict=True) if x < 0]
    steep = [(x, s) for x, s in zip(inputs, slopes, strict=True) if x > 0]
    below, above, kink = flat[0][1], steep[0][1], slopes[inputs.index(0.0)]

    f, x = "\U0001d453", "\U0001d465"  # the italic letters of the maths font
    slope = f'{f}<tspan dy="-5" font-size="10">\u2032</tspan><tspan dy="5">({x}) = </tspan>'
    forward = [
        line(corners(list(zip(inputs, outputs, strict=True))), "fwd"),
        text(*at(1.14, 0.6), f"{f}({x}) = max({x}, 0)", "label fwd"),
    ]
    backward = [
        line(corners([*flat, (0.0, below)]), "bwd"),
        line(corners([(0.0, above), *steep]), "bwd"),
        line([(0.14, 0.1), (0.42, 0.32)], "axis"),
        dot(0, above, "open"),
        dot(0, kink, "filled"),
        text(*at(-2.05, 0.2), f"{slope}{below:.0f}", "label bwd", "middle"),
        text(*at(1.9, 1.2), f"{slope}{above:.0f}", "label bwd", "middle"),
        text(*at(0.52, 0.3), f"at 0, torch picks {kink:.0f}"),
    ]
    about = f"The derivative of ReLU: {below:.0f} below 0, {above:.0f} above 0, {kink:.0f} at 0"
    return "\n".join(
        [
            panel("relu-value", "ReLU: 0 up to 0, then the line y = x", HEIGHT, axes() + forward),
            panel("relu-slope", about, HEIGHT, axes() + backward),
        ]
    )
