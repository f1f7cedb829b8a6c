"""Gradient scaling and clipping: what the catalogue's tests do not ask."""

import re

import pytest
import torch
from torch.nn.utils import clip_grad_norm_

from customgrad import functions
from customgrad.functions import clip_gradient_norm, clip_gradient_value, scale_gradient

INF, NAN = torch.inf, torch.nan
DTYPES = [torch.float16, torch.bfloat16, torch.float32, torch.float64]
CALLS = {
    "scale_gradient": lambda x: scale_gradient(x, scale=0.5),
    "clip_gradient_value": lambda x: clip_gradient_value(x, limit=0.5),
    "clip_gradient_norm": lambda x: clip_gradient_norm(x, max_norm=0.5),
}
every = pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)


def sent_back(call, cotangent, dtype=torch.float32):
    """Return the gradient that comes out where this one goes in."""
    g = torch.tensor(cotangent, dtype=dtype)
    x = torch.zeros_like(g).requires_grad_()
    return torch.autograd.grad(call(x), x, g)[0]


def same(got, expected):
    return torch.equal(
        got.nan_to_num(7.0, 8.0, 9.0), torch.tensor(expected).nan_to_num(7.0, 8.0, 9.0)
    )


@every
def test_values_stay_bit_by_bit(call, assert_same):
    for dtype in DTYPES:
        x = torch.tensor([-INF, -0.0, 1e-8, 0.1, 65504.0, INF, NAN], dtype=dtype)
        assert_same(call(x), x)


@every
def test_a_view_that_must_not_be_changed_in_place(call):
    x = torch.ones(3, requires_grad=True)
    y = call(x)
    assert y.data_ptr() == x.data_ptr()
    with pytest.raises(RuntimeError, match="is a view and is being modified inplace"):
        y.add_(1)


@pytest.mark.parametrize(
    ("scale", "cotangent", "gradient"),
    [
        (0.1, 3.0, 0.3),
        (-2.0, 3.0, -6.0),
        (0, 3.0, 0.0),
        (0, INF, NAN),
        (2, INF, INF),
        (2, NAN, NAN),
    ],
)
def test_scaled_by_hand(scale, cotangent, gradient):
    found = sent_back(lambda x: scale_gradient(x, scale=scale), cotangent)
    assert torch.allclose(found, torch.tensor(gradient), equal_nan=True)


@pytest.mark.parametrize(
    ("cotangent", "gradient"),
    [
        ([0.5, -0.5, 0.25, 0.0], [0.5, -0.5, 0.25, 0.0]),
        ([0.6, -9.0, 0.25, -0.1], [0.5, -0.5, 0.25, -0.1]),
        ([INF, -INF, NAN, 1e-30], [0.5, -0.5, NAN, 1e-30]),
    ],
)
def test_clipped_by_value_by_hand(cotangent, gradient):
    assert same(sent_back(CALLS["clip_gradient_value"], cotangent), gradient)


@pytest.mark.parametrize(
    ("cotangent", "gradient"),
    [
        ([0.3, -0.4], [0.3, -0.4]),  # as long as is allowed
        ([3.0, -4.0], [0.3, -0.4]),
        ([0.0, 0.0], [0.0, 0.0]),
        ([1e-30, 0.0], [1e-30, 0.0]),
        ([3e20, -4e20], [0.3, -0.4]),  # whose squares are beyond float32
        ([3e38, 0.0], [0.5, 0.0]),
        (-7.0, -0.5),
        ([], []),
        ([INF, 1.0], [NAN, 0.0]),
        ([NAN, 1.0], [NAN, NAN]),
    ],
)
def test_clipped_by_norm_by_hand(cotangent, gradient):
    found = sent_back(CALLS["clip_gradient_norm"], cotangent)
    assert torch.allclose(found, torch.tensor(gradient), rtol=1e-6, atol=0.0, equal_nan=True)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_a_norm_is_not_that_of_the_dtype(dtype):
    """In float16 these squares are infinite, and 1e5 of them in bfloat16 stop counting."""
    g = torch.full((10**5,), 300.0, dtype=dtype)
    x = torch.zeros_like(g).requires_grad_()
    (found,) = torch.autograd.grad(clip_gradient_norm(x, max_norm=1000.0), x, g)
    expected = torch.tensor(1000.0 / 10**2.5, dtype=torch.float64)
    assert found.dtype == dtype
    assert torch.allclose(found.double(), expected, rtol=2 * torch.finfo(dtype).eps)


def test_short_gradients_pass_bit_by_bit(assert_same):
    for dtype in DTYPES:
        g = torch.randn(50, generator=torch.Generator().manual_seed(1)).to(dtype)
        x = torch.zeros_like(g).requires_grad_()
        assert_same(torch.autograd.grad(clip_gradient_norm(x, max_norm=100.0), x, g)[0], g)


def test_a_limit_beyond_float16_changes_nothing():
    x = torch.zeros(3, dtype=torch.float16, requires_grad=True)
    g = torch.tensor([65504.0, -1.0, 0.0], dtype=torch.float16)
    for y in (clip_gradient_value(x, limit=1e6), clip_gradient_norm(x, max_norm=1e6)):
        assert torch.equal(torch.autograd.grad(y, x, g)[0], g)


@pytest.mark.parametrize("bad", [1.0, INF, NAN])
def test_by_norm_as_torch_clips_parameters(bad):
    parameter = torch.zeros(3)
    parameter.grad = torch.tensor([3.0, bad, -4.0])
    clip_grad_norm_(parameter, 0.5)
    found = sent_back(CALLS["clip_gradient_norm"], [3.0, bad, -4.0])
    # torch adds 1e-6 to the norm.
    assert torch.allclose(found, parameter.grad, rtol=1e-5, equal_nan=True)


def test_a_second_derivative_at_a_gradient_of_0():
    """Where max_norm / norm is a division by 0."""
    x = torch.zeros(3, dtype=torch.float64, requires_grad=True)
    g = torch.zeros(3, dtype=torch.float64, requires_grad=True)
    (first,) = torch.autograd.grad(clip_gradient_norm(x, max_norm=0.5), x, g, create_graph=True)
    (second,) = torch.autograd.grad(first, g, torch.ones_like(g))
    assert torch.equal(second, torch.ones_like(g))


def test_a_second_derivative_at_the_limit():
    x = torch.zeros(3, requires_grad=True)
    g = torch.tensor([0.25, 0.5, 0.75], requires_grad=True)
    (first,) = torch.autograd.grad(clip_gradient_value(x, limit=0.5), x, g, create_graph=True)
    (second,) = torch.autograd.grad(first, g, torch.ones_like(g))
    assert second.tolist() == [1.0, 1.0, 0.0]


@pytest.mark.parametrize("name", ["clip_gradient_value", "clip_gradient_norm"])
def test_a_batch_of_cotangents_is_clipped_one_by_one(name):
    x = torch.zeros(2, requires_grad=True)
    batch = torch.tensor([[3.0, -4.0], [0.1, 0.2], [0.0, 9.0]])
    y = CALLS[name](x)
    (found,) = torch.autograd.grad(y, x, batch, is_grads_batched=True)
    assert torch.equal(found, torch.stack([sent_back(CALLS[name], g) for g in batch.tolist()]))


WRONG = [
    *[("scale_gradient", "scale", bad, "a finite number", "0 lets no gradient through") for bad in (INF, -INF, NAN)],
    *[
        (name, argument, bad, "a finite number above 0", "scale_gradient with scale=0.0 lets no gradient through")
        for name, argument in [("clip_gradient_value", "limit"), ("clip_gradient_norm", "max_norm")]
        for bad in (0.0, -1.0, INF, NAN)
    ],
]  # fmt: skip


@pytest.mark.parametrize(("name", "argument", "bad", "wanted", "hint"), WRONG)
def test_a_number_out_of_range_is_refused(name, argument, bad, wanted, hint):
    words = re.escape(f"{name}: {argument} must be {wanted}, got {bad}; {hint}")
    with pytest.raises(ValueError, match=f"^{words}$"):
        getattr(functions, name)(torch.ones(3), **{argument: bad})


@pytest.mark.parametrize(
    ("name", "argument"),
    [("scale_gradient", "scale"), ("clip_gradient_value", "limit"), ("clip_gradient_norm", "max_norm")],
)  # fmt: skip
@pytest.mark.parametrize("bad", [True, "1", None, torch.tensor(1.0), 1j], ids=str)
def test_what_is_no_number_is_refused(name, argument, bad):
    words = (
        f"{name}: {argument} must be a number, got {type(bad).__name__}; pass a float, such as 1.0"
    )
    with pytest.raises(TypeError, match=f"^{re.escape(words)}$"):
        getattr(functions, name)(torch.ones(3), **{argument: bad})
