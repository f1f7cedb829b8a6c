"""What is checked in an answer to the exercise on needs_input_grad."""

from types import SimpleNamespace
from typing import Any

import torch

from customgrad.exercises.checking import Check, Composed, Seen, leaf, tensor
from customgrad.exercises.guard import products
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

REFERENCE = SimpleNamespace(MatMul=Composed(lambda a, b: (a[:, :, None] * b).sum(1)))
NAME = "MatMul"
A = tensor([1.5, -2.5, 3.0], [-4.0, 5.0, 0.5])
B = tensor([0.7, 1.3, -0.9, 0.2], [2.2, -0.4, 3.1, 1.7], [-1.1, 0.6, 2.4, -0.8])
G = tensor([0.6, -1.7, 2.9, 1.2], [-0.8, 1.1, 3.7, -2.3])


def work(alone: str) -> Check:
    """See what backward does where one input alone needs a gradient."""
    other = "b" if alone == "a" else "a"

    def see(answer: Any) -> Seen:
        given = {"a": A, "b": B}
        leaves = {k: leaf(v, k == alone) for k, v in given.items()}
        output = answer.MatMul.apply(*leaves.values())
        with products() as count:
            made = output.grad_fn.apply(G.clone())
        made = made if isinstance(made, tuple) else (made,)
        names = dict(zip(given, made, strict=False))
        values = {
            f"what backward returns for {other}": "None"
            if names.get(other) is None
            else "a gradient that nobody needs",
            "matrix products in backward": len(count),
        }
        return Seen(f"MatMul.apply(a, b) where {alone} alone needs a gradient", values, given)

    return Check(
        f"no work for {other}, where {alone} alone needs a gradient",
        see,
        {f"what backward returns for {other}": "None", "matrix products in backward": 1},
        why=f"backward multiplies matrices for {other} as well, and nobody needs the result",
    )


CHECKS = (
    function(NAME),
    value("the values", NAME, a=A, b=B),
    unchanged(NAME, a=A, b=B),
    gradient("the gradients", NAME, a=A, b=B, g=G),
    needs(NAME, a=A, b=B),
    work("a"),
    work("b"),
    untouched(NAME, a=A, b=B),
    keeps("what is kept, is kept by save_for_backward", NAME, plainly, a=A, b=B),
    gradient(
        "the same square matrix twice",
        NAME,
        wrap=lambda apply, a: apply(a, a),
        wrapped="MatMul.apply(a, a), then backward(grad_output)",
        a=B[:, :3],
    ),
    interleaved(NAME, {"a": A, "b": B}, {"a": A + 1, "b": B - 2}),
    twice(NAME, a=A, b=B),
    gradient(
        "transposed matrices",
        NAME,
        a=A.T.contiguous().T,
        b=B.T.contiguous().T,
        g=G.T.contiguous().T,
    ),
    gradient("an empty matrix", NAME, a=torch.empty(0, 3).double(), b=B),
    dtypes(NAME, ("float32", "float64"), a=A, b=B),
    returns(NAME, a=A, b=B),
)
