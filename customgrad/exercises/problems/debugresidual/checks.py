"""What is checked in an answer to the exercise on a gradient beside a shortcut."""

from types import SimpleNamespace

import torch

from customgrad.exercises.checking import Composed, tensor
from customgrad.exercises.looks import (
    dtypes,
    function,
    gradient,
    interleaved,
    twice,
    untouched,
    value,
)

NAME = "HardTanh"
REFERENCE = SimpleNamespace(HardTanh=Composed(lambda x: torch.clamp(x, -1, 1)))
X = tensor(-3.0, 0.25, 2.0, -0.3)
G = tensor(10.0, -20.0, 30.0, 5.0)

CHECKS = (
    function(NAME),
    value("the values", NAME, x=X),
    gradient("the gradient", NAME, x=X, g=G),
    gradient(
        "the gradient beside a shortcut",
        NAME,
        wrap=lambda apply, x: apply(x) + x,
        wrapped="y = HardTanh.apply(x) + x, then backward(grad_output)",
        x=X,
        g=G,
    ),
    untouched(NAME, x=X),
    gradient(
        "inside a larger graph",
        NAME,
        wrap=lambda apply, x: apply(2 * x) ** 2,
        wrapped="y = HardTanh.apply(2 * x) ** 2, then backward(grad_output)",
        x=X,
    ),
    interleaved(NAME, {"x": X}, {"x": X.flip(0)}),
    twice(NAME, x=X),
    gradient(
        "infinite grad_output outside the range", NAME, x=X, g=tensor(float("inf"), 1.0, 2.0, 3.0)
    ),
    dtypes(NAME, x=X),
)
