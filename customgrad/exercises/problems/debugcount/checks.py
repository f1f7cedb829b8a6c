"""What is checked in an answer to the exercise on the number of gradients."""

from types import SimpleNamespace

import torch

from customgrad.exercises.checking import Composed, tensor
from customgrad.exercises.looks import dtypes, function, gradient, interleaved, untouched, value

NAME = "ScaledTanh"
REFERENCE = SimpleNamespace(
    ScaledTanh=Composed(lambda x, scale, shift: torch.tanh(x) * scale + shift)
)
X = tensor(-1.5, 0.25, 0.75)
G = tensor(3.0, -5.0, 0.5)

CHECKS = (
    function(NAME),
    value("the values", NAME, x=X, scale=3.0, shift=0.0),
    value("the values with a shift", NAME, x=X, scale=3.0, shift=0.7),
    gradient("the gradient", NAME, x=X, scale=3.0, shift=0.7, g=G),
    gradient("the gradient for another scale", NAME, x=X, scale=-0.4, shift=0.0, g=G),
    untouched(NAME, x=X, scale=3.0, shift=0.7),
    interleaved(
        NAME,
        {"x": X, "scale": 3.0, "shift": 0.7},
        {"x": -X * 2, "scale": 5.0, "shift": -0.2},
    ),
    gradient(
        "inside a larger graph",
        NAME,
        wrap=lambda apply, x, scale, shift: apply(2 * x, scale, shift) ** 2,
        wrapped="y = ScaledTanh.apply(2 * x, scale, shift) ** 2, then backward(grad_output)",
        x=X,
        scale=3.0,
        shift=0.7,
    ),
    gradient(
        "the gradient of a matrix",
        NAME,
        x=tensor([0.5, -2.0, 1.0], [0.1, 3.0, -0.3]),
        scale=3.0,
        shift=0.7,
    ),
    dtypes(NAME, x=X, scale=3.0, shift=0.7),
)
