"""Gumbel-softmax: choices, noise, special logits, and what is refused."""

import math
import re
from types import SimpleNamespace

import pytest
import torch

from customgrad.functions import GumbelSoftmaxSTE, gumbel_softmax_ste
from sitetools import catalogue

INF, NAN = torch.inf, torch.nan
DTYPES = [torch.float16, torch.bfloat16, torch.float32, torch.float64]
dtypes = pytest.mark.parametrize("dtype", DTYPES, ids=str)


def test_by_hand():
    """Odds 3 to 1: a softmax of 3/4 and 1/4 at temperature 1, of 9/10 and 1/10 at 1/2."""
    for temperature, share in [(1.0, 0.75), (0.5, 0.9), (1, 0.75)]:
        x = torch.tensor([0.0, math.log(3.0)], dtype=torch.float64, requires_grad=True)
        noise = torch.zeros(2, dtype=torch.float64)
        hard, soft = GumbelSoftmaxSTE.apply(x, noise, temperature, -1)
        assert hard.tolist() == [0.0, 1.0]
        assert soft.tolist() == pytest.approx([1 - share, share])
        slope = share * (1 - share) / temperature
        for output in (hard, soft):
            (grad,) = torch.autograd.grad(output[1], x, retain_graph=True)
            assert grad.tolist() == pytest.approx([-slope, slope])
        (both,) = torch.autograd.grad(hard[1] + soft[1], x)
        assert both.tolist() == pytest.approx([-2 * slope, 2 * slope])


@dtypes
@pytest.mark.parametrize("dim", [0, 1, -1, -3])
def test_each_slice_holds_exactly_one_1(dtype, dim):
    generator = torch.Generator().manual_seed(4)
    y = gumbel_softmax_ste(torch.zeros(5, 6, 7, dtype=dtype), dim=dim, generator=generator)
    assert y.dtype == dtype
    assert ((y == 0) | (y == 1)).all()
    assert (y.sum(dim) == 1).all()


@dtypes
def test_choices_have_the_probabilities_of_the_softmax(dtype):
    generator = torch.Generator().manual_seed(5)
    shares = torch.tensor([0.5, 0.25, 0.125, 0.125])
    logits = shares.log().to(dtype).expand(100_000, 4)
    found = gumbel_softmax_ste(logits, temperature=0.3, generator=generator).double().mean(0)
    # Four standard deviations of the most uncertain share.
    assert (found - shares).abs().max() < 4 * 0.5 / math.sqrt(100_000)


@dtypes
def test_noise_is_finite_where_an_exponential_is_0(dtype, monkeypatch):
    monkeypatch.setattr(torch.Tensor, "exponential_", lambda x, generator=None: x.zero_())
    y = gumbel_softmax_ste(torch.tensor([1.0, 2.0, -INF], dtype=dtype))
    assert y.tolist() == [0.0, 1.0, 0.0]


def test_a_generator_repeats_and_leaves_the_global_one_alone():
    before = torch.get_rng_state()
    first, second = (
        gumbel_softmax_ste(torch.zeros(50, 9), generator=torch.Generator().manual_seed(6))
        for _ in range(2)
    )
    assert torch.equal(first, second)
    assert torch.equal(torch.get_rng_state(), before)
    torch.manual_seed(7)
    third = gumbel_softmax_ste(torch.zeros(50, 9))
    assert not torch.equal(third, gumbel_softmax_ste(torch.zeros(50, 9)))
    torch.manual_seed(7)
    assert torch.equal(third, gumbel_softmax_ste(torch.zeros(50, 9)))


@pytest.mark.parametrize(
    ("logits", "output"),
    [
        ([0.0, 0.0, 0.0], [1.0, 0.0, 0.0]),
        ([-1.0, 5.0, 5.0], [0.0, 1.0, 0.0]),
        ([-INF, -INF, -3e38], [0.0, 0.0, 1.0]),
        ([3e38, 0.0, -3e38], [1.0, 0.0, 0.0]),
        ([0.0, NAN, 1.0], [0.0, NAN, 0.0]),
        ([0.0, INF, 1.0], [0.0, NAN, 0.0]),
        ([-INF, -INF, -INF], [NAN, 0.0, 0.0]),
        (2.0, 1.0),
    ],
)
def test_special_logits(logits, output):
    x = torch.tensor(logits, requires_grad=True)
    y = gumbel_softmax_ste(x, torch.zeros_like(x))
    found, wanted = y.detach(), torch.tensor(output)
    if not wanted.isnan().any():
        assert torch.equal(found, wanted)
        assert torch.autograd.grad(y.sum(), x)[0].isfinite().all()
    else:
        assert found.isnan().sum() == 1
        assert torch.autograd.grad(y.sum(), x)[0].isnan().any()


@dtypes
@pytest.mark.parametrize("temperature", [1e-3, 1.0, 1e9])
def test_the_larger_one_is_chosen_however_near_its_softmax_is(dtype, temperature):
    """In bfloat16, and at a high temperature in any dtype, the two are equal after the softmax."""
    low = torch.tensor(2.0, dtype=dtype)
    high = torch.nextafter(low, torch.tensor(3.0, dtype=dtype))
    x = torch.stack([low, high])
    y = gumbel_softmax_ste(x, torch.zeros_like(x), temperature=temperature)
    assert y.tolist() == [0.0, 1.0]


def test_a_masked_entry_has_no_gradient():
    x = torch.tensor([0.0, -INF, 1.0], requires_grad=True)
    y = gumbel_softmax_ste(x, torch.zeros(3))
    (grad,) = torch.autograd.grad(y, x, torch.tensor([1.0, 5.0, -1.0]))
    assert grad[1] == 0
    assert grad.isfinite().all()


def test_an_empty_batch():
    assert gumbel_softmax_ste(torch.zeros(0, 3)).shape == (0, 3)


@pytest.mark.parametrize("wanted", [(True, False), (False, True), (True, True)])
def test_only_the_gradients_that_are_needed(wanted):
    ctx = SimpleNamespace(
        saved_tensors=(torch.tensor([0.25, 0.75]),), temperature=1.0, dim=-1,
        noise_dtype=torch.float64, needs_input_grad=(*wanted, False, False),
    )  # fmt: skip
    backward = GumbelSoftmaxSTE.backward
    grads = backward(ctx, torch.ones(2), None)
    assert tuple(g is not None for g in grads) == (*wanted, False, False)
    assert not wanted[1] or grads[1].dtype == torch.float64
    assert backward(ctx, None, None) == (None, None, None, None)


def test_noise_is_drawn_under_compile():
    torch._dynamo.reset()
    call = torch.compile(gumbel_softmax_ste, fullgraph=True, backend="aot_eager")
    with catalogue.quiet():
        y = call(torch.zeros(20, 5))
    assert (y.sum(-1) == 1).all()


@pytest.mark.parametrize(
    ("arguments", "keywords", "error", "words"),
    [
        ((), {"temperature": 0.0}, ValueError, "temperature must be a finite number above 0, got 0.0; 1.0 is usual"),
        ((), {"temperature": NAN}, ValueError, "temperature must be a finite number above 0, got nan; 1.0 is usual"),
        ((), {"temperature": None}, TypeError, "temperature must be a number, got NoneType; pass a float, such as 1.0"),
        ((), {"dim": 2}, ValueError, "dim must be one of input's 2 dimensions, got 2; -1 is the last"),
        ((), {"dim": -3}, ValueError, "dim must be one of input's 2 dimensions, got -3; -1 is the last"),
        (([1.0],), {}, TypeError, "noise must be a float tensor, got list; make one with torch.tensor(...)"),
        ((torch.ones(2, 3).int(),), {}, TypeError, "noise must be a float tensor, got torch.int32; use one such as torch.float32"),
        ((torch.ones(3),), {}, ValueError, "noise must have input's shape (2, 3), got (3,); expand it"),
        ((torch.ones(2, 3),), {"generator": torch.Generator()}, ValueError, "generator must be None where noise is given, got both; leave one out"),
    ],
)  # fmt: skip
def test_bad_arguments_are_refused(arguments, keywords, error, words):
    with pytest.raises(error, match=f"^gumbel_softmax_ste: {re.escape(words)}$"):
        gumbel_softmax_ste(torch.ones(2, 3), *arguments, **keywords)


def test_nothing_to_choose_from():
    words = (
        "input must have something to choose from, got shape (3, 0) with dim=-1; choose another dim"
    )
    with pytest.raises(ValueError, match=f"^gumbel_softmax_ste: {re.escape(words)}$"):
        gumbel_softmax_ste(torch.zeros(3, 0))
