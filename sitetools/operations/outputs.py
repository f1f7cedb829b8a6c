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


def layer(count: int, size: int) -> tuple[torch.Tensor, ...]:
    """Return a matrix, with a weight and a bias for each column."""
    return torch.randn(count, size), torch.randn(size), torch.randn(size)


def three(count: int) -> tuple[torch.Tensor, ...]:
    """Return three tensors of one size."""
    return tuple(torch.randn(count) for _ in range(3))


def total_norm(*tensors: torch.Tensor) -> torch.Tensor:
    """Return the norm of all tensors' norms."""
    norm = torch.linalg.vector_norm
    total: torch.Tensor = norm(torch.stack([norm(x) for x in tensors]))
    return total


ROWS = Bench.of({"10×10": lambda: rows(10, 10), "1000×1000": lambda: rows(1000, 1000)})

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
    Operation(
        "affine", functions.Affine, functions.affine, lambda x, w, b: x * w + b, None,
        lambda draw: (draw(3, 3), draw(3), draw(3)), elementwise=False,
        bench=Bench.of({"10×10": lambda: layer(10, 10), "1000×1000": lambda: layer(1000, 1000)}),
    ),
    Operation(
        "affine", functions.Affine, functions.affine, lambda x, w: x * w, None,
        lambda draw: (draw(3, 3), draw(3, 1)), elementwise=False, variant="a weight for each row",
    ),
    Operation(
        "affine", functions.Affine, functions.affine, lambda x, b: x + b, None,
        lambda draw: (draw(3, 3), draw()), elementwise=False, variant="a bias alone",
        apply=lambda apply, x, b: apply(x, None, b), through=lambda call, x, b: call(x, None, b),
    ),
    Operation(
        "affine", functions.Affine, functions.affine, lambda x: x.clone(), variant="neither",
        apply=lambda apply, x: apply(x, None, None),
    ),
    Operation(
        "pytree", functions.TreeNorm, functions.tree_norm,
        total_norm, None,
        lambda draw: (draw(2, 2), draw(4), draw()), elementwise=False, computed=1,
        through=lambda call, x, *rest: call({"a": x, "b": list(rest)}), first=r"(tree\['a'\](\[0\])?|tensors\[0\])",
        bench=Bench(
            {"3 tensors of 10": lambda: three(10), "3 tensors of 1e6": lambda: three(10**6)},
            lambda: three(10**6)[:1],
        ),
    ),
)  # fmt: skip
