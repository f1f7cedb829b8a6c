"""Differentiable operations, one a file: contract, formula, Function, wrapper."""

from customgrad.functions.affine import Affine, affine
from customgrad.functions.cube import Cube, CubeForwardMode, cube
from customgrad.functions.exp import Exp, ExpForwardMode, exp
from customgrad.functions.linear import CustomLinear, Linear, linear
from customgrad.functions.pytree import TreeNorm, tree_apply, tree_norm
from customgrad.functions.relu import CustomReLU, custom_relu, custom_relu_demo
from customgrad.functions.rounding import RoundSTE, round_ste
from customgrad.functions.silu import SiLU, SiLUForwardMode, silu
from customgrad.functions.sincos import SinCos, sincos
from customgrad.functions.sinh import Sinh, sinh
from customgrad.functions.sort import Sort, sort
from customgrad.functions.topk import TopK, topk

__all__ = [
    "Affine",
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
    "SinCos",
    "Sinh",
    "Sort",
    "TopK",
    "TreeNorm",
    "affine",
    "cube",
    "custom_relu",
    "custom_relu_demo",
    "exp",
    "linear",
    "round_ste",
    "silu",
    "sincos",
    "sinh",
    "sort",
    "topk",
    "tree_apply",
    "tree_norm",
]
