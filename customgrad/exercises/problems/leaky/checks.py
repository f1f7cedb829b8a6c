"""What is checked in an answer to the leaky ReLU exercise."""

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
    LeakyReLU=Composed(lambda x, slope: x * torch.where(x > 0, 1.0, slope).detach().to(x.dtype))
)
NAME = "LeakyReLU"
X = tensor(-3.0, -0.5, 1.5, 2.5)
G = tensor(0.7, -1.1, 2.3, -1.9)
MATRIX = tensor([1.5, -2.5, 3.0], [-4.0, 5.0, -6.5])

CHECKS = (
    function(NAME),
    value("the values", NAME, x=tensor(-3.0, -0.5, 0.0, 1.5, 2.5), slope=0.3),
    value("the values where the slope is greater than 1", NAME, x=X, slope=3.5),
    value("the values where the slope is negative", NAME, x=X, slope=-0.25),
    value("the values where the slope is 0", NAME, x=X, slope=0.0),
    unchanged(NAME, x=X, slope=0.3),
    gradient("the gradient where x is not 0", NAME, x=X, slope=0.3, g=G),
    gradient("the gradient at 0", NAME, x=tensor(0.0, 1.5), slope=0.3, g=tensor(5.0, -7.0)),
    gradient("the gradient at -0.0", NAME, x=tensor(-0.0, 1.5), slope=0.3, g=tensor(5.0, -7.0)),
    gradient("the gradient where the slope is negative", NAME, x=X, slope=-0.25, g=G),
    gradient("the gradient where the slope is 0", NAME, x=X, slope=0.0, g=G),
    gradient("the gradient where the slope is greater than 1", NAME, x=X, slope=3.5, g=G),
    untouched(NAME, x=X, slope=0.3),
    keeps("one tensor is kept, by save_for_backward", NAME, only("any"), x=X, slope=0.3),
    gradient(
        "inside a larger graph",
        NAME,
        wrap=lambda apply, x, slope: apply(3 * x, slope) ** 3,
        wrapped="y = LeakyReLU.apply(3 * x, slope) ** 3, then backward(grad_output)",
        x=tensor(-0.5, 0.25),
        slope=0.3,
    ),
    interleaved(
        NAME,
        {"x": tensor(-3.0, 0.5), "slope": 0.3},
        {"x": tensor(1.5, -5.0), "slope": 0.2},
    ),
    interleaved(
        NAME,
        {"x": tensor(-3.0, 0.5), "slope": 0.3},
        {"x": tensor(-3.0, 0.5), "slope": 0.2},
    ),
    twice(NAME, x=X, slope=0.3),
    gradient(
        "the gradient of a 0-d tensor", NAME, x=torch.tensor(-1.5, dtype=torch.float64), slope=0.3
    ),
    gradient(
        "the gradient of an empty tensor",
        NAME,
        x=torch.empty(0, 3, dtype=torch.float64),
        slope=0.3,
    ),
    gradient("the gradient of a transposed matrix", NAME, x=MATRIX.T, slope=0.3, g=MATRIX.T + 10),
    dtypes(NAME, ("float32", "float64"), x=X, slope=0.3),
    returns(NAME, x=X, slope=0.3),
)
