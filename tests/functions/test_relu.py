"""CustomReLU against torch.relu, bit for bit, and against tables worked out by hand."""

import math

import pytest
import torch
from hypothesis import example, given, settings
from hypothesis import strategies as st

from customgrad.functions import CustomReLU, custom_relu, custom_relu_demo

DTYPES = [torch.float16, torch.bfloat16, torch.float32, torch.float64]
INF, NAN = math.inf, math.nan
# 0 and its neighbours in every dtype, the ends of the ranges, and plain numbers.
SPECIAL = [
    *(-0.0, 0.0, 5e-324, -5e-324, 1e-45, -1e-45, 6e-8, -6e-8, 1e-40, -1e-40, 2e-38, -2e-38),
    *(INF, -INF, NAN, 65504.0, -65504.0, 3e38, -3e38, 1.7e308, -1.7e308),
    *(-2.0, -1.0, -0.5, 0.5, 1.0, 2.0, 3.0, -3.0),
]
LAYOUTS = ["contiguous", "transposed", "sliced", "offset", "expanded"]
SHAPES = [(), (0,), (1,), (7,), (1, 1), (3, 4), (2, 0, 3), (2, 3, 4)]


def draw(shape, dtype, seed):
    """Special values in a random order."""
    pool = torch.tensor(SPECIAL, dtype=torch.float64).to(dtype)
    generator = torch.Generator().manual_seed(seed)
    return pool[torch.randint(len(pool), shape, generator=generator)]


def value_and_grad(f, x, g):
    x = x.detach().requires_grad_()
    y = f(x)
    (grad,) = torch.autograd.grad(y, x, g)
    return y, grad


# --- what it computes ------------------------------------------------------------------------

# input, cotangent, output, gradient: by hand, from the definition.
BY_HAND = [
    (-2.0, 10.0, 0.0, 0.0),
    (0.0, 20.0, 0.0, 0.0),
    (-0.0, 20.0, -0.0, 0.0),
    (3.0, 30.0, 3.0, 30.0),
    (3.0, -0.5, 3.0, -0.5),
    (3.0, 0.0, 3.0, 0.0),
    (1e-3, 7.0, 1e-3, 7.0),
    (-1e-3, 7.0, 0.0, 0.0),
    (INF, 2.0, INF, 2.0),
    (-INF, 2.0, 0.0, 0.0),
    (NAN, 2.0, NAN, 2.0),
    (-1.0, INF, 0.0, 0.0),
    (-1.0, -INF, 0.0, 0.0),
    (0.0, INF, 0.0, 0.0),
    (-1.0, NAN, 0.0, 0.0),
    (0.0, NAN, 0.0, 0.0),
    (1.0, INF, 1.0, INF),
    (1.0, NAN, 1.0, NAN),
    (NAN, INF, NAN, INF),
    (NAN, NAN, NAN, NAN),
]


@pytest.mark.parametrize("dtype", DTYPES)
def test_by_hand(dtype, assert_same):
    x, g, output, grad = torch.tensor(BY_HAND, dtype=torch.float64).to(dtype).unbind(1)
    y, got = value_and_grad(CustomReLU.apply, x, g)
    assert_same(y, output)
    assert_same(got, grad)


@pytest.mark.parametrize("dtype", DTYPES)
def test_every_special_value_with_every_special_cotangent(dtype, assert_same):
    pool = torch.tensor(SPECIAL, dtype=torch.float64).to(dtype)
    x, g = torch.cartesian_prod(pool, pool).unbind(1)
    ours = value_and_grad(CustomReLU.apply, x, g)
    torchs = value_and_grad(torch.relu, x, g)
    assert_same(ours[0], torchs[0])
    assert_same(ours[1], torchs[1])


@settings(max_examples=150, deadline=None, derandomize=True)
@given(
    shape=st.lists(st.integers(0, 5), max_size=4),
    dtype=st.sampled_from(DTYPES),
    layout=st.sampled_from(LAYOUTS),
    g_layout=st.sampled_from([*LAYOUTS, "one number"]),
    seed=st.integers(0, 2**32),
)
@example([], torch.float32, "contiguous", "one number", 0)
@example([4, 3], torch.float64, "expanded", "expanded", 1)
def test_as_torch_relu(assert_same, lay_out, shape, dtype, layout, g_layout, seed):
    x = lay_out(draw(shape, dtype, seed), layout)
    if g_layout == "one number":
        g = draw((), dtype, seed + 1).expand(shape)
    else:
        g = lay_out(draw(shape, dtype, seed + 1), g_layout)
    before = x.clone(), g.clone()
    ours = value_and_grad(CustomReLU.apply, x, g)
    torchs = value_and_grad(torch.relu, x, g)
    assert_same(ours[0], torchs[0])
    assert_same(ours[1], torchs[1])
    assert_same(x, before[0])
    assert_same(g, before[1])


@settings(max_examples=60, deadline=None, derandomize=True)
@given(
    shape=st.sampled_from(SHAPES),
    dtype=st.sampled_from(DTYPES),
    layout=st.sampled_from(LAYOUTS),
    seed=st.integers(0, 2**32),
)
def test_second_derivatives_as_torch_relu(assert_same, lay_out, shape, dtype, layout, seed):
    x = lay_out(draw(shape, dtype, seed), layout)
    g, v = draw(shape, dtype, seed + 1), draw(shape, dtype, seed + 2)
    results = []
    for f in (CustomReLU.apply, torch.relu):
        leaf, cotangent = x.detach().requires_grad_(), g.clone().requires_grad_()
        (grad,) = torch.autograd.grad(f(leaf), leaf, cotangent, create_graph=True)
        second = torch.autograd.grad(grad, (leaf, cotangent), v, materialize_grads=True)
        results.append(second)
    assert_same(results[0][0], torch.zeros(shape, dtype=dtype))
    assert_same(results[0][1], results[1][1])


@pytest.mark.parametrize("shape", SHAPES)
def test_gradcheck_and_gradgradcheck(shape):
    generator = torch.Generator().manual_seed(0)
    x = torch.randn(shape, generator=generator, dtype=torch.float64)
    x = (x + x.sign()).requires_grad_()  # a step of gradcheck must not cross the kink
    assert torch.autograd.gradcheck(CustomReLU.apply, (x,))
    assert torch.autograd.gradgradcheck(CustomReLU.apply, (x,))


def test_gradient_penalty_by_hand():
    # L = (d/dx sum relu(x)^3)^2 summed = sum 9 x^4 for x > 0, so dL/dx = 36 x^3.
    x = torch.tensor([-1.0, 0.0, 2.0], dtype=torch.float64, requires_grad=True)
    (grad,) = torch.autograd.grad((CustomReLU.apply(x) ** 3).sum(), x, create_graph=True)
    (grad**2).sum().backward()
    assert x.grad.tolist() == [0.0, 0.0, 288.0]


# --- how it behaves in the graph -------------------------------------------------------------


@pytest.mark.parametrize("dtype", DTYPES)
def test_saves_the_input_itself_and_nothing_else(dtype):
    saved = []
    x = torch.randn(10, 3).to(dtype).requires_grad_()
    with torch.autograd.graph.saved_tensors_hooks(lambda t: saved.append(t) or t, lambda t: t):
        CustomReLU.apply(x)
    assert [t.data_ptr() for t in saved] == [x.data_ptr()]
    saved_bytes = sum(t.numel() * t.element_size() for t in saved)
    assert saved_bytes / x.numel() == torch.finfo(dtype).bits / 8


def test_saves_nothing_when_no_gradient_is_needed():
    saved = []
    with torch.autograd.graph.saved_tensors_hooks(lambda t: saved.append(t) or t, lambda t: t):
        y = CustomReLU.apply(torch.ones(3))
    assert saved == []
    assert not y.requires_grad


def test_a_changed_input_is_noticed():
    x = torch.ones(3, requires_grad=True) * 1
    y = CustomReLU.apply(x)
    x.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()


def test_output_is_new_memory():
    x = torch.ones(3, requires_grad=True)
    assert CustomReLU.apply(x).data_ptr() != x.data_ptr()


def test_gradients_are_new_memory():
    x, g = torch.ones(3, requires_grad=True), torch.ones(3)
    CustomReLU.apply(x).backward(g)
    assert x.grad.data_ptr() != g.data_ptr()


def test_backward_twice():
    x = torch.tensor([-1.0, 2.0], requires_grad=True)
    y = CustomReLU.apply(x)
    y.backward(torch.tensor([5.0, 7.0]), retain_graph=True)
    y.backward(torch.tensor([5.0, 7.0]))
    assert x.grad.tolist() == [0.0, 14.0]


def test_output_may_be_changed_in_place():
    # The input is saved, not the output: an in-place operation after it is no error.
    x = torch.tensor([-1.0, 2.0], requires_grad=True)
    CustomReLU.apply(x).add_(1).sum().backward()
    assert x.grad.tolist() == [0.0, 1.0]


def test_combined_style_does_not_compose_with_torch_func():
    x = torch.ones(3)
    for f in (
        lambda: torch.func.vmap(CustomReLU.apply)(x),
        lambda: torch.func.grad(lambda t: CustomReLU.apply(t).sum())(x),
        lambda: torch.func.jacrev(CustomReLU.apply)(x),
    ):
        with pytest.raises(RuntimeError, match="setup_context staticmethod"):
            f()


# --- what it refuses -------------------------------------------------------------------------

NOT_FLOAT = [torch.uint8, torch.int8, torch.int32, torch.int64, torch.bool, torch.complex64]


@pytest.mark.parametrize("dtype", NOT_FLOAT)
@pytest.mark.parametrize("f", [CustomReLU.apply, custom_relu])
def test_other_dtypes_are_refused(f, dtype):
    message = (
        rf"CustomReLU: input must be a float tensor, got {dtype}; use one such as torch\.float32"
    )
    with pytest.raises(TypeError, match=f"^{message}$"):
        f(torch.ones(2).to(dtype))


@pytest.mark.parametrize("value", [1.0, [1.0], None, "abc"])
def test_wrapper_refuses_what_is_no_tensor(value):
    message = (
        rf"custom_relu: input must be a float tensor, got {type(value).__name__}; "
        r"make one with torch\.tensor\(\.\.\.\)"
    )
    with pytest.raises(TypeError, match=f"^{message}$"):
        custom_relu(value)


def test_wrapper_is_the_function():
    x = torch.tensor([-1.0, 2.0], requires_grad=True)
    y = custom_relu(x)
    assert type(y.grad_fn).__name__ == "CustomReLUBackward"
    assert y.tolist() == [0.0, 2.0]


# --- the demo --------------------------------------------------------------------------------


def test_demo_exactly():
    expected = {"output": [0.0, 0.0, 0.0, 1.0, 2.0], "grad": [0.0, 0.0, 0.0, 1.0, 1.0]}
    assert custom_relu_demo() == expected
    assert repr(custom_relu_demo()) == (
        "{'output': [0.0, 0.0, 0.0, 1.0, 2.0], 'grad': [0.0, 0.0, 0.0, 1.0, 1.0]}"
    )


DEMOS = [
    ([], [], []),
    ([3], [3.0], [1.0]),
    ((-1, 0.1), [0.0, 0.1], [0.0, 1.0]),
    ([INF, -INF], [INF, 0.0], [1.0, 0.0]),
    ([-1e300, 1e300], [0.0, 1e300], [0.0, 1.0]),
    (torch.tensor(2.5), 2.5, 1.0),
    (torch.tensor([[-1.0], [0.5]]), [[0.0], [0.5]], [[0.0], [1.0]]),
    (torch.tensor([[1.0, -2.0]], dtype=torch.float16).T, [[1.0], [0.0]], [[1.0], [0.0]]),
    (torch.zeros(2, 0), [[], []], [[], []]),
]


@pytest.mark.parametrize(("values", "output", "grad"), DEMOS)
def test_demo_of_other_values(values, output, grad):
    assert custom_relu_demo(values) == {"output": output, "grad": grad}


def test_demo_takes_the_exercises_numbers_by_default(monkeypatch):
    """Another negative number would give the same outputs."""
    seen = []
    apply = CustomReLU.apply
    monkeypatch.setattr(CustomReLU, "apply", lambda x: seen.append(x.tolist()) or apply(x))
    custom_relu_demo()
    assert seen == [[-2.0, -1.0, 0.0, 1.0, 2.0]]


@pytest.mark.parametrize("mode", [torch.no_grad, torch.inference_mode])
def test_demo_in_any_mode(mode):
    with mode():
        assert custom_relu_demo([-1.0, 2.0]) == {"output": [0.0, 2.0], "grad": [0.0, 1.0]}
        made_inside = torch.ones(1)
    assert custom_relu_demo(made_inside) == {"output": [1.0], "grad": [1.0]}


def test_demo_does_not_depend_on_the_default_dtype():
    torch.set_default_dtype(torch.float16)
    try:
        assert custom_relu_demo([0.1]) == {"output": [0.1], "grad": [1.0]}
    finally:
        torch.set_default_dtype(torch.float32)


def test_demo_leaves_its_tensor_alone():
    x = torch.tensor([-1.0, 2.0], requires_grad=True)
    custom_relu_demo(x)
    custom_relu_demo(x * 1)
    assert x.grad is None
    plain = torch.tensor([-1.0, 2.0])
    custom_relu_demo(plain)
    assert not plain.requires_grad


SELF = []
SELF.append(SELF)
# values, and how the message shows them.
REFUSED = [
    ("abc", "'abc'"),
    ("", "''"),
    (b"abc", "b'abc'"),
    (3.0, "3.0"),
    (1j, "1j"),
    ([1j], "[1j]"),
    ([True], "[True]"),
    ([None], "[None]"),
    (["1.0"], "['1.0']"),
    ([[1, 2], [3]], "[[1, 2], [3]]"),
    ([[1, 2], [3, 4]], "[[1, 2], [3, 4]]"),
    (SELF, "[[...]]"),
    ({}, "{}"),
    ({1.0: 2.0}, "{1.0: 2.0}"),
    (range(3), "range(0, 3)"),
    (int, "<class 'int'>"),
    ("x" * 1000, "'" + "x" * 59),
    (torch.tensor([1, 2]), "torch.int64"),
    (torch.tensor([True]), "torch.bool"),
    (torch.tensor([1j]), "torch.complex64"),
    (torch.tensor([1.0]).to_sparse(), "torch.sparse_coo"),
    (torch.tensor([1.0]).to(torch.float8_e5m2), "torch.float8_e5m2"),
    (torch.empty(2, device="meta"), "a meta tensor, which has no numbers"),
]


@pytest.mark.parametrize(("values", "got"), REFUSED, ids=lambda v: str(v)[:20])
def test_demo_refuses(values, got):
    with pytest.raises(TypeError) as error:
        custom_relu_demo(values)
    assert str(error.value) == (
        "custom_relu_demo: values must be a flat list of numbers or a float tensor, "
        f"got {got}; for example custom_relu_demo([-1.0, 2.0])"
    )
    assert error.value.__cause__ is None
    assert error.value.__suppress_context__ or error.value.__context__ is None
    assert [entry.name for entry in error.traceback][1:] == ["custom_relu_demo"]


def test_demo_refuses_a_huge_int():
    with pytest.raises(
        ValueError, match=r"^custom_relu_demo: values must fit a float, got an int "
    ):
        custom_relu_demo([1.0, 10**400])


# --- what a reader copies --------------------------------------------------------------------


def test_the_sections_run_with_torch_alone(run_sections):
    copied, code = run_sections("customgrad/functions/relu.py", "imports", "CustomReLU")
    x = torch.tensor([-1.0, 0.0, 2.0], requires_grad=True)
    copied["CustomReLU"].apply(x).backward(torch.tensor([5.0, 6.0, 7.0]))
    assert x.grad.tolist() == [0.0, 0.0, 7.0]
    assert max(map(len, code.splitlines())) <= 72
    copied, code = run_sections(
        "customgrad/functions/relu.py", "imports", "CustomReLU", "custom_relu_demo"
    )
    assert copied["custom_relu_demo"]()["grad"] == [0.0, 0.0, 0.0, 1.0, 1.0]
    assert max(map(len, code.splitlines())) <= 72
