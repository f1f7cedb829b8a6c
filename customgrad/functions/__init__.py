"""Differentiable operations, one a file: contract, formula, Function, wrapper."""

from customgrad.functions.cube import Cube, CubeForwardMode, cube
from customgrad.functions.exp import Exp, ExpForwardMode, exp
from customgrad.functions.linear import CustomLinear, Linear, linear
from customgrad.functions.relu import CustomReLU, custom_relu, custom_relu_demo
from customgrad.functions.rounding import RoundSTE, round_ste
from customgrad.functions.silu import SiLU, SiLUForwardMode, silu
from customgrad.functions.sinh import Sinh, sinh

__all__ = [
    "Cube",
    "CubeForwardMode",
    "CustomLinear",
    "CustomReLU",
    "Exp",
    "ExpForwardMode",
    "Linear",
    "RoundSTE",
    "SiLU",
    "SiLUForwardMode",
    "Sinh",
    "cube",
    "custom_relu",
    "custom_relu_demo",
    "exp",
    "linear",
    "round_ste",
    "silu",
    "sinh",
]
