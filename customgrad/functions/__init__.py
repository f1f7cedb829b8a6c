"""Differentiable operations, one a file: contract, formula, Function, wrapper."""

from customgrad.functions.leaky import LeakyReLU, leaky_relu
from customgrad.functions.linear import CustomLinear, Linear, linear
from customgrad.functions.relu import CustomReLU, custom_relu, custom_relu_demo
from customgrad.functions.relumasks import ReLUFromMask, ReLUPacked
from customgrad.functions.relus import ReLUFromInput, ReLUFromOutput, ReLUInPlace, relu, relu_
from customgrad.functions.rounding import RoundSTE, round_ste
from customgrad.functions.silu import SiLU, SiLUForwardMode, silu

__all__ = [
    "CustomLinear",
    "CustomReLU",
    "LeakyReLU",
    "Linear",
    "ReLUFromInput",
    "ReLUFromMask",
    "ReLUFromOutput",
    "ReLUInPlace",
    "ReLUPacked",
    "RoundSTE",
    "SiLU",
    "SiLUForwardMode",
    "custom_relu",
    "custom_relu_demo",
    "leaky_relu",
    "linear",
    "relu",
    "relu_",
    "round_ste",
    "silu",
]
