"""What is checked in an answer to the exercise on an output without a gradient."""

from types import SimpleNamespace
from typing import Any

import torch

from customgrad.exercises.checking import Check, Composed, Seen, leaf, tensor
from customgrad.exercises.looks import (
    dtypes,
    function,
    gradient,
    keeps,
    plainly,
    unchanged,
    untouched,
    value,
)


def max_mask(x: Any) -> Any:
    """Compute it with torch's operations."""
    mask = (x == x.amax(-1, keepdim=True)).to(x.dtype).detach()
    return (x * mask).sum(-1), mask


REFERENCE = SimpleNamespace(MaxMask=Composed(max_mask))
NAME = "MaxMask"
X = tensor([1.5, -2.5, 3.0], [-4.0, -5.0, -0.5])
CUBE = tensor([[1.5, 2.5], [3.0, -1.0], [0.5, 0.7]], [[-4.0, -5.0], [0.25, 8.0], [6.0, 1.0]])
G = tensor(0.7, -2.3)


def marked(answer: Any) -> Seen:
    """See which outputs require a gradient."""
    outputs = answer.MaxMask.apply(leaf(X))
    words = ["requires a gradient" if t.requires_grad else "requires no gradient" for t in outputs]
    return Seen(
        "largest, mask = MaxMask.apply(x)",
        dict(zip(("largest", "mask"), words, strict=False)),
        {"x": X},
    )


def two_calls(answer: Any) -> Seen:
    """Call twice, then run both backward passes."""
    first, then = leaf(X), leaf(-X)
    runs = [(t, answer.MaxMask.apply(t)[0]) for t in (first, then)]
    found = [torch.autograd.grad(out, t, G.clone())[0] for t, out in runs]
    values = {"gradient of x, call 1": found[0], "gradient of x, call 2": found[1]}
    return Seen("two calls of MaxMask.apply, then both backwards", values, {"x": X})


CHECKS = (
    function(NAME),
    value("the values", NAME, x=X),
    unchanged(NAME, x=X),
    gradient(
        "the gradient",
        NAME,
        use=(0,),
        wrapped="largest, mask = MaxMask.apply(x), then largest.backward(grad_output)",
        x=X,
        g=G,
    ),
    Check(
        "the mask requires no gradient",
        marked,
        {"largest": "requires a gradient", "mask": "requires no gradient"},
        why="mask.requires_grad is to be False: autograd takes every float output for differentiable",
    ),
    gradient(
        "the mask used as a constant",
        NAME,
        wrap=lambda apply, x: (lambda pair: pair[0] * (pair[1] * x).sum(-1))(apply(x)),
        wrapped="largest, mask = MaxMask.apply(x), y = largest * (mask * x).sum(-1), then backward",
        x=X,
        g=G,
    ),
    untouched(NAME, x=X),
    keeps("what is kept, is kept by save_for_backward", NAME, plainly, x=X),
    Check("two calls do not mix", two_calls),
    value("the values of a 3-d tensor", NAME, x=CUBE),
    gradient("the gradient of a 3-d tensor", NAME, use=(0,), x=CUBE),
    gradient("the gradient of one row", NAME, use=(0,), x=X[0]),
    dtypes(NAME, ("float32", "float64"), x=X),
)
