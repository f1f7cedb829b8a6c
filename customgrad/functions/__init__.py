"""Differentiable operations, one a file: contract, formula, Function, wrapper."""

from customgrad.functions.linear import CustomLinear, Linear, linear
from customgrad.functions.relu import CustomReLU, custom_relu, custom_relu_demo
from customgrad.functions.silu import SiLU, silu

__all__ = [
    "CustomLinear",
    "CustomReLU",
    "Linear",
    "SiLU",
    "custom_relu",
    "custom_relu_demo",
    "linear",
    "silu",
]
