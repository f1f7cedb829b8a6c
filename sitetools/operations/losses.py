"""Losses and norms."""

import torch
from torch.nn import functional as F

from customgrad import functions
from sitetools.operation import Bench, Operation


def rms_composed(
    x: torch.Tensor, weight: torch.Tensor | None = None, eps: float = 0.0
) -> torch.Tensor:
    """Return RMSNorm as models write it."""
    eps = eps or torch.finfo(x.dtype).eps
    normal = x * torch.rsqrt(x.square().mean(-1, keepdim=True) + eps)
    return normal if weight is None else normal * weight


def rms_builtin(
    x: torch.Tensor, weight: torch.Tensor | None = None, eps: float | None = None
) -> torch.Tensor:
    """Return torch's own RMSNorm over the last dimension."""
    return F.rms_norm(x, x.shape[-1:], weight, eps)


def rows(count: int, size: int) -> tuple[torch.Tensor, ...]:
    """Return rows to normalise, and a weight."""
    return torch.randn(count, size), torch.randn(size)


OPERATIONS = (
    Operation(
        "rmsnorm", functions.RMSNorm, functions.rms_norm, rms_composed, rms_builtin,
        lambda draw: (draw(3, 3), draw(3)), elementwise=False, computed=1, apply=lambda f, *x: f(*x, None),
        bench=Bench({"8×16": lambda: rows(8, 16), "4096×1024": lambda: rows(4096, 1024)},
                    lambda: rows(4096, 1024), half="4096×1024"),
    ),
    Operation(
        "rmsnorm", functions.RMSNorm, functions.rms_norm, lambda x: rms_composed(x, eps=0.5),
        lambda x: rms_builtin(x, eps=0.5), lambda draw: (draw(2, 2, 2),), options={"eps": 0.5},
        apply=lambda f, x: f(x, None, 0.5), elementwise=False, computed=1, variant="no weight, with eps",
    ),
)  # fmt: skip
