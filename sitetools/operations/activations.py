"""Activations."""

import torch
from torch.nn import functional as F

from customgrad import functions
from sitetools.operation import Operation

OPERATIONS = (
    Operation(
        "relu", functions.CustomReLU, functions.custom_relu, F.relu, F.relu,
        lacks={"vmap": "the exercise's `forward(ctx, input)` is a signature that `torch.func` does not take."},
    ),
    Operation(
        "silu", functions.SiLU, functions.silu, lambda x: x * torch.sigmoid(x), F.silu,
        forward_mode=functions.SiLUForwardMode,
    ),
)  # fmt: skip
