"""Differentiable operations, one a file: contract, formula, Function, wrapper."""

from customgrad.functions.chunkedloss import LinearCrossEntropy, linear_cross_entropy
from customgrad.functions.crossentropy import CrossEntropy, cross_entropy
from customgrad.functions.layernorm import LayerNorm, layer_norm
from customgrad.functions.linear import CustomLinear, Linear, linear
from customgrad.functions.relu import CustomReLU, custom_relu, custom_relu_demo
from customgrad.functions.rmsnorm import RMSNorm, rms_norm
from customgrad.functions.rounding import RoundSTE, round_ste
from customgrad.functions.silu import SiLU, SiLUForwardMode, silu

__all__ = [
    "CrossEntropy",
    "CustomLinear",
    "CustomReLU",
    "LayerNorm",
    "Linear",
    "LinearCrossEntropy",
    "RMSNorm",
    "RoundSTE",
    "SiLU",
    "SiLUForwardMode",
    "cross_entropy",
    "custom_relu",
    "custom_relu_demo",
    "layer_norm",
    "linear",
    "linear_cross_entropy",
    "rms_norm",
    "round_ste",
    "silu",
]
