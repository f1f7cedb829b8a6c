"""What is checked in an answer to the multiply exercise."""

from types import SimpleNamespace

import torch

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

REFERENCE = SimpleNamespace(Multiply=Composed(torch.mul))
NAME = "Multiply"
A = tensor([1.5, -2.5, 3.0], [-4.0, 5.0, 0.5])
B = tensor([0.7, 1.3, -0.9], [2.2, -0.4, 3.1])
G = tensor([0.6, -1.7, 2.9], [-0.8, 1.1, 3.7])
ROW = tensor(0.7, 1.3, -0.9)
COLUMN = tensor([1.5], [-2.5])
BLOCK = torch.arange(-11.0, 13.0, dtype=torch.float64).reshape(4, 2, 3) * 0.3
NUMBER = torch.tensor(2.5, dtype=torch.float64)
SHAPE = "backward itself returns the shapes of a and b"

CHECKS = (
    function(NAME),
    value("the values", NAME, a=A, b=B),
    unchanged(NAME, a=A, b=B),
    gradient("the gradients of two matrices", NAME, a=A, b=B, g=G),
    untouched(NAME, a=A, b=B),
    keeps("what is kept, is kept by save_for_backward", NAME, plainly, a=A, b=B),
    value("the values of a matrix and a row", NAME, a=A, b=ROW),
    gradient("the gradients of a matrix and a row", NAME, a=A, b=ROW, g=G),
    gradient("the gradients of a row and a matrix", NAME, a=ROW, b=A, g=G),
    returns(NAME, f"a matrix and a row: {SHAPE}", a=A, b=ROW),
    returns(NAME, f"a row and a matrix: {SHAPE}", a=ROW, b=A),
    gradient("the gradients of a column and a matrix", NAME, a=COLUMN, b=B, g=G),
    gradient("the gradients of a matrix and a column", NAME, a=B, b=COLUMN, g=G),
    returns(NAME, f"a column and a matrix: {SHAPE}", a=COLUMN, b=B),
    returns(NAME, f"a matrix and a column: {SHAPE}", a=B, b=COLUMN),
    gradient("the gradients of a column and a row", NAME, a=COLUMN, b=ROW, g=G),
    gradient("the gradients of a 3-d tensor and a column", NAME, a=BLOCK, b=COLUMN),
    returns(NAME, f"a 3-d tensor and a column: {SHAPE}", a=BLOCK, b=COLUMN),
    gradient("the gradients of a matrix and a 0-d tensor", NAME, a=A, b=NUMBER, g=G),
    returns(NAME, f"a matrix and a 0-d tensor: {SHAPE}", a=A, b=NUMBER),
    gradient("the gradients of two 0-d tensors", NAME, a=NUMBER, b=NUMBER - 4),
    gradient(
        "the same tensor twice",
        NAME,
        wrap=lambda apply, x: apply(x, x),
        wrapped="Multiply.apply(x, x), then backward(grad_output)",
        x=ROW,
    ),
    needs(NAME, a=A, b=ROW),
    gradient(
        "inside a larger graph",
        NAME,
        wrap=lambda apply, a, b: (apply(3 * a, b) ** 2).sum(),
        wrapped="y = (Multiply.apply(3 * a, b) ** 2).sum(), then backward(grad_output)",
        a=A,
        b=ROW,
    ),
    gradient(
        "the sum of the output",
        NAME,
        wrap=lambda apply, a, b: apply(a, b).sum(),
        wrapped="y = Multiply.apply(a, b).sum(), then backward(grad_output)",
        a=A,
        b=ROW,
    ),
    interleaved(NAME, {"a": A, "b": ROW}, {"a": B, "b": ROW + 1}),
    twice(NAME, a=A, b=ROW),
    gradient("the gradients of transposed matrices", NAME, a=A.T, b=B.T, g=G.T),
    gradient("the gradients of empty tensors", NAME, a=torch.empty(0, 3).double(), b=ROW),
    dtypes(NAME, ("float32", "float64"), a=A, b=ROW),
    returns(NAME, a=A, b=B),
)
