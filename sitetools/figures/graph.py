"""The graph of relu(x).sum(): what forward computes, and what each node of backward saved."""

from typing import Any

import torch

from sitetools.figures import panel, path, text

HEIGHT = 290
ROWS = (44, 138, 232)
"""Middle of each row: the input, the output of relu, the sum."""
WIDE, HIGH = 146, 36
"""Size of a box."""
MIDDLE, BESIDE = WIDE / 2 + 1, WIDE + 14
GAP = HIGH / 2 + 4
"""From the middle of a box to the end of an arrow."""
SAVED = {"result": "its output", "self_sym_sizes": "the shape"}
"""What the two nodes save, by torch's name for it."""


def record() -> tuple[list[torch.Tensor], list[Any], list[torch.Tensor]]:
    """Return forward's values, backward's nodes, and the gradients on the way.

    Values and nodes stand in forward's order; gradient i is what node i received, and the last
    one is what x.grad is in the end.
    """
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
        value = value.long().tolist()
    return str(value).replace("-", "\u2212")


def saved(node: Any) -> tuple[str, str]:
    """Say in two lines what a node keeps for backward."""
    if hasattr(node, "variable"):
        return "saves nothing,", "adds to x.grad"
    (name,) = (name for name in dir(node) if name.startswith("_saved_"))
    return f"saves {SAVED[name.removeprefix('_saved_')]}", written(getattr(node, name))


def box(y: float, words: str, kind: str) -> list[str]:
    """Return a box with words in it."""
    place = f'x="1" y="{y - HIGH / 2:.1f}" width="{WIDE}" height="{HIGH}"'
    return [f'<rect class="node" {place} rx="6"/>', text(MIDDLE, y + 5, words, kind, "middle")]


def arrow(start: float, end: float, words: str, kind: str) -> list[str]:
    """Return a vertical arrow with words beside it."""
    x, back = MIDDLE, 6 if end < start else -6
    return [
        path([(x, start), (x, end)], f"edge {kind}"),
        path([(x - 4.5, end + back), (x, end), (x + 4.5, end + back)], f"edge {kind}"),
        text(x + 12, (start + end) / 2 + 5, words, f"label {kind}"),
    ]


def render() -> str:
    """Return both panels."""
    values, nodes, gradients = record()
    names = [type(node).__name__ for node in nodes]
    told = [written(gradient) for gradient in gradients]

    forward = []
    for y, value, words in zip(ROWS, values, ("x", "relu(x)", "relu(x).sum()"), strict=True):
        forward += [*box(y, written(value), "label"), text(BESIDE, y + 5, words, "label fwd")]
    for y, below, words in zip(ROWS, ROWS[1:], ("relu", "sum"), strict=False):
        forward += arrow(y + GAP, below - GAP, words, "fwd")

    backward = []
    for y, name, node in zip(ROWS, names, nodes, strict=True):
        first, second = saved(node)
        backward += [
            *box(y, name, "label code"),
            text(BESIDE, y - 4, first),
            text(BESIDE, y + 15, second),
        ]
    for y, below, words in zip(ROWS, [*ROWS[1:], HEIGHT + 4], told, strict=False):
        backward += arrow(below - GAP, y + GAP, words, "bwd")
    backward += arrow(ROWS[0] - GAP, 6, f"x.grad = {told[-1]}", "bwd")

    first = f"Forward: x is {written(values[0])}, relu gives {written(values[1])}"
    steps = [f"{name} receives {got}" for name, got in zip(names, told, strict=False)]
    return "\n".join(
        [
            panel("graph-forward", f"{first}, sum gives {written(values[2])}", HEIGHT, forward),
            panel(
                "graph-backward",
                f"Backward, from below: {', '.join(reversed(steps))}; x.grad is {told[-1]}",
                HEIGHT,
                backward,
            ),
        ]
    )
