"""Softplus: to the last bits over the whole range, and as torch has it elsewhere."""

import itertools
import math

import pytest
import torch
from torch.nn import functional as F

from customgrad.functions import Softplus, SoftplusForwardMode, log1pexp, softplus

INF, NAN = math.inf, math.nan
DTYPES = [torch.float16, torch.bfloat16, torch.float32, torch.float64]
MANTISSA = {torch.float16: 11, torch.bfloat16: 8, torch.float32: 24}


def units(found, exact, dtype):
    """Distance in units of the last place that a number of this dtype has there, denormals included."""
    _, exponent = torch.frexp(exact)
    unit = torch.ldexp(torch.ones_like(exact), exponent - MANTISSA[dtype])
    smallest = torch.finfo(dtype).smallest_normal * 2.0 ** (1 - MANTISSA[dtype])
    return ((found.double() - exact).abs() / unit.clamp(min=smallest)).max().item()


@pytest.mark.parametrize("call", [softplus, log1pexp])
@pytest.mark.parametrize("dtype", MANTISSA, ids=str)
def test_a_few_units_in_the_last_place_from_minus_to_plus_120(dtype, call):
    """The sigmoid of torch alone is 0 below -88 in float32: two million units away."""
    x = torch.linspace(-120, 120, 60_001, dtype=torch.float64).to(dtype).requires_grad_()
    z = x.detach().double()
    e = torch.exp(-z.abs())
    value = z.clamp(min=0) + torch.log1p(e)
    slope = torch.where(z > 0, 1 / (1 + e), e / (1 + e))
    y = call(x)
    (grad,) = torch.autograd.grad(y.sum(), x)
    bound = 3 if dtype == torch.float32 else 1
    assert units(y.detach(), value, dtype) <= bound
    assert units(grad, slope, dtype) <= bound


def test_the_measure_sees_a_flush_to_zero():
    x = torch.tensor([-89.0], dtype=torch.float64)
    assert units(torch.zeros(1), torch.exp(x), torch.float32) > 1e6


def exact(z):
    """To twelve digits, from the definition, by another way than log1p of exp."""
    return z + math.log1p(math.exp(-z)) if z > 0 else math.log1p(math.exp(z))


@pytest.mark.parametrize("z", [20.5, 21.0, 25.0, 30.0, 36.0, 49.0, 51.0, 700.0, 1e300])
def test_without_a_threshold_float64_is_exact(z):
    x = torch.tensor(z, dtype=torch.float64, requires_grad=True)
    for y in (log1pexp(x), softplus(x, threshold=INF), softplus(x, threshold=1000)):
        (grad,) = torch.autograd.grad(y, x)
        assert y.item() == pytest.approx(exact(z), rel=3e-16)
        assert grad.item() == pytest.approx(1 / (1 + math.exp(-z)), rel=3e-16)
    assert softplus(x).item() == z


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize(
    ("beta", "threshold"),
    [
        (1, 20),
        (2.0, 20.0),
        (0.5, 3),
        (-1.0, 20.0),
        (-3.0, 0.0),
        (1.0, -5.0),
        (1e-3, 20.0),
        (1.0, -INF),
    ],
)
def test_as_torch_for_every_beta_and_threshold(beta, threshold, dtype, assert_same):
    special = [-INF, -300.0, -20.5, -1.0, -0.0, 0.0, 1e-30, 0.5, 6.0, 19.0, 20.5, 300.0, INF, NAN]
    pairs = list(itertools.product(special, [1.0, INF, NAN]))
    x, g = torch.tensor(pairs, dtype=torch.float64).to(dtype).unbind(1)
    results = []
    for call in (softplus, F.softplus):
        leaf = x.clone().requires_grad_()
        y = call(leaf, beta=beta, threshold=threshold)
        results.append((y, *torch.autograd.grad(y, leaf, g)))
    for got, expected in zip(*results, strict=True):
        assert_same(got, expected)


@pytest.mark.parametrize("threshold", [100.0, 1e30, INF])
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_a_large_threshold_does_not_overflow(threshold, dtype):
    """torch's own gives infinity there, and NaN for a slope."""
    x = torch.tensor([-90.0, 0.0, 60.0, 89.0, 99.0, 800.0], dtype=dtype, requires_grad=True)
    y = softplus(x, threshold=threshold)
    (grad,) = torch.autograd.grad(y.sum(), x)
    assert y[2:].tolist() == x[2:].tolist()
    assert grad[2:].tolist() == [1.0] * 4
    if dtype == torch.float32:
        assert F.softplus(x, threshold=threshold)[3].item() == INF


def test_special_values_of_log1pexp():
    x = torch.tensor([-INF, -1000.0, 1000.0, INF, NAN], requires_grad=True)
    y = log1pexp(x)
    (grad,) = torch.autograd.grad(y.sum(), x)
    assert y[:4].tolist() == [0.0, 0.0, 1000.0, INF]
    assert grad[:4].tolist() == [0.0, 0.0, 1.0, 1.0]
    assert y[4].isnan()
    assert grad[4].isnan()


@pytest.mark.parametrize("call", [Softplus.apply, SoftplusForwardMode.apply])
def test_second_derivative_by_hand(call):
    x = torch.tensor([-2.0, 0.0, 3.0, 21.0], dtype=torch.float64, requires_grad=True)
    (slope,) = torch.autograd.grad(call(x, 2.0, 5.0).sum(), x, create_graph=True)
    (second,) = torch.autograd.grad(slope.sum(), x)
    s = 1 / (1 + math.exp(4.0))
    assert slope.tolist() == pytest.approx([s, 0.5, 1.0, 1.0], rel=1e-12)
    assert second.tolist() == pytest.approx([2 * s * (1 - s), 0.5, 0.0, 0.0], rel=1e-12)


@pytest.mark.parametrize(("name", "example"), [("beta", 1.0), ("threshold", 20.0)])
@pytest.mark.parametrize("value", [True, "1", None, torch.tensor(1.0)])
def test_what_is_no_number_is_refused(name, example, value):
    wanted = (
        rf"^softplus: {name} must be a number, got {type(value).__name__}; "
        rf"for example {name}={example}$"
    )
    with pytest.raises(TypeError, match=wanted):
        softplus(torch.ones(2), **{name: value})


CALLS = [softplus, lambda x, beta=1.0, threshold=20.0: Softplus.apply(x, beta, threshold)]


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("beta", [0, 0.0, -0.0, INF, -INF, NAN])
def test_beta_is_finite_and_not_zero(call, beta):
    wanted = rf"^Softplus: beta must be finite and not 0, got {beta}; 1\.0 gives log\(1 \+ exp\(input\)\)$"
    with pytest.raises(ValueError, match=wanted):
        call(torch.ones(2), beta=beta)


@pytest.mark.parametrize("call", CALLS)
def test_a_threshold_of_nan_is_refused(call):
    wanted = r"^Softplus: threshold must be comparable with numbers, got nan; use 20\.0, or math\.inf for no limit$"
    with pytest.raises(ValueError, match=wanted):
        call(torch.ones(2), threshold=NAN)
