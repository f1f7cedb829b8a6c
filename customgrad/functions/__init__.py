"""Differentiable operations, one a file: contract, formula, Function, wrapper."""

from customgrad.functions.gelu import GELU, GELUForwardMode, gelu
from customgrad.functions.leaky import LeakyReLU, leaky_relu
from customgrad.functions.linear import CustomLinear, Linear, linear
from customgrad.functions.mish import Mish, mish
from customgrad.functions.relu import CustomReLU, custom_relu, custom_relu_demo
from customgrad.functions.relumasks import ReLUFromMask, ReLUPacked
from customgrad.functions.relus import ReLUFromInput, ReLUFromOutput, ReLUInPlace, relu, relu_
from customgrad.functions.rounding import RoundSTE, round_ste
from customgrad.functions.silu import SiLU, SiLUForwardMode, silu
from customgrad.functions.softplus import Softplus, SoftplusForwardMode, log1pexp, softplus

__all__ = [
    "GELU",
    "CustomLinear",
    "CustomReLU",
    "GELUForwardMode",
    "LeakyReLU",
    "Linear",
    "Mish",
    "ReLUFromInput",
    "ReLUFromMask",
    "ReLUFromOutput",
    "ReLUInPlace",
    "ReLUPacked",
    "RoundSTE",
    "SiLU",
    "SiLUForwardMode",
    "Softplus",
    "SoftplusForwardMode",
    "custom_relu",
    "custom_relu_demo",
    "gelu",
    "leaky_relu",
    "linear",
    "log1pexp",
    "mish",
    "relu",
    "relu_",
    "round_ste",
    "silu",
    "softplus",
]
