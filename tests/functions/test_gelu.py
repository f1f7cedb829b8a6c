"""GELU: both of its approximations, each with its own gradient."""

import math
from functools import partial

import pytest
import torch
from torch.nn import functional as F

from customgrad.functions import GELU, GELUForwardMode, gelu

KINDS = ["none", "tanh"]


def by_hand(x, approximate):
    """Value, slope and second derivative at x, from the definition."""
    if approximate == "none":
        phi = math.exp(-x * x / 2) / math.sqrt(2 * math.pi)
        whole = 0.5 * (1 + math.erf(x / math.sqrt(2)))
        return x * whole, whole + x * phi, phi * (2 - x * x)
    c = math.sqrt(2 / math.pi)
    u, du, ddu = c * (x + 0.044715 * x**3), c * (1 + 3 * 0.044715 * x * x), c * 6 * 0.044715 * x
    t = math.tanh(u)
    dt = (1 - t * t) * du
    ddt = (1 - t * t) * ddu - 2 * t * dt * du
    return 0.5 * x * (1 + t), 0.5 * (1 + t) + 0.5 * x * dt, dt + 0.5 * x * ddt


@pytest.mark.parametrize("approximate", KINDS)
@pytest.mark.parametrize("call", [GELU.apply, GELUForwardMode.apply])
def test_value_slope_and_second_derivative_by_hand(call, approximate):
    points = [-6.0, -3.0, -0.75, -1e-8, 0.0, 0.5, 1.0, 2.0, 6.0]
    x = torch.tensor(points, dtype=torch.float64, requires_grad=True)
    y = call(x, approximate)
    (slope,) = torch.autograd.grad(y.sum(), x, create_graph=True)
    (second,) = torch.autograd.grad(slope.sum(), x)
    expected = torch.tensor([by_hand(p, approximate) for p in points], dtype=torch.float64)
    found = torch.stack([y, slope, second], 1)
    assert torch.allclose(found, expected, rtol=1e-12, atol=1e-14)


def test_the_two_differ_where_they_must():
    """Else a backward that is always exact would pass: by 1e-3 at 2, which gradcheck's default lets through."""
    slopes = [by_hand(2.0, approximate)[1] for approximate in KINDS]
    assert abs(slopes[0] - slopes[1]) > 5e-4
    x = torch.tensor(2.0, requires_grad=True)
    for approximate, slope in zip(KINDS, slopes, strict=True):
        (grad,) = torch.autograd.grad(gelu(x, approximate=approximate), x)
        assert abs(grad.item() - slope) < 1e-6


def forward_mode(approximate, x):
    return GELUForwardMode.apply(x, approximate)


@pytest.mark.filterwarnings("ignore:.torch.jit:DeprecationWarning")  # torch's forward mode
def test_forward_mode_has_the_slope_of_its_kind():
    x, along = torch.tensor([2.0], dtype=torch.float64), torch.tensor([10.0], dtype=torch.float64)
    for approximate in KINDS:
        call = partial(forward_mode, approximate)
        _, tangent = torch.func.jvp(call, (x,), (along,))
        assert math.isclose(tangent.item(), 10 * by_hand(2.0, approximate)[1], rel_tol=1e-12)


def test_it_is_exact_by_default():
    x = torch.linspace(-3, 3, 13)
    assert torch.equal(gelu(x), F.gelu(x))
    assert torch.equal(GELU.apply(x), F.gelu(x))
    assert not torch.equal(gelu(x), gelu(x, approximate="tanh"))


@pytest.mark.parametrize("approximate", ["erf", "", None, True, ["tanh"]])
def test_other_approximations_are_refused(approximate):
    with pytest.raises(ValueError, match=r"^gelu: ") as caught:
        gelu(torch.ones(2), approximate=approximate)
    assert str(caught.value) == (
        f"gelu: approximate must be 'none' or 'tanh', got {approximate!r}; "
        "'none' is exact, 'tanh' what many language models were trained with"
    )
