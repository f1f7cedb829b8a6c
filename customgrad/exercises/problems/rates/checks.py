"""What is checked in an answer to the layers' rates exercise."""

import itertools
from typing import Any

import torch
from torch import nn

from customgrad.exercises.checking import Check, Seen

LR = 0.3
FACTOR = 0.5
CALLED = f"by_layer(model, lr={LR}, factor={FACTOR})"


class Block(nn.Module):
    """Two layers, one of them inside a Sequential."""

    def __init__(self) -> None:
        """Make the layers."""
        super().__init__()
        self.inner = nn.Sequential(nn.Linear(4, 4), nn.LayerNorm(4))
        self.outer = nn.Linear(4, 4)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Apply both."""
        result: torch.Tensor = self.outer(self.inner(x))
        return result


class Model(nn.Module):
    """Four layers with parameters, or with activations between them."""

    def __init__(self, activations: bool = False) -> None:
        """Make the layers."""
        super().__init__()
        self.first = nn.Linear(3, 4)
        if activations:
            self.relu = nn.ReLU()
        self.norm = nn.BatchNorm1d(4)
        self.block = Block()
        if activations:
            self.drop = nn.Dropout(0.5)
        self.head = nn.Linear(4, 2)
        if activations:
            self.last = nn.Tanh()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Apply one after the other."""
        for child in self.children():
            x = child(x)
        return x


def kind(answer: Any) -> Seen:
    """See what is returned."""
    optimizer = answer.by_layer(Model(), LR, FACTOR)
    is_one = isinstance(optimizer, torch.optim.Optimizer)
    return Seen(CALLED, {"returned": "an optimizer" if is_one else type(optimizer).__name__})


def complete(answer: Any) -> Seen:
    """See that every parameter is in one group."""
    model = Model()
    optimizer = answer.by_layer(model, LR, FACTOR)
    ids = [id(p) for group in optimizer.param_groups for p in group["params"]]
    names = dict(model.named_parameters())
    missing = [n for n, p in names.items() if id(p) not in ids]
    twice = [n for n, p in names.items() if ids.count(id(p)) > 1]
    values = {
        "parameters in no group": ", ".join(missing) or "none",
        "parameters that are there twice": ", ".join(twice) or "none",
    }
    return Seen(CALLED, values)


def rates(answer: Any, activations: bool) -> Seen:
    """See the learning rate of each layer, the last first."""
    model = Model(activations)
    optimizer = answer.by_layer(model, LR, FACTOR)
    rate = {id(p): float(g["lr"]) for g in optimizer.param_groups for p in g["params"]}
    values: dict[str, Any] = {}
    for name, child in reversed([*model.named_children()]):
        found = sorted({round(rate.get(id(p), 0.0), 12) for p in child.parameters()})
        if found:
            values[f"lr of {name}"] = found[0] if len(found) == 1 else found
    layers = ", ".join(name for name, _ in model.named_children())
    return Seen(f"{CALLED}; the model's layers are {layers}", values)


def moves(answer: Any) -> Seen:
    """See that a step goes further in a layer with a higher rate."""
    model = Model()
    optimizer = answer.by_layer(model, LR, FACTOR)
    before = {n: p.detach().clone() for n, p in model.named_parameters()}
    for p in model.parameters():
        p.grad = torch.ones_like(p)
    optimizer.step()
    moved = {n: float((p.detach() - before[n]).abs().mean()) for n, p in model.named_parameters()}
    order = [moved[f"{n}.weight"] for n in ("first", "norm", "block.outer", "head")]
    grows = all(a < b for a, b in itertools.pairwise(order))
    words = "grow from the first layer to the last" if grows else f"{order}"
    return Seen("one step with a gradient of ones", {"how far weights move": words})


EXPECTED = {"lr of head": 0.3, "lr of block": 0.15, "lr of norm": 0.075, "lr of first": 0.0375}

CHECKS = (
    Check(
        "an optimizer is returned",
        kind,
        {"returned": "an optimizer"},
        why="by_layer is to return an optimizer of torch.optim, ready to step",
    ),
    Check(
        "every parameter is in a group, once",
        complete,
        {"parameters in no group": "none", "parameters that are there twice": "none"},
        why="each parameter is to be in one group, once: in none it is never trained",
    ),
    Check(
        "the learning rate of each layer",
        lambda answer: rates(answer, False),
        EXPECTED,
        why="the last layer is to have lr, and each layer before it factor times as much",
    ),
    Check(
        "layers without parameters do not count",
        lambda answer: rates(answer, True),
        EXPECTED,
        why="with activations among the layers, which have no parameters, the rates are others",
    ),
    Check(
        "a step moves the last layer furthest",
        moves,
        {"how far weights move": "grow from the first layer to the last"},
        why="the groups have the right rates, and a step does not use them",
    ),
)
