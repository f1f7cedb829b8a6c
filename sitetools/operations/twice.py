"""Second derivatives: what backward needs is computed again, or is an output."""

import torch

from customgrad import functions
from sitetools.operation import Operation


def cubed(x: torch.Tensor) -> torch.Tensor:
    """Return the third power, as torch computes it."""
    return torch.pow(x, 3)


OPERATIONS = (
    Operation(
        "cube", functions.Cube, functions.cube, lambda x: x * x * x, cubed,
        forward_mode=functions.CubeForwardMode,
    ),
    Operation(
        "exp", functions.Exp, functions.exp, torch.exp, torch.exp, computed=1,
        forward_mode=functions.ExpForwardMode,
    ),
    Operation(
        "sinh", functions.Sinh, functions.sinh, lambda x: (x.exp() - (-x).exp()) / 2, torch.sinh,
        apply=lambda apply, x: apply(x)[0], computed=2,
    ),
)  # fmt: skip
