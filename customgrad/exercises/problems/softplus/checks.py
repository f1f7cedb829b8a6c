"""What is checked in an answer to the softplus exercise."""

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
    unchanged,
    untouched,
    value,
)

REFERENCE = SimpleNamespace(
    Softplus=Composed(lambda x: torch.logaddexp(x, torch.zeros((), dtype=x.dtype)))
)
NAME = "Softplus"
X = tensor(-1.5, 0.25, 2.0)
G = tensor(0.7, -1.1, 2.3)
MATRIX = tensor([0.5, -1.5, 1.0], [-2.0, 0.25, -0.5])
SINGLE = torch.float32

CHECKS = (
    function(NAME),
    value("the values", NAME, tolerance=1e-9, x=tensor(-1.5, 0.0, 0.25, 2.0, 6.0, 11.0)),
    unchanged(NAME, x=X),
    gradient("the gradient", NAME, x=X, g=G),
    gradient("the gradient at 0", NAME, x=tensor(0.0, 0.5), g=tensor(5.0, -7.0)),
    value(
        "the values at -800 and 800",
        NAME,
        x=tensor(-800.0, 800.0),
        why="softplus is x itself at 800, and 0 at -800: forward clips there, or replaces what overflowed",
    ),
    value("the values at -30 and 30", NAME, x=tensor(-30.0, 30.0)),
    gradient(
        "the gradient at -800 and 800",
        NAME,
        x=tensor(-800.0, 800.0),
        g=tensor(3.0, -7.0),
        why="the derivative is 1 at 800, and 0 at -800: backward treats large x in another way",
    ),
    gradient("the gradient at -30 and 30", NAME, x=tensor(-30.0, 30.0), g=tensor(3.0, -7.0)),
    value(
        "the values in float32",
        NAME,
        x=tensor(-800.0, -100.0, -1.5, 0.5, 100.0, 800.0, dtype=SINGLE),
        tolerance=1e-5,
    ),
    gradient(
        "the gradient in float32",
        NAME,
        x=tensor(-800.0, -100.0, -1.5, 0.5, 100.0, 800.0, dtype=SINGLE),
        g=tensor(3.0, -7.0, 2.0, -5.0, 11.0, -4.0, dtype=SINGLE),
        tolerance=1e-5,
    ),
    untouched(NAME, x=X),
    keeps("one tensor is kept, by save_for_backward", NAME, only("any"), x=X),
    gradient(
        "inside a larger graph",
        NAME,
        wrap=lambda apply, x: apply(3 * x) ** 3,
        wrapped="y = Softplus.apply(3 * x) ** 3, then backward(grad_output)",
        x=tensor(-0.5, 0.25),
    ),
    interleaved(NAME, {"x": tensor(-1.5, 0.5)}, {"x": tensor(1.5, -0.5)}),
    twice(NAME, x=X),
    value("the value of a 0-d tensor", NAME, x=torch.tensor(1.5, dtype=torch.float64)),
    gradient("the gradient of a 0-d tensor", NAME, x=torch.tensor(1.5, dtype=torch.float64)),
    gradient("the gradient of an empty tensor", NAME, x=torch.empty(0, 3, dtype=torch.float64)),
    gradient("the gradient of a transposed matrix", NAME, x=MATRIX.T, g=MATRIX.T + 10),
    dtypes(NAME, ("float32", "float64"), x=X),
    returns(NAME, x=X),
)
