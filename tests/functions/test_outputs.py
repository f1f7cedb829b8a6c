"""Sort, TopK and SinCos: what the shared table does not see."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.autograd import gradcheck, gradgradcheck

from customgrad.functions import SinCos, Sort, TopK, sincos, sort, topk
from sitetools import catalogue

DTYPES = [torch.float16, torch.bfloat16, torch.float32, torch.float64]
LAYOUTS = ["contiguous", "transposed", "sliced", "offset", "expanded"]
SHAPES = [(), (0,), (1,), (5,), (2, 3), (3, 0), (0, 3), (2, 3, 4)]
PRECISE = {"rtol": 1e-6, "atol": 1e-8}
T = torch.ones


def numbers(shape, seed, dtype=torch.float64):
    """Whole numbers from a small range: ties are common."""
    generator = torch.Generator().manual_seed(seed)
    return torch.randint(-3, 4, shape, generator=generator).to(dtype)


def with_grads(call, x, g):
    x = x.detach().requires_grad_()
    values, indices = call(x)
    (grad,) = torch.autograd.grad(values, x, g(values))
    return values.detach(), indices, grad


def check(assert_same, ours, torchs, x, layout):
    def g(values):
        return layout(torch.arange(1.0, values.numel() + 1).reshape(values.shape).to(x.dtype))

    got, expected = with_grads(ours, x, g), with_grads(torchs, x, g)
    assert torch.equal(got[1], expected[1])
    assert not got[1].requires_grad
    for a, b in zip(got[::2], expected[::2], strict=True):
        assert_same(a, b)


# --- sort and top-k beside torch's own, ties included --------------------------------------------


@settings(max_examples=150, deadline=None, derandomize=True)
@given(
    shape=st.sampled_from(SHAPES), where=st.integers(-3, 2), descending=st.booleans(),
    stable=st.booleans(), dtype=st.sampled_from(DTYPES), layouts=st.tuples(*[st.sampled_from(LAYOUTS)] * 2),
    seed=st.integers(0, 10**6),
)  # fmt: skip
def test_sort_as_torch(
    assert_same, lay_out, shape, where, descending, stable, dtype, layouts, seed
):
    dim = where % max(len(shape), 1) - (max(len(shape), 1) if where < 0 else 0)
    options = {"dim": dim, "descending": descending, "stable": stable}
    x = lay_out(numbers(shape, seed, dtype), layouts[0])
    check(
        assert_same, lambda x: sort(x, **options), lambda x: torch.sort(x, **options), x,
        lambda g: lay_out(g, layouts[1]),
    )  # fmt: skip


@settings(max_examples=150, deadline=None, derandomize=True)
@given(
    shape=st.sampled_from(SHAPES), where=st.integers(-3, 2), largest=st.booleans(),
    in_order=st.booleans(), part=st.floats(0, 1), dtype=st.sampled_from(DTYPES),
    layouts=st.tuples(*[st.sampled_from(LAYOUTS)] * 2), seed=st.integers(0, 10**6),
)  # fmt: skip
def test_topk_as_torch(
    assert_same, lay_out, shape, where, largest, in_order, part, dtype, layouts, seed
):
    dim = where % max(len(shape), 1) - (max(len(shape), 1) if where < 0 else 0)
    k = round(part * (shape[dim] if shape else 1))
    options = {"k": k, "dim": dim, "largest": largest, "sorted": in_order}
    x = lay_out(numbers(shape, seed, dtype), layouts[0])
    check(
        assert_same, lambda x: topk(x, **options), lambda x: torch.topk(x, **options), x,
        lambda g: lay_out(g, layouts[1]),
    )  # fmt: skip


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_special_values_in_order(assert_same, dtype):
    x = torch.tensor([torch.nan, 1.0, -torch.inf, -0.0, torch.inf, 0.0, torch.nan], dtype=dtype)
    for ours, torchs in [
        (lambda x: sort(x, stable=True), lambda x: torch.sort(x, stable=True)),
        (lambda x: topk(x, 3), lambda x: torch.topk(x, 3)),
    ]:
        check(assert_same, ours, torchs, x, lambda g: g)
    # An infinite or missing cotangent goes to its own place, and to no other.
    x = torch.tensor([2.0, 1.0, 3.0], dtype=dtype, requires_grad=True)
    g = torch.tensor([torch.nan, torch.inf], dtype=dtype)
    (grad,) = torch.autograd.grad(topk(x, 2)[0], x, g)
    assert_same(grad, torch.tensor([torch.inf, 0.0, torch.nan], dtype=dtype))


def test_by_hand():
    x = torch.tensor([[3.0, 1.0, 2.0], [5.0, 6.0, 4.0]], requires_grad=True)
    values, indices = Sort.apply(x, 1, False, False)
    assert values.tolist() == [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]
    assert indices.tolist() == [[1, 2, 0], [2, 0, 1]]
    values.backward(torch.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]))
    assert x.grad.tolist() == [[3.0, 1.0, 2.0], [5.0, 6.0, 4.0]]
    x.grad = None
    values, indices = TopK.apply(x, 2, 1, False, True)
    assert values.tolist() == [[1.0, 2.0], [4.0, 5.0]]
    values.backward(torch.tensor([[7.0, 8.0], [9.0, 10.0]]))
    assert x.grad.tolist() == [[0.0, 7.0, 8.0], [10.0, 0.0, 9.0]]


CALLS = {
    "sort": (lambda x: sort(x)[0], lambda x: torch.sort(x)[0]),
    "sort down": (lambda x: sort(x, 0, True)[0], lambda x: torch.sort(x, 0, True)[0]),
    "topk": (lambda x: topk(x, 2)[0], lambda x: torch.topk(x, 2)[0]),
    "topk, first": (lambda x: topk(x, 2, 0)[0], lambda x: torch.topk(x, 2, 0)[0]),
}


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("in_dim", [0, 1, 2])
def test_vmap_over_any_dimension(name, in_dim):
    """Dimensions are those of one sample; the cotangent may be the same for all of them."""
    ours, torchs = CALLS[name]
    x = torch.randn(3, 3, 3, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    for call in (lambda f, s: f(s), lambda f, s: torch.func.vjp(f, s)[1](torch.ones_like(f(x[0])))[0]):  # fmt: skip
        found = torch.func.vmap(lambda s, call=call: call(ours, s), in_dim)(x)
        expected = torch.stack([call(torchs, s) for s in x.unbind(in_dim)])
        torch.testing.assert_close(found, expected, rtol=0, atol=0)


@pytest.mark.parametrize("name", CALLS)
def test_jacobians(name):
    ours, torchs = CALLS[name]
    x = torch.randn(3, 3, dtype=torch.float64, generator=torch.Generator().manual_seed(1))
    assert torch.equal(torch.func.jacrev(ours)(x), torch.func.jacrev(torchs)(x))


@pytest.mark.parametrize("call", [sort, lambda x: topk(x, 500)], ids=["sort", "topk"])
def test_backward_allocates_the_gradient_alone(call):
    """No zeros for the indices, which have as many bytes as the values twice over."""
    n = 1000
    x = torch.randn(n, requires_grad=True)
    values, _ = call(x)
    g = torch.ones_like(values)
    with torch.profiler.profile(
        activities=[torch.profiler.ProfilerActivity.CPU], profile_memory=True
    ) as profile:
        torch.autograd.grad(values, x, g)
    events = profile.profiler.kineto_results.events()
    allocated = sum(e.nbytes() for e in events if e.name() == "[memory]" and e.nbytes() > 0)
    assert 4 * n <= allocated < 5 * n


@pytest.mark.parametrize("function", [Sort, TopK])
def test_no_cotangent_no_gradient(function):
    arguments = {Sort: (-1, False, False), TopK: (1, -1, True, True)}[function]
    values, _ = function.apply(T(3, requires_grad=True), *arguments)
    assert set(function.backward(values.grad_fn, None, None)) == {None}


REFUSED = [
    (lambda: sort(T(3), descending=1), TypeError, "sort: descending must be a bool, got int; pass True or False"),
    (lambda: sort(T(3), stable=None), TypeError, "sort: stable must be a bool, got NoneType; pass True or False"),
    (lambda: sort(T(3), 1.0), TypeError, "sort: dim must be an int, got float; -1 is the last dimension"),
    (lambda: sort(T(3), True), TypeError, "sort: dim must be an int, got bool; -1 is the last dimension"),
    (lambda: sort(T(2, 3), 2), ValueError, "sort: dim must be from -2 to 1, got 2; input has shape (2, 3)"),
    (lambda: sort(T(()), -2), ValueError, "sort: dim must be from -1 to 0, got -2; input has shape ()"),
    (lambda: topk(T(3), 1, largest=0), TypeError, "topk: largest must be a bool, got int; pass True or False"),
    (lambda: topk(T(3), 1, sorted="y"), TypeError, "topk: sorted must be a bool, got str; pass True or False"),
    (lambda: topk(T(3), 1.0), TypeError, "topk: k must be an int, got float; pass a whole number"),
    (lambda: topk(T(3), True), TypeError, "topk: k must be an int, got bool; pass a whole number"),
    (lambda: topk(T(3), 1, None), TypeError, "topk: dim must be an int, got NoneType; pass a whole number"),
    (lambda: topk(T(2, 3), 1, -3), ValueError, "topk: dim must be from -2 to 1, got -3; input has shape (2, 3)"),
    (lambda: topk(T(2, 3), 4), ValueError,
     "topk: k must be from 0 to 3, got 4; dimension -1 of input with shape (2, 3) has no more"),
    (lambda: topk(T(2, 3), -1, 0), ValueError,
     "topk: k must be from 0 to 2, got -1; dimension 0 of input with shape (2, 3) has no more"),
    (lambda: topk(T(()), 2), ValueError,
     "topk: k must be from 0 to 1, got 2; dimension -1 of input with shape () has no more"),
]  # fmt: skip


@pytest.mark.parametrize(("call", "error", "message"), REFUSED)
def test_refuses(call, error, message):
    with pytest.raises(error) as raised:
        call()
    assert str(raised.value) == message


# --- sine and cosine -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("sin_used", "cos_used", "products"), [(0, 0, 0), (1, 0, 1), (0, 1, 1), (1, 1, 2)]
)
def test_an_unused_output_costs_nothing(sin_used, cos_used, products, counted):
    x = torch.linspace(-2, 2, 5, dtype=torch.float64, requires_grad=True)
    sin, _ = SinCos.apply(x)
    g, h = torch.full_like(x, 2.0), torch.full_like(x, 3.0)
    with counted:
        grad = SinCos.backward(sin.grad_fn, g if sin_used else None, h if cos_used else None)
    assert counted.names.count("mul") == products
    if products:
        expected = 2 * sin_used * torch.cos(x) - 3 * cos_used * torch.sin(x)
        torch.testing.assert_close(grad, expected, rtol=1e-14, atol=1e-14)
    else:
        assert grad is None


class Recording(SinCos):
    handed = ()

    @staticmethod
    def backward(ctx, *grads):
        Recording.handed = [g is not None for g in grads]
        return SinCos.backward(ctx, *grads)


@pytest.mark.parametrize("used", [(True, False), (False, True), (True, True)])
def test_an_unused_output_is_handed_none(used):
    outputs = Recording.apply(torch.ones(3, requires_grad=True))
    sum(y.sum() for y, u in zip(outputs, used, strict=True) if u).backward()
    assert Recording.handed == list(used)


USES = {
    "sin": lambda s, c: s.sum(),
    "cos": lambda s, c: (c**3).sum(),
    "both": lambda s, c: (s * c).sum() + c.sum(),
}


@pytest.mark.parametrize("use", USES)
def test_compiled_and_not_it_is_the_same(use):
    """torch.compile hands out zeros instead of None."""
    x = torch.linspace(-2, 2, 5, dtype=torch.float64, requires_grad=True)
    (expected,) = torch.autograd.grad(USES[use](x.sin(), x.cos()), x)
    traced = torch.compile(lambda x: USES[use](*sincos(x)), backend="aot_eager", fullgraph=True)
    with catalogue.quiet():
        for call in (lambda x: USES[use](*sincos(x)), traced):
            (found,) = torch.autograd.grad(call(x), x)
            torch.testing.assert_close(found, expected, rtol=1e-14, atol=1e-14)


@settings(max_examples=60, deadline=None, derandomize=True)
@given(
    shape=st.sampled_from(SHAPES), layout=st.sampled_from(LAYOUTS), g_layout=st.sampled_from(LAYOUTS),
    dtype=st.sampled_from(DTYPES), use=st.sampled_from(list(USES)), seed=st.integers(0, 10**6),
)  # fmt: skip
def test_sincos_of_any_shape_strides_and_dtype(
    assert_same, lay_out, shape, layout, g_layout, dtype, use, seed
):
    generator = torch.Generator().manual_seed(seed)
    values = lay_out(torch.randn(shape, generator=generator).to(dtype), layout)
    g = lay_out(torch.randn(shape, generator=generator).to(dtype), g_layout)
    which = {"sin": [0], "cos": [1], "both": [0, 1]}[use]
    x = values.detach().requires_grad_()
    outputs = sincos(x)
    for got, expected in zip(outputs, (x.sin(), x.cos()), strict=True):
        assert_same(got, expected)
    (found,) = torch.autograd.grad([outputs[i] for i in which], x, [g] * len(which))
    parts = [(g * x.cos()).detach(), (-g * x.sin()).detach()]
    assert_same(found, sum(parts[i] for i in which) if len(which) > 1 else parts[which[0]])


def test_sincos_in_slow_mode_with_undefined_gradients():
    x = torch.linspace(-2, 2, 5, dtype=torch.float64, requires_grad=True)
    assert gradcheck(sincos, x, check_undefined_grad=True, check_batched_grad=True, **PRECISE)
    assert gradgradcheck(sincos, x, check_batched_grad=True, **PRECISE)


@pytest.mark.parametrize("which", [0, 1])
def test_a_changed_output_is_noticed(which):
    outputs = sincos(torch.ones(3, requires_grad=True))
    outputs[which].mul_(2)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        (outputs[0].sum() + outputs[1].sum()).backward()
