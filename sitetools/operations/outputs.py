"""Several inputs and outputs: some without gradients, some absent, some inside lists and dicts."""

import torch

from customgrad import functions
from sitetools.operation import Bench, Operation


def rows(count: int, size: int) -> tuple[torch.Tensor, ...]:
    """Return one matrix."""
    return (torch.randn(count, size),)


def two_largest(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Return what torch's own finds."""
    values, indices = torch.topk(x, 2)
    return values, indices


ROWS = Bench(
    {"10×10": lambda: rows(10, 10), "1000×1000": lambda: rows(1000, 1000)}, lambda: rows(1000, 1000)
)

OPERATIONS = (
    Operation(
        "sort", functions.Sort, functions.sort, lambda x: x.gather(-1, x.argsort(-1)), torch.sort,
        options={"dim": -1, "descending": False, "stable": False}, elementwise=False, computed=1, bench=ROWS,
    ),
    Operation(
        "sort", functions.Sort, functions.sort, lambda x: x.gather(0, x.argsort(0, descending=True)),
        options={"dim": 0, "descending": True, "stable": True}, elementwise=False, computed=1,
        variant="down, along the first dimension",
    ),
    Operation(
        "topk", functions.TopK, functions.topk, lambda x: x.gather(-1, x.argsort(-1, descending=True)[..., :2]),
        two_largest, options={"k": 2, "dim": -1, "largest": True, "sorted": True},
        elementwise=False, computed=1, bench=ROWS,
    ),
    Operation(
        "topk", functions.TopK, functions.topk, lambda x: x.gather(0, x.argsort(0)[:1]),
        options={"k": 1, "dim": 0, "largest": False, "sorted": False}, elementwise=False, computed=1,
        variant="smallest, along the first dimension",
    ),
    Operation(
        "sincos", functions.SinCos, functions.sincos, lambda x: (x.sin(), x.cos()),
        elementwise=False, computed=2,
    ),
)  # fmt: skip
