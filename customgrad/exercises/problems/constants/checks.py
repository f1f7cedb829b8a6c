"""What is checked in an answer to the constants exercise."""

from types import SimpleNamespace
from typing import Any

from customgrad.exercises.checking import Composed, tensor
from customgrad.exercises.looks import (
    dtypes,
    function,
    gradient,
    interleaved,
    keeps,
    plainly,
    returns,
    twice,
    unchanged,
    untouched,
    value,
)


def affine(x: Any, scale: float, shift: float, mode: str) -> Any:
    """Compute it with torch's operations."""
    y = x.mul(scale).add(shift)
    return y.pow(2) if mode == "square" else y


REFERENCE = SimpleNamespace(Affine=Composed(affine))
NAME = "Affine"
X = tensor(-3.0, 0.5, 1.5)
G = tensor(0.7, -1.1, 2.3)
PLAIN: dict[str, Any] = {"x": X, "scale": 2.5, "shift": -0.75, "mode": "plain"}
SQUARE: dict[str, Any] = {**PLAIN, "mode": "square"}

CHECKS = (
    function(NAME),
    value('the values, mode "plain"', NAME, **PLAIN),
    value('the values, mode "square"', NAME, **SQUARE),
    unchanged(NAME, **SQUARE),
    gradient('the gradient, mode "plain"', NAME, g=G, **PLAIN),
    gradient('the gradient, mode "square"', NAME, g=G, **SQUARE),
    returns(NAME, "backward returns one value for each argument", **SQUARE),
    untouched(NAME, **SQUARE),
    keeps("tensors are kept by save_for_backward", NAME, plainly, **SQUARE),
    interleaved(NAME, PLAIN, SQUARE),
    interleaved(NAME, SQUARE, {**SQUARE, "scale": -1.5}),
    interleaved(NAME, SQUARE, {**SQUARE, "shift": 4.0}),
    twice(NAME, **SQUARE),
    dtypes(NAME, ("float32", "float64"), **SQUARE),
)
