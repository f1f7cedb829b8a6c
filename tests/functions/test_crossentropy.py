"""Cross-entropy on logits: precision, special values, shapes, transforms, and what it refuses."""

import pytest
import torch
from torch.nn import functional as F

from customgrad.functions import CrossEntropy, cross_entropy

REDUCTIONS = ["mean", "sum", "none"]
DTYPES = [torch.float16, torch.bfloat16, torch.float32, torch.float64]
INF, NAN = torch.inf, torch.nan
T = torch.ones


def normal(shape, seed=0, dtype=torch.float64):
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(shape, generator=generator, dtype=torch.float64).to(dtype)


def value_and_grad(f, z, target, create_graph=False, **options):
    z = z.detach().requires_grad_()
    loss = f(z, target, **options)
    weights = torch.linspace(1, 2, loss.numel()).reshape(loss.shape).to(loss.dtype)
    return loss, *torch.autograd.grad(loss, z, weights, create_graph=create_graph)


def same(got, expected, **tolerance):
    for a, b in zip(got, expected, strict=True):
        assert a.dtype == b.dtype
        assert a.shape == b.shape
        torch.testing.assert_close(a, b, equal_nan=True, **tolerance)


def test_by_hand():
    """Logits log 3 and 0: a softmax of 3/4 and 1/4."""
    z = torch.tensor([[3.0, 1.0]], dtype=torch.float64).log().requires_grad_()
    loss, likelihood = CrossEntropy.apply(z, torch.tensor([1]))
    loss.backward(torch.tensor(8.0, dtype=torch.float64))
    close = {"rel": 1e-12}
    assert loss.item() == pytest.approx(-likelihood.item(), **close)
    assert loss.exp().item() == pytest.approx(4.0, **close)
    assert z.grad[0].tolist() == pytest.approx([6.0, -6.0], **close)


ULPS = {torch.float16: 1.5, torch.bfloat16: 1.5, torch.float32: 3.0}


@pytest.mark.parametrize("dtype", ULPS, ids=str)
@pytest.mark.parametrize("classes", [1, 2, 10, 1000, 50_000])
@pytest.mark.parametrize("scale", [0.01, 1.0, 8.0, 1000.0])
def test_ulps(dtype, classes, scale):
    """In units of the last place of a loss, and of a row's largest gradient."""
    z = (normal((6, classes)) * scale).to(dtype)
    target = torch.arange(6) * 7 % classes
    loss, grad = value_and_grad(cross_entropy, z, target, reduction="none")
    exact_loss, exact_grad = value_and_grad(F.cross_entropy, z.double(), target, reduction="none")
    unit, fine = torch.finfo(dtype).eps, torch.finfo(torch.float32).eps
    largest = z.double().abs().amax(1)
    # A loss and an exponent are differences of float32 numbers as large as the logits.
    lost = 2 * fine * (1 + largest)
    assert ((loss.double() - exact_loss).abs() <= unit * exact_loss + lost).all()
    size = exact_grad.abs().amax(1) + torch.finfo(dtype).smallest_normal
    far = (grad.double() - exact_grad).abs().amax(1)
    assert (far <= ULPS[dtype] * unit * size + lost).all(), far / size / unit


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=str)
@pytest.mark.parametrize("gap", [4.0, 6.0, 8.0])
def test_a_sure_prediction_keeps_its_digits(dtype, gap):
    """P of the target rounds to 1 in half precision; the gradient P - 1 must not be 0 for that."""
    z = torch.tensor([[gap, 0.0]], dtype=dtype)
    _, grad = value_and_grad(cross_entropy, z, torch.tensor([0]))
    exact = torch.sigmoid(torch.tensor(-gap, dtype=torch.float64)).item()
    close = 2 * torch.finfo(dtype).eps
    assert grad[0].tolist() == pytest.approx([-exact, exact], rel=close, abs=1e-7)


ROWS = [
    [INF, 1.0, 2.0],
    [-INF, 1.0, 2.0],
    [1.0, -INF, -INF],
    [-INF, -INF, -INF],
    [NAN, 1.0, 2.0],
    [1e30, -1e30, 0.0],
    [1e4, -1e4, 0.0],
    [0.0, 0.0, 0.0],
]


@pytest.mark.parametrize("row", ROWS, ids=str)
@pytest.mark.parametrize("label", [0, 1, -100])
@pytest.mark.parametrize("reduction", REDUCTIONS)
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float32, torch.float64], ids=str)
def test_special_values_as_torch_has_them(row, label, reduction, dtype):
    z, target = torch.tensor([row, [0.0, 1.0, 2.0]], dtype=dtype), torch.tensor([label, 2])
    got, expected = (
        value_and_grad(f, z, target, reduction=reduction) for f in (cross_entropy, F.cross_entropy)
    )
    same(got, expected, rtol=2 * torch.finfo(dtype).eps, atol=2 * torch.finfo(dtype).eps)


SHAPES = [((5,), ()), ((1, 1), (1,)), ((4, 3), (4,)), ((0, 3), (0,)), ((2, 3, 4), (2, 4)), ((2, 3, 0), (2, 0)), ((2, 3, 2, 2), (2, 2, 2))]  # fmt: skip


@pytest.mark.parametrize(("shape", "rows"), SHAPES, ids=str)
@pytest.mark.parametrize("layout", ["contiguous", "transposed", "sliced", "expanded"])
@pytest.mark.parametrize("reduction", REDUCTIONS)
@pytest.mark.parametrize("twice", [False, True])
def test_any_shape_and_any_strides(shape, rows, layout, reduction, twice, lay_out):
    classes = shape[min(len(shape) - 1, 1)]
    target = torch.arange(torch.Size(rows).numel()).reshape(rows) % classes
    if target.numel() > 1:
        target.view(-1)[-1] = -100
    z = lay_out(normal(shape), layout)
    got, expected = (
        value_and_grad(f, z, target, create_graph=twice, reduction=reduction)
        for f in (cross_entropy, F.cross_entropy)
    )
    same(got, expected)


@pytest.mark.parametrize("reduction", REDUCTIONS)
@pytest.mark.parametrize("ignore_index", [-100, -1, 1])
def test_all_ignored(reduction, ignore_index):
    target = torch.full((4,), ignore_index)
    options = {"reduction": reduction, "ignore_index": ignore_index}
    same(
        *(
            value_and_grad(f, normal((4, 3)), target, **options)
            for f in (cross_entropy, F.cross_entropy)
        )
    )


def test_only_what_is_needed_is_kept():
    kept = []
    for needs, wanted in ((True, [(4, 3), (4,), (4, 1)]), (False, [])):
        kept.clear()
        z = normal((4, 3)).requires_grad_(needs)
        with torch.autograd.graph.saved_tensors_hooks(
            lambda t: (kept.append(t.shape), t)[1], lambda t: t
        ):
            cross_entropy(z, torch.arange(4) % 3)
        assert kept == wanted


def test_backward_makes_one_tensor():
    """Of the size of the logits; torch's own makes a second one, and keeps a third."""
    z = normal((64, 1000), 0, torch.float32).requires_grad_()

    def peak(f):
        with torch.profiler.profile(profile_memory=True) as profile:
            torch.autograd.grad(f(z, torch.arange(64)), z)
        now = most = 0
        for event in profile.profiler.kineto_results.events():
            if event.name() == "[memory]":
                most = max(most, now := now + event.nbytes())
        return most / (4 * z.numel())

    assert peak(cross_entropy) < 1.05
    assert peak(F.cross_entropy) >= 2.95


def test_both_ways_of_backward_agree():
    z, target = normal((5, 7)), torch.tensor([0, 1, -100, 6, 3])
    for reduction in REDUCTIONS:
        in_place, formula = (
            value_and_grad(cross_entropy, z, target, create_graph=c, reduction=reduction)[1]
            for c in (False, True)
        )
        torch.testing.assert_close(in_place, formula.detach(), rtol=1e-12, atol=1e-12)
        assert formula.requires_grad


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_autocast(dtype):
    results = []
    for f in (cross_entropy, F.cross_entropy):
        z = normal((4, 3), 0, dtype).requires_grad_()
        with torch.autocast("cpu", torch.bfloat16):
            loss = f(z, torch.arange(4) % 3)
            results.append((loss, *torch.autograd.grad(loss, z)))
    same(*results, rtol=1e-2, atol=1e-3)


@pytest.mark.parametrize("dims", [(0, 0), (None, 0), (0, None)], ids=str)
@pytest.mark.parametrize("reduction", REDUCTIONS)
def test_vmap(dims, reduction):
    z, target = normal((6, 4, 3)), torch.arange(24).reshape(6, 4) % 3
    given = [t if d == 0 else t[0] for t, d in zip((z, target), dims, strict=True)]

    def total(f):
        return lambda z, target: f(z, target, reduction=reduction).sum()

    def per_sample(f):
        return torch.func.vmap(torch.func.grad_and_value(total(f)), dims)(*given)

    def of_leaf(f):
        leaf = given[0].clone().requires_grad_()
        return torch.autograd.grad(torch.func.vmap(total(f), dims)(leaf, given[1]).sum(), leaf)

    for way in (per_sample, of_leaf):
        torch.testing.assert_close(way(cross_entropy), way(F.cross_entropy))


L = torch.zeros(4, dtype=torch.int64)
RANGE = "; compare the labels with the number of classes"
SHAPE = "input must have shape (N, C, ...) or (C,) with C > 0, got {}; one number for each class"
REFUSED = [
    ({"input": [1.0]}, TypeError, "input must be a float tensor, got list; make one with torch.tensor(...)"),
    ({"input": T(4, 3).bool()}, TypeError, "input must be a float tensor, got torch.bool; use one such as torch.float32"),
    ({"input": T(())}, ValueError, SHAPE.format("()")),
    ({"input": T(4, 0)}, ValueError, SHAPE.format("(4, 0)")),
    ({"target": None}, TypeError, "target must be an integer tensor, got NoneType; make one with torch.tensor(...)"),
    ({"target": T(4, 3)}, TypeError, "target must be an integer tensor, got torch.float32; give labels, or use torch.nn.functional.cross_entropy for probabilities"),
    ({"target": L.cfloat()}, TypeError, "target must be an integer tensor, got torch.complex64; give labels, or use torch.nn.functional.cross_entropy for probabilities"),
    ({"target": L[:3]}, ValueError, "target must have shape (4,), got (3,); one label for each row of input"),
    ({"target": L[:, None]}, ValueError, "target must have shape (4,), got (4, 1); one label for each row of input"),
    ({"input": T(4, 3, 2)}, ValueError, "target must have shape (4, 2), got (4,); one label for each row of input"),
    ({"target": L + 3}, ValueError, f"target must hold labels from 0 to 2 or ignore_index = -100, got 3 at (0,){RANGE}"),
    ({"target": torch.tensor([0, 2, -1, 0])}, ValueError, f"target must hold labels from 0 to 2 or ignore_index = -100, got -1 at (2,){RANGE}"),
    ({"input": T(3), "target": torch.tensor(5)}, ValueError, f"target must hold labels from 0 to 2 or ignore_index = -100, got 5 at (){RANGE}"),
    ({"ignore_index": 1.0}, TypeError, "ignore_index must be an integer, got float; use -100 if no label is to be ignored"),
    ({"reduction": "avg"}, ValueError, "reduction must be \"mean\" or \"sum\" or \"none\", got 'avg'; it says what becomes of the losses of the rows"),
]  # fmt: skip


@pytest.mark.parametrize(("changed", "error", "message"), REFUSED)
def test_refuses(changed, error, message):
    with pytest.raises(error) as raised:
        cross_entropy(**{"input": T(4, 3), "target": L} | changed)
    assert str(raised.value) == f"cross_entropy: {message}"


@pytest.mark.parametrize("label", [3, -1])
def test_a_label_out_of_range_is_an_error_of_the_function_itself(label):
    with pytest.raises(RuntimeError, match=f"index {label} is out of bounds"):
        CrossEntropy.apply(T(4, 3), L + label)
