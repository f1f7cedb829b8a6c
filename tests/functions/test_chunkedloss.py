"""The chunked loss: every chunk, what is ignored, what is kept, transforms, and what it refuses."""

import itertools

import pytest
import torch
from torch.nn import functional as F

from customgrad.functions import LinearCrossEntropy, linear_cross_entropy

T = torch.ones
LABELS = torch.tensor([0, 4, -100, 2, 1, -100, 3])


def composed(x, w, target, bias=None, **options):
    return F.cross_entropy(F.linear(x, w, bias), target, **options)


def inputs(dtype=torch.float64, rows=7, size=3, classes=5, bias=True, seed=0):
    generator = torch.Generator().manual_seed(seed)
    shapes = [(rows, size), (classes, size)] + [(classes,)] * bias
    return [
        torch.randn(s, generator=generator, dtype=torch.float64).to(dtype).requires_grad_()
        for s in shapes
    ]


def value_and_grads(f, given, target, factor=1.0, **options):
    x, w, *bias = given
    loss = f(x, w, target, *bias, **options)
    return loss, *torch.autograd.grad(loss * factor, given)


def same(got, expected, **tolerance):
    for a, b in zip(got, expected, strict=True):
        assert a.dtype == b.dtype
        torch.testing.assert_close(a, b, equal_nan=True, **tolerance)


def test_by_hand():
    """Two classes with logits log 3 and 0: P = (3/4, 1/4)."""
    x = torch.tensor([[1.0]], requires_grad=True)
    w = torch.tensor([[3.0], [1.0]]).log().requires_grad_()
    b = torch.zeros(2, requires_grad=True)
    loss = linear_cross_entropy(x, w, torch.tensor([0]), b)
    loss.backward(torch.tensor(4.0))
    close = {"rtol": 1e-6, "atol": 1e-6}
    torch.testing.assert_close(loss, torch.tensor(4 / 3).log(), **close)
    torch.testing.assert_close(w.grad, torch.tensor([[-1.0], [1.0]]), **close)
    torch.testing.assert_close(b.grad, torch.tensor([-1.0, 1.0]), **close)
    torch.testing.assert_close(x.grad, -torch.tensor([[3.0]]).log(), **close)


@pytest.mark.parametrize("chunk", [1, 2, 3, 6, 7, 8, 1000])
@pytest.mark.parametrize("reduction", ["mean", "sum"])
@pytest.mark.parametrize("bias", [True, False])
def test_every_chunk(chunk, reduction, bias):
    got = value_and_grads(
        linear_cross_entropy, inputs(bias=bias), LABELS, 3.0, chunk=chunk, reduction=reduction
    )
    same(got, value_and_grads(composed, inputs(bias=bias), LABELS, 3.0, reduction=reduction))


ODD = {
    "all ignored": (7, torch.full((7,), -100), {}),
    "all but one ignored": (7, torch.tensor([-100] * 6 + [2]), {}),
    "no rows": (0, torch.zeros(0, dtype=torch.int64), {}),
    "another ignore_index": (7, torch.tensor([0, 1, 2, 3, 4, 0, 2]), {"ignore_index": 2}),
    "an ignore_index among no labels": (
        7,
        torch.tensor([0, 1, -1, 3, 4, 0, 2]),
        {"ignore_index": -1},
    ),
}


@pytest.mark.parametrize("case", ODD)
@pytest.mark.parametrize("reduction", ["mean", "sum"])
def test_odd_targets_are_as_torch_has_them(case, reduction):
    rows, target, options = ODD[case]
    results = [
        value_and_grads(f, inputs(rows=rows), target, reduction=reduction, **options)
        for f in (linear_cross_entropy, composed)
    ]
    same(*results)


def test_no_columns():
    same(*(value_and_grads(f, inputs(size=0), LABELS) for f in (linear_cross_entropy, composed)))


@pytest.mark.parametrize("kind", [torch.int8, torch.uint8, torch.int32, torch.int64], ids=str)
def test_integers_of_any_kind_are_labels(kind):
    target = torch.tensor([0, 1, 2, 3, 4, 0, 1])
    got = linear_cross_entropy(*inputs(bias=False), target.to(kind))
    torch.testing.assert_close(got, composed(*inputs(bias=False), target))


def test_leading_dimensions_are_rows():
    x, w = inputs(rows=6, bias=False)
    target = torch.tensor([[0, 1, -100], [3, 4, 0]])
    flat, expected = x.detach(), composed(x, w, target.flatten())
    for shape, labels in (((2, 3, 3), target), ((6, 3), target.flatten())):
        torch.testing.assert_close(linear_cross_entropy(flat.reshape(shape), w, labels), expected)
    one = linear_cross_entropy(flat[0], w, torch.tensor(2))
    torch.testing.assert_close(one, composed(flat[:1], w, torch.tensor([2])))


@pytest.mark.parametrize("layout", ["transposed", "sliced", "offset", "expanded"])
def test_any_strides(layout, lay_out):
    results = []
    for f in (linear_cross_entropy, composed):
        given = [lay_out(t.detach(), layout).requires_grad_() for t in inputs()]
        results.append(value_and_grads(f, given, lay_out(LABELS, layout)))
    same(*results)


@pytest.mark.parametrize("needs", list(itertools.product([False, True], repeat=3)), ids=str)
@pytest.mark.parametrize("twice", [False, True])
def test_only_the_gradients_that_are_needed(needs, twice):
    """Also counted: without a need there is no product beside the logits."""
    given = [t.detach().requires_grad_(n) for t, n in zip(inputs(), needs, strict=True)]
    x, w, b = given
    kept = []
    with torch.autograd.graph.saved_tensors_hooks(
        lambda t: (kept.append(t.shape), t)[1], lambda t: t
    ):
        loss = linear_cross_entropy(x, w, LABELS, b, chunk=2)
    wanted = [t for t in given if t.requires_grad]
    assert kept == ([x.shape, w.shape, LABELS.shape, b.shape] + [t.shape for t in wanted]) * any(
        needs
    )
    if wanted:
        expected = torch.autograd.grad(composed(x, w, LABELS, b), wanted)
        same(torch.autograd.grad(loss, wanted, create_graph=twice), expected)


@pytest.mark.parametrize("how", ["no_grad", "no need"])
def test_nothing_but_the_loss_where_no_gradient_is_wanted(how, counted):
    given = [t.requires_grad_(how == "no_grad") for t in (t.detach() for t in inputs())]
    x, w, b = given
    with torch.set_grad_enabled(how == "no need"), counted:
        loss = linear_cross_entropy(x, w, LABELS, b, chunk=7)
    assert not loss.requires_grad
    assert not {"addmm", "matmul", "mv", "exp", "zeros_like"} & set(counted.names)


def test_the_logits_never_exist_at_once():
    """Nor does a tensor of their size: counted by the profiler."""
    target = torch.arange(256)

    def peak(f, x, w):
        activities = [torch.profiler.ProfilerActivity.CPU]
        with torch.profiler.profile(activities=activities, profile_memory=True) as profile:
            torch.autograd.grad(f(x, w, target), (x, w))
        now = most = 0
        for event in profile.profiler.kineto_results.events():
            if event.name() == "[memory]":
                most = max(most, now := now + event.nbytes())
        return most

    logits = 256 * 512 * 4
    thin = inputs(torch.float32, rows=256, size=8, classes=512, bias=False)
    assert peak(composed, *thin) >= 3 * logits
    assert peak(lambda *a: linear_cross_entropy(*a, chunk=16), *thin) < logits / 3
    # The gradients and two chunks; not three chunks, and not the gradients three times.
    x, w = inputs(torch.float32, rows=256, size=64, classes=512, bias=False)
    grads = 4 * (x.numel() + w.numel())
    found = peak(lambda *a: linear_cross_entropy(*a, chunk=64), x, w)
    assert found < max(2 * grads, grads + logits / 2) * 1.1


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=str)
def test_halves_are_summed_in_float32(dtype):
    """Of a hundred rows a sum in half precision would lose the last ones."""
    x, w, b = inputs(dtype, rows=1000)
    target = torch.arange(1000) % 5
    got = value_and_grads(linear_cross_entropy, (x, w, b), target, chunk=1, reduction="sum")
    exact = [t.detach().double().requires_grad_() for t in (x, w, b)]
    for a, e in zip(got, value_and_grads(composed, exact, target, reduction="sum"), strict=True):
        assert a.dtype == dtype
        assert (a.double() - e).abs().max() <= 4 * torch.finfo(dtype).eps * e.abs().max()


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32], ids=str)
def test_a_sure_prediction_keeps_its_digits(dtype):
    """P of the target is so near 1 that P - 1 would be 0 or a rounding error in half precision."""
    x, w = T(1, 1, dtype=dtype), torch.tensor([[8.0], [0.0]], dtype=dtype, requires_grad=True)
    linear_cross_entropy(x, w, torch.tensor([0])).backward()
    exact = torch.sigmoid(torch.tensor(-8.0, dtype=torch.float64))
    assert w.grad[0].item() == pytest.approx(
        -exact.item(), rel=4 * torch.finfo(dtype).eps, abs=1e-7
    )


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float64], ids=str)
def test_autocast(dtype):
    results = []
    for f in (linear_cross_entropy, composed):
        given = inputs(dtype)
        with torch.autocast("cpu", torch.bfloat16):
            x, w, b = given
            loss = f(x, w, LABELS, b)
        results.append((loss, *torch.autograd.grad(loss, given)))
    same(*results, rtol=0.02, atol=0.02)


def test_second_derivatives_by_a_cotangent_that_needs_none():
    """`grad(loss, x, create_graph=True)`: torch's once_differentiable would hand out a constant."""
    results = []
    for f in (linear_cross_entropy, composed):
        given = inputs()
        x, w, b = given
        first = torch.autograd.grad(f(x, w, LABELS, b), given, create_graph=True)
        results.append(torch.autograd.grad(sum(g.square().sum() for g in first), given))
    same(*results)


def test_tied_input_and_weight():
    """One tensor for both: each way's gradient counts once."""
    results = []
    for f in (linear_cross_entropy, composed):
        t = inputs(rows=5)[1].detach().requires_grad_()
        (g,) = torch.autograd.grad(f(t, t, torch.arange(5)), t, create_graph=True)
        results.append((g.detach(), *torch.autograd.grad(g.square().sum(), t)))
    same(*results)


X, W, TARGETS = torch.randn(6, 4, 3), torch.randn(6, 5, 3), torch.arange(24).reshape(6, 4) % 5


@pytest.mark.parametrize(
    "dims", [(0, None, 0), (None, None, 0), (None, 0, None), (0, 0, 0)], ids=str
)
def test_vmap_over_each_argument(dims):
    given = [
        t.double() if t.is_floating_point() else t
        for t in (t if d == 0 else t[0] for t, d in zip((X, W, TARGETS), dims, strict=True))
    ]

    def chunked(x, w, t):
        return linear_cross_entropy(x, w, t, chunk=3)

    def per_sample(f):
        return torch.func.vmap(torch.func.grad_and_value(f, (0, 1)), dims)(*given)

    def of_leaves(f):
        x, w = (t.clone().requires_grad_() for t in given[:2])
        return torch.autograd.grad(torch.func.vmap(f, dims)(x, w, given[2]).sum(), (x, w))

    for way in (per_sample, of_leaves):
        torch.testing.assert_close(way(chunked), way(composed))


def test_the_function_alone_in_a_transform():
    """Forward sees tensors that need no gradient there; backward must not take that for an answer."""
    x, w, _ = (t.detach() for t in inputs())

    def loss(x, w):
        return LinearCrossEntropy.apply(x, w, LABELS)[0]

    expected = torch.func.grad(lambda x, w: composed(x, w, LABELS), (0, 1))(x, w)
    torch.testing.assert_close(torch.func.grad(loss, (0, 1))(x, w), expected)
    with torch.no_grad():
        _, pull = torch.func.vjp(loss, x, w)
        torch.testing.assert_close(pull(T((), dtype=torch.float64)), expected)


L = torch.zeros(4, dtype=torch.int64)
REFUSED = [
    ({"input": [1.0]}, TypeError, "input must be a float tensor, got list; make one with torch.tensor(...)"),
    ({"input": T(4, 3).long()}, TypeError, "input must be a float tensor, got torch.int64; use one such as torch.float32"),
    ({"weight": None}, TypeError, "weight must be a float tensor, got NoneType; make one with torch.tensor(...)"),
    ({"weight": T(5, 3).bool()}, TypeError, "weight must be a float tensor, got torch.bool; use one such as torch.float32"),
    ({"weight": T(5, 3).double()}, TypeError, "weight must have the dtype of input, got torch.float64 and torch.float32; convert one with .to(dtype)"),
    ({"bias": T(5).cfloat()}, TypeError, "bias must be a float tensor, got torch.complex64; use one such as torch.float32"),
    ({"bias": T(5).half()}, TypeError, "bias must have the dtype of input, got torch.float16 and torch.float32; convert one with .to(dtype)"),
    ({"weight": T(3)}, ValueError, "weight must have shape (V, D) with V > 0, got (3,); one row for each class"),
    ({"weight": T(0, 3)}, ValueError, "weight must have shape (V, D) with V > 0, got (0, 3); one row for each class"),
    ({"input": T(4, 2)}, ValueError, "input must have shape (4, 3), got (4, 2); its rows are as long as those of weight"),
    ({"input": T(())}, ValueError, "input must have shape (3,), got (); its rows are as long as those of weight"),
    ({"bias": T(1)}, ValueError, "bias must have shape (5,), got (1,); one number for each row of weight"),
    ({"target": [0]}, TypeError, "target must be an integer tensor, got list; make one with torch.tensor(...)"),
    ({"target": T(4, 5)}, TypeError, "target must be an integer tensor, got torch.float32; give labels, or use torch.nn.functional.cross_entropy for probabilities"),
    ({"target": L.bool()}, TypeError, "target must be an integer tensor, got torch.bool; give labels, or use torch.nn.functional.cross_entropy for probabilities"),
    ({"target": L[:3]}, ValueError, "target must have shape (4,), got (3,); one label for each row of input"),
    ({"target": L[:1]}, ValueError, "target must have shape (4,), got (1,); one label for each row of input"),
    ({"target": L + 5}, ValueError, "target must hold labels from 0 to 4 or ignore_index = -100, got 5 at (0,); compare the labels with the number of classes"),
    ({"target": torch.tensor([0, -100, -1, 9])}, ValueError, "target must hold labels from 0 to 4 or ignore_index = -100, got -1 at (2,); compare the labels with the number of classes"),
    ({"ignore_index": None}, TypeError, "ignore_index must be an integer, got NoneType; use -100 if no label is to be ignored"),
    ({"ignore_index": True}, TypeError, "ignore_index must be an integer, got bool; use -100 if no label is to be ignored"),
    ({"reduction": "none"}, ValueError, "reduction must be \"mean\" or \"sum\", got 'none'; it says what becomes of the losses of the rows"),
    ({"reduction": None}, ValueError, 'reduction must be "mean" or "sum", got None; it says what becomes of the losses of the rows'),
    ({"chunk": 0}, ValueError, "chunk must be at least 1, got 0; use 128, say"),
    ({"chunk": -1}, ValueError, "chunk must be at least 1, got -1; use 128, say"),
    ({"chunk": 2.0}, TypeError, "chunk must be an integer, got float; use 128, say"),
    ({"chunk": True}, TypeError, "chunk must be an integer, got bool; use 128, say"),
]  # fmt: skip


@pytest.mark.parametrize(("changed", "error", "message"), REFUSED)
def test_refuses(changed, error, message):
    with pytest.raises(error) as raised:
        linear_cross_entropy(**{"input": T(4, 3), "weight": T(5, 3), "target": L} | changed)
    assert str(raised.value) == f"linear_cross_entropy: {message}"


def test_a_label_out_of_range_inside_vmap():
    with pytest.raises(ValueError, match=r"got 5 at \(1, 0\)"):
        torch.func.vmap(linear_cross_entropy, (0, None, 0))(X, W[0], TARGETS + 1)


def test_a_label_out_of_range_is_an_error_of_the_function_itself():
    with pytest.raises(RuntimeError, match="index 5 is out of bounds"):
        LinearCrossEntropy.apply(T(4, 3), T(5, 3), L + 5)
