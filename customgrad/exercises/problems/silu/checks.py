"""What is checked in an answer to the SiLU exercise."""

from types import SimpleNamespace

import torch

from customgrad.exercises.checking import Composed, tensor
from customgrad.exercises.looks import (
    dtypes,
    function,
    gradient,
    interleaved,
    keeps,
    only,
    returns,
    twice,
    untouched,
    value,
)

NAME = "SiLU"
REFERENCE = SimpleNamespace(SiLU=Composed(torch.nn.functional.silu))
MATRIX = tensor([1.3, -2.6, 3.1], [-4.4, 5.7, -6.2])
LARGE = tensor(-800.0, -90.0, 90.0, 800.0)
SLOPE = (
    "the gradient is to be grad_output times s * (1 + x * (1 - s)), where s is the sigmoid of x: "
    "the product rule for x * s"
)

CHECKS = (
    function(NAME),
    value(
        "the values",
        NAME,
        x=tensor(-2.5, -0.4, 0.0, 1.3, 3.6),
        why="the output is to be x times the sigmoid of x",
    ),
    untouched(NAME, x=tensor(-1.3, 2.6, 0.4)),
    gradient(
        "the gradient",
        NAME,
        x=tensor(-2.5, -0.4, 1.3, 3.6),
        g=tensor(0.6, -1.7, 2.4, 5.2),
        why=SLOPE,
    ),
    gradient("the gradient at 0", NAME, x=tensor(0.0, -1.4), why=SLOPE),
    keeps("the input alone", NAME, only("input"), x=tensor(-1.3, 3.2, 0.6)),
    interleaved(NAME, {"x": tensor(-1.2, 1.7)}, {"x": tensor(1.4, -1.9)}),
    twice(NAME, x=tensor(-1.2, 2.6)),
    value(
        "the values of large numbers",
        NAME,
        x=LARGE,
        why="for large x the output is x, and for very negative x it is 0",
    ),
    gradient(
        "the gradient at large numbers",
        NAME,
        x=LARGE,
        why="for large x the slope is 1, and for very negative x it is 0",
    ),
    gradient(
        "inside a larger graph",
        NAME,
        wrap=lambda apply, x: apply(3 * x) ** 2,
        wrapped="y = SiLU.apply(3 * x) ** 2, then backward(grad_output)",
        x=tensor(-1.1, 0.7, 2.2),
        why=SLOPE,
    ),
    value("the value of a 0-d tensor", NAME, x=torch.tensor(3.7, dtype=torch.float64)),
    gradient("the gradient of a 0-d tensor", NAME, x=torch.tensor(3.7, dtype=torch.float64)),
    gradient("the gradient of an empty tensor", NAME, x=torch.empty(0, 3, dtype=torch.float64)),
    gradient("the gradient of a transposed matrix", NAME, x=MATRIX.T, g=MATRIX.T + 10),
    returns(NAME, x=MATRIX),
    dtypes(NAME, ("float16", "float32", "float64"), x=tensor(-1.3, 2.6)),
)
