"""What is checked in an answer to the exp exercise."""

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

REFERENCE = SimpleNamespace(Exp=Composed(lambda x: (x / 2).exp() ** 2))
NAME = "Exp"
X = tensor(-1.5, 0.25, 2.0)
MATRIX = tensor([0.5, -1.5, 1.0], [-2.0, 0.25, -0.5])

CHECKS = (
    function(NAME),
    value("the values", NAME, x=tensor(-1.5, 0.0, 0.25, 2.0)),
    unchanged(NAME, x=X),
    gradient("the gradient", NAME, x=X, g=tensor(0.7, -1.1, 2.3)),
    gradient("the gradient at 0", NAME, x=tensor(0.0, 0.5), g=tensor(5.0, -7.0)),
    untouched(NAME, x=X),
    keeps("the output alone is kept, by save_for_backward", NAME, only("output"), x=X),
    gradient(
        "inside a larger graph",
        NAME,
        wrap=lambda apply, x: apply(3 * x) ** 3,
        wrapped="y = Exp.apply(3 * x) ** 3, then backward(grad_output)",
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
