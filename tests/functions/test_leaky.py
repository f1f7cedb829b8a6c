"""LeakyReLU: torch's values bit for bit, what a chain keeps, and the slopes that it refuses."""

import functools
import itertools

import pytest
import torch
from torch.nn import functional as F

from customgrad.functions import LeakyReLU, leaky_relu

INF, NAN = torch.inf, torch.nan
DTYPES = [torch.float16, torch.bfloat16, torch.float32, torch.float64]
SPECIAL = [-INF, -3e38, -2.0, -1e-45, -0.0, 0.0, 1e-45, 3.0, 3e38, INF, NAN]
SLOPES = [0.01, 1, 2.5, 1e-30, 1e30]

# input, cotangent, output, gradient, for a slope of 0.5: by hand.
BY_HAND = [
    (-2.0, 10.0, -1.0, 5.0),
    (3.0, 10.0, 3.0, 10.0),
    (0.0, 10.0, 0.0, 5.0),
    (-0.0, 10.0, -0.0, 5.0),
    (INF, 2.0, INF, 2.0),
    (-INF, 2.0, -INF, 1.0),
    (NAN, 2.0, NAN, 1.0),
    (-1.0, INF, -0.5, INF),
    (-1.0, NAN, -0.5, NAN),
    (1.0, -INF, 1.0, -INF),
]


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_by_hand(dtype, assert_same):
    x, g, output, gradient = torch.tensor(BY_HAND, dtype=torch.float64).to(dtype).unbind(1)
    x.requires_grad_()
    y = leaky_relu(x, negative_slope=0.5)
    assert_same(y, output)
    assert_same(torch.autograd.grad(y, x, g)[0], gradient)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("slope", SLOPES)
def test_every_special_value_with_every_special_cotangent(dtype, slope, assert_same):
    """A tiny slope lets the output underflow to -0.0, which still counts as below."""
    pairs = torch.tensor(list(itertools.product(SPECIAL, SPECIAL)), dtype=torch.float64).to(dtype)
    results = []
    for call in (leaky_relu, F.leaky_relu):
        x = pairs[:, 0].clone().requires_grad_()
        y = call(x, negative_slope=slope)
        results.append((y, *torch.autograd.grad(y, x, pairs[:, 1])))
    assert_same(results[0][0], results[1][0])
    assert_same(results[0][1], results[1][1])


def test_the_slope_is_a_hundredth_by_default():
    x = torch.tensor([-100.0])
    assert leaky_relu(x).item() == LeakyReLU.apply(x).item() == -1.0


def kept(activation, layers):
    """Storages that a chain keeps beside its input and its parameters."""
    x = torch.ones(4, 5)
    own = {t.data_ptr() for t in (x, *layers.parameters())}
    found = {}
    with torch.autograd.graph.saved_tensors_hooks(
        lambda t: found.setdefault(t.untyped_storage().data_ptr(), t), lambda t: t
    ):
        for layer in layers:
            x = activation(layer(x))
    return {p for p in found if p not in own}


def test_a_chain_of_layers_keeps_each_output_once():
    layers = torch.nn.Sequential(*(torch.nn.Linear(5, 5) for _ in range(8)))
    assert len(kept(leaky_relu, layers)) == 8
    assert len(kept(F.leaky_relu, layers)) == 15
    assert len(kept(functools.partial(F.leaky_relu, inplace=True), layers)) == 8


def test_between_two_layers_nothing_is_added():
    first, last = torch.nn.Linear(5, 5), torch.nn.Linear(5, 5)
    found = []
    with torch.autograd.graph.saved_tensors_hooks(lambda t: found.append(t) or t, lambda t: t):
        y = leaky_relu(first(torch.ones(4, 5)))
        last(y)
    own = {t.data_ptr() for t in (*first.parameters(), *last.parameters())}
    later = {t.untyped_storage().data_ptr() for t in found[1:]} - own
    assert later == {y.data_ptr()}


def test_a_changed_output_is_noticed():
    y = leaky_relu(torch.ones(3, requires_grad=True))
    y.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()


def test_the_input_may_be_changed():
    x = torch.tensor([-2.0, 3.0], requires_grad=True)
    z = x * 1
    y = leaky_relu(z, negative_slope=0.5)
    z.zero_()
    y.sum().backward()
    assert x.grad.tolist() == [0.5, 1.0]


@pytest.mark.parametrize("slope", [0, 0.0, -0.0, -0.5, INF, -INF, NAN])
@pytest.mark.parametrize("call", [LeakyReLU.apply, lambda x, a: leaky_relu(x, negative_slope=a)])
def test_slopes_that_the_output_cannot_tell_are_refused(slope, call):
    wanted = (
        f"^LeakyReLU: negative_slope must be above 0 and finite, got {slope}; "
        r"for 0 take a ReLU, below 0 torch\.nn\.functional\.leaky_relu$"
    )
    with pytest.raises(ValueError, match=wanted):
        call(torch.ones(3), slope)


@pytest.mark.parametrize("slope", [True, "0.1", None, torch.tensor(0.1)])
def test_what_is_no_number_is_refused(slope):
    wanted = (
        rf"^leaky_relu: negative_slope must be a number, got {type(slope).__name__}; "
        r"for example negative_slope=0\.01$"
    )
    with pytest.raises(TypeError, match=wanted):
        leaky_relu(torch.ones(3), negative_slope=slope)


def test_the_slope_is_given_by_keyword():
    with pytest.raises(TypeError, match="positional"):
        leaky_relu(torch.ones(3), 0.1)
