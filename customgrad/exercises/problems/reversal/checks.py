"""What is checked in an answer to the reversal exercise."""

from types import SimpleNamespace
from typing import Any

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
    twice,
    untouched,
    value,
)

NAME = "GradReverse"


def reversal(x: Any, lam: float) -> Any:
    """Return x, with -lam times its gradient: the parts that differ are constants."""
    return x.detach() + lam * (x.detach() - x)


REFERENCE = SimpleNamespace(GradReverse=Composed(reversal))
MATRIX = tensor([1.3, -2.6, 3.1], [-4.4, 5.7, -6.2])
FORWARD = "the output is to be x, unchanged"
BACKWARD = "the gradient with respect to x is to be -lam * grad_output"

CHECKS = (
    function(NAME),
    value("the values", NAME, x=tensor(-2.7, -0.4, 0.0, 3.6), lam=0.3, why=FORWARD),
    value("the values for another lam", NAME, x=tensor(-1.9, 0.8), lam=2.5, why=FORWARD),
    untouched(NAME, x=tensor(-1.3, 2.6, 0.4), lam=0.7),
    gradient(
        "the gradient",
        NAME,
        x=tensor(-2.7, -0.4, 0.8, 3.6),
        lam=0.3,
        g=tensor(0.6, -1.7, 2.4, 5.2),
        why=BACKWARD,
    ),
    gradient("the gradient for a lam above 1", NAME, x=tensor(-1.9, 0.8), lam=2.5, why=BACKWARD),
    gradient("the gradient for lam = 0", NAME, x=tensor(-1.9, 0.8, 1.1), lam=0.0, why=BACKWARD),
    keeps("no input or output is kept on ctx itself", NAME, plainly, x=tensor(-1.3, 3.2), lam=0.7),
    gradient(
        "inside a larger graph",
        NAME,
        wrap=lambda apply, x, lam: apply(3 * x, lam) ** 2 + x,
        wrapped="y = GradReverse.apply(3 * x, lam) ** 2 + x, then backward(grad_output)",
        x=tensor(-1.1, 0.7, 2.2),
        lam=0.6,
        why=BACKWARD,
    ),
    interleaved(NAME, {"x": tensor(-1.2, 1.7), "lam": 0.4}, {"x": tensor(1.4, -1.9), "lam": 1.5}),
    twice(NAME, x=tensor(-1.2, 2.6), lam=0.7),
    value("the value of a 0-d tensor", NAME, x=torch.tensor(3.7, dtype=torch.float64), lam=0.7),
    gradient(
        "the gradient of a 0-d tensor", NAME, x=torch.tensor(3.7, dtype=torch.float64), lam=0.7
    ),
    gradient(
        "the gradient of an empty tensor",
        NAME,
        x=torch.empty(0, 3, dtype=torch.float64),
        lam=0.7,
    ),
    gradient("the gradient of a transposed matrix", NAME, x=MATRIX.T, lam=0.7, g=MATRIX.T + 10),
    returns(NAME, x=MATRIX, lam=0.7),
    dtypes(NAME, ("float16", "float32", "float64"), x=tensor(-1.3, 2.6), lam=0.7),
)
