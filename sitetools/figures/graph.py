"""The graph of relu(x).sum(): what forward computes, and the nodes that backward visits with what each one saved."""

from typing import Any

import torch

WIDTH, HEIGHT = 340, 300
ROWS = (44.0, 138.0, 232.0)
"""Middle of each row: the input, the output of relu, the sum."""
BOX = 36.0
SAVED = {"result": "its output", "self_sym_sizes": "its input's shape"}
"""What torch calls the things that the two nodes save, in words."""


def record() -> tuple[list[torch.Tensor], list[Any], list[torch.Tensor]]:
    """Return the values of forward, the nodes from the input's to the sum's, and the gradient that each one received."""
    x = torch.tensor([-2.0, 0.0, 3.0], requires_grad=True)
    y = torch.relu(x)
    loss = y.sum()
    nodes: list[Any] = [loss.grad_fn]
    while nodes[0].next_functions:
        nodes.insert(0, nodes[0].next_functions[0][0])
    received: dict[int, torch.Tensor] = {}
    for i, node in enumerate(nodes):
        node.register_prehook(lambda gradients, i=i: received.update({i: gradients[0].clone()}))
    loss.backward(retain_graph=True)
    assert nodes[0].variable is x
    assert x.grad is not None
    return [x, y, loss], nodes, [*(received[i] for i in range(len(nodes))), x.grad]


def written(value: Any) -> str:
    """Write a tensor or a shape as a reader would."""
    if isinstance(value, torch.Tensor):
        return f"{value.tolist()}".replace(".0", "").replace("-", "\u2212")
    return str(value)


def saved(node: Any) -> list[str]:
    """Say what a node keeps for backward, in two lines."""
    if hasattr(node, "variable"):
        return ["saves nothing,", "adds to x.grad"]
    names = [name for name in dir(node) if name.startswith("_saved_")]
    assert len(names) == 1, names
    return [f"saves {SAVED[names[0].removeprefix('_saved_')]}", written(getattr(node, names[0]))]


def text(x: float, y: float, words: str, kind: str = "", anchor: str = "start") -> str:
    """Write a label."""
    return f'<text class="{f"label {kind}".strip()}" x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{words}</text>'


def box(y: float, width: float) -> str:
    """Draw the frame of a node at the left edge."""
    return f'<rect class="node" x="1.0" y="{y - BOX / 2:.1f}" width="{width:.1f}" height="{BOX:.1f}" rx="6"/>'


def arrow(x: float, start: float, end: float, kind: str) -> str:
    """Draw a vertical arrow."""
    back = 6.0 if end < start else -6.0
    head = f"M{x - 4.5:.1f} {end + back:.1f} L{x:.1f} {end:.1f} L{x + 4.5:.1f} {end + back:.1f}"
    return f'<path class="edge {kind}" d="M{x:.1f} {start:.1f} L{x:.1f} {end:.1f} {head}"/>'


def panel(name: str, title: str, parts: list[str]) -> str:
    """Put a panel together."""
    head = f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-labelledby="{name}"><title id="{name}">{title}</title>'
    return "\n".join([head, *parts, "</svg>"])


def render() -> str:
    """Return both panels."""
    values, nodes, gradients = record()
    wide, middle, gap = 146.0, 73.0, BOX / 2 + 4
    names = [type(node).__name__ for node in nodes]

    forward = []
    for y, value, words in zip(ROWS, values, ("x", "relu(x)", "relu(x).sum()"), strict=True):
        forward += [box(y, wide), text(middle, y + 5, written(value), anchor="middle"), text(wide + 14, y + 5, words, "fwd")]
    for y, below, words in zip(ROWS, ROWS[1:], ("relu", "sum"), strict=False):
        forward += [arrow(middle, y + gap, below - gap, "fwd"), text(middle + 12, (y + below) / 2 + 5, words, "fwd")]

    backward = []
    for y, name, node in zip(ROWS, names, nodes, strict=True):
        backward += [box(y, wide), text(middle, y + 5, name, "code", "middle")]
        backward += [text(wide + 14, y + 14 * i - 3, line) for i, line in enumerate(saved(node))]
    starts = [*(y - gap for y in ROWS[1:]), HEIGHT - 24.0]
    for start, y, gradient in zip(starts, ROWS, gradients, strict=False):
        backward.append(arrow(middle, start, y + gap, "bwd"))
        backward.append(text(middle + 12, (start + y + gap) / 2 + 5, written(gradient), "bwd"))
    backward += [arrow(middle, ROWS[0] - gap, 8, "bwd"), text(middle + 12, 18, f"x.grad = {written(gradients[-1])}", "bwd")]

    chain = ", then ".join(f"{name} receives {written(g)}" for name, g in reversed(list(zip(names, gradients, strict=False))))
    return "\n".join(
        [
            panel(
                "graph-forward",
                f"Forward: x is {written(values[0])}, relu gives {written(values[1])}, sum gives {written(values[2])}",
                forward,
            ),
            panel("graph-backward", f"Backward, from below: {chain}; x.grad is {written(gradients[-1])}", backward),
        ]
    )
