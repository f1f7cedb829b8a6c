"""What is said of wrong answers that no mutant matches: errors, words, and relations between numbers."""

import re
import tomllib
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch

from customgrad.exercises import facts
from customgrad.exercises.checking import Check, Composed, Difference, Seen, compare, tensor
from customgrad.exercises.grading import _Grading
from customgrad.exercises.looks import (
    dtypes,
    function,
    gradient,
    interleaved,
    keeps,
    needs,
    only,
    plainly,
    returns,
    second,
    twice,
    untouched,
    value,
)

TABLE = tomllib.loads(Path(facts.__file__).with_name("errors.toml").read_text(encoding="utf-8"))
X = tensor(1.5, -2.0, 3.0)
PLAIN = """
import math
import torch


class Square(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        return 2 * x * grad_output
"""
SETUP = PLAIN.replace("forward(ctx, x)", "forward(x)").replace(
    "        ctx.save_for_backward(x)\n        return x * x\n",
    "        return x * x\n\n    @staticmethod\n    def setup_context(ctx, inputs, output):\n"
    "        ctx.save_for_backward(*inputs)\n",
)
SAVE, VALUE = "ctx.save_for_backward(x)", "return x * x"
READ, GRADIENT = "(x,) = ctx.saved_tensors", "return 2 * x * grad_output"
REFERENCE = SimpleNamespace(Square=Composed(lambda x, *rest: x * x))
SLOPE = gradient("the gradient", "Square", x=X)


def edited(*edits, start=PLAIN):
    source = start
    for old, new in edits:
        assert source.count(old) >= 1, old
        source = source.replace(old, new)
    return source


def said(source, check=SLOPE, reference=REFERENCE):
    """Why the source fails the check, and what to do; no mutant helps."""
    task = SimpleNamespace(name="square", file="square.py", forbids={}, mutants=())
    grading = _Grading.__new__(_Grading)
    grading.task, grading.source, grading.file = task, source, "square.py"
    grading.reference = reference
    from customgrad.exercises.grading import load

    answer = load(source, "square.py")
    result, _ = grading.run(check, answer)
    expected = grading.expected(check)
    if result.seen is None:
        fact = facts.of_error(result.kind, result.message, result.where, source)
        assert fact is not None, result.error
    else:
        found = compare(result.seen.values, expected, check.tolerance)
        assert found is not None, "the check passes"
        fact = facts.of_values(check, result.seen, expected, found)
        assert fact is not None, (found, result.seen)
    return fact


ERRORS = {
    # the methods and their arguments
    "self in forward": ([("ctx, x", "self, ctx, x")], "forward has more arguments"),
    "no ctx": ([("ctx, x", "x"), (SAVE, "pass")], "forward has fewer arguments"),
    "self in backward": (
        [("ctx, grad_output", "self, ctx, grad_output")],
        "backward has more arguments",
    ),
    "no grad_output": ([("ctx, grad_output", "ctx")], "backward takes 1 arguments, .* hands in 2"),
    "two outputs": ([(VALUE, "return x * 1, x * 2")], "backward takes 2 .* hands in 3"),
    "itself": ([(VALUE, "return Square.apply(x)")], "applies itself inside its own forward"),
    "forward called": (
        [(GRADIENT, "return Square.forward(x)")],
        "forward is called directly there",
    ),
    # what is saved
    "tuple times": ([(READ, "x = ctx.saved_tensors")], "is a tuple, even of one tensor"),
    "tuple method": (
        [(READ, "x = ctx.saved_tensors"), (GRADIENT, "return grad_output * x.exp()")],
        "is a tuple, even of one tensor",
    ),
    "tuple argument": (
        [(READ, "x = ctx.saved_tensors  # x"), (GRADIENT, "return torch.exp(x)")],
        "is a tuple, even of one tensor",
    ),
    "tuple compared": (
        [(READ, "x = ctx.saved_tensors"), (GRADIENT, "return grad_output * (x > 0)")],
        "is a tuple, even of one tensor",
    ),
    "called": ([("ctx.saved_tensors", "ctx.saved_tensors()")], "is a tuple, and no function"),
    "reads two": ([("(x,) =", "x, y =")], "reads 2 saved tensors, and forward saved 1"),
    "reads one": ([(SAVE, "ctx.save_for_backward(x, x)")], "reads 1 of the saved tensors"),
    "saves nothing": ([(SAVE, "pass")], "reads 1 saved tensors, and forward saved 0"),
    "index": ([(READ, "x = ctx.saved_tensors[1]")], "reads more saved tensors"),
    "attribute": ([(READ, "x = ctx.x")], "no attribute x: neither forward"),
    "saved_tensor": ([("saved_tensors", "saved_tensor")], "no attribute saved_tensor$"),
    "save_backward": ([("save_for_backward", "save_backward")], "no attribute save_backward$"),
    "saves a number": ([(SAVE, "ctx.save_for_backward(x, 2.0)")], "argument 1 .* is a float"),
    "saves a tuple": ([(SAVE, "ctx.save_for_backward((x,))")], "got a tuple of tensors"),
    # what is returned
    "two gradients": (
        [(GRADIENT, "return grad_output, grad_output")],
        r"returns 2 value\(s\), and forward takes 1",
    ),
    "shape": ([(GRADIENT, "return grad_output[:2]")], r"place 0 .* shape \[2\], .* shape \[3\]"),
    "a number": ([(GRADIENT, "return 2.0")], "returned a float where a tensor"),
    "a list": ([(GRADIENT, "return [grad_output]")], "returned a list where a tensor"),
    "numpy": ([(GRADIENT, "return grad_output.numpy()")], "returned a numpy.* where a tensor"),
    # tensors
    "if": ([(VALUE, "return x if x > 0 else 0 * x")], "need one True or False"),
    "max": ([(VALUE, "return max(x, 0)")], "need one True or False"),
    "math": ([(VALUE, "return math.exp(x)")], "several elements is made a number"),
    "item": ([(VALUE, "return x * x.item()")], "several elements is made a number"),
    "maximum": ([(VALUE, "return torch.maximum(x, 0)")], "take two tensors"),
    "exp of a number": ([(VALUE, "return x * torch.exp(2)")], "torch.exp takes a tensor .*: int"),
    "where": ([(VALUE, "return torch.where(x, 1, 0)")], "no tensor of True and False"),
    "minus mask": ([(GRADIENT, "return grad_output * -(x > 0)")], "does not work on a mask"),
    "parentheses": ([(VALUE, "return x.sum * x")], "a method is used as if"),
    "float32": ([(VALUE, "return torch.ones(3, 3) @ x")], "different dtypes"),
    "integers": (
        [(VALUE, "y = torch.zeros(3, dtype=torch.long)\n        y += x\n        return y")],
        "written into a tensor of Long",
    ),
    "sizes": ([(VALUE, "return x * x[:2]")], "sizes are 3 and 2"),
    "matrices": (
        [(VALUE, "return x[None] @ x[None]")],
        "of 1x3 cannot be multiplied by one of 1x3",
    ),
    "dot": ([(VALUE, "return x @ x[:2]")], "sizes of two tensors do not fit"),
    "view": ([(VALUE, "return x.expand(3, 3).T.view(-1)")], "one after the other in memory"),
    "reshape": (
        [(VALUE, "return x.reshape(2, 2)")],
        r"3 elements cannot be given the shape \[2, 2\]",
    ),
    "axis": ([(VALUE, "return x.sum(1)")], "axis 1 is asked for"),
    "indices": ([(VALUE, "return x[:, 0]")], "fewer axes than are asked for"),
    "0-d": ([(VALUE, "return x[0][0]")], "fewer axes than are asked for"),
    "empty": ([(VALUE, "return x[:0].max()")], "the tensor is empty"),
    "bounds": ([(VALUE, "return x[3]")], "element 3 is asked for"),
    "None": ([(GRADIENT, "return None * grad_output")], "a value is None, and is computed with"),
    "None.exp": ([(GRADIENT, "return None.exp()")], "a value is None, so .exp fails"),
    # the graph
    "autograd inside": (
        [(GRADIENT, "return torch.autograd.grad((x * x).sum(), x)[0]")],
        "inside backward autograd records nothing",
    ),
    "item out": ([(VALUE, "return (x > 0)")], "cut off from the graph"),
    # Python
    "name": ([(VALUE, "return y * x")], "the name y is not defined"),
    "torch.name": ([(VALUE, "return torch.expp(x)")], "there is no torch.expp"),
    "method": ([(VALUE, "return x.expp()")], "a tensor has no method or attribute expp"),
    "overflow": ([(VALUE, "return x * math.exp(1000)")], "leaves the range of floats"),
    "not written": ([(VALUE, "raise NotImplementedError")], "not written yet$"),
    "assert": ([(VALUE, "assert x.dim() == 2")], "an assert in the file itself fails"),
    "exit": ([(VALUE, "raise SystemExit(1)")], "the file ends the program"),
    "callable": ([(VALUE, "return x(2)")], "called like a function"),
    "a helper": (
        [(VALUE, "return power(x)"), ("class", "def power(x, n): return x ** n\n\n\nclass")],
        "power is called without 'n'",
    ),
}


@pytest.mark.parametrize("name", ERRORS)
def test_errors(name):
    edits, words = ERRORS[name]
    why, fix = said(edited(*edits))
    assert re.search(words, why), why
    assert fix


SETUPS = {
    "ctx in both": ([("forward(x)", "forward(ctx, x)")], "forward is called without ctx"),
    "arguments": ([("(ctx, inputs, output)", "(ctx, inputs)")], "other arguments than autograd"),
    "no star": ([("*inputs", "inputs")], "got a tuple of tensors"),
    "tuple": ([("*inputs", "inputs.clone()")], "inputs is a tuple of all arguments"),
    "unpacks two": (
        [("ctx.save_for_backward(*inputs)", "x, y = inputs")],
        "unpacks 2 values where there are 1",
    ),
}


@pytest.mark.parametrize("name", SETUPS)
def test_errors_with_setup_context(name):
    edits, words = SETUPS[name]
    why, _ = said(edited(*edits, start=SETUP))
    assert re.search(words, why), why


def test_table():
    for key in ("error", "words"):
        whys = [(entry["why"], entry["match"]) for entry in TABLE[key]]
        assert len(set(whys)) == len(whys)
        for entry in TABLE[key]:
            assert set(entry) <= {"match", "where", "source", "why", "fix"}
            re.compile(entry["match"])
            assert len(entry["why"]) < 150, entry["why"]
            assert not entry["why"].endswith("."), entry["why"]


MESSAGES = [
    (
        "RuntimeError",
        "Some elements marked as dirty during the forward method were not returned as output.",
        "",
        "does not return",
    ),
    (
        "RuntimeError",
        "a leaf Variable that requires grad has been used in an in-place operation.",
        "",
        "a leaf",
    ),
    (
        "RuntimeError",
        "a leaf Variable that requires grad is being used in an in-place operation.",
        "step",
        "a parameter is changed in place while autograd records",
    ),
    (
        "RuntimeError",
        "In order to use an autograd.Function with functorch transforms (vmap, grad, jvp, jacrev, ...), it must override the setup_context staticmethod.",
        "",
        "no setup_context",
    ),
    (
        "RuntimeError",
        "You tried to vmap over Sq, but it does not have vmap support.",
        "",
        "no rule for torch.vmap",
    ),
    (
        "NotImplementedError",
        "You must implement the jvp function for custom autograd.Function to use it with forward mode AD.",
        "",
        "no jvp",
    ),
    ("ValueError", "optimizer got an empty parameter list", "", "no parameters arrive"),
    ("KeyError", "'momentum_buffer'", "step", "looked up before anything is stored"),
    ("KeyError", "'params'", "", 'no key "params"'),
    ("AttributeError", "'NoneType' object has no attribute 'grad_fn'", "", "forward returns None"),
    (
        "AttributeError",
        "'float' object has no attribute 'detach'",
        "",
        "returns a float, and a tensor",
    ),
    (
        "AttributeError",
        "'Thing' object has no attribute 'gradd'",
        "run",
        "Thing has nothing called gradd",
    ),
    (
        "RuntimeError",
        "one of the variables needed for gradient computation has been modified by an inplace operation",
        "backward",
        "was changed in place afterwards",
    ),
]


@pytest.mark.parametrize(("kind", "message", "where", "words"), MESSAGES)
def test_messages(kind, message, where, words):
    fact = facts.of_error(kind, message, where, "")
    assert fact is not None
    assert re.search(words, fact[0]), fact


def test_an_error_that_nobody_knows_says_nothing():
    assert facts.of_error("RuntimeError", "the moon is full", "forward", "") is None


def test_none_for_an_unused_output():
    source = "ctx.set_materialize_grads(False)"
    message = "unsupported operand type(s) for *: 'NoneType' and 'Tensor'"
    why, _ = facts.of_error("TypeError", message, "backward", source)
    assert "gets None for an output that was not used" in why


WORDS = {
    "no class": (function("Square"), "def Square(x): return x", "is no class"),
    "no base": (function("Square"), "class Square: pass", "does not derive from"),
    "no backward": (function("Square"), [("def backward", "def backwards")], "defines no backward"),
    "neither": (
        function("Square"),
        [("def backward", "def backwards"), ("def forward", "def fwd")],
        "neither forward nor backward",
    ),
    "not static": (
        function("Square"),
        [("    @staticmethod\n    def backward", "    def backward")],
        "backward without @staticmethod",
    ),
    "on ctx": (
        keeps("kept well", "Square", plainly, x=X),
        [(SAVE, "ctx.x = x"), (READ, "x = ctx.x")],
        "ctx.x holds an input or output itself",
    ),
    "two": (
        keeps("kept well", "Square", only("any"), x=X),
        [(SAVE, "ctx.save_for_backward(x, 2 * x)")],
        "2 tensors of 3 elements are kept",
    ),
    "none": (
        keeps("kept well", "Square", only("input"), x=X),
        [(SAVE, "pass")],
        "no tensor of 3 elements is kept",
    ),
    "another": (
        keeps("kept well", "Square", only("input"), x=X),
        [(SAVE, "ctx.save_for_backward(2 * x)")],
        "not the input, but another tensor",
    ),
    "the other": (
        keeps("kept well", "Square", only("output"), x=X),
        [],
        "the input is kept for backward, and the statement asks for the output",
    ),
    "a list": (SLOPE, [(VALUE, "return 3.0")], "returns no tensor, but: float"),
    "dtype": (
        dtypes("Square", x=X),
        [(VALUE, "return x.float() ** 2")],
        "a float64 input, .* float32",
    ),
    "grad_output": (
        untouched("Square", x=X),
        [(GRADIENT, "return grad_output.mul_(2 * x)")],
        "backward writes into grad_output",
    ),
    "saved input": (
        untouched("Square", x=X),
        [(GRADIENT, "return x.data.mul_(2).mul_(grad_output)")],
        "backward changes x",
    ),
    "input": (untouched("Square", x=X), [(VALUE, "return x.data.mul_(x)")], "forward changes x"),
    "shared": (
        interleaved("Square", {"x": X}, {"x": X + 1}),
        [(SAVE, "Square.x = x.clone()"), (READ, "x = Square.x")],
        "the second call overwrote it",
    ),
    "used up": (
        twice("Square", x=X),
        [
            (SAVE, "ctx.x = x.clone()"),
            (READ, "x = ctx.x"),
            (GRADIENT, "return ctx.x.mul_(2) * grad_output"),
        ],
        "the second backward .* another gradient",
    ),
    "alone": (
        needs("Square", x=X),
        [(GRADIENT, "return None")],
        "no gradient for x where x alone needs one",
    ),
    "returned shape": (
        returns("Square", x=X),
        [(GRADIENT, "return (2 * x * grad_output).expand(2, 3)")],
        r"itself returns a gradient of shape \(2, 3\) for x, which has shape \(3,\)",
    ),
    "returned dtype": (
        returns("Square", x=X),
        [(GRADIENT, "return (2 * x * grad_output).float()")],
        "returns a gradient in float32 for x",
    ),
    "returned for a number": (
        returns("Square", x=X, n=2.0),
        [("ctx, x", "ctx, x, n"), (GRADIENT, "return 2 * x * grad_output, grad_output")],
        "returns float64 of shape .* for n, which has no gradient",
    ),
    "derivative": (
        second("twice", "Square", x=X),
        [(READ, "x = ctx.saved_tensors[0].detach()"), ("* grad_output", "* grad_output.detach()")],
        "gradient’s derivative by x is zero",
    ),
    "None": (SLOPE, [(GRADIENT, "return None")], "gives no gradient for x"),
    "no value": (value("values", "Square", x=X), [(VALUE, "pass")], "forward returns None"),
    "the slope alone": (
        SLOPE,
        [("* grad_output", "* torch.ones_like(grad_output)")],
        "derivative alone",
    ),
    "a factor": (SLOPE, [("2 * x", "3 * x")], "1.5 times the right one everywhere"),
    "the sign": (SLOPE, [("2 * x", "-2 * x")], "the wrong sign"),
    "NaN": (SLOPE, [("2 * x", "x.sqrt() * x")], "is NaN where x is -2"),
    "the mean": (
        SLOPE,
        [("* grad_output", "* grad_output.mean()")],
        "contains the mean of grad_output",
    ),
    "clipped": (
        gradient("the gradient", "Square", x=X, g=tensor(0.5, -2.0, 3.0)),
        [("* grad_output", "* grad_output.clamp(-1, 1)")],
        r"contains grad_output clipped to \[-1, 1\]",
    ),
    "a formula": (
        SLOPE,
        [("2 * x", "x**2 / 2")],
        "is 1/2 · x² times grad_output, and 2 · x times grad_output is right",
    ),
    "a value": (value("values", "Square", x=X), [(VALUE, "return x**3")], "is x³, and x² is right"),
    "near": (
        SLOPE,
        [("2 * x", "((x + 1e-3) ** 2 - x**2) / 1e-3")],
        "nearly right, but off by up to",
    ),
    "too large": (value("values", "Square", x=X), [(VALUE, "return x * x + x")], "too large by x"),
    "squeezed": (
        gradient("the gradient", "Square", x=X[:1], g=X[:1]),
        [(VALUE, "return (x * x).squeeze()")],
        "forward returns another shape",
    ),
    "a place": (
        SLOPE,
        [("2 * x", "2.5 * x.clamp(max=0) + 2 * x.clamp(min=0)")],
        "wrong where x is negative",
    ),
}


@pytest.mark.parametrize("name", WORDS)
def test_words_and_numbers(name):
    check, edits, words = WORDS[name]
    source = edited(*edits) if isinstance(edits, list) else f"import torch\n{edits}\n"
    why, fix = said(source, check)
    assert re.search(words, why), why
    assert fix


def test_only_what_the_numbers_show():
    check = Check("a check", lambda answer: Seen("", {}))
    found = Difference("gradient of x", tensor(1.0, 5.0, 8.0), tensor(2.0, 7.0, 1.0))
    assert (
        facts.of_values(check, Seen("", {}, {"x": X}), {"gradient of x": found.expected}, found)
        is None
    )
    assert torch.equal(X, tensor(1.5, -2.0, 3.0))
