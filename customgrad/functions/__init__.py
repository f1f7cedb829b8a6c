"""Differentiable operations, one a file: contract, formula, Function, wrapper."""

from customgrad.functions.linear import CustomLinear, Linear, linear
from customgrad.functions.relu import CustomReLU, custom_relu, custom_relu_demo

__all__ = [
    "CustomLinear",
    "CustomReLU",
    "Linear",
    "custom_relu",
    "custom_relu_demo",
    "linear",
]
