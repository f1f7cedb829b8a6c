"""What is checked in an answer to the cube exercise."""

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
    returns,
    second,
    third,
    twice,
    untouched,
    value,
)

NAME = "Cube"
REFERENCE = SimpleNamespace(Cube=Composed(lambda x: x * x * x))
MATRIX = tensor([1.3, -2.6, 3.1], [-4.4, 5.7, -6.2])
SLOPE = "the gradient is to be grad_output times 3 times x squared"
SECOND = (
    "backward is differentiated, too: by x it is to give grad_output times 6 x, "
    "by grad_output 3 times x squared"
)

CHECKS = (
    function(NAME),
    value("the values", NAME, x=tensor(-2.5, -0.4, 1.3, 3.6), why="the output is to be x * x * x"),
    untouched(NAME, x=tensor(-1.3, 2.6, 0.4)),
    gradient(
        "the gradient",
        NAME,
        x=tensor(-2.5, -0.4, 1.3, 3.6),
        g=tensor(0.6, -1.7, 2.4, 5.2),
        why=SLOPE,
    ),
    gradient("the gradient at 0", NAME, x=tensor(0.0, -1.4), why=SLOPE),
    keeps("no input or output is kept on ctx itself", NAME, plainly, x=tensor(-1.3, 3.2)),
    interleaved(NAME, {"x": tensor(-1.2, 1.7)}, {"x": tensor(1.4, -1.9)}),
    twice(NAME, x=tensor(-1.2, 2.6)),
    second("the second derivative", NAME, x=tensor(-1.5, 0.7, 2.2), why=SECOND),
    second("the second derivative at 0", NAME, x=tensor(0.0, 1.7), why=SECOND),
    third(
        "the third derivative",
        NAME,
        x=tensor(-1.5, 0.7, 2.2),
        why="the third derivative of the cube is 6, and what backward computes with does not lead there",
    ),
    gradient(
        "inside a larger graph",
        NAME,
        wrap=lambda apply, x: apply(3 * x) ** 2,
        wrapped="y = Cube.apply(3 * x) ** 2, then backward(grad_output)",
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
