"""Cube, Exp and Sinh to the third order, what they keep, and the wrong and right ways of the lesson."""

import gc
import weakref

import pytest
import torch
from torch.autograd import gradcheck, gradgradcheck

from customgrad.functions import Sinh, cube, exp, sinh
from customgrad.lessons.functions import exp as exp_lesson
from customgrad.lessons.functions import twice
from sitetools import catalogue

PRECISE = {"rtol": 1e-6, "atol": 1e-8}
POINTS = [-1.5, -0.25, 0.0, 0.5, 2.0]


def point(values=POINTS):
    return torch.tensor(values, dtype=torch.float64, requires_grad=True)


@pytest.mark.parametrize(
    ("call", "orders"),
    [
        (cube, [lambda x: x**3, lambda x: 3 * x**2, lambda x: 6 * x, lambda x: 0 * x + 6]),
        (exp, [torch.exp] * 4),
        (sinh, [torch.sinh, torch.cosh] * 2),
    ],
    ids=["cube", "exp", "sinh"],
)
def test_to_the_third_order(call, orders):
    x = point()
    y = call(x)
    for expected in orders:
        torch.testing.assert_close(y, expected(x), rtol=1e-14, atol=1e-14)
        (y,) = torch.autograd.grad(y.sum(), x, create_graph=True)


@pytest.mark.parametrize("order", [1, 2, 3])
@pytest.mark.parametrize("call", [cube, exp, sinh], ids=lambda f: f.__name__)
def test_asked_again_on_a_kept_graph(call, order):
    """Outputs that are saved and differentiated repeatedly (pytorch#18619)."""
    x = point()
    y = call(x).sum()
    for _ in range(order):
        (g,) = torch.autograd.grad(y, x, create_graph=True)
        (second,) = torch.autograd.grad(g.sum(), x, retain_graph=True)
    again = torch.autograd.grad(g.sum(), x)[0]
    assert torch.equal(second, again)


@pytest.mark.parametrize("call", [cube, exp, sinh], ids=lambda f: f.__name__)
def test_nothing_leaks(call):
    """Reference counting alone frees the output, before and after backward."""
    gc.disable()
    try:
        for run in (False, True):
            y = call(point())
            if run:
                y.sum().backward()
            seen = weakref.ref(y)
            del y
            assert seen() is None
    finally:
        gc.enable()


@pytest.mark.parametrize("call", [exp, sinh], ids=lambda f: f.__name__)
def test_a_changed_output_is_noticed(call):
    y = call(point())
    y.mul_(2)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()


def test_a_changed_input_is_noticed_by_cube_alone():
    for call, noticed in [(cube, True), (exp, False), (sinh, False)]:
        x = point() * 1
        y = call(x)
        x.mul_(2)
        if noticed:
            with pytest.raises(RuntimeError, match="modified by an inplace operation"):
                y.sum().backward()
        else:
            y.sum().backward()


# --- Sinh's second output ----------------------------------------------------------------------


def both(x):
    return torch.sinh(x), torch.cosh(x)


USES = {
    "first": lambda y, c: y.sum(),
    "second": lambda y, c: (c * c).sum(),
    "both": lambda y, c: (y * c).sum() + c.sum(),
}


@pytest.mark.parametrize("backend", [None, "aot_eager"])
@pytest.mark.parametrize("use", USES)
def test_each_output_has_its_gradient(use, backend):
    x = point()
    found = []
    for pair in (Sinh.apply, both):

        def call(x, pair=pair):
            return USES[use](*pair(x))

        if backend:
            torch._dynamo.reset()
            call = torch.compile(call, backend=backend, fullgraph=True)
        with catalogue.quiet():  # torch warns of its own doings while it compiles
            found.append(torch.autograd.grad(call(x), x)[0])
    torch.testing.assert_close(found[0], found[1], rtol=1e-14, atol=1e-14)


def test_the_pair_in_slow_mode():
    x = point()
    assert gradcheck(Sinh.apply, x, check_undefined_grad=True, check_batched_grad=True, **PRECISE)
    assert gradgradcheck(Sinh.apply, x, check_batched_grad=True, **PRECISE)


def test_no_cotangent_no_gradient():
    x = point()
    y, _ = Sinh.apply(x)
    assert Sinh.backward(y.grad_fn, None, None) is None


# --- the lesson --------------------------------------------------------------------------------

WRONG = [twice.CubeOnCtx, twice.ExpDetached, twice.SinhSaved]
RIGHT = [twice.CubeReturning, twice.ExpRecomputing, twice.SinhRecomputing, exp_lesson.ExpOnCtx]


@pytest.mark.parametrize("function", WRONG + RIGHT, ids=lambda f: f.__name__)
def test_the_lessons_ways(function):
    x = point()
    assert gradcheck(function.apply, x, **PRECISE)
    right = gradgradcheck(function.apply, x, raise_exception=False, **PRECISE)
    assert right is (function in RIGHT)
