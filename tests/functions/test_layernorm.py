"""LayerNorm: as torch's own, more precise in halves, and what it refuses."""

import itertools

import pytest
import torch
from torch.nn import functional as F

from customgrad.functions import LayerNorm, layer_norm

DTYPES = [torch.float16, torch.bfloat16, torch.float32, torch.float64]
SUBSETS = list(itertools.product([False, True], repeat=3))
T = torch.ones


def builtin(x, weight=None, bias=None, eps=1e-5):
    return F.layer_norm(x, x.shape[-1:], weight, bias, eps)


def normal(shape, seed=0, dtype=torch.float64):
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(shape, generator=generator, dtype=torch.float64).to(dtype)


def value_and_grads(f, inputs, g, **options):
    leaves = [x.detach().requires_grad_() for x in inputs]
    y = f(*leaves)
    return y, *torch.autograd.grad(y, leaves, g, **options)


def test_by_hand():
    """1 and 7: mean 4, variance 9, and with eps 16 the deviation is 5."""
    x = torch.tensor([[1.0, 7.0]], requires_grad=True)
    w = torch.tensor([5.0, 10.0], requires_grad=True)
    b = torch.tensor([1.0, 2.0], requires_grad=True)
    y, mean, rstd = LayerNorm.apply(x, w, b, 16.0)
    close = {"rel": 1e-6}
    assert (mean.item(), rstd.item()) == pytest.approx((4.0, 0.2), **close)
    assert y[0].tolist() == pytest.approx([-2.0, 8.0], **close)
    y.backward(torch.tensor([[1.0, 0.0]]))
    # n = (-0.6, 0.6), u = (5, 0): 2.5 and -1.5 are their means, and 0.2 (5 - 2.5 - 0.9).
    assert x.grad[0].tolist() == pytest.approx([0.32, -0.32], **close)
    assert w.grad.tolist() == pytest.approx([-0.6, 0.0], **close)
    assert b.grad.tolist() == pytest.approx([1.0, 0.0], **close)


SHAPES = [(0,), (5,), (1, 1), (0, 3), (3, 0), (2, 0, 3), (2, 3, 4), (2, 1, 2, 3)]


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("layout", ["contiguous", "transposed", "sliced", "offset", "expanded"])
@pytest.mark.parametrize("twice", [False, True])
def test_any_shape_and_any_strides(shape, layout, twice, lay_out):
    x, g = lay_out(normal(shape), layout), lay_out(normal(shape, 1), layout)
    parameters = [lay_out(normal(shape[-1:], seed), layout) for seed in (2, 3)]
    for inputs in ((x, *parameters), (x, parameters[0]), (x,)):
        got, expected = (
            value_and_grads(f, inputs, g, create_graph=twice) for f in (layer_norm, builtin)
        )
        for a, b in zip(got, expected, strict=True):
            torch.testing.assert_close(a, b, rtol=1e-9, atol=1e-9)


ULPS = {torch.float16: 2.0, torch.bfloat16: 2.0, torch.float32: 8.0}


@pytest.mark.parametrize("dtype", ULPS, ids=str)
@pytest.mark.parametrize("size", [2, 7, 64, 1000, 4099])
@pytest.mark.parametrize("mean", [0.0, 3.0])
@pytest.mark.parametrize("scale", [0.1, 1.0, 30.0])
def test_ulps(dtype, size, mean, scale):
    """In units of the last place of the largest term of a value, or of a gradient."""
    x = ((normal((5, size)) + mean) * scale).to(dtype)
    w, b, g = normal((size,), 1, dtype), normal((size,), 2, dtype), normal((5, size), 3, dtype)
    got = value_and_grads(layer_norm, (x, w, b), g)
    exact = value_and_grads(builtin, [t.double() for t in (x, w, b)], g.double())
    wide = x.double()
    rstd = torch.rsqrt(wide.var(-1, correction=0, keepdim=True) + 1e-5)
    # What rounding of the mean leaves open in n.
    loose = 1 + wide.mean(-1, keepdim=True).abs() * rstd * (dtype == torch.float32)
    u = (g.double() * w.double()).abs().amax(-1, keepdim=True) * rstd * loose
    column = (g.double().abs() * ((wide * rstd).abs() + 1)).sum(0)
    value = (exact[0].abs() + b.double().abs()).clamp(min=w.double().abs()) * loose
    for name, a, e, size in zip(
        ("output", "input", "weight", "bias"), got, exact, (value, u, column, column), strict=True
    ):
        far = ((a.double() - e).abs() / (size * torch.finfo(dtype).eps)).max()
        assert far <= ULPS[dtype], (name, far)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=str)
def test_a_mean_far_from_zero_in_half_precision(dtype):
    """torch keeps the mean in the input's dtype, if the weight has it, and its gradient is off by that."""
    x, g = normal((4, 64), 0, dtype) + 100, normal((4, 64), 1, dtype)
    w, b = T(64, dtype=dtype), torch.zeros(64, dtype=dtype)
    exact = value_and_grads(builtin, [t.double() for t in (x, w, b)], g.double())[1]
    far = [
        (
            (value_and_grads(f, (x, w, b), g)[1].double() - exact).abs().max() / exact.abs().max()
        ).item()
        for f in (layer_norm, builtin)
    ]
    assert far[0] <= torch.finfo(dtype).eps
    assert far[1] > 2 * torch.finfo(dtype).eps, "torch has mended it: say so on the page"


ROWS = [[0.0, 0.0, 0.0], [3.0, 3.0, 3.0], [torch.inf, 1.0, 2.0], [torch.nan, 1.0, 2.0], [300.0, -300.0, 1.0], [6e4, 1.0, 1.0], [1e-30, 0.0, 0.0]]  # fmt: skip


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("row", ROWS, ids=str)
def test_special_values_as_torch_has_them(dtype, row):
    x = torch.tensor([row], dtype=dtype)
    w, b, g = (
        torch.tensor(v, dtype=dtype) for v in ([1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [[1.0, 2.0, 4.0]])
    )
    got, expected = (value_and_grads(f, (x, w, b), g) for f in (layer_norm, builtin))
    for a, e in zip(got, expected, strict=True):
        close = 8 * torch.finfo(dtype).eps
        most = e.double().nan_to_num(0, 0, 0).abs().max().item()
        torch.testing.assert_close(a, e, rtol=close, atol=close * most, equal_nan=True)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("other", DTYPES, ids=str)
@pytest.mark.parametrize("twice", [False, True])
def test_each_gets_a_gradient_of_its_own_dtype(dtype, other, twice):
    inputs = normal((3, 4), 0, dtype), normal((4,), 1, other), normal((4,), 2, other)
    found = value_and_grads(layer_norm, inputs, T(3, 4, dtype=dtype), create_graph=twice)
    assert [t.dtype for t in found] == [dtype, dtype, other, other]


@pytest.mark.parametrize("needs", SUBSETS, ids=str)
@pytest.mark.parametrize("twice", [False, True])
def test_only_what_is_needed_is_kept_and_computed(needs, twice):
    inputs = [normal((3, 4)), normal((4,), 1), normal((4,), 2)]
    leaves = [t.requires_grad_(n) for t, n in zip(inputs, needs, strict=True)]
    kept = []
    with torch.autograd.graph.saved_tensors_hooks(
        lambda t: (kept.append(t.shape), t)[1], lambda t: t
    ):
        y = layer_norm(*leaves)
    moments = [(3, 1), (3, 1)]
    expected = [(3, 4), *[(4,)] * needs[0], *moments] if needs[0] or needs[1] else []
    assert kept == expected
    wanted = [t for t in leaves if t.requires_grad]
    if wanted:
        got = torch.autograd.grad(y.square().sum(), wanted, create_graph=twice)
        reference = torch.autograd.grad(builtin(*leaves).square().sum(), wanted)
        for a, e in zip(got, reference, strict=True):
            torch.testing.assert_close(a, e)


@pytest.mark.parametrize(
    "dims", [(0, None, None), (None, 0, None), (None, None, 0), (0, 0, 0)], ids=str
)
@pytest.mark.parametrize("needs", SUBSETS[1:], ids=str)
def test_vmap(dims, needs):
    shapes = (3, 4), (4,), (4,)
    given = [
        normal((5, *s) if d == 0 else s, i)
        for i, (s, d) in enumerate(zip(shapes, dims, strict=True))
    ]
    results = []
    for f in (layer_norm, builtin):
        leaves = [t.clone().requires_grad_(n) for t, n in zip(given, needs, strict=True)]
        y = torch.func.vmap(f, dims)(*leaves)
        wanted = [t for t in leaves if t.requires_grad]
        results.append((y, *torch.autograd.grad(y.square().sum(), wanted)))
    for a, e in zip(*results, strict=True):
        torch.testing.assert_close(a, e)


REFUSED = [
    ({"input": [1.0]}, TypeError, "input must be a float tensor, got list; make one with torch.tensor(...)"),
    ({"input": T(3).long()}, TypeError, "input must be a float tensor, got torch.int64; use one such as torch.float32"),
    ({"weight": [1.0]}, TypeError, "weight must be a float tensor, got list; make one with torch.tensor(...)"),
    ({"weight": T(3).bool()}, TypeError, "weight must be a float tensor, got torch.bool; use one such as torch.float32"),
    ({"bias": T(3).cfloat()}, TypeError, "bias must be a float tensor, got torch.complex64; use one such as torch.float32"),
    ({"input": T(())}, ValueError, "input must have shape (..., D), got (); give one number a row with .unsqueeze(-1)"),
    ({"weight": T(4)}, ValueError, "weight must have shape (3,), got (4,); one number for each column of input"),
    ({"weight": T(1)}, ValueError, "weight must have shape (3,), got (1,); one number for each column of input"),
    ({"bias": T(4, 3)}, ValueError, "bias must have shape (3,), got (4, 3); one number for each column of input"),
    ({"eps": None}, TypeError, "eps must be a number, got NoneType; use one such as 1e-6"),
    ({"eps": True}, TypeError, "eps must be a number, got bool; use one such as 1e-6"),
    ({"eps": -1.0}, ValueError, "eps must be finite and at least 0, got -1.0; use one such as 1e-6"),
    ({"eps": torch.nan}, ValueError, "eps must be finite and at least 0, got nan; use one such as 1e-6"),
]  # fmt: skip


@pytest.mark.parametrize(("changed", "error", "message"), REFUSED)
def test_refuses(changed, error, message):
    with pytest.raises(error) as raised:
        layer_norm(**{"input": T(4, 3)} | changed)
    assert str(raised.value) == f"layer_norm: {message}"
