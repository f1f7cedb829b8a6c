"""What is checked in an answer to the rounding exercise."""

from types import SimpleNamespace

import torch

from customgrad.exercises.checking import Composed, tensor
from customgrad.exercises.looks import (
    dtypes,
    function,
    gradient,
    interleaved,
    keeps,
    plainly,
    twice,
    untouched,
    value,
)

NAME = "RoundSTE"
REFERENCE = SimpleNamespace(RoundSTE=Composed(lambda x: x + (x.round() - x).detach()))
MATRIX = tensor([1.3, -2.6, 3.1], [-4.4, 5.7, -6.2])
PASSES = "the gradient is to be grad_output as it arrives, whatever x is and wherever it rounds to"

CHECKS = (
    function(NAME),
    value(
        "the values",
        NAME,
        x=tensor(-2.7, -0.44, 1.23, 3.6),
        why="the output is to be the nearest whole number, as torch.round gives it",
    ),
    value(
        "the values at halves",
        NAME,
        x=tensor(-1.5, -0.5, 0.5, 1.5, 2.5, 3.5),
        why="halves are to go to the even neighbour, as torch.round has it",
    ),
    untouched(NAME, x=tensor(-1.3, 2.6, 0.4)),
    gradient(
        "the gradient",
        NAME,
        x=tensor(-2.7, -0.4, 0.8, 2.0, 3.6),
        g=tensor(0.3, -1.7, 2.4, -0.6, 5.2),
        why=PASSES,
    ),
    gradient("the gradient at halves", NAME, x=tensor(-1.5, 0.5, 1.5, 2.5), why=PASSES),
    keeps("no input or output is kept on ctx itself", NAME, plainly, x=tensor(-1.3, 2.6, 3.2)),
    gradient(
        "inside a larger graph",
        NAME,
        wrap=lambda apply, x: apply(3 * x) ** 2,
        wrapped="y = RoundSTE.apply(3 * x) ** 2, then backward(grad_output)",
        x=tensor(-1.1, 0.7, 2.2),
        why=PASSES,
    ),
    interleaved(NAME, {"x": tensor(-1.2, 1.7)}, {"x": tensor(1.4, -1.9)}),
    twice(NAME, x=tensor(-1.2, 2.6)),
    value("the value of a 0-d tensor", NAME, x=torch.tensor(3.7, dtype=torch.float64)),
    gradient("the gradient of a 0-d tensor", NAME, x=torch.tensor(3.7, dtype=torch.float64)),
    gradient("the gradient of an empty tensor", NAME, x=torch.empty(0, 3, dtype=torch.float64)),
    gradient("the gradient of a transposed matrix", NAME, x=MATRIX.T, g=MATRIX.T + 10),
    dtypes(NAME, ("float16", "float32", "float64"), x=tensor(-1.3, 2.6)),
    value(
        "numbers larger than an integer type holds",
        NAME,
        x=tensor(3e9, -5e18, 1e30),
        why="the output is to be a float all the way: integer types end at about 2e9 or 9e18",
    ),
)
