"""Differentiable operations, one a file: contract, formula, Function, wrapper."""

from customgrad.functions.clamp import ClampSTE, clamp_ste
from customgrad.functions.clipping import (
    ClipGradientNorm,
    ClipGradientValue,
    clip_gradient_norm,
    clip_gradient_value,
)
from customgrad.functions.gumbel import GumbelSoftmaxSTE, gumbel_softmax_ste
from customgrad.functions.linear import CustomLinear, Linear, linear
from customgrad.functions.lsq import LSQ, lsq
from customgrad.functions.relu import CustomReLU, custom_relu, custom_relu_demo
from customgrad.functions.reversal import ReverseGradient, reverse_gradient
from customgrad.functions.rounding import RoundSTE, RoundSTEForwardMode, round_ste
from customgrad.functions.scaling import ScaleGradient, scale_gradient
from customgrad.functions.sign import SignSTE, sign_ste
from customgrad.functions.silu import SiLU, SiLUForwardMode, silu
from customgrad.functions.spike import Spike, spike

__all__ = [
    "LSQ",
    "ClampSTE",
    "ClipGradientNorm",
    "ClipGradientValue",
    "CustomLinear",
    "CustomReLU",
    "GumbelSoftmaxSTE",
    "Linear",
    "ReverseGradient",
    "RoundSTE",
    "RoundSTEForwardMode",
    "ScaleGradient",
    "SiLU",
    "SiLUForwardMode",
    "SignSTE",
    "Spike",
    "clamp_ste",
    "clip_gradient_norm",
    "clip_gradient_value",
    "custom_relu",
    "custom_relu_demo",
    "gumbel_softmax_ste",
    "linear",
    "lsq",
    "reverse_gradient",
    "round_ste",
    "scale_gradient",
    "sign_ste",
    "silu",
    "spike",
]
