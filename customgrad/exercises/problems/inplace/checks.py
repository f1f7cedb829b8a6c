"""What is checked in an answer to the exercise on a Function in place."""

from types import SimpleNamespace
from typing import Any

import torch

from customgrad.exercises.checking import Check, Composed, Seen, leaf, tensor
from customgrad.exercises.looks import function, gradient

REFERENCE = SimpleNamespace(Scale_=Composed(lambda x, factor: x.mul_(factor)))
NAME = "Scale_"
X = tensor(-3.0, 0.5, 1.5)
G = tensor(0.7, -1.1, 2.3)
Y = "y = Scale_.apply(h, 2.5)"


def result(answer: Any) -> Seen:
    """See what the call returns, and what became of its argument."""
    h = X.clone()
    y = answer.Scale_.apply(h, 2.5)
    same = (
        "h itself" if y is h else "another tensor" if isinstance(y, torch.Tensor) else "no tensor"
    )
    return Seen(Y, {"h after the call": h.clone(), "what is returned": same}, {"h": X})


def by(name: str) -> Any:
    """Return a look at the gradient through the result, or through the changed tensor."""

    def see(answer: Any) -> Seen:
        x = leaf(X)
        h = 3 * x
        y = answer.Scale_.apply(h, 2.5)
        end = y if name == "y" else h
        (found,) = torch.autograd.grad(end, x, G.clone(), allow_unused=True)
        called = f"h = 3 * x, {Y}, then {name}.backward(grad_output)"
        return Seen(called, {"gradient of x": found}, {"x": X, "grad_output": G})

    return see


def stale(answer: Any) -> Seen:
    """See that autograd refuses a value that was saved before the change."""
    x = leaf(X)
    h = 3 * x
    z = h * h
    answer.Scale_.apply(h, 2.5)
    try:
        torch.autograd.grad(z.sum(), x)
    except RuntimeError:
        said = "refused"
    else:
        said = "computed with a changed value"
    return Seen(f"h = 3 * x, z = h * h, {Y}, then z.sum().backward()", {"backward of z": said})


def given(answer: Any) -> Seen:
    """See that grad_output stays as it was."""
    x, g = leaf(X), G.clone()
    answer.Scale_.apply(3 * x, 2.5).backward(g)
    values = {"grad_output after backward": "as it was" if torch.equal(g, G) else "changed"}
    return Seen(f"{Y}, then y.backward(grad_output)", values, {"x": X})


def calls(answer: Any) -> Seen:
    """Call twice, then run both backward passes."""
    first, then = leaf(X), leaf(X)
    runs = [(t, answer.Scale_.apply(3 * t, f)) for t, f in ((first, 2.5), (then, -0.5))]
    found = [torch.autograd.grad(y, t, G.clone())[0] for t, y in runs]
    values = {"gradient of x, call 1": found[0], "gradient of x, call 2": found[1]}
    return Seen("two calls with 2.5 and -0.5, then both backwards", values, {"x": X})


CHECKS = (
    function(NAME),
    Check(
        "h is changed in place, and returned",
        result,
        {"h after the call": 2.5 * X, "what is returned": "h itself"},
        why="the same tensor that was handed in is to be changed and returned, and no copy of it",
    ),
    Check("the gradient through the result", by("y")),
    Check(
        "the gradient through the changed tensor",
        by("h"),
        why="autograd does not know that h was changed: it still has the old way to compute it",
    ),
    Check(
        "a value that was saved before the change is refused",
        stale,
        {"backward of z": "refused"},
        why="h was changed behind autograd's back, so a backward that saved h computes with wrong values",
    ),
    Check("grad_output stays as it was", given, {"grad_output after backward": "as it was"}),
    gradient(
        "inside a larger graph",
        NAME,
        wrap=lambda apply, x, factor: apply(x**2, factor).sin(),
        wrapped="y = Scale_.apply(x ** 2, factor).sin(), then backward(grad_output)",
        x=X,
        factor=-1.5,
        g=G,
    ),
    Check("two calls do not mix", calls),
)
