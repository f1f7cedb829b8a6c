"""GELULinear: shapes, gradients that are needed, memory, autocast, and what it refuses."""

import itertools

import pytest
import torch
from torch.nn import functional as F

from customgrad.functions import GELULinear, gelu_linear

DTYPE = torch.float64


def normal(*shape, seed=0):
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed), dtype=DTYPE)


def two(x, weight, bias=None, *, approximate="none"):
    return F.linear(F.gelu(x, approximate=approximate), weight, bias)


def leaves(leading=(2,), bias=True):
    given = [normal(*leading, 3), normal(4, 3, seed=1), normal(4, seed=2)][: 2 + bias]
    return [t.requires_grad_() for t in given]


@pytest.mark.parametrize("leading", [(), (0,), (1,), (5,), (2, 3), (2, 0, 3)], ids=str)
@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("approximate", ["none", "tanh"])
@pytest.mark.parametrize("layout", ["contiguous", "transposed", "sliced", "offset"])
def test_as_the_two_layers(leading, bias, approximate, layout, lay_out):
    results = []
    for call in (gelu_linear, two):
        x, *rest = leaves(leading, bias)
        x = lay_out(x.detach(), layout).requires_grad_()
        y = call(x, *rest, approximate=approximate)
        cotangent = lay_out(normal(*y.shape, seed=3), layout)
        results.append([y, *torch.autograd.grad(y, (x, *rest), cotangent)])
    torch.testing.assert_close(*results, rtol=1e-11, atol=1e-11)


def test_the_two_kinds_of_gelu_differ():
    """By less than a thousandth: a test in float32 would not see them mixed up."""
    x, w = torch.tensor([[2.0]], dtype=DTYPE, requires_grad=True), torch.ones(1, 1, dtype=DTYPE)
    found = [
        torch.autograd.grad(gelu_linear(x, w, approximate=kind).sum(), x)[0].item()
        for kind in ("none", "tanh")
    ]
    assert found == pytest.approx([1.0852323, 1.0860993], abs=1e-6)


@pytest.mark.parametrize("needed", list(itertools.product([False, True], repeat=3)))
def test_only_what_is_needed_is_kept_and_computed(needed):
    tensors = [t.detach().requires_grad_(n) for t, n in zip(leaves(), needed, strict=True)]
    kept = []
    with torch.autograd.graph.saved_tensors_hooks(lambda t: kept.append(t) or t, lambda t: t):
        y = gelu_linear(*tensors)
    input, weight, _ = needed
    wanted = [t for t, n in zip(tensors, (input or weight, input), strict=False) if n]
    assert [t.data_ptr() for t in kept] == [t.data_ptr() for t in wanted]
    if any(needed):
        grads = GELULinear.backward(y.grad_fn, torch.ones_like(y))
        assert [g is not None for g in grads] == [*needed, False]


def test_the_activation_is_not_computed_for_a_frozen_weight(monkeypatch):
    x = normal(2, 3).requires_grad_()
    y = gelu_linear(x, normal(4, 3))
    monkeypatch.setattr(F, "gelu", None)
    y.sum().backward()
    assert x.grad is not None


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
def test_autocast_as_the_two_layers(dtype):
    results = []
    for call in (gelu_linear, two):
        x, w, b = (t.detach().float().requires_grad_() for t in leaves())
        with torch.autocast("cpu", torch.bfloat16):
            y = call(x.to(dtype), w, b)
        results.append([y, *torch.autograd.grad(y.float().sum(), (x, w, b))])
    assert [t.dtype for t in results[0]] == [t.dtype for t in results[1]]
    torch.testing.assert_close(*results, rtol=0.03, atol=0.03)


def test_float64_is_left_alone_under_autocast():
    with torch.autocast("cpu", torch.bfloat16):
        assert gelu_linear(*leaves()).dtype == two(*leaves()).dtype == DTYPE


X, W = torch.ones(2, 3), torch.ones(4, 3)


@pytest.mark.parametrize(
    ("arguments", "settings", "error", "message"),
    [
        ((X, [1.0]), {}, TypeError,
         "gelu_linear: weight must be a float tensor, got list; make one with torch.tensor(...)"),
        ((X, W.long()), {}, TypeError,
         "gelu_linear: weight must be a float tensor, got torch.int64; use one such as torch.float32"),
        ((X, W.double()), {}, TypeError,
         "gelu_linear: weight must have the dtype of input, got torch.float64 and torch.float32; "
         "convert one with .to(dtype)"),
        ((X, W, torch.ones(4).half()), {}, TypeError,
         "gelu_linear: bias must have the dtype of input, got torch.float16 and torch.float32; "
         "convert one with .to(dtype)"),
        ((X, W.T), {}, ValueError,
         "gelu_linear: weight must have shape (out, in) where input has (..., in), got (3, 4) and (2, 3); "
         "one row for each output feature"),
        ((X, W[0]), {}, ValueError,
         "gelu_linear: weight must have shape (out, in) where input has (..., in), got (3,) and (2, 3); "
         "one row for each output feature"),
        ((X[0, 0], W), {}, ValueError,
         "gelu_linear: weight must have shape (out, in) where input has (..., in), got (4, 3) and (); "
         "one row for each output feature"),
        ((X, W, torch.ones(3)), {}, ValueError,
         "gelu_linear: bias must have shape (out,) = (4,), got (3,); one number for each row of weight"),
        ((X, W), {"approximate": "erf"}, ValueError,
         'gelu_linear: approximate must be "none" or "tanh", got \'erf\'; take one of the two'),
    ],
)  # fmt: skip
def test_messages(arguments, settings, error, message):
    with pytest.raises(error) as caught:
        gelu_linear(*arguments, **settings)
    assert str(caught.value) == message
