"""What is checked in an answer to the linear exercise."""

from types import SimpleNamespace
from typing import Any

from customgrad.exercises.checking import Composed, tensor
from customgrad.exercises.looks import (
    dtypes,
    function,
    gradient,
    interleaved,
    keeps,
    needs,
    plainly,
    returns,
    twice,
    unchanged,
    untouched,
    value,
)


def linear(x: Any, weight: Any, bias: Any) -> Any:
    """Compute it with a sum of products."""
    output = (x[:, None, :] * weight).sum(-1)
    return output if bias is None else output + bias


REFERENCE = SimpleNamespace(Linear=Composed(linear))
NAME = "Linear"
X = tensor([1.5, -2.5, 3.0], [-4.0, 5.0, 0.5], [0.2, 0.9, -1.1], [2.6, -0.3, 1.7])
W = tensor([0.7, 1.3, -0.9], [2.2, -0.4, 3.1])
B = tensor(10.5, -20.25)
G = tensor([0.6, -1.7], [2.9, -0.8], [1.1, 3.7], [-2.3, 0.4])
ALL: dict[str, Any] = {"x": X, "weight": W, "bias": B}
NONE: dict[str, Any] = {"x": X, "weight": W, "bias": None}
SMALL: dict[str, Any] = {"x": X[:2] + 1, "weight": W - 1, "bias": B * 2}
EMPTY: dict[str, Any] = {"x": X[:0], "weight": W, "bias": B}
STRIDED: dict[str, Any] = {"x": X.T.contiguous().T, "weight": W.T.contiguous().T, "bias": B}

CHECKS = (
    function(NAME),
    value("the values without a bias", NAME, **NONE),
    value("the values with a bias", NAME, **ALL),
    unchanged(NAME, **ALL),
    gradient("the gradients without a bias", NAME, g=G, **NONE),
    gradient("the gradients with a bias", NAME, g=G, **ALL),
    returns(NAME, "backward itself returns the shapes of x, weight and bias", **ALL),
    returns(NAME, "backward returns None for a bias that is None", **NONE),
    untouched(NAME, **ALL),
    keeps("what is kept, is kept by save_for_backward", NAME, plainly, **ALL),
    needs(NAME, **ALL),
    value("the values of a batch of one", NAME, x=X[:1], weight=W, bias=B),
    value("the values of one output", NAME, x=X, weight=W[:1], bias=B[:1]),
    gradient("a batch of one", NAME, g=G[:1], x=X[:1], weight=W, bias=B),
    gradient("one output", NAME, g=G[:, :1], x=X, weight=W[:1], bias=B[:1]),
    gradient("a square weight", NAME, g=X.flip(0), x=X, weight=X[:3], bias=X[3]),
    gradient("an empty batch", NAME, **EMPTY),
    gradient(
        "inside a larger graph",
        NAME,
        wrap=lambda apply, x, weight, bias: (apply(2 * x, weight, bias) ** 2).sum(),
        wrapped="y = (Linear.apply(2 * x, weight, bias) ** 2).sum(), then backward(grad_output)",
        **ALL,
    ),
    gradient(
        "the sum of the output",
        NAME,
        wrap=lambda apply, x, weight, bias: apply(x, weight, bias).sum(),
        wrapped="y = Linear.apply(x, weight, bias).sum(), then backward(grad_output)",
        **ALL,
    ),
    gradient("transposed matrices", NAME, g=G.T.contiguous().T, **STRIDED),
    interleaved(NAME, ALL, SMALL),
    interleaved(NAME, NONE, SMALL),
    twice(NAME, **ALL),
    dtypes(NAME, ("float32", "float64"), **ALL),
)
