"""The ReLUs that keep different things: torch's values bit for bit, the bytes kept, and the one in place."""

import itertools

import pytest
import torch

from customgrad.functions import ReLUInPlace, ReLUPacked, relu, relu_
from sitetools import catalogue

INF, NAN = torch.inf, torch.nan
DTYPES = [torch.float16, torch.bfloat16, torch.float32, torch.float64]
SPECIAL = [-INF, -2.0, -1e-45, -0.0, 0.0, 5e-324, 1e-45, 6e-8, 3.0, 3e38, INF, NAN]
KEEP = ["output", "input", "mask", "bits"]


def of_a_copy(x):
    return relu_(x.clone())


CALLS = {keep: lambda x, keep=keep: relu(x, keep=keep) for keep in KEEP} | {"in place": of_a_copy}
each = pytest.mark.parametrize("call", CALLS.values(), ids=list(CALLS))


@each
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_every_special_value_with_every_special_cotangent(call, dtype, assert_same):
    """A product with a mask has NaN where an infinite gradient meets the flat side."""
    pairs = torch.tensor(list(itertools.product(SPECIAL, SPECIAL)), dtype=torch.float64).to(dtype)
    results = []
    for f in (call, torch.relu):
        x = pairs[:, 0].clone().requires_grad_()
        g = pairs[:, 1].clone().requires_grad_()
        y = f(x)
        (first,) = torch.autograd.grad(y, x, g, create_graph=True)
        (second,) = torch.autograd.grad(first, g, pairs[:, 1])
        results.append((y, first, second))
    for got, expected in zip(*results, strict=True):
        assert_same(got, expected)


@pytest.mark.parametrize("count", [0, 1, 7, 8, 9, 17])
def test_packed_lengths(count):
    x = torch.linspace(-1, 1, count, requires_grad=True)
    g = torch.arange(1.0, count + 1)
    (grad,) = torch.autograd.grad(relu(x, keep="bits"), x, g)
    assert grad.tolist() == [
        v if u > 0 else 0.0 for u, v in zip(x.tolist(), g.tolist(), strict=True)
    ]


def test_every_byte_survives_packing():
    bits = [[(byte >> place) & 1 for place in range(8)] for byte in range(256)]
    x = torch.tensor(bits, dtype=torch.float32, requires_grad=True)
    (grad,) = torch.autograd.grad(relu(x, keep="bits").sum(), x)
    assert grad.tolist() == bits


def test_packed_under_two_levels_of_vmap_and_any_dimension():
    x = torch.randn(3, 4, 5, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    slope = torch.func.grad(lambda t: ReLUPacked.apply(t * t.sum()).sum())
    expected = torch.func.grad(lambda t: torch.relu(t * t.sum()).sum())
    for dims in itertools.product((0, 1), (0, 1)):
        results = [
            torch.func.vmap(torch.func.vmap(f, dims[1]), dims[0])(x) for f in (slope, expected)
        ]
        assert torch.allclose(*results)


def saved(call, x):
    """Bytes of the distinct storages that a call keeps."""
    found = {}
    with torch.autograd.graph.saved_tensors_hooks(
        lambda t: found.setdefault(t.untyped_storage().data_ptr(), t), lambda t: t
    ):
        call(x)
    return {p: t.untyped_storage().nbytes() for p, t in found.items()}


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_bytes_an_element(dtype):
    x = torch.ones(800, dtype=dtype, requires_grad=True)
    size = dtype.itemsize
    found = {keep: sum(saved(call, x).values()) / 800 for keep, call in CALLS.items()}
    assert found == {"output": size, "input": size, "mask": 1, "bits": 1 / 8, "in place": size}


def test_packing_rounds_up_to_a_byte():
    assert list(saved(CALLS["bits"], torch.ones(9, requires_grad=True)).values()) == [2]


@each
def test_nothing_is_packed_where_no_gradient_is_needed(call):
    assert saved(call, torch.ones(8)) == {}


def test_between_two_layers_the_output_adds_nothing():
    x = torch.ones(16, 8)
    first, last = torch.nn.Linear(8, 8), torch.nn.Linear(8, 8)
    own = {t.data_ptr() for t in (x, *first.parameters(), *last.parameters())}

    def added(call):
        found = saved(lambda x: last(call(first(x))), x)
        return sum(size for p, size in found.items() if p not in own) / (16 * 8)

    found = {keep: added(call) for keep, call in CALLS.items() if keep != "in place"}
    assert found == {"output": 4, "input": 8, "mask": 5, "bits": 4.125}
    assert added(torch.relu) == added(relu_) == 4


# In place.


def test_the_result_is_the_input():
    z = torch.tensor([-1.0, 2.0], requires_grad=True) * 1
    assert relu_(z) is z
    assert z.tolist() == [0.0, 2.0]
    assert type(z.grad_fn).__name__ == "ReLUInPlaceBackward"


@pytest.mark.parametrize("compiled", [False, True])
def test_who_uses_the_input_gets_the_gradient_of_the_output(compiled):
    """Without mark_dirty, z would keep its old history, and the gradient would be 10 and 10."""

    def call(x):
        z = x * 1
        relu_(z)
        return z * 10

    x = torch.tensor([-1.0, 2.0], requires_grad=True)
    f = torch.compile(call, fullgraph=True, backend="aot_eager") if compiled else call
    with catalogue.quiet():  # torch warns of its own doings while it compiles
        assert torch.autograd.grad(f(x).sum(), x)[0].tolist() == [0.0, 10.0]
    if not compiled:
        assert torch.func.grad(lambda x: call(x).sum())(x.detach()).tolist() == [0.0, 10.0]
        batch = torch.func.vmap(torch.func.grad(lambda x: call(x).sum()))(x.detach()[:, None])
        assert batch.tolist() == [[0.0], [10.0]]


@pytest.mark.parametrize("index", [0, slice(1, None), (slice(None), 0)])
def test_of_a_view_the_rest_is_left_alone(index):
    weights = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
    results = []
    for f in (relu_, torch.relu_):
        x = torch.tensor([[-1.0, 2.0], [3.0, -4.0]], requires_grad=True)
        z = x * 1
        f(z[index])
        results.append((z.tolist(), torch.autograd.grad((z * weights).sum(), x)[0].tolist()))
    assert results[0] == results[1]


def test_a_leaf_is_refused_before_it_is_changed():
    x = torch.tensor([-1.0, 2.0], requires_grad=True)
    wanted = (
        r"^relu_: input must not be a leaf that requires a gradient, got one or a view of it; "
        r"use relu\(input\), or change it under torch\.no_grad\(\)$"
    )
    for leaf in (x, x[0], x.view(2, 1)):
        with pytest.raises(RuntimeError, match=wanted):
            relu_(leaf)
    assert x.tolist() == [-1.0, 2.0]
    assert relu_(x.detach().clone()[:1]).tolist() == [0.0]
    with torch.no_grad():
        relu_(x)
    assert x.tolist() == [0.0, 2.0]
    assert relu_(torch.tensor([-1.0, 2.0])).tolist() == [0.0, 2.0]


def test_torch_refuses_a_leaf_given_to_apply_and_expanded_memory():
    with pytest.raises(RuntimeError, match="leaf Variable that requires grad"):
        ReLUInPlace.apply(torch.ones(2, requires_grad=True))
    with pytest.raises(RuntimeError, match="single memory location"):
        ReLUInPlace.apply(torch.ones(1).expand(3))


@pytest.mark.parametrize("shape", [(3, 1), (1, 3), ()])
def test_expanded_memory_is_refused_and_left_alone(shape):
    x = torch.full((), -1.0).expand(shape) if shape == () else torch.full(shape, -1.0)
    wanted = (
        r"^relu_: input must have memory of its own for each element, got an expanded tensor; "
        r"use relu\(input\), or give a clone$"
    )
    with pytest.raises(RuntimeError, match=wanted):
        relu_(x.expand(3, 3))
    assert (x == -1).all()
    once = x.expand(1, *shape)  # of size 1 in what was added: no two elements share a place
    assert relu_(once).eq(0).all()
    assert relu_(torch.ones(1, 0).expand(3, 0)).shape == (3, 0)


def test_an_operation_before_that_kept_its_output_notices():
    z = torch.ones(3, requires_grad=True).exp()
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        relu_(z).sum().backward()


def test_integers_are_refused_before_they_are_changed():
    x = torch.tensor([-1, 2])
    with pytest.raises(TypeError, match=r"^ReLUInPlace: input must be a float tensor"):
        relu_(x)
    assert x.tolist() == [-1, 2]


@pytest.mark.parametrize("keep", ["outputs", "", None, 1, ["bits"]])
def test_keep_is_one_of_four_words(keep):
    with pytest.raises(ValueError, match=r"^relu: keep must be") as caught:
        relu(torch.ones(2), keep=keep)
    assert str(caught.value) == (
        f"relu: keep must be 'output', 'input', 'mask' or 'bits', got {keep!r}; "
        "'output' costs least between layers"
    )


def test_an_output_that_was_kept_and_changed_is_noticed():
    y = relu(torch.ones(3, requires_grad=True))
    y.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()


@pytest.mark.parametrize("keep", ["mask", "bits"])
def test_with_a_mask_input_and_output_may_be_changed(keep):
    x = torch.tensor([-1.0, 2.0], requires_grad=True)
    z = x * 1
    y = relu(z, keep=keep)
    z.neg_()
    y.neg_()
    y.sum().backward()
    assert x.grad.tolist() == [0.0, -1.0]
