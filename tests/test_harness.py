"""The ReLU harness: right and wrong solutions, and files that cannot be judged."""

import itertools
import os
import re
import subprocess
import sys
import threading
import tomllib
import warnings
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from customgrad.lessons.relu import harness

ROOT = Path(__file__).parents[1]
SOLUTION = ROOT / "customgrad/functions/relu.py"
TABLE = ROOT / "customgrad/lessons/relu/harness.toml"
STARTER = ROOT / "customgrad/lessons/relu/starter.py"
NAMES = [test.name for test in harness.TESTS]
N = len(NAMES)


def solution(
    forward="return x.clamp(min=0)",
    backward="return g.masked_fill(x <= 0, 0)",
    save="ctx.save_for_backward(x)",
    load="(x,) = ctx.saved_tensors",
    before="",
    after="",
    static_forward="@staticmethod",
    static_backward="@staticmethod",
    demo="return {'output': y.tolist(), 'grad': x.grad.tolist()}",
):
    """A solution's text: right as it stands, wrong where an argument replaces a line."""
    return f"""import torch
{before}
class CustomReLU(torch.autograd.Function):
    {static_forward}
    def forward(ctx, x):
        {save}
        {forward}
    {static_backward}
    def backward(ctx, g):
        {load}
        {backward}

def custom_relu_demo():
    x = torch.tensor([-2.0, -1.0, 0.0, 1.0, 2.0], requires_grad=True)
    y = CustomReLU.apply(x)
    y.sum().backward()
    {demo}
{after}
"""


RIGHT = {
    "as it stands": solution(),
    "mask times cotangent": solution(backward="return g * (x > 0)"),
    "output saved": solution(
        save="",
        forward="y = x.clamp(min=0); ctx.save_for_backward(y); return y",
    ),
    "mask saved": solution(
        save="ctx.save_for_backward(x > 0)", backward="return torch.where(x, g, 0)"
    ),
    "clone and index": solution(backward="h = g.clone(); h[x <= 0] = 0; return h"),
    "two gradients, one of them None": solution(backward="return g * (x > 0), None"),
    "setup_context": """import torch
class CustomReLU(torch.autograd.Function):
    @staticmethod
    def forward(x):
        return x.clamp(min=0)
    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(output)
    @staticmethod
    def backward(ctx, g):
        return g * (ctx.saved_tensors[0] > 0)
def custom_relu_demo():
    return {"grad": [0, 0, 0, 1, 1], "output": [0, 0, 0, 1, 2]}
""",
    "a global set wrongly": solution(before="torch.set_grad_enabled(False)").replace(
        "    y.sum().backward()", "    y.sum().backward()"
    ),
}

EVERY_GRADIENT = {
    *("gradient", "gradient at 0", "gradient at -0.0", "uses grad_output"),
    *("inside a larger graph", "two calls do not mix", "backward twice", "input left alone"),
    *("grad_output left alone", "0-d tensor", "empty tensor", "transposed matrix"),
    *("dtypes kept", "demo"),
}
# name: (text, the rows that fail, what the text says)
WRONG = {
    ">= at zero": (
        solution(backward="return g * (x >= 0)"),
        {"gradient at 0": "[1]", "gradient at -0.0": "[1]", "demo": "'grad'[2] is 1.0"},
        {
            "gradient at 0": "At 0 grad_output passed. Is there >= for >, or < for <=? Let grad_output pass only where input > 0.",
        },
    ),
    "-0.0 is not seen as zero": (
        solution(backward="return g * ~(torch.signbit(x) & (x != 0) | (1 / x == float('inf')))"),
        {"gradient at -0.0": "[1]"},
        {
            "gradient at -0.0": "-0.0 equals 0, so its gradient is 0, too. Compare input > 0; do not look at the sign bit.",
        },
    ),
    "grad_output forgotten": (
        solution(backward="return (x > 0).to(g.dtype)"),
        {
            "uses grad_output": "[0, 1, 1, 1]",
            "inside a larger graph": "[0, 2]",
            "transposed matrix": "[[1, 0], [1, 1]]",
        },
        {
            "uses grad_output": "backward returned the mask alone and forgot grad_output. Return grad_output, not 1, where input > 0.",
        },
    ),
    "grad_output passed on": (
        solution(backward="return g"),
        {
            "gradient": "[1, 1, 1, 1]",
            "gradient at 0": "[1]",
            "gradient at -0.0": "[1]",
            "uses grad_output": "[10, 20, 30, -40]",
            "two calls do not mix": "[1, 1] [1, 1]",
            "backward twice": "[2, 2]",
            "transposed matrix": "[[5, 7], [6, 8]]",
            "demo": "'grad'[0] is 1.0",
        },
        {
            "gradient": "All of grad_output passed, also where input < 0. Return 0 where input <= 0 (or output <= 0, but not output < 0).",
        },
    ),
    "mask of the cotangent": (
        solution(backward="return g * (g > 0)"),
        {
            "gradient": "[1, 1, 1, 1]",
            "gradient at 0": "[1]",
            "gradient at -0.0": "[1]",
            "uses grad_output": "[10, 20, 30, 0]",
            "two calls do not mix": "[1, 1] [1, 1]",
            "backward twice": "[2, 2]",
            "transposed matrix": "[[5, 7], [6, 8]]",
            "demo": "'grad'[0] is 1.0",
        },
        {
            "gradient": "The mask is made from grad_output: only a positive one passed. Ask input > 0; grad_output may have either sign.",
        },
    ),
    "cotangent clamped": (
        solution(backward="return g.clamp(min=0) * (x > 0)"),
        {"uses grad_output": "[0, 20, 30, 0]"},
        {
            "uses grad_output": "A negative grad_output became 0; the test's last one is -40. Let grad_output pass with either sign: only input decides.",
        },
    ),
    "cotangent changed": (
        solution(backward="g[x <= 0] = 0; return g"),
        {
            "grad_output left alone": "[0, 20]",
            # The cotangent of a sum is one number in memory, shown to every element.
            "two calls do not mix": "[0, 0] [0, 0]",
            "backward twice": "[0, 0]",
            "demo": "'grad'[3] is 0.0",
        },
        {
            "grad_output left alone": "grad_output was changed in place, and others may use it still. Return a new tensor: change grad_output.clone(), for example.",
        },
    ),
    "input changed": (
        solution(forward="return x.clamp_(min=0).clone()"),
        {"input left alone": "[0, 2]"},
        {
            "input left alone": "forward changed the caller's tensor: it wrote the zeros into input itself. Make a new tensor, input.clamp(min=0). On input use no method that ends in _, and assign to no part of it.",
        },
    ),
    "saved tensor changed": (
        solution(
            save="m = (x > 0).to(x.dtype); ctx.save_for_backward(m); ctx.m = m",
            load="(x,) = ctx.saved_tensors",
            backward="h = g * x; x.data.zero_(); return h",
        ),
        {"backward twice": "[0, 1]"},
        {
            "backward twice": "The second backward over the same graph gave another gradient. Leave what is saved unchanged in backward.",
        },
    ),
    "kept on the class": (
        solution(
            save="ctx.save_for_backward(x); CustomReLU.x = x",
            load="x = CustomReLU.x",
        ),
        {"two calls do not mix": "[1, 0] [1, 0]"},
        {
            "two calls do not mix": "The second call changed what the first one had kept. Keep it on ctx, not on the class or in a global.",
        },
    ),
    "kept as an attribute": (
        solution(save="ctx.x = x", load="x = ctx.x"),
        {"saves for backward": "0 tensors"},
        {
            "saves for backward": "Nothing went through ctx.save_for_backward in forward. Add ctx.save_for_backward(input) before forward returns.",
        },
    ),
    "two tensors saved": (
        solution(save="ctx.save_for_backward(x, x > 0)", load="x, _ = ctx.saved_tensors"),
        {"saves for backward": "2 tensors"},
        {
            "saves for backward": "backward needs one tensor, and each one saved takes memory. Save one only: the input, the output or a mask.",
        },
    ),
    "nothing saved": (
        solution(save=""),
        dict.fromkeys(EVERY_GRADIENT, "ValueError") | {"saves for backward": "0 tensors"},
        {
            "saves for backward": "Nothing went through ctx.save_for_backward in forward. Add ctx.save_for_backward(input) before forward returns.",
        },
    ),
    "wrong number of gradients": (
        solution(backward="return g, g"),
        dict.fromkeys(EVERY_GRADIENT, "RuntimeError"),
        {
            "gradient": "backward returned 2 gradients for the 1 input of forward. Return one tensor. There is no gradient for ctx.",
        },
    ),
    "no gradient": (
        solution(backward="pass"),
        {
            "gradient": "None",
            "gradient at 0": "None",
            "gradient at -0.0": "None",
            "uses grad_output": "None",
            "inside a larger graph": "None",
            "two calls do not mix": "None None",
            "backward twice": "None",
            "0-d tensor": "3, None",
            "empty tensor": "[], None",
            "transposed matrix": "None",
            "demo": "AttributeError",
        },
        {
            "gradient": "backward returned None, not a gradient. Is a `return` missing at the end of backward?",
        },
    ),
    "instance methods": (
        solution(static_forward="", static_backward="")
        .replace("forward(ctx", "forward(self, ctx")
        .replace("backward(ctx", "backward(self, ctx"),
        dict.fromkeys(NAMES, "TypeError") | {"static methods": "neither"},
        {
            "static methods": "Neither forward nor backward has @staticmethod. Put @staticmethod above each def; drop self if it is there.",
        },
    ),
    "forward not static": (
        solution(static_forward=""),
        {"static methods": "backward"},
        {
            "static methods": "forward has no @staticmethod. Put @staticmethod above def forward; drop self if it is there.",
        },
    ),
    "neither static": (
        solution(static_forward="", static_backward=""),
        {"static methods": "neither"},
        {
            "static methods": "Neither forward nor backward has @staticmethod. Put @staticmethod above each def; drop self if it is there.",
        },
    ),
    "leaky": (
        solution(forward="return torch.where(x > 0, x, 0.125 * x)"),
        {
            "values": "[-0.25, -0.125, 0, 1, 2]",
            "fractions": "[-0.0625, 0.25, 100.5]",
            "demo": "'output'[0] is -0.25",
        },
        {
            "values": "The test hands forward -2, -1, 0, 1, 2 and expects max(x, 0). Negative numbers become 0, the others stay: input.clamp(min=0).",
        },
    ),
    "rounded": (
        solution(forward="return x.clamp(min=0).round()"),
        {"fractions": "[0, 0, 100]"},
        {
            "fractions": "The test hands forward -0.5, 0.25, 100.5. Keep positive numbers as they are: no rounding, no upper limit.",
        },
    ),
    "at most 6": (
        solution(forward="return x.clamp(0, 6)"),
        {"fractions": "[0, 0.25, 6]"},
        {
            "fractions": "The test hands forward -0.5, 0.25, 100.5. Keep positive numbers as they are: no rounding, no upper limit.",
        },
    ),
    "float32 always": (
        solution(forward="return x.clamp(min=0).float()"),
        {"dtypes kept": "float32, float32"},
        {
            "dtypes kept": "The output must have the dtype of the input. Convert nothing, and make new tensors like the input.",
        },
    ),
    "one dimension at least": (
        solution(forward="return torch.atleast_1d(x.clamp(min=0))"),
        {"0-d tensor": "[3], 1"},
        {
            "0-d tensor": "The input is the number 3 as a tensor without dimensions. Use operations on whole tensors: no index, no loop, no len().",
        },
    ),
    "no empty tensors": (
        solution(backward="x.max(); return g * (x > 0)"),
        {"empty tensor": "RuntimeError"},
        {
            "empty tensor": "RuntimeError (line 11): max(): Expected reduction dim to be specified for input.numel() == 0. Specify the reduction dim with the 'dim' argument. Use operations on whole tensors that also work without elements.",
        },
    ),
    "memory order": (
        solution(
            backward="m = torch.as_strided(x, x.shape, g.contiguous().stride()); return g * (m > 0)"
        ),
        {"transposed matrix": "[[5, 7], [0, 8]]"},
        {
            "transposed matrix": "The input is a transposed matrix: not in order in memory. Keep its shape and its order: no view(), no as_strided().",
        },
    ),
    "detached": (
        solution(backward="return torch.zeros_like(g)"),
        {
            "gradient": "[0, 0, 0, 0]",
            "uses grad_output": "[0, 0, 0, 0]",
            "inside a larger graph": "[0, 0]",
            "two calls do not mix": "[0, 0] [0, 0]",
            "backward twice": "[0, 0]",
            "0-d tensor": "3, 0",
            "transposed matrix": "[[0, 0], [0, 0]]",
            "demo": "'grad'[3] is 0.0",
        },
        {
            "gradient": "Nothing passed, not even where input > 0. Return grad_output where input > 0.",
        },
    ),
    "a tuple from forward": (
        solution(forward="return x.clamp(min=0), x"),
        dict.fromkeys(EVERY_GRADIENT - {"demo"}, "TypeError")
        | {"values": "a tuple, no tensor", "fractions": "a tuple, no tensor"}
        | dict.fromkeys(("two calls do not mix", "backward twice", "demo"), "AttributeError"),
        {
            "values": "forward returned a tuple, not a tensor. Return one tensor: input.clamp(min=0), not torch.max(input, 0).",
        },
    ),
    "demo with tensors": (
        solution(demo="return {'output': y, 'grad': x.grad}"),
        {"demo": "'output' is a Tensor"},
        {
            "demo": "'output' is a Tensor, where a list of numbers is expected. Turn it into a list with .tolist().",
        },
    ),
    "demo with other keys": (
        solution(demo="return {'out': y.tolist(), 'grad': x.grad.tolist()}"),
        {"demo": "keys out, grad"},
        {
            "demo": "custom_relu_demo() must return {'output': [0.0, 0.0, 0.0, 1.0, 2.0], 'grad': [0.0, 0.0, 0.0, 1.0, 1.0]}. Use x = -2, -1, 0, 1, 2, and call output.sum().backward().",
        },
    ),
    "demo with a tuple": (
        solution(demo="return y.tolist(), x.grad.tolist()"),
        {"demo": "a tuple"},
        {
            "demo": "custom_relu_demo() must return {'output': [0.0, 0.0, 0.0, 1.0, 2.0], 'grad': [0.0, 0.0, 0.0, 1.0, 1.0]}. Use x = -2, -1, 0, 1, 2, and call output.sum().backward().",
        },
    ),
    "demo too short": (
        solution(demo="return {'output': y.tolist()[:4], 'grad': x.grad.tolist()}"),
        {"demo": "'output' has 4 numbers"},
        {
            "demo": "custom_relu_demo() must return {'output': [0.0, 0.0, 0.0, 1.0, 2.0], 'grad': [0.0, 0.0, 0.0, 1.0, 1.0]}. Use x = -2, -1, 0, 1, 2, and call output.sum().backward().",
        },
    ),
    "demo prints only": (
        solution(demo="print(y)"),
        {"demo": "a NoneType"},
        {
            "demo": "custom_relu_demo() returned None. Is a `return` missing at its end?",
        },
    ),
    "exit in forward": (
        solution(forward="exit()"),
        dict.fromkeys(NAMES[1:], "SystemExit"),
        {
            "values": "Line 7: It ended the program (SystemExit). Return a value instead, and call no exit().",
        },
    ),
}

# What learners write, and every reason that they are given: (text, row: why and next step)
LEARNERS = {
    "a backward to be written": (
        solution(backward="raise NotImplementedError('later')"),
        {"gradient": "Line 11: It is not written yet (later). Replace the raise by your code."},
    ),
    "counts from one": (
        solution(load="x = ctx.saved_tensors[1]"),
        {
            "gradient": "Line 10: backward reads more saved tensors than forward saved. "
            "One is enough: `(input,) = ctx.saved_tensors` or saved_tensors[0]."
        },
    ),
    "something from nothing": (
        solution(forward="return x.clamp(min=0) if x.numel() else x.new_zeros(1)"),
        {
            "empty tensor": "The input has no elements. "
            "Use operations on whole tensors that also work without elements."
        },
    ),
    "another rule in the middle of a graph": (
        solution(backward="return g * (x > 0) * (1 if x.is_leaf else 2)"),
        {
            "inside a larger graph": "The test takes relu(2x)^2 at -1 and 3. "
            "Use grad_output as it comes; autograd adds the other factors."
        },
    ),
    "grad_output squared": (
        solution(backward="return g * g * (x > 0)"),
        {
            "uses grad_output": "The test hands backward x = -1, 1, 2, 3 and grad_output = 10, 20, 30, -40. "
            "Return grad_output as it is where input > 0, and 0 elsewhere.",
        },
    ),
    "max(input,0)": (
        solution(forward="return max(x, 0)"),
        {
            "values": "Line 7: `if` and max() need one True or False, not a tensor. Treat all elements at once: input.clamp(min=0).",
        },
    ),
    "if input>0": (
        solution(forward="\n        if x > 0:\n            return x\n        return 0 * x"),
        {
            "values": "Line 8: `if` and max() need one True or False, not a tensor. Treat all elements at once: input.clamp(min=0).",
        },
    ),
    "if in backward": (
        solution(backward="\n        if x > 0:\n            return g\n        return 0 * g"),
        {
            "gradient": "Line 12: `if` and max() need one True or False, not a tensor. Ask all elements at once: the mask input > 0 is a tensor.",
        },
    ),
    "torch.max": (
        solution(forward="return torch.max(x, 0)"),
        {
            "values": "forward returned a tuple, not a tensor. Return one tensor: input.clamp(min=0), not torch.max(input, 0).",
        },
    ),
    "torch.maximum": (
        solution(forward="return torch.maximum(x, 0)"),
        {
            "values": "Line 7: torch.maximum takes two tensors, and 0 is none. input.clamp(min=0) takes a number.",
        },
    ),
    "tuple saved": (
        solution(load="x = ctx.saved_tensors", backward="return g * (x > 0)"),
        {
            "gradient": "Line 11: ctx.saved_tensors is a tuple, even of one tensor. Unpack it: `(x,) = ctx.saved_tensors` or `x, = ...`.",
        },
    ),
    "tuple masked_fill": (
        solution(load="x = ctx.saved_tensors", backward="return g.masked_fill(x <= 0, 0)"),
        {
            "gradient": "Line 11: ctx.saved_tensors is a tuple, even of one tensor. Unpack it: `(x,) = ctx.saved_tensors` or `x, = ...`.",
        },
    ),
    "tuple product": (
        solution(load="saved = ctx.saved_tensors  # the input", backward="return g * saved"),
        {
            "gradient": "Line 11: ctx.saved_tensors is a tuple, even of one tensor. Unpack it: `(saved,) = ctx.saved_tensors` or `saved, = ...`.",
        },
    ),
    "tuple, inline": (
        solution(load="", backward="return g * (ctx.saved_tensors > 0)"),
        {
            "gradient": "Line 11: ctx.saved_tensors is a tuple, even of one tensor. Unpack it: `(input,) = ctx.saved_tensors` or `input, = ...`.",
        },
    ),
    "saved_tensor typo": (
        solution(load="(x,) = ctx.saved_tensor"),
        {
            "gradient": "Line 10: ctx has no attribute 'saved_tensor'. The names are ctx.save_for_backward(...) and ctx.saved_tensors.",
        },
    ),
    "save_for_backwards typo": (
        solution(save="ctx.save_for_backwards(x)"),
        {
            "values": "Line 6: ctx has no attribute 'save_for_backwards'. The names are ctx.save_for_backward(...) and ctx.saved_tensors.",
        },
    ),
    "ctx attr missing": (
        solution(save="", load="x = ctx.x"),
        {
            "saves for backward": "Nothing went through ctx.save_for_backward in forward. Add ctx.save_for_backward(input) before forward returns.",
            "gradient": "Line 10: ctx has no attribute 'x': forward did not set it. Save with ctx.save_for_backward(input), read ctx.saved_tensors.",
        },
    ),
    "forward none": (
        solution(forward="x.clamp(min=0)"),
        {
            "values": "forward returned None, not a tensor. Is a `return` missing at the end of forward?",
        },
    ),
    "static with self": (
        solution()
        .replace("forward(ctx, x)", "forward(self, ctx, x)")
        .replace("backward(ctx, g)", "backward(self, ctx, g)"),
        {
            "values": "forward has more arguments than autograd hands in. forward(ctx, input) and backward(ctx, grad_output) have no self.",
        },
    ),
    "one with self no static": (
        solution(static_backward="").replace("backward(ctx, g)", "backward(self, ctx, g)"),
        {
            "static methods": "backward has no @staticmethod. Put @staticmethod above def backward; drop self if it is there.",
        },
    ),
    "only backward undecorated": (
        solution(static_backward=""),
        {
            "static methods": "backward has no @staticmethod. Put @staticmethod above def backward; drop self if it is there.",
        },
    ),
    "no ctx": (
        solution()
        .replace("forward(ctx, x)", "forward(x)")
        .replace("ctx.save_for_backward(x)", "pass"),
        {
            "values": "forward has fewer arguments than autograd hands in. They are forward(ctx, input) and backward(ctx, grad_output).",
        },
    ),
    "ctx None first": (
        solution(backward="return None, g * (x > 0)"),
        {
            "gradient": "backward returned 2 gradients for the 1 input of forward. Return one tensor. There is no gradient for ctx.",
        },
    ),
    "name typo": (
        solution(backward="return g * (inputs > 0)"),
        {
            "gradient": "Line 11: The name inputs is not defined. Is it spelled as where it is defined, or is an import missing?",
        },
    ),
    "no import": (
        solution()
        .replace("import torch\n", "", 1)
        .replace("torch.autograd.Function", "Function")
        .replace("class Custom", "from torch.autograd import Function\nclass Custom"),
        {
            "demo": "Line 14: The name torch is not defined. Is it spelled as where it is defined, or is an import missing?",
        },
    ),
    "backward misnamed": (
        solution().replace("def backward", "def bakward"),
        {
            "gradient": "CustomReLU defines no backward. Is it named backward, and indented into the class?",
        },
    ),
    "forward misnamed": (
        solution().replace("def forward", "def foward"),
        {
            "values": "CustomReLU defines no forward. Is it named forward, and indented into the class?",
        },
    ),
    "returns sum": (
        solution(backward="return (g * (x > 0)).sum()"),
        {
            "gradient": "backward returned a gradient of shape [] for an input of [4]. The gradient has the input's shape: do not sum or slice it.",
        },
    ),
    "returns list": (
        solution(backward="return [g * (x > 0)]"),
        {
            "gradient": "backward returned type list, not a tensor. Return one tensor of the input's shape.",
        },
    ),
    "output saved, output >= 0": (
        solution(
            save="",
            forward="y = x.clamp(min=0); ctx.save_for_backward(y); return y",
            backward="return g * (x >= 0)",
        ),
        {
            "gradient": "All of grad_output passed, also where input < 0. Return 0 where input <= 0 (or output <= 0, but not output < 0).",
        },
    ),
    "times output": (
        solution(
            save="",
            forward="y = x.clamp(min=0); ctx.save_for_backward(y); return y",
            backward="return g * x",
        ),
        {
            "gradient": "grad_output was multiplied by the output, not by a mask. Only whether input > 0 counts, not how large it is.",
        },
    ),
    "times input": (
        solution(backward="return g * x"),
        {
            "gradient": "grad_output was multiplied by the input, not by a mask. Only whether input > 0 counts, not how large it is.",
        },
    ),
    "inverted": (
        solution(backward="return g.masked_fill(x > 0, 0)"),
        {
            "gradient": "The mask is the wrong way round: it passed where input < 0. Pass where input > 0; masked_fill zeroes where its mask is True.",
        },
    ),
    "bool mask": (
        solution(backward="return x > 0"),
        {
            "uses grad_output": "backward returned the mask alone and forgot grad_output. Return grad_output, not 1, where input > 0.",
        },
    ),
    "float mask": (
        solution(backward="return (x > 0).float()"),
        {
            "uses grad_output": "backward returned the mask alone and forgot grad_output. Return grad_output, not 1, where input > 0.",
        },
    ),
    "python loop": (
        solution(forward="return torch.tensor([max(v, 0) for v in x])"),
        {
            "0-d tensor": "TypeError (line 7): iteration over a 0-d tensor Use operations on whole tensors: no index, no loop, no len().",
            "transposed matrix": "Line 7: `if` and max() need one True or False, not a tensor. Treat all elements at once: input.clamp(min=0).",
        },
    ),
    "tolist loop": (
        solution(forward="return torch.tensor([max(v, 0) for v in x.tolist()])"),
        {
            "0-d tensor": "TypeError (line 7): 'float' object is not iterable Use operations on whole tensors: no index, no loop, no len().",
            "transposed matrix": "TypeError (line 7): '>' not supported between instances of 'int' and 'list' Keep its shape and its order: no view(), no as_strided().",
            "dtypes kept": "The output must have the dtype of the input. Convert nothing, and make new tensors like the input.",
        },
    ),
    "index": (
        solution(backward="h = g.clone(); h[x < 0] = 0; return h"),
        {
            "gradient at 0": "At 0 grad_output passed. Is there >= for >, or < for <=? Let grad_output pass only where input > 0.",
        },
    ),
    "clone loop": (
        solution(
            backward="h = g.clone()\n        for i in range(len(x)):\n            if x[i] <= 0: h[i] = 0\n        return h"
        ),
        {
            "0-d tensor": "TypeError (line 12): len() of a 0-d tensor Use operations on whole tensors: no index, no loop, no len().",
            "transposed matrix": "Line 13: `if` and max() need one True or False, not a tensor. Ask all elements at once: the mask input > 0 is a tensor.",
        },
    ),
    "in-place input": (
        solution(forward="x[x < 0] = 0; return x"),
        {
            "input left alone": "forward changed the caller's tensor: it wrote the zeros into input itself. Make a new tensor, input.clamp(min=0). On input use no method that ends in _, and assign to no part of it.",
        },
    ),
    "in-place input, saved": (
        solution(
            save="x[x < 0] = 0; ctx.save_for_backward(x)",
            forward="return x",
            backward="h = g.clone(); h[x < 0] = 0; return h",
        ),
        {
            "gradient": "forward changed the caller's tensor, so backward finds no number below 0 in it. Make a new tensor in forward: output = input.clamp(min=0).",
            "input left alone": "forward changed the caller's tensor: it wrote the zeros into input itself. Make a new tensor, input.clamp(min=0). On input use no method that ends in _, and assign to no part of it.",
        },
    ),
    "input changed in backward": (
        solution(backward="h = g * (x > 0); x.data.mul_(2); return h"),
        {
            "input left alone": "The caller's tensor was changed in place, and others may use it still. On input use no method that ends in _, and assign to no part of it: change input.clone().",
        },
    ),
    "clamp_ returned": (
        solution(forward="return x.clamp_(min=0)"),
        {
            "input left alone": "forward changed the caller's tensor: it wrote the zeros into input itself. Make a new tensor, input.clamp(min=0). On input use no method that ends in _, and assign to no part of it.",
        },
    ),
    "in-place on clone saved": (
        solution(forward="y = x; y[y < 0] = 0; return y.clone()"),
        {
            "input left alone": "forward changed the caller's tensor: it wrote the zeros into input itself. Make a new tensor, input.clamp(min=0). On input use no method that ends in _, and assign to no part of it.",
        },
    ),
    "demo apply not used": (
        solution().replace("CustomReLU.apply(x)", "CustomReLU(x)"),
        {
            "demo": "Line 16: CustomReLU(...) was called, and makes an object. Write CustomReLU.apply(x).",
        },
    ),
    "demo instance": (
        solution().replace("CustomReLU.apply(x)", "CustomReLU()(x)"),
        {
            "demo": "Line 15: CustomReLU(...) was called, and makes an object. Write CustomReLU.apply(x).",
        },
    ),
    "demo forward direct": (
        solution().replace("CustomReLU.apply(x)", "CustomReLU.forward(x)"),
        {
            "demo": "Line 15: forward was called directly, and nothing hands it ctx. Write CustomReLU.apply(x).",
        },
    ),
    "demo no backward": (
        solution().replace("    y.sum().backward()\n", ""),
        {
            "demo": "Line 16: A gradient is None, so .tolist() fails. Use requires_grad=True for x, then call output.sum().backward().",
        },
    ),
    "demo y.backward": (
        solution().replace("y.sum().backward()", "y.backward()"),
        {
            "demo": "Line 16: backward() alone must start from a single number. Start from the sum: output.sum().backward().",
        },
    ),
    "demo no requires_grad": (
        solution().replace(", requires_grad=True", ""),
        {
            "demo": "Line 16: x requires no gradient, or .apply was not used. Make x with requires_grad=True, and use CustomReLU.apply(x).",
        },
    ),
    "demo ints": (
        solution().replace("-2.0, -1.0, 0.0, 1.0, 2.0", "-2, -1, 0, 1, 2"),
        {
            "demo": "Line 14: [-2, 1] is of integers, and only floats have gradients. Write [-2.0, 1.0], with decimal points.",
        },
    ),
    "demo numpy": (
        solution(demo="return {'output': y.numpy(), 'grad': x.grad.numpy()}"),
        {
            "demo": "Line 17: numpy() refuses a tensor that requires a gradient. Use .tolist(), which works on every tensor.",
        },
    ),
    "demo no list": (
        solution(demo="return {'output': y.detach(), 'grad': x.grad}"),
        {
            "demo": "'output' is a Tensor, where a list of numbers is expected. Turn it into a list with .tolist().",
        },
    ),
    "nothing saved [0]": (
        solution(save="", load="x = ctx.saved_tensors[0]"),
        {
            "saves for backward": "Nothing went through ctx.save_for_backward in forward. Add ctx.save_for_backward(input) before forward returns.",
        },
    ),
    "unpack two": (
        solution(load="x, y = ctx.saved_tensors"),
        {
            "gradient": "Line 10: backward unpacks 2, and forward saved another number. One is enough: `(input,) = ctx.saved_tensors`.",
        },
    ),
    "saved two unpack one": (
        solution(save="ctx.save_for_backward(x, x)"),
        {
            "saves for backward": "backward needs one tensor, and each one saved takes memory. Save one only: the input, the output or a mask.",
        },
    ),
    "assign save": (
        solution(save="ctx.save_for_backward = x"),
        {
            "saves for backward": "Nothing went through ctx.save_for_backward in forward. Add ctx.save_for_backward(input) before forward returns.",
        },
    ),
    "both: >= and forgot": (
        solution(backward="return (x >= 0).float()"),
        {
            "gradient at 0": "At 0 grad_output passed. Is there >= for >, or < for <=? Let grad_output pass only where input > 0.",
            "uses grad_output": "backward returned the mask alone and forgot grad_output. Return grad_output, not 1, where input > 0.",
        },
    ),
    "half done": (
        solution(backward="raise NotImplementedError"),
        {
            "gradient": "Line 11: It is not written yet. Replace the raise by your code.",
        },
    ),
    "half done pass": (
        solution(forward="pass", backward="pass", save="", load=""),
        {
            "values": "forward returned None, not a tensor. Is a `return` missing at the end of forward?",
            "saves for backward": "Nothing went through ctx.save_for_backward in forward. Add ctx.save_for_backward(input) before forward returns.",
        },
    ),
    "relu in backward": (
        solution(backward="return torch.relu(g)"),
        {
            "gradient": "The mask is made from grad_output: only a positive one passed. Ask input > 0; grad_output may have either sign.",
        },
    ),
    "returns int": (
        solution(backward="return 1"),
        {
            "gradient": "backward returned type int, not a tensor. Return one tensor of the input's shape.",
        },
    ),
    "mask forward": (
        solution(forward="return (x > 0).to(x.dtype)"),
        {
            "values": "forward returned a mask of zeros and ones, not the numbers. Return the input where it is positive: input.clamp(min=0).",
        },
    ),
    "clamp max": (
        solution(forward="return x.clamp(max=0)"),
        {
            "values": "forward kept the negative numbers, not the positive ones. Zero is the lower limit: input.clamp(min=0).",
        },
    ),
    "identity": (
        solution(forward="return x.clone()"),
        {
            "values": "forward returned the numbers of the input unchanged. Negative ones become 0: input.clamp(min=0).",
        },
    ),
    "ctx other attribute": (
        solution(load="x = ctx.inputs"),
        {
            "gradient": "Line 10: ctx has no attribute 'inputs': forward did not set it. Save with ctx.save_for_backward(input), read ctx.saved_tensors.",
        },
    ),
    "exit in backward": (
        solution(backward="exit()"),
        {
            "gradient": "Line 11: It ended the program (SystemExit). Return a value instead, and call no exit().",
        },
    ),
    "empty raise in demo": (
        solution().replace("    y.sum().backward()", "    raise NotImplementedError"),
        {
            "demo": "Line 16: It is not written yet. Replace the raise by your code.",
        },
    ),
    "half missing": (
        solution(
            backward='\n        if x.dtype == torch.float16: raise NotImplementedError("\\"foo_cpu\\" not implemented for \'Half\'")\n        return g * (x > 0)'
        ),
        {
            "dtypes kept": "Line 12: An operation does not exist for the dtype Half. Use comparisons, clamp, torch.where or masked_fill.",
        },
    ),
    "unknown error in forward": (
        solution(forward="return x.clamp(lo=0)"),
        {
            "values": "TypeError (line 7): clamp() received an invalid combination of arguments - got (lo=int, ), but expected one of: * (Tensor min = None, Tensor max = None) * (Number min = None, Nu... Run CustomReLU.apply(x).sum().backward() for the traceback.",
        },
    ),
    "numpy forward": (
        solution(forward="return x.detach().numpy().clip(0)"),
        {
            "values": "forward returned type ndarray, not a tensor. Return one tensor, such as input.clamp(min=0).",
        },
    ),
    "forward returns number": (
        solution(forward="return 0"),
        {
            "values": "forward returned type int, not a tensor. Return one tensor, such as input.clamp(min=0).",
        },
    ),
    "abs": (
        solution(forward="return x.abs()"),
        {
            "values": "The test hands forward -2, -1, 0, 1, 2 and expects max(x, 0). Negative numbers become 0, the others stay: input.clamp(min=0).",
        },
    ),
    "sign grad": (
        solution(backward="return g * x.sign()"),
        {
            "gradient": "The slope is 0 left of zero and 1 right of it. The test takes x = -2, -1, 1, 2 and a grad_output of ones. Return grad_output where input > 0, and 0 elsewhere.",
        },
    ),
    "sigmoid": (
        solution(forward="return torch.sigmoid(x)"),
        {
            "values": "The test hands forward -2, -1, 0, 1, 2 and expects max(x, 0). Negative numbers become 0, the others stay: input.clamp(min=0).",
        },
    ),
    "kink .5": (
        solution(backward="return g * torch.heaviside(x, torch.tensor(0.5))"),
        {
            "gradient at 0": "At 0 torch.relu takes the gradient 0. Let grad_output pass only where input > 0.",
            "dtypes kept": "RuntimeError (line 11): heaviside is not yet implemented for tensors with different dtypes. Convert nothing, and make new tensors like the input.",
        },
    ),
    "detach saved mask on ctx": (
        solution(save="ctx.mask = x > 0", load="", backward="return g * ctx.mask"),
        {
            "saves for backward": "Nothing went through ctx.save_for_backward in forward. Add ctx.save_for_backward(input) before forward returns.",
        },
    ),
    "wrong g arg name": (
        solution(backward="return grad_output * (x > 0)"),
        {
            "gradient": "Line 11: The name grad_output is not defined. Is it spelled as where it is defined, or is an import missing?",
        },
    ),
}

numbers = itertools.count()


def judge_text(text, folder):
    """Judge in this process, which is faster and just as good for files that behave."""
    path = folder / f"my_relu_{next(numbers)}.py"
    path.write_text(text, encoding="utf-8")
    return judge_file(path)


def judge_file(path):
    import torch

    messages = []
    grad_mode = torch.is_grad_enabled()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            harness.judge(str(path), messages.append)
    finally:
        torch.set_grad_enabled(grad_mode)
        sys.modules.pop("learner", None)
    return harness.collect(path.name, messages)


def failures(report):
    return {row.name: row.got for row in report.rows if not row.ok}


# --- solutions -------------------------------------------------------------------------------


def test_the_packages_own_function_passes():
    report = judge_file(SOLUTION)
    assert failures(report) == {}
    assert report.notes == []
    assert report.passed
    assert harness.render(report).endswith(
        f"demo                    as in the task\n\n{N}/{N} passed\n"
    )


@pytest.mark.parametrize("name", RIGHT)
def test_right(name, tmp_path):
    report = judge_text(RIGHT[name], tmp_path)
    assert failures(report) == {}
    assert report.fatal is None
    assert report.passed


@pytest.mark.parametrize("name", WRONG)
def test_wrong(name, tmp_path):
    text, expected, words = WRONG[name]
    report = judge_text(text, tmp_path)
    assert failures(report) == expected
    assert not report.passed
    check_words(report, words)


@pytest.mark.parametrize("name", LEARNERS)
def test_a_learner_is_told_the_cause(name, tmp_path):
    text, words = LEARNERS[name]
    check_words(judge_text(text, tmp_path), words)


def check_words(report, words):
    """Each failed row has its reason and next step, or names the row that has them."""
    assert {row.name: f"{row.why} {row.next}" for row in report.rows if row.why} == words
    for row in report.rows:
        assert bool(row.why) == bool(row.next)
        assert (bool(row.why) + bool(row.see)) == (not row.ok), row
        assert not row.see or row.see in words, row
    above = set()
    for row in report.rows:
        stub = row.got == "not written yet"
        assert not row.see or row.see in above or stub, f"{row.see} comes below {row.name}"
        above.add(row.name)
    rendered = harness.render(report)
    for name, text in words.items():
        assert " ".join(rendered.split()).count(" ".join(text.split()[:3])) >= 1, name
    passed = sum(row.ok for row in report.rows)
    assert rendered.splitlines()[-1] == f"{passed}/{len(report.rows)} passed"
    check_form(rendered)


def test_every_wording_is_heard():
    heard = {text for *_, words in [*WRONG.values(), *LEARNERS.values()] for text in words.values()}
    table = tomllib.loads(TABLE.read_text(encoding="utf-8"))
    unheard = []
    for entry in [*table["value"], *table["error"]]:
        text = f"{entry['why']} {entry['next']}".replace("{{", "\0").replace("}}", "\1")
        text = re.sub(r"\{\w+\}", "@", text).replace("\0", "{").replace("\1", "}")
        pattern = re.compile("(Line [0-9]+: )?" + re.escape(text).replace("@", ".+"))
        if not any(map(pattern.fullmatch, heard)):
            unheard.append(text)
    assert unheard == []


def test_the_table_names_tests():
    table = tomllib.loads(TABLE.read_text(encoding="utf-8"))
    named = {entry["row"] for entry in table["value"]}
    assert named == set(NAMES)
    assert set(table["after"]) - {"demo 'output'", "demo 'grad'"} <= named
    for row, first in table["after"].items():
        assert all(NAMES.index(f) < NAMES.index(row.split(" '")[0]) for f in first)


def test_every_row_has_a_wrong_solution_that_fails_it():
    assert set().union(*(expected for _, expected, _ in WRONG.values())) == set(NAMES)


def test_starter_passes_nothing():
    report = judge_file(STARTER)
    got = dict.fromkeys(NAMES, "NotImplementedError") | {"static methods": "not written yet"}
    assert failures(report) == got
    lines = STARTER.read_text(encoding="utf-8").splitlines()
    forward, demo = (
        next(i for i, line in enumerate(lines, 1) if f"your {word} goes here" in line)
        for word in ("forward", "demo")
    )
    words = "It is not written yet (your {} goes here). Replace the raise by your code."
    check_words(
        report,
        {
            "values": f"Line {forward}: {words.format('forward')}",
            "demo": f"Line {demo}: {words.format('demo')}",
        },
    )
    lines = harness.render(report).splitlines()
    assert lines[1:11] == [
        "✗ static methods          see values",
        "✗ values",
        "  expected  [0, 0, 0, 1, 2]",
        "  got       NotImplementedError",
        f"  why       Line {forward}: It is not written",
        "            yet (your forward goes",
        "            here).",
        "  next      Replace the raise by your",
        "            code.",
        "✗ fractions               see values",
    ]
    assert lines[-1] == f"0/{N} passed"


def test_without_a_demo(tmp_path):
    text = solution()
    report = judge_text(text[: text.index("def custom_relu_demo")], tmp_path)
    assert report.passed
    assert harness.render(report).endswith(f"{N - 1}/{N - 1} passed\n")


NOTES = {
    "mask times cotangent": (
        solution(backward="return g * (x > 0)"),
        [
            "at a NaN input your gradient is 0, torch.relu's is 1.",
            "for an infinite grad_output where x <= 0 your gradient is nan, torch.relu's is 0: "
            "inf * 0 is nan, so choose with masked_fill or torch.where.",
            "for a NaN grad_output where x <= 0 your gradient is nan, torch.relu's is 0.",
        ],
    ),
    "NaN to zero": (
        solution(forward="return torch.where(x > 0, x, 0)"),
        ["at a NaN input your output is 0, torch.relu's is nan."],
    ),
    "differentiable once": (
        solution(backward="return g.detach().masked_fill(x <= 0, 0)"),
        ["the second derivative of relu(x)^3 at -1, 2 is [0, 12], with yours a RuntimeError."],
    ),
    "raises": (
        solution(backward="assert not x.isnan().any(); return g.masked_fill(x <= 0, 0)"),
        ["with numbers that are not finite: AssertionError (line 11)."],
    ),
}


@pytest.mark.parametrize("name", NOTES)
def test_not_finite_is_noted_and_not_judged(name, tmp_path):
    text, notes = NOTES[name]
    report = judge_text(text, tmp_path)
    assert report.passed
    assert report.notes == notes
    rendered = harness.render(report)
    assert f"Not judged: {notes[0]}" in " ".join(rendered.split())
    assert rendered.endswith(f"{N}/{N} passed\n")
    check_form(rendered)


# --- files that cannot be judged -------------------------------------------------------------

UNFIT = {
    "empty": ("", "f.py defines no CustomReLU."),
    "another name": ("class Custom_ReLU: pass", "f.py defines no CustomReLU."),
    "no Function": (
        "class CustomReLU: pass",
        "CustomReLU in f.py must be a class that inherits torch.autograd.Function.",
    ),
    "a function": (
        "def CustomReLU(x): return x",
        "CustomReLU in f.py must be a class that inherits torch.autograd.Function.",
    ),
    "raises": (
        "a = 1\nb = a / 0\n",
        "f.py raised ZeroDivisionError (line 2): division by zero while it was imported.",
    ),
    "imports what is not there": (
        "import torhc",
        "f.py raised ModuleNotFoundError (line 1): No module named 'torhc' while it was imported.",
    ),
    "exits": ("exit()", "f.py called exit() while it was imported."),
    "interrupts": (
        "raise KeyboardInterrupt",
        "f.py raised KeyboardInterrupt (line 1) while it was imported.",
    ),
    "deletes its class": (solution(after="del CustomReLU"), "f.py defines no CustomReLU."),
    "an error without words": (
        "class E(Exception):\n    def __str__(self): raise ValueError\nraise E",
        "f.py raised E (line 3) while it was imported.",
    ),
    "an error with many words": (
        "raise ValueError('a\\x1b[31m b\\n' * 1000)",
        "f.py raised ValueError (line 1): "
        + ("a?[31m b " * 40)[:157]
        + "... while it was imported.",
    ),
}


@pytest.mark.parametrize("name", UNFIT)
def test_unfit(name, tmp_path):
    text, sentence = UNFIT[name]
    (tmp_path / "f.py").write_text(text, encoding="utf-8")
    report = judge_file(tmp_path / "f.py")
    assert report.fatal == sentence
    rendered = harness.render(report)
    assert " ".join(rendered.split()) == f"{sentence} 0/{N} passed"
    check_form(rendered)


UNPARSED = {
    "a colon missing": (b"import torch\n\nclass CustomReLU\n", "line 3: expected ':'."),
    "indentation": (b"def f():\nreturn 1\n", "line 2: expected an indented block after function"),
    "null bytes": (b"x = 1\0\n", "source code string cannot contain null bytes."),
    "an unknown encoding": (b"# coding: klingon\n", "unknown encoding: klingon"),
}


@pytest.mark.parametrize("name", UNPARSED)
def test_what_does_not_parse_is_not_run(name, tmp_path, monkeypatch):
    monkeypatch.setattr(subprocess, "Popen", None)
    source, words = UNPARSED[name]
    (tmp_path / "f.py").write_bytes(source)
    report = harness.run(str(tmp_path / "f.py"))
    assert report.fatal.startswith("f.py does not parse: ")
    assert words in report.fatal
    assert harness.render(report).endswith(f"\n\n0/{N} passed\n")


REFUSED = {
    "Latin-1": (
        "f.py",
        b"# a\n\n\nx = '\xe9'\n",
        "f.py is not UTF-8 text (line 4): save it as UTF-8.",
    ),
    "Latin-1 at once": (
        "f.py",
        b"x = '\xe9'\n",
        "f.py is not UTF-8 text (line 1 or 2): save it as UTF-8.",
    ),
    "UTF-16": (
        "f.py",
        "import torch\n".encode("utf-16"),
        "f.py is not UTF-8 text (line 1 or 2): save it as UTF-8.",
    ),
    "torch.py": (
        "torch.py",
        b"import torch\n",
        "torch.py hides the library torch by its name: rename it.",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused_in_one_sentence(name, tmp_path, monkeypatch):
    monkeypatch.setattr(subprocess, "Popen", None)
    file, source, sentence = REFUSED[name]
    (tmp_path / file).write_bytes(source)
    rendered = harness.render(harness.run(str(tmp_path / file)))
    assert rendered == f"{sentence}\n\n0/{N} passed\n"


@pytest.mark.parametrize("hiding", ["torch.py", "torch/__init__.py"])
def test_a_neighbour_that_hides_torch_is_named(hiding, tmp_path, monkeypatch):
    (tmp_path / hiding).parent.mkdir(exist_ok=True)
    (tmp_path / hiding).write_text("")
    (tmp_path / "f.py").write_text(solution())
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(subprocess, "Popen", None)
    rendered = harness.render(harness.run("f.py"))
    sentence = f"f.py cannot import torch: {Path(hiding)} hides it; rename that."
    assert rendered == f"{sentence}\n\n0/{N} passed\n"


def test_a_declared_encoding_is_read(tmp_path):
    (tmp_path / "f.py").write_bytes(
        b"# coding: latin-1\n" + solution(after="x = 'é'").encode("latin-1")
    )
    assert judge_file(tmp_path / "f.py").passed


LOOP = "\nwhile True: pass\n"
# Those that need a process of their own: (text, seconds, sentence, tests passed, printed)
UNRULY = {
    "loops in import": (LOOP, 1, "f.py did not finish within 1 s while it was imported;", 0, []),
    "loops in backward": (
        solution(backward=LOOP.strip()),
        5,
        "f.py did not finish within 5 s in the test 'gradient'; it was stopped.",
        4,
        [],
    ),
    "ends the process in import": (
        "import os; os._exit(0)",
        60,
        "f.py ended the process (exit code 0) while it was imported.",
        0,
        [],
    ),
    "ends the process in backward": (
        solution(before="import os", backward="os._exit(7)"),
        60,
        "f.py ended the process (exit code 7) in the test 'gradient'.",
        4,
        [],
    ),
    "prints a megabyte, leaves a thread and a child": (
        "import threading, time, subprocess, sys\n"
        "threading.Thread(target=time.sleep, args=(600,)).start()\n"
        "subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'])\n"
        "print('a' * 2**20)\nprint('b\\n' * 2**20)\n" + solution(),
        60,
        None,
        N,
        ["a" * 67 + "...", "... and 1048577 more lines"],
    ),
    "prints JSON and bytes, imports its neighbour": (
        "import neighbour, os\n"
        "for fd in range(3, 20):\n"
        "    try: os.write(fd, b'no JSON\\n3\\n')\n"
        "    except OSError: pass\n"
        "os.write(1, b'{\"done\": true}\\n\\xff\\n')\nprint('\\x1b[2J✓')\n" + solution(),
        60,
        None,
        N,
        ["here", '{"done": true}', "\ufffd", "?[2J✓"],
    ),
    "prints for ever": (
        "while True: print('x' * 1000)",
        1,
        "f.py did not finish within 1 s while it was imported; it was stopped.",
        0,
        ["x" * 67 + "..."] * 4,
    ),
    "reads input": (
        "name = input('name? ')",
        60,
        "f.py raised EOFError (line 1): EOF when reading a line while it was imported.",
        0,
        ["name?"],
    ),
    "deletes things": (
        "import os, sys, builtins, json\n"
        "os.remove(__file__)\nsys.stdout.close()\ndel builtins.print, json.dumps, os._exit\n"
        + solution(before="del torch.relu"),
        60,
        None,
        N,
        [],
    ),
    "closes everything": (
        "import os\nos.closerange(0, 256)\n" + solution(),
        60,
        "f.py ended the process (exit code",
        0,
        [],
    ),
}


@pytest.fixture(scope="module")
def unruly(tmp_path_factory):
    """All reports, made two at a time: most of the time is torch's import."""

    def judge(name):
        folder = tmp_path_factory.mktemp("unruly")
        (folder / "neighbour.py").write_text("print('here')")
        (folder / "random.py").write_text("torch would import me")
        (folder / "f.py").write_text(UNRULY[name][0], encoding="utf-8")
        return name, harness.run(str(folder / "f.py"), UNRULY[name][1])

    with ThreadPoolExecutor(2) as pool:
        return dict(pool.map(judge, UNRULY))


@pytest.mark.parametrize("name", UNRULY)
def test_unruly(name, unruly):
    _, _, sentence, passed, printed = UNRULY[name]
    report = unruly[name]
    if sentence is None:
        assert report.fatal is None
    else:
        assert report.fatal.startswith(sentence)
    assert sum(row.ok for row in report.rows) == passed
    assert report.passed == (passed == N)
    assert report.printed[: len(printed)] == printed
    rendered = harness.render(report)
    assert rendered.endswith(f"{passed}/{N} passed\n")
    shown = sum(
        line.startswith("✗") and line.endswith("  not run") for line in rendered.split("\n")
    )
    assert shown == (N - passed if passed else 0)
    check_form(rendered)


@pytest.mark.skipif(
    not hasattr(os, "killpg"), reason="only POSIX kills a process with its children"
)
def test_nothing_is_left_over(unruly):
    # A reader ends when the last process that holds the pipe has ended.
    readers = [t.name for t in threading.enumerate() if t.name.endswith(("_read_lines)", "(read)"))]
    assert readers == []


# --- the text --------------------------------------------------------------------------------


def check_form(rendered):
    lines = rendered.splitlines()
    assert max(map(len, lines)) <= 72
    assert not [line for line in lines if line != line.rstrip()]
    assert "\x1b" not in rendered
    assert rendered.isprintable() or set(rendered) - {"\n"} == set(rendered.replace("\n", ""))
    rows = [line for line in lines if line[:2] in ("✓ ", "✗ ")]
    # The two columns start where the heading says; of a failed row, what was got stands below what was expected.
    if rows:
        assert max(map(len, itertools.takewhile(bool, lines))) <= 48
        name, column = (lines[0].index(word) for word in ("test", "expected"))
        for row, below in itertools.pairwise(lines):
            if row[:2] in ("✓ ", "✗ "):
                apart = below.split()[:1] == ["expected"]
                assert row[:name].rstrip() == row[0], row
                assert row[name] != " ", row
                assert apart == (row[column:] == ""), row
                assert apart or re.fullmatch(r" \S.*", row[column - 1 :]), row
            if row.split()[:1] == ["expected"]:
                assert below.split()[:1] == ["got"], below


def test_marks_without_unicode():
    rows = [harness.Row("a", "1", "1", True), harness.Row("b", "1", "2", why="W.", next="N.")]
    rows.append(harness.Row("c", "1", "3", see="b"))
    rows.append(harness.Row("d", "1", "None", see="b"))
    rendered = harness.render(harness.Report("f.py", rows), ("ok", "no"))
    assert rendered == (
        "   test                    expected\n"
        "ok a                       1\n"
        "no b\n"
        "   expected  1\n"
        "   got       2\n"
        "   why       W.\n"
        "   next      N.\n"
        "no c\n"
        "   expected  1\n"
        "   got       3\n"
        "   why       see b\n"
        "no d                       see b\n"
        "\n"
        "1/4 passed\n"
    )
    assert rendered.isascii()


def test_long_values_are_cut():
    rows = [harness.Row("a", "1", "x" * 100, why="w " * 100)]
    rendered = harness.render(harness.Report("f.py", rows))
    assert "\n  got       " + "x" * 25 + "...\n" in rendered
    check_form(rendered)


def test_list(capsys):
    assert harness.main(["--list"]) == 0
    out = capsys.readouterr().out
    lines = out.splitlines()
    assert lines[0].split() == ["test", "expected"]
    assert lines[1] == "  static methods          forward, backward"
    assert [line[2:25].rstrip() for line in lines[1 : N + 1]] == NAMES
    assert lines[N + 1 :] == ["", f"0/{N} passed"]


# --- the command line ------------------------------------------------------------------------

USAGE = [
    ([], "harness: name your file, such as my_relu.py; try --help\n"),
    ([""], "harness: an empty name is no file; name your file, such as my_relu.py; try --help\n"),
    (["no_such.py"], "harness: no_such.py does not exist; name your file\n"),
    (["."], "harness: . is a folder; name your file\n"),
    ([os.devnull], f"harness: {os.devnull} is no file; name your file\n"),
    (["a.py", "b.py"], "harness: unrecognized arguments: b.py; try --help\n"),
    (["--fast", "a.py"], "harness: unrecognized arguments: --fast; try --help\n"),
    (
        [str(STARTER), "--seconds", "soon"],
        "harness: argument --seconds: invalid float value: 'soon'; try --help\n",
    ),
    ([str(STARTER), "--seconds", "0"], "harness: --seconds must be more than 0, got 0\n"),
    ([str(STARTER), "--seconds", "nan"], "harness: --seconds must be more than 0, got nan\n"),
]


@pytest.mark.parametrize(("argv", "message"), USAGE)
def test_usage_errors_are_one_line(argv, message, capsys):
    assert harness.main(argv) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err == message


def test_help_tells_the_exit_codes(capsys):
    assert harness.main(["--help"]) == 0
    out = " ".join(capsys.readouterr().out.split())
    assert (
        "Exit codes: 0 if every test passed, 1 if not, or if the file could not be judged, " in out
    )
    assert "2 for a wrong command line or a missing file." in out


def command(*arguments, **environment):
    return subprocess.run(
        [sys.executable, "-m", "customgrad.lessons.relu.harness", *arguments],
        cwd=ROOT,
        env=os.environ | environment,
        input=b"typed\n",
        capture_output=True,
        timeout=300,
    )


def test_command_of_the_starter():
    done = command(str(STARTER), PYTHONIOENCODING="utf-8")
    assert done.returncode == 1, done
    assert done.stderr == b""
    text = done.stdout.decode("utf-8").replace("\r\n", "\n")
    assert text.count("✗") == N
    assert text.endswith(f"\n\n0/{N} passed\n")


def test_command_where_the_terminal_has_no_check_mark(tmp_path):
    before = "print('∇')\ntry: input()\nexcept EOFError: print('no input')"
    (tmp_path / "f.py").write_text(solution(before=before), encoding="utf-8")
    done = command(str(tmp_path / "f.py"), PYTHONIOENCODING="cp1252")
    assert done.returncode == 0, done
    text = done.stdout.decode("cp1252").replace("\r\n", "\n")
    assert text.count("ok ") == N
    assert "Printed by f.py:\n  \\u2207\n  no input\n" in text


def test_command_of_a_file_that_does_not_parse(tmp_path):
    (tmp_path / "f.py").write_text("def f(:")
    done = command(str(tmp_path / "f.py"))
    assert done.returncode == 1
    assert done.stderr == b""
    assert done.stdout.decode().split() == (
        f"f.py does not parse: line 1: invalid syntax. 0/{N} passed".split()
    )
    assert command("no_such.py").returncode == 2
