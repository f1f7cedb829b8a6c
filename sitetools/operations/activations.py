"""Activations."""

import torch
from torch.nn import functional as F

from customgrad import functions
from sitetools.operation import Operation


def composed_leaky_relu(x: torch.Tensor, slope: float = 0.01) -> torch.Tensor:
    """Return what is written by hand."""
    return torch.where(x > 0, x, slope * x)


OPERATIONS = (
    Operation(
        "relu", functions.CustomReLU, functions.custom_relu, F.relu, F.relu,
        lacks={"vmap": "the exercise's `forward(ctx, input)` is a signature that `torch.func` does not take."},
    ),
    Operation(
        "leaky", functions.LeakyReLU, functions.leaky_relu, composed_leaky_relu, F.leaky_relu,
        apply=lambda apply, x: apply(x, 0.01), computed=1,
    ),
    Operation(
        "leaky", functions.LeakyReLU, functions.leaky_relu, lambda x: composed_leaky_relu(x, 0.3),
        options={"negative_slope": 0.3}, computed=1, variant="steeper",
    ),
    Operation(
        "silu", functions.SiLU, functions.silu, lambda x: x * torch.sigmoid(x), F.silu,
        forward_mode=functions.SiLUForwardMode,
    ),
)  # fmt: skip
