"""The false-alarm control: correct Functions, on which nothing may fire but what was confirmed by hand."""

import ast
import importlib.util
from pathlib import Path

import pytest
import torch

from customgrad.checker import check
from sitetools import catalogue

LEFT_OUT = "CG96"  # torch.compile: it takes most of the time, and each family tests its own

CONFIRMED: dict[str, dict[str, str]] = {
    # Function of torch's autograd_function_db → code → why the finding is right.
    "CubeGenVmap": {
        "CG201": "backward adds 6 * dinput, whatever the second cotangent is (12 at x=2 became 84)",
        "CG202": "the same term is constant in the cotangent",
    },
    "NumpyCubeNotComposable": {
        "CG201": "backward does not use grad_output",
        "CG202": "the same",
        "CG503": "an array of the input's memory is kept, and a later change of the input is not seen",
    },
    "NumpyMul": {"CG104": "backward does not sum over what forward broadcast; the engine does"},
    "MulGenVmap": {"CG104": "the same"},
    "ZeroGradientsGenVmap": {"CG104": "returns zeros of another shape; the engine sums them"},
    "NumpySort": {
        "CG201": "forward drops what np.take_along_axis returns, and does not sort; backward unsorts",
    },
}
"""Extend it by what was confirmed by hand, and by nothing else: each entry names its reason."""


def arguments(operation):
    """Return what apply is called with, as a reader who copied the Function would call it."""
    inputs = operation.sample()
    if operation.apply is None:
        return (*inputs, *operation.options.values())
    kept = []

    def record(*args):
        kept.append(args)
        return operation.function.apply(*args)

    operation.apply(record, *inputs)
    return kept[0]


def told(report):
    return {f.code: f.message for f in report.failures}


SURROGATE = {o.function for o in catalogue.OPERATIONS if not o.derivative}
"""Those that rewrite gradients; where their threshold is out of reach, backward is the derivative."""
MEMBERS = [
    pytest.param(o, f, id=f"{o.label}{' forward mode' * (f is o.forward_mode)}")
    for o in catalogue.OPERATIONS
    for f in dict.fromkeys((o.function, o.forward_mode))
    if f is not None
]


@pytest.mark.parametrize(("operation", "function"), MEMBERS)
def test_functions_of_the_catalogue_come_out_clean(operation, function):
    report = check(
        function, arguments(operation), surrogate=operation.function in SURROGATE, ignore=LEFT_OUT
    )
    assert not report.failures, str(report)
    assert "stopped" not in report.facts, report.text(not_run=True)


def functions_of_torch():
    """Return the classes of autograd_function_db.py; importing it would need expecttest, which torch does not."""
    spec = importlib.util.find_spec("torch.testing._internal")
    path = Path(spec.submodule_search_locations[0]) / "autograd_function_db.py"
    tree = ast.parse(path.read_text(encoding="utf-8"))
    kept = [
        node
        for node in tree.body
        if isinstance(node, ast.ClassDef)
        or (isinstance(node, ast.FunctionDef) and node.name == "to_numpy")
        or (isinstance(node, ast.Import) and {a.name for a in node.names} <= {"torch", "numpy"})
    ]
    space = {"__name__": "autograd_function_db"}
    exec(compile(ast.Module(kept, []), str(path), "exec"), space)
    return {n.name: space[n.name] for n in kept if isinstance(n, ast.ClassDef)}


def drawn(*shape, low=0.9, high=2.0):
    generator = torch.Generator().manual_seed(3)
    numbers = torch.rand(shape, generator=generator, dtype=torch.float64)
    return (low + (high - low) * numbers).requires_grad_()


def pair():
    return drawn(4), drawn(3, 4)


def taken():
    x = drawn(3, 5)
    order = x.detach().argsort(1)
    return x, order, order.argsort(1), 1


DB = {
    "NumpyCube": lambda: (drawn(1),),
    "CubeGenVmap": lambda: (drawn(1),),
    "NumpyCubeNotComposable": lambda: (drawn(1),),
    "NumpyMul": pair,
    "MulGenVmap": pair,
    "NumpyExp_": lambda: (drawn(1),),
    "NumpySort": lambda: (drawn(3, 5), 1),
    "SortGenVmap": lambda: (drawn(3, 5), 1),
    "NumpyTake": taken,
    "TakeGenVmap": taken,
    "Select": lambda: (drawn(3, 5), 2),
    "SelectGenVmap": lambda: (drawn(3, 5), 2),
    "ScaleGradGenVmap": lambda: (drawn(1),),
    "ZeroGradientsGenVmap": pair,
    "ForwardHasDefaultArgs": lambda: (drawn(3, 5), (2,)),
}
"""The inputs that torch's own tests give them."""
SURROGATES = {"ScaleGradGenVmap", "ZeroGradientsGenVmap"}
"""Their gradient differs from forward's derivative on purpose."""


def test_the_table_names_every_function_of_torch():
    assert set(functions_of_torch()) == set(DB)
    assert set(CONFIRMED) <= set(DB)


@pytest.mark.parametrize("name", DB)
def test_functions_of_torch_come_out_clean_or_as_confirmed(name):
    function = functions_of_torch()[name]
    report = check(function, DB[name], surrogate=name in SURROGATES, ignore=LEFT_OUT)
    confirmed = CONFIRMED.get(name, {})
    assert set(told(report)) <= set(confirmed), str(report)
    # A wrong one is found, by one code at least.
    assert bool(report.failures) == bool(confirmed), str(report)
