"""Sign and clamp, straight through: bounds, special values, and the same at every position."""

import re

import pytest
import torch

from customgrad.functions import clamp_ste, sign_ste

INF, NAN = torch.inf, torch.nan
DTYPES = [torch.float16, torch.bfloat16, torch.float32, torch.float64]
COUNTS = [1, 37]  # the kernels treat the last of many by other code than the rest
BOUNDS = [(-1, 1), (0, 6), (-0.1, 0.3), (0.0, 0.0), (0.1, 0.1), (-1e-7, 1e4)]

dtypes = pytest.mark.parametrize("dtype", DTYPES, ids=str)
counts = pytest.mark.parametrize("count", COUNTS)


def around(bounds, dtype, count):
    """Return the bounds, their neighbours on both sides, and special values, several times."""
    b = torch.tensor(bounds, dtype=dtype)
    up, down = (torch.nextafter(b, torch.full_like(b, end)) for end in (INF, -INF))
    special = torch.tensor([-INF, -5.0, -0.0, 0.0, 5.0, INF, NAN], dtype=dtype)
    return torch.cat([b, up, down, special]).repeat_interleave(count)


def sent_back(call, x, g):
    x = x.clone().requires_grad_()
    return torch.autograd.grad(call(x), x, g)[0]


@dtypes
@counts
def test_sign_by_hand(dtype, count, assert_same):
    eps = torch.finfo(dtype).eps
    table = [  # input, output, whether the gradient passes
        (-INF, -1.0, 0), (-1 - eps, -1.0, 0), (-1.0, -1.0, 1), (-0.5, -1.0, 1), (-0.0, 0.0, 1),
        (0.0, 0.0, 1), (1 - eps, 1.0, 1), (1.0, 1.0, 1), (1 + eps, 1.0, 0), (INF, 1.0, 0), (NAN, 0.0, 0),
    ]  # fmt: skip
    x, y, passes = (
        torch.tensor(column, dtype=dtype).repeat_interleave(count)
        for column in zip(*table, strict=True)
    )
    assert torch.equal(sign_ste(x), y)
    assert torch.equal(sent_back(sign_ste, x, torch.full_like(x, 3.0)), 3 * passes)
    infinite = sent_back(sign_ste, x, torch.full_like(x, INF))
    assert torch.equal(infinite, torch.where(passes == 1, INF, 0.0).to(dtype))


@dtypes
@counts
@pytest.mark.parametrize("bounds", BOUNDS, ids=str)
def test_gated_clamp_is_torchs_at_and_beside_the_bounds(dtype, count, bounds, assert_same):
    x = around(bounds, dtype, count)
    low, high = bounds

    def ours(x):
        return clamp_ste(x, min=low, max=high, gated=True)

    assert_same(ours(x), x.clamp(low, high))
    for size in (2.0, INF):
        g = torch.full_like(x, size)
        assert_same(sent_back(ours, x, g), sent_back(lambda x: x.clamp(low, high), x, g))


@dtypes
@counts
@pytest.mark.parametrize("bounds", BOUNDS, ids=str)
def test_a_clamp_that_passes(dtype, count, bounds, assert_same):
    x = around(bounds, dtype, count)
    g = torch.randn(x.shape, generator=torch.Generator().manual_seed(3)).to(dtype)
    low, high = bounds
    assert_same(clamp_ste(x, min=low, max=high), x.clamp(low, high))
    assert_same(sent_back(lambda x: clamp_ste(x, min=low, max=high), x, g), g)


@pytest.mark.parametrize(
    ("keywords", "error", "words"),
    [
        ({"min": 1.0, "max": -1.0}, ValueError, "min must be at most max, got 1.0 and -1.0; exchange the two"),
        ({"min": -INF, "max": 1.0}, ValueError, "min must be a finite number, got -inf; torch.clamp takes one bound alone"),
        ({"min": 0.0, "max": NAN}, ValueError, "max must be a finite number, got nan; torch.clamp takes one bound alone"),
        ({"min": None, "max": 1.0}, TypeError, "min must be a number, got NoneType; pass a float, such as 1.0"),
        ({"min": 0.0, "max": torch.ones(())}, TypeError, "max must be a number, got Tensor; pass a float, such as 1.0"),
        ({"min": 0.0, "max": 1.0, "gated": 1}, TypeError, "gated must be a bool, got int; pass True or False"),
    ],
)  # fmt: skip
def test_bad_arguments_are_refused(keywords, error, words):
    with pytest.raises(error, match=rf"^clamp_ste: {re.escape(words)}$"):
        clamp_ste(torch.ones(3), **keywords)


@pytest.mark.parametrize("gated", [False, True])
def test_a_clamp_that_passes_keeps_nothing(gated):
    kept = []
    with torch.autograd.graph.saved_tensors_hooks(kept.append, lambda t: t):
        clamp_ste(torch.ones(3, requires_grad=True), min=0, max=1, gated=gated)
    assert len(kept) == gated
