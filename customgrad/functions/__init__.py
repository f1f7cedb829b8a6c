"""Differentiable operations, one a file: contract, formula, Function, wrapper."""

from customgrad.functions.activatednorm import ActivatedNorm, activated_norm
from customgrad.functions.actlinear import GELULinear, gelu_linear
from customgrad.functions.checkpointing import Checkpoint, checkpointed
from customgrad.functions.linear import CustomLinear, Linear, linear
from customgrad.functions.relu import CustomReLU, custom_relu, custom_relu_demo
from customgrad.functions.reversible import Reversible, reversible
from customgrad.functions.rounding import RoundSTE, round_ste
from customgrad.functions.silu import SiLU, SiLUForwardMode, silu
from customgrad.functions.swish import Swish, swish

__all__ = [
    "ActivatedNorm",
    "Checkpoint",
    "CustomLinear",
    "CustomReLU",
    "GELULinear",
    "Linear",
    "Reversible",
    "RoundSTE",
    "SiLU",
    "SiLUForwardMode",
    "Swish",
    "activated_norm",
    "checkpointed",
    "custom_relu",
    "custom_relu_demo",
    "gelu_linear",
    "linear",
    "reversible",
    "round_ste",
    "silu",
    "swish",
]
