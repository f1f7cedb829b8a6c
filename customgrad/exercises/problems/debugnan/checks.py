"""What is checked in an answer to the exercise on a gradient that is not a number."""

import math
from types import SimpleNamespace

import torch

from customgrad.exercises.checking import Composed, tensor
from customgrad.exercises.looks import dtypes, function, gradient, interleaved, untouched, value


def log_cosh(x: torch.Tensor) -> torch.Tensor:
    """Compute it without overflow, from torch's own softplus, which has no linear part here."""
    a = x.abs()
    return a + torch.nn.functional.softplus(-2 * a, threshold=1e9) - math.log(2)


NAME = "LogCosh"
REFERENCE = SimpleNamespace(LogCosh=Composed(log_cosh))
X = tensor(-1.5, 0.25, 2.0)
G = tensor(3.0, -5.0, 0.5)

CHECKS = (
    function(NAME),
    value("the values", NAME, x=X),
    gradient("the gradient", NAME, x=X, g=G),
    gradient("the gradient at 0", NAME, x=tensor(0.0, 1.0), g=tensor(3.0, -5.0)),
    value("the values at -800 and 800", NAME, x=tensor(-800.0, 0.5, 800.0)),
    gradient("the gradient at -800 and 800", NAME, x=tensor(-800.0, 0.5, 800.0), g=G),
    gradient("the gradient at -50 and 50", NAME, x=tensor(-50.0, 30.0, 50.0), g=G),
    value("the values at 100 in float32", NAME, x=tensor(-100.0, 90.0, 0.5, dtype=torch.float32)),
    gradient(
        "the gradient at 100 in float32", NAME, x=tensor(-100.0, 90.0, 0.5, dtype=torch.float32)
    ),
    untouched(NAME, x=X),
    interleaved(NAME, {"x": X}, {"x": -2 * X}),
    dtypes(NAME, x=X),
)
