"""Activations."""

from typing import Any

import torch
from torch.nn import functional as F

from customgrad import functions
from sitetools.operation import Bench, Call, Operation


def keeping(what: str) -> Call:
    """Return the ReLU that keeps this."""
    return lambda x: functions.relu(x, keep=what)


class Published(torch.autograd.Function):
    """ReLU as many posts have it: two copies, and a gradient of 1 at 0."""

    @staticmethod
    def forward(ctx: Any, input: torch.Tensor) -> torch.Tensor:
        """Keep the input."""
        ctx.save_for_backward(input)
        return input.clamp(min=0)

    @staticmethod
    def backward(ctx: Any, grad_output: torch.Tensor) -> torch.Tensor:
        """Copy the cotangent and write zeros into it."""
        (input,) = ctx.saved_tensors
        grad_input = grad_output.clone()
        grad_input[input < 0] = 0
        return grad_input


def of_a_copy(relu_: Call, x: torch.Tensor) -> torch.Tensor:
    """Return what an operation makes of a copy, which it may write over."""
    result: torch.Tensor = relu_(x.clone() if isinstance(x, torch.Tensor) else x)
    return result


def relu_of_a_copy(x: torch.Tensor) -> torch.Tensor:
    """Return torch's ReLU, in place."""
    return F.relu(x.clone(), inplace=True)


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
        "relus", functions.ReLUFromOutput, functions.relu, F.relu, F.relu, computed=1,
        bench=Bench(
            cases={
                "`keep='input'`": keeping("input"), "`keep='mask'`": keeping("mask"),
                "`keep='bits'`": keeping("bits"), "published": Published.apply,
            },
            half="1e7",
        ),
    ),
    Operation(
        "relus", functions.ReLUFromInput, functions.relu, F.relu, F.relu, options={"keep": "input"},
        apply=lambda apply, x: apply(x), variant="keeps its input",
    ),
    Operation(
        "relus", functions.ReLUFromMask, functions.relu, F.relu, F.relu, options={"keep": "mask"},
        apply=lambda apply, x: apply(x), variant="keeps a mask", computed=1, file="relumasks",
    ),
    Operation(
        "relus", functions.ReLUPacked, functions.relu, F.relu, F.relu, options={"keep": "bits"},
        apply=lambda apply, x: apply(x), variant="keeps bits", computed=1, file="relumasks",
    ),
    Operation(
        "relus", functions.ReLUInPlace, functions.relu_, F.relu, relu_of_a_copy, computed=1,
        apply=lambda apply, x: apply(x.clone()), through=of_a_copy,
    ),
    Operation(
        "silu", functions.SiLU, functions.silu, lambda x: x * torch.sigmoid(x), F.silu,
        forward_mode=functions.SiLUForwardMode,
    ),
)  # fmt: skip
