"""What is checked in an answer to the exercise on a wrong second derivative."""

from types import SimpleNamespace

import torch

from customgrad.exercises.checking import Composed, tensor
from customgrad.exercises.looks import (
    dtypes,
    function,
    gradient,
    interleaved,
    second,
    untouched,
    value,
)

NAME = "Swish"
REFERENCE = SimpleNamespace(Swish=Composed(torch.nn.functional.silu))
X = tensor(-1.5, 0.25, 2.0)
G = tensor(3.0, -5.0, 0.5)

CHECKS = (
    function(NAME),
    value("the values", NAME, x=X),
    gradient("the gradient", NAME, x=X, g=G),
    second(
        "the second derivative",
        NAME,
        why="the gradient is right, and its own derivative is not: something that backward uses "
        "is a constant to autograd",
        x=X,
    ),
    second("the second derivative of a matrix", NAME, x=tensor([0.5, -2.0, 1.0], [0.1, 3.0, -0.3])),
    untouched(NAME, x=X),
    interleaved(NAME, {"x": X}, {"x": -2 * X}),
    gradient("the gradient at -50 and 50", NAME, x=tensor(-50.0, 50.0)),
    dtypes(NAME, x=X),
)
