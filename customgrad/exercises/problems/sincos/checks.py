"""What is checked in an answer to the sincos exercise."""

from types import SimpleNamespace

import torch

from customgrad.exercises.checking import Composed, tensor
from customgrad.exercises.looks import (
    dtypes,
    function,
    gradient,
    interleaved,
    keeps,
    only,
    returns,
    twice,
    unchanged,
    untouched,
    value,
)

REFERENCE = SimpleNamespace(SinCos=Composed(lambda x: (torch.sin(x), torch.cos(x))))
NAME = "SinCos"
X = tensor(-1.2, 0.4, 2.5)
FIRST, SECOND = tensor(0.7, -1.1, 2.3), tensor(-3.1, 0.9, 1.7)
MATRIX = tensor([0.5, -1.5, 1.0], [-2.0, 0.25, -0.5])

CHECKS = (
    function(NAME),
    value("the values", NAME, x=X),
    unchanged(NAME, x=X),
    gradient(
        "the gradient where the sine alone is used",
        NAME,
        use=(0,),
        wrapped="sin, cos = SinCos.apply(x), then sin.backward(grad_output)",
        x=X,
        g=FIRST,
    ),
    gradient(
        "the gradient where the cosine alone is used",
        NAME,
        use=(1,),
        wrapped="sin, cos = SinCos.apply(x), then cos.backward(grad_output)",
        x=X,
        g=SECOND,
    ),
    gradient("the gradient where both are used", NAME, x=X, g=(FIRST, SECOND)),
    untouched(NAME, x=X),
    keeps("one or two tensors are kept, by save_for_backward", NAME, only("any", 2), x=X),
    gradient(
        "inside a larger graph",
        NAME,
        wrap=lambda apply, x: apply(3 * x)[0] ** 3 * apply(x)[1],
        wrapped="y = SinCos.apply(3 * x)[0] ** 3 * SinCos.apply(x)[1], then backward(grad_output)",
        x=tensor(-0.5, 0.25),
    ),
    interleaved(NAME, {"x": tensor(-1.5, 0.5)}, {"x": tensor(1.2, -0.7)}),
    twice(NAME, x=X),
    gradient("the gradient of a 0-d tensor", NAME, x=torch.tensor(1.5, dtype=torch.float64)),
    gradient("the gradient of an empty tensor", NAME, x=torch.empty(0, 3, dtype=torch.float64)),
    gradient("the gradient of a transposed matrix", NAME, x=MATRIX.T, g=(MATRIX.T + 10, MATRIX.T)),
    dtypes(NAME, ("float32", "float64"), x=X),
    returns(NAME, x=X),
)
