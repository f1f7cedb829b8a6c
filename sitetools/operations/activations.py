"""Activations."""

import math
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


def composed_gelu(x: torch.Tensor) -> torch.Tensor:
    """Return what is written by hand."""
    return 0.5 * x * (1 + torch.erf(x / math.sqrt(2)))


def composed_gelu_by_tanh(x: torch.Tensor) -> torch.Tensor:
    """Return what is written by hand."""
    return 0.5 * x * (1 + torch.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))


def gelu_by_tanh(x: torch.Tensor) -> torch.Tensor:
    """Return torch's own."""
    return F.gelu(x, approximate="tanh")


def composed_softplus(x: torch.Tensor) -> torch.Tensor:
    """Return log(exp(x) + exp(0)), which is stable."""
    return torch.logaddexp(x, torch.zeros_like(x))


def softplus_to_a_half(x: torch.Tensor) -> torch.Tensor:
    """Return torch's own, linear above 1/2."""
    return F.softplus(x, 2.0, 1.0)


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
    Operation(
        "gelu", functions.GELU, functions.gelu, composed_gelu, F.gelu,
        apply=lambda apply, x: apply(x, "none"), forward_mode=functions.GELUForwardMode,
    ),
    Operation(
        "gelu", functions.GELU, functions.gelu, composed_gelu_by_tanh, gelu_by_tanh,
        options={"approximate": "tanh"}, forward_mode=functions.GELUForwardMode, variant="by tanh",
    ),
    Operation(
        "softplus", functions.Softplus, functions.softplus, composed_softplus, F.softplus,
        apply=lambda apply, x: apply(x, 1.0, 20.0), forward_mode=functions.SoftplusForwardMode,
    ),
    Operation(
        "softplus", functions.Softplus, functions.softplus,
        lambda x: torch.where(2 * x > 1, x, composed_softplus(2 * x) / 2), softplus_to_a_half,
        options={"beta": 2.0, "threshold": 1.0}, forward_mode=functions.SoftplusForwardMode,
        variant="linear above a half",
    ),
    Operation(
        "softplus", functions.Softplus, functions.log1pexp, composed_softplus,
        apply=lambda apply, x: apply(x, 1.0, math.inf), forward_mode=functions.SoftplusForwardMode,
    ),
    Operation(
        "mish", functions.Mish, functions.mish, lambda x: x * torch.tanh(F.softplus(x)), F.mish,
    ),
)  # fmt: skip
