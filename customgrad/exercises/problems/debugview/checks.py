"""What is checked in an answer to the exercise on strides."""

from types import SimpleNamespace

import torch

from customgrad.exercises.checking import Composed, tensor
from customgrad.exercises.looks import dtypes, function, gradient, interleaved, untouched, value

NAME = "Softsign"
REFERENCE = SimpleNamespace(Softsign=Composed(torch.nn.functional.softsign))
X = tensor([1.0, -2.0, 0.5], [3.0, 0.25, -1.5])
G = tensor([10.0, -20.0, 5.0], [0.5, 30.0, -40.0])
WIDE = torch.linspace(-2.0, 3.0, 18, dtype=torch.float64).reshape(3, 6)

CHECKS = (
    function(NAME),
    value("the values", NAME, x=X),
    gradient("the gradient", NAME, x=X, g=G),
    value("the values of a transposed matrix", NAME, x=X.T),
    gradient("the gradient of a transposed matrix", NAME, x=X.T, g=G.T.contiguous()),
    gradient("a transposed grad_output", NAME, x=X, g=G.T.contiguous().T),
    gradient("the gradient of every second column", NAME, x=WIDE[:, ::2], g=WIDE[:, 1::2]),
    gradient(
        "before a transpose",
        NAME,
        wrap=lambda apply, x: apply(x).T @ tensor([0.5], [-3.0]),
        wrapped="Softsign.apply(x).T @ [[0.5], [-3.0]], then backward(grad_output)",
        x=X,
    ),
    gradient("the gradient of a 0-d tensor", NAME, x=torch.tensor(-0.5, dtype=torch.float64)),
    gradient("the gradient of an empty tensor", NAME, x=torch.empty(0, 3, dtype=torch.float64)),
    untouched(NAME, x=X),
    interleaved(NAME, {"x": X}, {"x": -2 * X}),
    dtypes(NAME, x=X),
)
