"""What is checked in an answer to the exercise on the shape of a gradient."""

from types import SimpleNamespace

import torch

from customgrad.exercises.checking import Composed, tensor
from customgrad.exercises.looks import dtypes, function, gradient, interleaved, untouched, value

NAME = "Gain"
REFERENCE = SimpleNamespace(Gain=Composed(torch.mul))
X = tensor([1.0, -2.0, 0.5], [3.0, 0.25, -1.5])
G = tensor([10.0, -20.0, 5.0], [0.5, 30.0, -40.0])
CUBE = torch.linspace(-2.0, 3.0, 24, dtype=torch.float64).reshape(4, 2, 3)

CHECKS = (
    function(NAME),
    value("the values", NAME, x=X, gain=tensor(0.7, -3.0, 5.0)),
    gradient("a gain for each column, (3,)", NAME, x=X, gain=tensor(0.7, -3.0, 5.0), g=G),
    gradient("a gain for each column, (1, 3)", NAME, x=X, gain=tensor([0.7, -3.0, 5.0]), g=G),
    gradient("a gain for each row, (2, 1)", NAME, x=X, gain=tensor([0.7], [-3.0]), g=G),
    gradient(
        "a gain of the same shape", NAME, x=X, gain=tensor([0.7, -3.0, 5.0], [2.5, 0.1, -4.0]), g=G
    ),
    gradient("one gain for all, 0-d", NAME, x=X, gain=torch.tensor(0.7, dtype=torch.float64), g=G),
    gradient("three axes, a gain for each column", NAME, x=CUBE, gain=tensor(0.7, -3.0, 5.0)),
    gradient("three axes, a gain (2, 1)", NAME, x=CUBE, gain=tensor([0.7], [-3.0])),
    gradient("x smaller than gain", NAME, x=tensor([0.7], [-3.0]), gain=X, g=G),
    untouched(NAME, x=X, gain=tensor(0.7, -3.0, 5.0)),
    interleaved(
        NAME,
        {"x": X, "gain": tensor(0.7, -3.0, 5.0)},
        {"x": -2 * X, "gain": tensor([1.5, 2.0, -0.1])},
    ),
    dtypes(NAME, x=X, gain=tensor(0.7, -3.0, 5.0)),
)
