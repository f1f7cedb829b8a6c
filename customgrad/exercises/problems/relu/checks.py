"""What is checked in an answer to the ReLU exercise."""

from types import SimpleNamespace
from typing import Any

import torch

from customgrad.exercises.checking import Check, Composed, Seen, leaf, tensor
from customgrad.exercises.looks import (
    dtypes,
    function,
    gradient,
    interleaved,
    keeps,
    only,
    twice,
    untouched,
    value,
)

REFERENCE = SimpleNamespace(CustomReLU=Composed(torch.relu))
DEMO = {"output": [0.0, 0.0, 0.0, 1.0, 2.0], "grad": [0.0, 0.0, 0.0, 1.0, 1.0]}
NAME = "CustomReLU"
MATRIX = tensor([1.0, -2.0, 3.0], [-4.0, 5.0, -6.0])


def demo(answer: Any) -> Seen:
    """See what the demo returns; an answer without one is judged by its Function alone."""
    run = getattr(answer, "custom_relu_demo", None)
    return Seen("custom_relu_demo()", {"the dictionary": run() if run else DEMO})


def not_a_number(answer: Any) -> Seen:
    """See what becomes of NaN."""
    x = leaf(tensor(float("nan")))
    return Seen("CustomReLU.apply(x)", {"output": answer.CustomReLU.apply(x).detach()}, {"x": x})


CHECKS = (
    function(NAME),
    value("the values", NAME, x=tensor(-2.0, -1.0, 0.0, 0.5, 3.0)),
    gradient("the gradient where x is not 0", NAME, x=tensor(-2.0, -0.5, 0.25, 3.0)),
    gradient("the gradient at 0", NAME, x=tensor(0.0, 1.0)),
    gradient("the gradient at -0.0", NAME, x=tensor(-0.0, 1.0)),
    gradient(
        "an uneven, partly negative grad_output",
        NAME,
        x=tensor(-1.0, 1.0, 2.0, 3.0),
        g=tensor(10.0, -20.0, 30.0, 0.0),
    ),
    untouched(NAME, x=tensor(-1.0, 2.0)),
    keeps("one tensor is kept, by save_for_backward", NAME, only("any"), x=tensor(-1.0, 2.0, 3.0)),
    gradient(
        "inside a larger graph",
        NAME,
        wrap=lambda apply, x: apply(2 * x) ** 2,
        wrapped="y = CustomReLU.apply(2 * x) ** 2, then backward(grad_output)",
        x=tensor(-1.0, 3.0),
    ),
    interleaved(NAME, {"x": tensor(-1.0, 1.0)}, {"x": tensor(1.0, -1.0)}),
    twice(NAME, x=tensor(-1.0, 1.0)),
    value("the value of a 0-d tensor", NAME, x=torch.tensor(3.0, dtype=torch.float64)),
    gradient("the gradient of a 0-d tensor", NAME, x=torch.tensor(3.0, dtype=torch.float64)),
    gradient("the gradient of an empty tensor", NAME, x=torch.empty(0, 3, dtype=torch.float64)),
    gradient("the gradient of a transposed matrix", NAME, x=MATRIX.T, g=MATRIX.T + 10),
    dtypes(NAME, ("float16", "float32", "float64"), x=tensor(-1.0, 2.0)),
    Check("the demo's dictionary", demo, {"the dictionary": DEMO}),
    Check("a NaN input", not_a_number, {"output": tensor(float("nan"))}, note=True),
)
