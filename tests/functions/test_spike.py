"""Spikes: values by hand, far away, in each dtype, and what is refused."""

import math
import re

import pytest
import torch

from customgrad.functions import Spike, spike

INF, NAN = torch.inf, torch.nan
DTYPES = [torch.float16, torch.bfloat16, torch.float32, torch.float64]
NEAR = [-3.0, -0.1, -6e-8, 0.0, 6e-8, 0.1, 3.0]
FAR = [-INF, -6e4, -300.0, 300.0, 6e4, INF]

dtypes = pytest.mark.parametrize("dtype", DTYPES, ids=str)
surrogates = pytest.mark.parametrize("surrogate", ["fast_sigmoid", "arctan"])


def by_hand(surrogate, slope, x):
    """The formula in Python's own floats."""
    if math.isinf(x):
        return 0.0
    if surrogate == "fast_sigmoid":
        return 1 / (1 + slope * abs(x)) ** 2
    return slope / 2 / (1 + (math.pi / 2 * slope * x) ** 2)


@dtypes
@surrogates
@pytest.mark.parametrize("slope", [0.5, 2, 25.0, 1e4])
def test_values_and_slopes_by_hand(dtype, surrogate, slope):
    x = torch.tensor(NEAR + FAR, dtype=dtype, requires_grad=True)
    y = spike(x, surrogate=surrogate, slope=slope)
    assert y.dtype == dtype
    assert y.tolist() == [float(v > 0) for v in x.tolist()]
    (grad,) = torch.autograd.grad(y, x, torch.full_like(x, 3.0))
    wanted = torch.tensor(
        [3 * by_hand(surrogate, slope, v) for v in x.tolist()], dtype=torch.float64
    )
    info = torch.finfo(dtype)
    # Subnormal numbers have fewer digits.
    assert torch.allclose(
        grad.double(), wanted, rtol=4 * info.eps, atol=info.smallest_normal * info.eps
    )


@dtypes
@surrogates
def test_a_second_derivative_is_a_number_everywhere(dtype, surrogate):
    values = [*NEAR, *FAR, torch.finfo(dtype).max]
    x = torch.tensor(values, dtype=dtype, requires_grad=True)
    y = spike(x, surrogate=surrogate)
    (first,) = torch.autograd.grad(y.sum(), x, create_graph=True)
    (second,) = torch.autograd.grad(first.sum(), x)
    assert second.isfinite().all()
    assert second[x == 0].item() == 0
    assert (second[x.isinf()] == 0).all()


@surrogates
def test_the_default_slopes_are_1_at_the_threshold(surrogate):
    x = torch.zeros(1, requires_grad=True)
    assert torch.autograd.grad(spike(x, surrogate=surrogate), x)[0].item() == 1.0


@surrogates
def test_nan_gives_no_spike_and_a_gradient_that_shows_it(surrogate):
    x = torch.full((37,), NAN, requires_grad=True)
    y = spike(x, surrogate=surrogate)
    assert (y == 0).all()
    assert torch.autograd.grad(y.sum(), x)[0].isnan().all()


@pytest.mark.parametrize(
    ("keywords", "error", "words"),
    [
        ({"slope": 0.0}, ValueError, "spike: slope must be a finite number above 0, got 0.0; 25 and 2 are usual"),
        ({"slope": -2.0}, ValueError, "spike: slope must be a finite number above 0, got -2.0; 25 and 2 are usual"),
        ({"slope": INF}, ValueError, "spike: slope must be a finite number above 0, got inf; 25 and 2 are usual"),
        ({"slope": NAN}, ValueError, "spike: slope must be a finite number above 0, got nan; 25 and 2 are usual"),
        ({"slope": "2"}, TypeError, "spike: slope must be a number, got str; pass a float, such as 1.0"),
        ({"surrogate": "atan"}, ValueError, "spike: surrogate must be 'fast_sigmoid' or 'arctan', got 'atan'; choose one of the two"),
        ({"surrogate": None}, ValueError, "spike: surrogate must be 'fast_sigmoid' or 'arctan', got None; choose one of the two"),
    ],
)  # fmt: skip
def test_bad_arguments_are_refused(keywords, error, words):
    with pytest.raises(error, match=f"^{re.escape(words)}$"):
        spike(torch.ones(3), **keywords)


def test_a_copied_function_refuses_an_unknown_surrogate_by_itself():
    with pytest.raises(ValueError, match=r"^Spike: surrogate must be"):
        Spike.apply(torch.ones(3), "atan", 2.0)
