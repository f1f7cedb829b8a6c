"""RMSNorm: precision over sizes and scales, special values, what it keeps, what it refuses."""

import itertools
import sys

import pytest
import torch
from torch.nn import functional as F

from customgrad.functions import RMSNorm, rms_norm

DTYPES = [torch.float16, torch.bfloat16, torch.float32, torch.float64]
T = torch.ones


def builtin(x, weight=None, eps=None):
    return F.rms_norm(x, x.shape[-1:], weight, eps)


def normal(shape, seed=0, dtype=torch.float64):
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(shape, generator=generator, dtype=torch.float64).to(dtype)


def value_and_grads(f, inputs, g):
    leaves = [x.detach().requires_grad_() for x in inputs]
    y = f(*leaves)
    return y, *torch.autograd.grad(y, leaves, g)


@pytest.fixture(autouse=True, params=[0, 2**15], ids=["by the kernel", "by the formula"])
def way(request, monkeypatch):
    """Each test runs with the kernel for any size, and with the formula that few elements get."""
    monkeypatch.setattr(sys.modules[RMSNorm.__module__], "SMALL", request.param)


def test_by_hand():
    """3² and 4²: their mean is 12.5, and with eps 3.5 the root is 4."""
    x = torch.tensor([[3.0, 4.0]], requires_grad=True)
    w = torch.tensor([2.0, 8.0], requires_grad=True)
    y, rstd = RMSNorm.apply(x, w, 3.5)
    assert rstd.tolist() == [[0.25]]
    assert y.tolist() == [[1.5, 8.0]]
    y.backward(torch.tensor([[1.0, 0.0]]))
    # u = (2, 0), n = (3/4, 1), mean(u n) = 3/4, and (2 - 9/16, -3/4) / 4.
    assert x.grad.tolist() == [[0.359375, -0.1875]]
    assert w.grad.tolist() == [0.75, 0.0]


# float64 is the measure, so it is not itself measured here.
ULPS = {torch.float16: 1.0, torch.bfloat16: 1.0, torch.float32: 4.0}


@pytest.mark.parametrize("dtype", ULPS, ids=str)
@pytest.mark.parametrize("size", [1, 2, 7, 64, 1000, 4099, 16384, 500_000])
@pytest.mark.parametrize("mean", [0.0, 1.0, 30.0])
def test_ulps(dtype, size, mean):
    """In units of the last place: of each value; of the largest term of a gradient."""
    count = 5 if size < 10_000 else 2
    scales = torch.tensor([1e-3, 1.0, 30.0, 0.1, 5.0], dtype=torch.float64)[:count, None]
    x = ((normal((count, size)) + mean) * scales).to(dtype)
    w, g = normal((size,), 1, dtype), normal((count, size), 2, dtype)
    got = value_and_grads(rms_norm, (x, w), g)
    exact = value_and_grads(
        lambda x, w: builtin(x, w, torch.finfo(torch.float32).eps),
        (x.double(), w.double()),
        g.double(),
    )
    rstd = torch.rsqrt(x.double().square().mean(-1, keepdim=True) + 1.2e-7)
    normed = x.double() * rstd
    row = (g.double() * w.double()).abs().amax(-1, keepdim=True) * rstd
    column = (g.double() * normed).abs().sum(0).clamp(min=1e-30)
    unit = torch.finfo(dtype).eps
    tiny = torch.finfo(dtype).smallest_normal
    for name, a, b, scale in zip(
        ("output", "input", "weight"), got, exact, (exact[0].abs(), row, column), strict=True
    ):
        far = ((a.double() - b).abs() / (unit * scale.abs().clamp(min=tiny))).max()
        assert far <= ULPS[dtype], (name, far)


ROWS = [
    [0.0, 0.0, 0.0],
    [-0.0, 0.0, -0.0],
    [torch.inf, 1.0, 2.0],
    [-torch.inf, torch.inf, 0.0],
    [torch.nan, 1.0, 2.0],
    [1e30, 1.0, 0.0],
    [1e-30, 0.0, 0.0],
    [300.0, -300.0, 1.0],
    [6e4, 1.0, 1.0],
]


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("row", ROWS, ids=str)
def test_special_values_as_torch_has_them(dtype, row):
    x = torch.tensor([row], dtype=dtype)
    g = torch.tensor([[1.0, 2.0, 4.0]], dtype=dtype)
    for got, expected in zip(
        value_and_grads(rms_norm, [x], g), value_and_grads(builtin, [x], g), strict=True
    ):
        # Where a row has one large number, what is left of its gradient is rounding.
        close = 2 * torch.finfo(dtype).eps
        least = close * expected.nan_to_num(0, 0, 0).abs().max().item()
        torch.testing.assert_close(got, expected, rtol=close, atol=least, equal_nan=True)


def test_squares_of_halves_do_not_overflow():
    x = torch.tensor([300.0, -300.0], dtype=torch.float16)
    assert (x * torch.rsqrt(x.square().mean() + 1e-6)).tolist() == [0.0, 0.0]
    assert rms_norm(x).tolist() == [1.0, -1.0]


SHAPES = [(0,), (5,), (1, 1), (0, 3), (3, 0), (2, 0, 3), (2, 3, 4), (2, 1, 2, 3)]


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("layout", ["contiguous", "transposed", "sliced", "offset", "expanded"])
def test_any_shape_and_any_strides(shape, layout, lay_out):
    x, g = lay_out(normal(shape), layout), lay_out(normal(shape, 1), layout)
    w = lay_out(normal(shape[-1:], 2), layout)
    for inputs in ((x, w), (x,)):
        got, expected = (value_and_grads(f, inputs, g) for f in (rms_norm, builtin))
        for a, b in zip(got, expected, strict=True):
            torch.testing.assert_close(a, b, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("weight_dtype", DTYPES, ids=str)
def test_each_gets_a_gradient_of_its_own_dtype(dtype, weight_dtype):
    x, w = normal((3, 4), 0, dtype), normal((4,), 1, weight_dtype)
    for create_graph in (False, True):
        leaves = [x.clone().requires_grad_(), w.clone().requires_grad_()]
        y = rms_norm(*leaves)
        grads = torch.autograd.grad(y.sum(), leaves, create_graph=create_graph)
        assert [t.dtype for t in (y, *grads)] == [dtype, dtype, weight_dtype]


@pytest.mark.parametrize("needs", list(itertools.product([False, True], repeat=2)), ids=str)
def test_what_is_kept_and_what_is_computed(needs):
    x, w = (t.requires_grad_(n) for t, n in zip((normal((3, 4)), normal((4,))), needs, strict=True))
    kept = []
    with torch.autograd.graph.saved_tensors_hooks(
        lambda t: (kept.append(t.shape), t)[1], lambda t: t
    ):
        y, _ = RMSNorm.apply(x, w, None)
    wanted = {
        (False, False): [],
        (True, False): [(3, 4), (4,), (3, 1)],
        (False, True): [(3, 4), (3, 1)],
    }
    assert kept == wanted.get(needs, [(3, 4), (4,), (3, 1)])
    if any(needs):
        y.sum().backward()
        assert [t.grad is not None for t in (x, w)] == list(needs)
        wanted = [t for t in (x, w) if t.requires_grad]
        for t, expected in zip(
            wanted, torch.autograd.grad(builtin(x, w).sum(), wanted), strict=True
        ):
            torch.testing.assert_close(t.grad, expected)


def test_rstd_has_no_gradient():
    y, rstd = RMSNorm.apply(T(2, 3, requires_grad=True), None, None)
    assert y.requires_grad
    assert not rstd.requires_grad
    assert rstd.shape == (2, 1)


def test_both_ways_of_backward_agree():
    """The kernel, and the formula that is taken where backward is differentiated."""
    inputs = [normal((5, 7)).requires_grad_(), normal((7,), 1).requires_grad_()]
    g = normal((5, 7), 2)
    fast, formula = (
        torch.autograd.grad(rms_norm(*inputs), inputs, g, create_graph=c) for c in (False, True)
    )
    for a, b in zip(fast, formula, strict=True):
        torch.testing.assert_close(a, b.detach(), rtol=1e-12, atol=1e-12)
        assert b.requires_grad


def test_backward_inside_autocast_is_as_precise_as_outside():
    x, w, g = normal((4, 64), 0, torch.float32), normal((64,), 1, torch.float32), T(4, 64)
    outside = value_and_grads(rms_norm, (x, w), g)
    with torch.autocast("cpu", torch.bfloat16):
        inside = value_and_grads(rms_norm, (x, w), g)
    assert all(torch.equal(a, b) for a, b in zip(outside, inside, strict=True))


@pytest.mark.parametrize("in_dims", [(0, None), (None, 0), (0, 0), (1, 0)], ids=str)
@pytest.mark.parametrize("needs", [(True, True), (True, False), (False, True)], ids=str)
def test_vmap(in_dims, needs):
    x = normal((3, 3, 3) if in_dims[0] is not None else (3, 3))
    w = normal((3, 3) if in_dims[1] is not None else (3,), 1)
    results = []
    for f in (rms_norm, builtin):
        leaves = [t.clone().requires_grad_(n) for t, n in zip((x, w), needs, strict=True)]
        y = torch.func.vmap(f, in_dims)(*leaves)
        wanted = [t for t in leaves if t.requires_grad]
        results.append((y, *torch.autograd.grad(y.square().sum(), wanted)))
    for a, b in zip(*results, strict=True):
        torch.testing.assert_close(a, b, rtol=1e-12, atol=1e-12)


REFUSED = [
    ([1.0], None, None, TypeError, "input must be a float tensor, got list; make one with torch.tensor(...)"),
    (T(3), [1.0], None, TypeError, "weight must be a float tensor, got list; make one with torch.tensor(...)"),
    (T(3).long(), None, None, TypeError, "input must be a float tensor, got torch.int64; use one such as torch.float32"),
    (T(3), T(3).bool(), None, TypeError, "weight must be a float tensor, got torch.bool; use one such as torch.float32"),
    (T(3), T(3).cfloat(), None, TypeError, "weight must be a float tensor, got torch.complex64; use one such as torch.float32"),
    (T(()), None, None, ValueError, "input must have shape (..., D), got (); give one number a row with .unsqueeze(-1)"),
    (T(4, 3), T(4), None, ValueError, "weight must have shape (3,), got (4,); one number for each column of input"),
    # Broadcasting would take these two silently.
    (T(4, 3), T(1), None, ValueError, "weight must have shape (3,), got (1,); one number for each column of input"),
    (T(4, 3), T(4, 3), None, ValueError, "weight must have shape (3,), got (4, 3); one number for each column of input"),
    (T(3), None, "1e-6", TypeError, "eps must be a number, got str; use one such as 1e-6"),
    (T(3), None, True, TypeError, "eps must be a number, got bool; use one such as 1e-6"),
    (T(3), None, -1e-6, ValueError, "eps must be finite and at least 0, got -1e-06; use one such as 1e-6"),
    (T(3), None, torch.nan, ValueError, "eps must be finite and at least 0, got nan; use one such as 1e-6"),
    (T(3), None, torch.inf, ValueError, "eps must be finite and at least 0, got inf; use one such as 1e-6"),
]  # fmt: skip


@pytest.mark.parametrize(("input", "weight", "eps", "error", "message"), REFUSED)
def test_refuses(input, weight, eps, error, message):
    with pytest.raises(error) as raised:
        rms_norm(input, weight, eps=eps)
    assert str(raised.value) == f"rms_norm: {message}"
