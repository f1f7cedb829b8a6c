"""What is checked in an answer to the exercise on memory that is never freed."""

import gc
import weakref
from types import SimpleNamespace
from typing import Any

import torch

from customgrad.exercises.checking import Check, Composed, Seen, leaf, tensor
from customgrad.exercises.looks import dtypes, function, gradient, interleaved, untouched, value

NAME = "Sigmoid"
REFERENCE = SimpleNamespace(Sigmoid=Composed(torch.sigmoid))
X = tensor(-1.5, 0.25, 2.0)
G = tensor(3.0, -5.0, 0.5)
RIGHT = G * torch.sigmoid(X) * (1 - torch.sigmoid(X))


def freed(backward: bool) -> Any:
    """Return what sees whether an output lives on after its last name is gone."""

    def see(answer: Any) -> Seen:
        enabled = gc.isenabled()
        gc.disable()
        try:
            y = answer.Sigmoid.apply(leaf(X))
            if backward:
                y.backward(G)
            alive = weakref.ref(y)
            node = weakref.ref(y.grad_fn)
            del y
            held = alive() is not None or node() is not None
        finally:
            if enabled:
                gc.enable()
        then = ", backward(grad_output)" if backward else ""
        words = "still in memory" if held else "freed"
        return Seen(f"y = Sigmoid.apply(x){then}, del y", {"output and graph": words}, {"x": X})

    return see


def overwritten(answer: Any) -> Seen:
    """See whether a change of the output is noticed by backward."""
    x = leaf(X)
    y = answer.Sigmoid.apply(x)
    y.detach().mul_(3.0)
    try:
        y.backward(G)
    except RuntimeError as error:
        noticed = "modified by an inplace operation" in str(error)
        words = "an error" if noticed else f"another error: {str(error)[:60]}"
    else:
        fine = x.grad is not None and torch.allclose(x.grad, RIGHT)
        words = "an error" if fine else "a wrong gradient, and no error"
    called = "y = Sigmoid.apply(x), y.detach().mul_(3), y.backward(grad_output)"
    return Seen(called, {"what comes of it": words}, {"x": X})


def later(answer: Any) -> Seen:
    """See the gradient where nobody but the graph holds the output."""
    x = leaf(X)
    total = (answer.Sigmoid.apply(x) * G).sum()
    total.backward()
    return Seen("(Sigmoid.apply(x) * g).sum().backward()", {"gradient of x": x.grad}, {"x": X})


CHECKS = (
    function(NAME),
    value("the values", NAME, x=X),
    gradient("the gradient", NAME, x=X, g=G),
    Check(
        "the output is freed if backward never runs",
        freed(False),
        {"output and graph": "freed"},
        why="something keeps the output alive after its last name is gone: ctx, the class or a list",
    ),
    Check(
        "the output is freed after backward",
        freed(True),
        {"output and graph": "freed"},
        why="something keeps the output alive after backward",
    ),
    Check(
        "the gradient where nobody else holds the output",
        later,
        why="the gradient is only right as long as somebody outside holds the output",
    ),
    Check(
        "an output that was overwritten is noticed",
        overwritten,
        {"what comes of it": "an error"},
        why="the output is overwritten between forward and backward, and backward uses it unseen",
    ),
    untouched(NAME, x=X),
    interleaved(NAME, {"x": X}, {"x": -2 * X}),
    dtypes(NAME, x=X),
)
