"""Layers."""

import torch
from torch.nn import functional as F

from customgrad import functions
from sitetools.operation import Bench, Operation


def batch(rows: int, columns: int, out: int) -> tuple[torch.Tensor, ...]:
    """Return the inputs of a linear layer."""
    return torch.randn(rows, columns), torch.randn(out, columns), torch.randn(out)


OPERATIONS = (
    Operation(
        "linear", functions.Linear, functions.linear, F.linear, F.linear,
        lambda draw: (draw(2, 3), draw(4, 3), draw(4)), elementwise=False,
        bench=Bench.of(
            {"8×16 by 32×16": lambda: batch(8, 16, 32), "1024×512 by 512×512": lambda: batch(1024, 512, 512)}
        ),
    ),
    Operation(
        "linear", functions.Linear, functions.linear, F.linear, F.linear,
        lambda draw: (draw(3), draw(2, 3)), elementwise=False, variant="a vector, no bias",
    ),
)  # fmt: skip
