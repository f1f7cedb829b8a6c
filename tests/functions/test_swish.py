"""Swish: shapes and strides, beta's sum, special values, and what it refuses."""

import pytest
import torch
from torch.nn import functional as F

from customgrad.functions import Swish, swish

DTYPE = torch.float64
LAYOUTS = ["contiguous", "transposed", "sliced", "offset", "expanded"]


def normal(*shape, seed=0):
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed), dtype=DTYPE)


def composed(x, beta):
    return x * torch.sigmoid(beta * x)


@pytest.mark.parametrize("shape", [(), (0,), (1,), (5,), (2, 3), (3, 0), (2, 3, 4)], ids=str)
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("beta", [0.0, 1.5, -2.0])
def test_any_shape_and_any_strides(shape, layout, beta, lay_out):
    results = []
    for call in (swish, composed):
        x = lay_out(normal(*shape), layout).detach().requires_grad_()
        slope = torch.tensor(beta, dtype=DTYPE, requires_grad=True)
        y = call(x, slope)
        cotangent = lay_out(normal(*shape, seed=1), layout)
        results.append([y, *torch.autograd.grad(y, (x, slope), cotangent)])
    torch.testing.assert_close(*results, rtol=1e-12, atol=1e-12)


def test_with_beta_1_it_is_silu():
    x = normal(50) * 10
    torch.testing.assert_close(swish(x, torch.ones((), dtype=DTYPE)), F.silu(x))


@pytest.mark.parametrize("needed", [(True, False), (False, True)])
def test_only_the_gradients_that_are_needed(needed):
    tensors = [t.requires_grad_(n) for t, n in zip((normal(3), normal()), needed, strict=True)]
    y = swish(*tensors)
    grads = Swish.backward(y.grad_fn, torch.ones_like(y))
    assert tuple(g is not None for g in grads) == needed


@pytest.mark.parametrize(
    ("dtype", "large"), [(torch.float16, 300.0), (torch.float32, 1e30)], ids=str
)
@pytest.mark.parametrize("sign", [1, -1])
def test_a_square_that_overflows(dtype, large, sign):
    """Its slope by beta is 0 to any precision."""
    x = torch.tensor([sign * large, 0.5], dtype=dtype)
    beta = torch.tensor(1.0, dtype=dtype, requires_grad=True)
    swish(x, beta).sum().backward()
    s = torch.sigmoid(torch.tensor(0.5, dtype=DTYPE))
    assert beta.grad.item() == pytest.approx((0.25 * s * (1 - s)).item(), rel=1e-3)


def test_betas_sum_is_not_lost_in_half_precision():
    """Ten thousand equal terms: added one by one in float16, the sum would stop growing."""
    x = torch.ones(10_000, dtype=torch.float16)
    beta = torch.tensor(1.0, dtype=torch.float16, requires_grad=True)
    y = swish(x, beta)
    y.backward(torch.full_like(y, 0.125))
    s = torch.sigmoid(torch.ones((), dtype=DTYPE))
    assert beta.grad.item() == pytest.approx((1250 * s * (1 - s)).item(), rel=1e-3)


def test_beta_in_half_precision_where_factors_leave_its_range():
    x = torch.tensor(200.0, dtype=torch.float16)
    beta = torch.tensor(0.05, dtype=torch.float16, requires_grad=True)
    swish(x, beta).backward(torch.tensor(400.0, dtype=torch.float16))
    s = torch.sigmoid(beta.detach().double() * 200)
    assert beta.grad.item() == pytest.approx((400 * 200**2 * s * (1 - s)).item(), rel=1e-2)


def test_nan_and_infinity():
    inf = torch.inf
    x = torch.tensor([-inf, inf, torch.nan, 0.0], requires_grad=True)
    y = swish(x, torch.tensor(1.0))
    y.sum().backward()
    torch.testing.assert_close(y, torch.tensor([torch.nan, inf, torch.nan, 0.0]), equal_nan=True)
    torch.testing.assert_close(x.grad, torch.tensor([torch.nan] * 3 + [0.5]), equal_nan=True)


X = torch.ones(2)


@pytest.mark.parametrize(
    ("beta", "error", "message"),
    [
        (1.0, TypeError,
         "swish: beta must be a float tensor, got float; make one with torch.tensor(...)"),
        (torch.tensor(1), TypeError,
         "swish: beta must be a float tensor, got torch.int64; use one such as torch.float32"),
        (torch.tensor(1.0).double(), TypeError,
         "swish: beta must have the dtype of input, got torch.float64 and torch.float32; "
         "convert one with .to(dtype)"),
        (torch.ones(1), ValueError,
         "swish: beta must have no dimension, got shape (1,); "
         "for a beta a channel, compose torch's own operations"),
    ],
)  # fmt: skip
def test_messages(beta, error, message):
    with pytest.raises(error) as caught:
        swish(X, beta)
    assert str(caught.value) == message
