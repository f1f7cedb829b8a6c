"""Differentiable operations, one a file: contract, formula, Function, wrapper."""

from customgrad.functions.activatednorm import ActivatedNorm, activated_norm
from customgrad.functions.actlinear import GELULinear, gelu_linear
from customgrad.functions.affine import Affine, affine
from customgrad.functions.checkpointing import Checkpoint, checkpointed
from customgrad.functions.chunkedloss import LinearCrossEntropy, linear_cross_entropy
from customgrad.functions.clamp import ClampSTE, clamp_ste
from customgrad.functions.clipping import (
    ClipGradientNorm,
    ClipGradientValue,
    clip_gradient_norm,
    clip_gradient_value,
)
from customgrad.functions.crossentropy import CrossEntropy, cross_entropy
from customgrad.functions.cube import Cube, CubeForwardMode, cube
from customgrad.functions.exp import Exp, ExpForwardMode, exp
from customgrad.functions.gelu import GELU, GELUForwardMode, gelu
from customgrad.functions.gumbel import GumbelSoftmaxSTE, gumbel_softmax_ste
from customgrad.functions.layernorm import LayerNorm, layer_norm
from customgrad.functions.leaky import LeakyReLU, leaky_relu
from customgrad.functions.linear import CustomLinear, Linear, linear
from customgrad.functions.lsq import LSQ, lsq
from customgrad.functions.mish import Mish, mish
from customgrad.functions.pytree import TreeNorm, tree_apply, tree_norm
from customgrad.functions.relu import CustomReLU, custom_relu, custom_relu_demo
from customgrad.functions.relumasks import ReLUFromMask, ReLUPacked
from customgrad.functions.relus import ReLUFromInput, ReLUFromOutput, ReLUInPlace, relu, relu_
from customgrad.functions.reversal import ReverseGradient, reverse_gradient
from customgrad.functions.reversible import Reversible, reversible
from customgrad.functions.rmsnorm import RMSNorm, rms_norm
from customgrad.functions.rounding import RoundSTE, RoundSTEForwardMode, round_ste
from customgrad.functions.scaling import ScaleGradient, scale_gradient
from customgrad.functions.sign import SignSTE, sign_ste
from customgrad.functions.silu import SiLU, SiLUForwardMode, silu
from customgrad.functions.sincos import SinCos, sincos
from customgrad.functions.sinh import Sinh, sinh
from customgrad.functions.softplus import Softplus, SoftplusForwardMode, log1pexp, softplus
from customgrad.functions.sort import Sort, sort
from customgrad.functions.spike import Spike, spike
from customgrad.functions.swish import Swish, swish
from customgrad.functions.topk import TopK, topk

__all__ = [
    "GELU",
    "LSQ",
    "ActivatedNorm",
    "Affine",
    "Checkpoint",
    "ClampSTE",
    "ClipGradientNorm",
    "ClipGradientValue",
    "CrossEntropy",
    "Cube",
    "CubeForwardMode",
    "CustomLinear",
    "CustomReLU",
    "Exp",
    "ExpForwardMode",
    "GELUForwardMode",
    "GELULinear",
    "GumbelSoftmaxSTE",
    "LayerNorm",
    "LeakyReLU",
    "Linear",
    "LinearCrossEntropy",
    "Mish",
    "RMSNorm",
    "ReLUFromInput",
    "ReLUFromMask",
    "ReLUFromOutput",
    "ReLUInPlace",
    "ReLUPacked",
    "ReverseGradient",
    "Reversible",
    "RoundSTE",
    "RoundSTEForwardMode",
    "ScaleGradient",
    "SiLU",
    "SiLUForwardMode",
    "SignSTE",
    "SinCos",
    "Sinh",
    "Softplus",
    "SoftplusForwardMode",
    "Sort",
    "Spike",
    "Swish",
    "TopK",
    "TreeNorm",
    "activated_norm",
    "affine",
    "checkpointed",
    "clamp_ste",
    "clip_gradient_norm",
    "clip_gradient_value",
    "cross_entropy",
    "cube",
    "custom_relu",
    "custom_relu_demo",
    "exp",
    "gelu",
    "gelu_linear",
    "gumbel_softmax_ste",
    "layer_norm",
    "leaky_relu",
    "linear",
    "linear_cross_entropy",
    "log1pexp",
    "lsq",
    "mish",
    "relu",
    "relu_",
    "reverse_gradient",
    "reversible",
    "rms_norm",
    "round_ste",
    "scale_gradient",
    "sign_ste",
    "silu",
    "sincos",
    "sinh",
    "softplus",
    "sort",
    "spike",
    "swish",
    "topk",
    "tree_apply",
    "tree_norm",
]
