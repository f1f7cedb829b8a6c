"""What is checked in an answer to the exercise on the modern style."""

from types import SimpleNamespace
from typing import Any

import torch

from customgrad.exercises.checking import Check, Composed, Seen, tensor
from customgrad.exercises.looks import (
    function,
    gradient,
    interleaved,
    keeps,
    only,
    returns,
    unchanged,
    untouched,
    value,
)

REFERENCE = SimpleNamespace(ScaledCube=Composed(lambda x, scale: x * x * x * scale))
NAME = "ScaledCube"
X = tensor(-3.0, 0.5, 1.5)
ROWS = tensor([-3.0, 0.5, 1.5], [0.25, -1.25, 2.5])
G = tensor(0.7, -1.1, 2.3)
SUM = "f = lambda x: ScaledCube.apply(x, 2.5).sum()"


def functional(answer: Any) -> Seen:
    """See what torch.func.grad gives."""
    found = torch.func.grad(lambda x: answer.ScaledCube.apply(x, 2.5).sum())(X.clone())
    return Seen(f"{SUM}, then torch.func.grad(f)(x)", {"gradient of x": found}, {"x": X})


def mapped(answer: Any) -> Seen:
    """See what torch.vmap gives."""
    found = torch.vmap(lambda x: answer.ScaledCube.apply(x, 2.5))(ROWS.clone())
    return Seen("torch.vmap(lambda x: ScaledCube.apply(x, 2.5))(x)", {"output": found}, {"x": ROWS})


def each(answer: Any) -> Seen:
    """See what both together give."""
    one = torch.func.grad(lambda x: (answer.ScaledCube.apply(x, 2.5) ** 2).sum())
    found = torch.vmap(one)(ROWS.clone())
    called = "f = lambda x: (ScaledCube.apply(x, 2.5) ** 2).sum(), then torch.vmap(torch.func.grad(f))(x)"
    return Seen(called, {"gradient of x": found}, {"x": ROWS})


def again(answer: Any) -> Seen:
    """See the second derivative."""
    one = torch.func.grad(lambda x: answer.ScaledCube.apply(x, 2.5).sum())
    found = torch.func.grad(lambda x: (one(x) ** 2).sum())(X.clone())
    called = f"{SUM}, then the gradient of (torch.func.grad(f)(x) ** 2).sum()"
    return Seen(called, {"second derivative by x": found}, {"x": X})


CHECKS = (
    function(NAME, ("forward", "backward", "setup_context")),
    value("the values", NAME, x=X, scale=2.5),
    unchanged(NAME, x=X, scale=2.5),
    gradient("the gradient", NAME, x=X, scale=2.5, g=G),
    Check("torch.func.grad", functional),
    Check("torch.vmap", mapped),
    Check("torch.vmap of torch.func.grad", each),
    Check("torch.func.grad twice", again),
    untouched(NAME, x=X, scale=2.5),
    keeps("one tensor is kept, by save_for_backward", NAME, only("any"), x=X, scale=2.5),
    interleaved(NAME, {"x": X, "scale": 2.5}, {"x": X + 1, "scale": 2.5}),
    interleaved(NAME, {"x": X, "scale": 2.5}, {"x": X, "scale": -1.5}),
    returns(NAME, x=X, scale=2.5),
)
