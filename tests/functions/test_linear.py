"""Linear and CustomLinear against torch's own, and against numbers worked out by hand."""

import itertools
import math

import pytest
import torch
from hypothesis import example, given, settings
from hypothesis import strategies as st
from torch import nn
from torch.nn import functional as F

from customgrad.functions import CustomLinear, Linear, linear

DTYPES = [torch.float16, torch.bfloat16, torch.float32, torch.float64]
LAYOUTS = ["contiguous", "transposed", "sliced", "offset", "expanded"]
# Shapes of the input without its last dimension.
LEADING = [(), (0,), (1,), (5,), (2, 3), (2, 0, 3), (1, 1, 1), (2, 3, 2)]
SUBSETS = list(itertools.product([False, True], repeat=3))


def integers(shape, dtype, seed):
    """Small whole numbers: every sum of products is exact in every dtype and order."""
    generator = torch.Generator().manual_seed(seed)
    return torch.randint(-3, 4, shape, generator=generator).to(dtype)


def normal(shape, seed):
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(shape, generator=generator, dtype=torch.float64)


def value_and_grads(f, arguments, g):
    arguments = [None if a is None else a.detach().requires_grad_() for a in arguments]
    y = f(*arguments)
    leaves = [a for a in arguments if a is not None]
    return y, *torch.autograd.grad(y, leaves, g)


# --- what it computes ------------------------------------------------------------------------


def test_by_hand():
    x = torch.tensor([[1.0, 2.0, 3.0], [0.0, -1.0, 1.0]], requires_grad=True)
    w = torch.tensor([[1.0, 0.0, 2.0], [3.0, -1.0, 0.0]], requires_grad=True)
    b = torch.tensor([10.0, 20.0], requires_grad=True)
    y = Linear.apply(x, w, b)
    assert y.tolist() == [[17.0, 21.0], [12.0, 21.0]]
    y.backward(torch.tensor([[1.0, 0.0], [2.0, 5.0]]))
    assert x.grad.tolist() == [[1.0, 0.0, 2.0], [17.0, -5.0, 4.0]]
    assert w.grad.tolist() == [[1.0, 0.0, 5.0], [0.0, -5.0, 5.0]]
    assert b.grad.tolist() == [3.0, 5.0]


def test_one_vector_by_hand():
    x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
    w = torch.tensor([[1.0, 0.0, 2.0], [3.0, -1.0, 0.0]], requires_grad=True)
    b = torch.tensor([10.0, 20.0], requires_grad=True)
    y = Linear.apply(x, w, b)
    assert y.tolist() == [17.0, 21.0]
    y.backward(torch.tensor([2.0, 5.0]))
    assert x.grad.tolist() == [17.0, -5.0, 4.0]
    assert w.grad.tolist() == [[2.0, 4.0, 6.0], [5.0, 10.0, 15.0]]
    assert b.grad.tolist() == [2.0, 5.0]


@settings(max_examples=150, deadline=None, derandomize=True)
@given(
    leading=st.sampled_from(LEADING),
    n_in=st.integers(0, 4),
    n_out=st.integers(0, 4),
    with_bias=st.booleans(),
    dtype=st.sampled_from(DTYPES),
    layouts=st.tuples(*[st.sampled_from(LAYOUTS)] * 4),
    one_number=st.booleans(),
    seed=st.integers(0, 2**32),
)
@example((2, 3), 3, 2, True, torch.float32, ("contiguous",) * 4, True, 0)
def test_exactly_as_torch(
    assert_same, lay_out, leading, n_in, n_out, with_bias, dtype, layouts, one_number, seed
):
    x = lay_out(integers((*leading, n_in), dtype, seed), layouts[0])
    w = lay_out(integers((n_out, n_in), dtype, seed + 1), layouts[1])
    b = lay_out(integers((n_out,), dtype, seed + 2), layouts[2]) if with_bias else None
    if one_number:
        g = integers((), dtype, seed + 3).expand(*leading, n_out)
    else:
        g = lay_out(integers((*leading, n_out), dtype, seed + 3), layouts[3])
    before = [t.clone() for t in (x, w, g)]
    ours = value_and_grads(Linear.apply, (x, w, b), g)
    torchs = value_and_grads(F.linear, (x, w, b), g)
    for got, expected in zip(ours, torchs, strict=True):
        assert_same(got + 0, expected + 0)  # a sum of zeros may have either sign
    for after, expected in zip((x, w, g), before, strict=True):
        assert_same(after, expected)


@settings(max_examples=50, deadline=None, derandomize=True)
@given(leading=st.sampled_from(LEADING), with_bias=st.booleans(), seed=st.integers(0, 2**32))
def test_second_derivatives_as_torch(leading, with_bias, seed):
    x, w = normal((*leading, 3), seed), normal((2, 3), seed + 1)
    b = normal((2,), seed + 2) if with_bias else None
    g = normal((*leading, 2), seed + 3)
    results = []
    for f in (Linear.apply, F.linear):
        leaves = [t.clone().requires_grad_() for t in (x, w, b, g) if t is not None]
        *arguments, cotangent = leaves
        grads = torch.autograd.grad(f(*arguments), arguments, cotangent, create_graph=True)
        penalty = sum((grad**2).sum() for grad in grads)
        results.append(torch.autograd.grad(penalty, leaves, materialize_grads=True))
    for got, expected in zip(*results, strict=True):
        torch.testing.assert_close(got, expected)


@pytest.mark.parametrize("leading", LEADING)
@pytest.mark.parametrize("with_bias", [True, False])
def test_gradcheck_and_gradgradcheck(leading, with_bias):
    arguments = [normal((*leading, 3), 0), normal((2, 3), 1)]
    if with_bias:
        arguments.append(normal((2,), 2))
    for argument in arguments:
        argument.requires_grad_()
    assert torch.autograd.gradcheck(Linear.apply, arguments)
    assert torch.autograd.gradgradcheck(Linear.apply, arguments)


# Infinity and NaN in one place each: they reach exactly the entries that torch's reach.
@pytest.mark.parametrize("value", [math.inf, -math.inf, math.nan, 1e38, 1e-45, -0.0])
@pytest.mark.parametrize("where", range(4))
def test_special_values_as_torch(assert_same, value, where):
    tensors = [integers(s, torch.float32, i) for i, s in enumerate([(4, 3), (2, 3), (2,), (4, 2)])]
    tensors[where].flatten()[1] = value
    *arguments, g = tensors
    ours = value_and_grads(Linear.apply, arguments, g)
    torchs = value_and_grads(F.linear, arguments, g)
    for got, expected in zip(ours, torchs, strict=True):
        assert_same(got + 0, expected + 0)


# --- only what is needed ---------------------------------------------------------------------


@pytest.mark.parametrize("needs", SUBSETS)
def test_saves_only_what_is_needed(needs):
    arguments = [normal((4, 3), 0), normal((2, 3), 1), normal((2,), 2)]
    for argument, need in zip(arguments, needs, strict=True):
        argument.requires_grad_(need)
    saved = []
    with torch.autograd.graph.saved_tensors_hooks(lambda t: saved.append(t) or t, lambda t: t):
        y = Linear.apply(*arguments)
    x, w, _ = arguments
    expected = [x.data_ptr()] * needs[1] + [w.data_ptr()] * needs[0]
    assert [t.data_ptr() for t in saved] == expected
    assert y.requires_grad == any(needs)


@pytest.mark.parametrize("needs", [s for s in SUBSETS if any(s)])
@pytest.mark.parametrize("leading", [(), (4,), (2, 2)])
def test_computes_only_what_is_needed(needs, leading, counted):
    arguments = [normal((*leading, 3), 0), normal((2, 3), 1), normal((2,), 2)]
    for argument, need in zip(arguments, needs, strict=True):
        argument.requires_grad_(need)
    y = Linear.apply(*arguments)
    g = normal(y.shape, 3)
    with counted:
        direct = Linear.backward(y.grad_fn, g)  # the node is its own ctx
    assert counted.names.count("matmul") == needs[0] + needs[1]
    assert counted.names.count("sum") == needs[2]
    assert [grad is not None for grad in direct] == list(needs)
    y = F.linear(*arguments)
    wanted = [a for a in arguments if a.requires_grad]
    expected = torch.autograd.grad(y, wanted, g)
    for got, grad in zip([d for d in direct if d is not None], expected, strict=True):
        torch.testing.assert_close(got, grad)


def test_no_gradient_of_an_input_not_asked_for():
    # autograd.grad with one input still runs the whole backward: the two others are leaves.
    x, w, b = (normal(s, i).requires_grad_() for i, s in enumerate([(4, 3), (2, 3), (2,)]))
    (grad,) = torch.autograd.grad(Linear.apply(x, w, b).sum(), w)
    torch.testing.assert_close(grad, x.detach().sum(0).expand(2, 3))
    assert x.grad is None
    assert b.grad is None


@pytest.mark.parametrize("changed", ["input", "weight"])
def test_a_changed_argument_is_noticed(changed):
    x, w = (torch.ones(2, 3, requires_grad=True) * 1 for _ in range(2))
    y = Linear.apply(x, w)
    {"input": x, "weight": w}[changed].add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()


@pytest.mark.parametrize("leading", [(), (1,), (4,)])
def test_no_gradient_shares_memory(leading):
    x, w, b = normal((*leading, 3), 0), normal((2, 3), 1), normal((2,), 2)
    for argument in (x, w, b):
        argument.requires_grad_()
    g = torch.ones(*leading, 2, dtype=torch.float64)
    Linear.apply(x, w, b).backward(g)
    pointers = [t.data_ptr() for t in (x.grad, w.grad, b.grad, g, x, w, b)]
    assert len(set(pointers)) == len(pointers)


def test_backward_twice():
    w = torch.ones(1, 1, requires_grad=True)
    y = Linear.apply(torch.tensor([[3.0]]), w)
    y.backward(retain_graph=True)
    y.backward()
    assert w.grad.tolist() == [[6.0]]


# --- torch.func ------------------------------------------------------------------------------


def squares(f):
    return lambda *arguments: (f(*arguments) ** 2).sum()


@pytest.mark.parametrize("argnums", [0, 1, 2, (0, 2), (0, 1, 2)])
def test_func_grad(argnums):
    arguments = normal((4, 3), 0), normal((2, 3), 1), normal((2,), 2)
    got = torch.func.grad(squares(Linear.apply), argnums)(*arguments)
    expected = torch.func.grad(squares(F.linear), argnums)(*arguments)
    torch.testing.assert_close(got, expected)


@pytest.mark.parametrize("in_dims", [(0, None, None), (None, 0, None), (0, 0, 0), (1, 2, None)])
def test_vmap_of_values_and_of_gradients(in_dims):
    # Six samples, along the dimension that in_dims names.
    shapes = (4, 3), (2, 3), (2,)
    arguments = []
    for i, (shape, dim) in enumerate(zip(shapes, in_dims, strict=True)):
        shape = list(shape)
        if dim is not None:
            shape.insert(dim, 6)
        arguments.append(normal(shape, i))
    got = torch.func.vmap(Linear.apply, in_dims)(*arguments)
    torch.testing.assert_close(got, torch.func.vmap(F.linear, in_dims)(*arguments))
    per_sample = torch.func.grad(squares(Linear.apply), (0, 1, 2))
    expected = torch.func.grad(squares(F.linear), (0, 1, 2))
    torch.testing.assert_close(
        torch.func.vmap(per_sample, in_dims)(*arguments),
        torch.func.vmap(expected, in_dims)(*arguments),
    )


def test_vmap_without_bias():
    x, w = normal((6, 3), 0), normal((2, 3), 1)
    got = torch.func.vmap(lambda row: Linear.apply(row, w))(x)
    torch.testing.assert_close(got, F.linear(x, w))


def test_jacobians():
    x, w, b = normal((3,), 0), normal((2, 3), 1), normal((2,), 2)
    torch.testing.assert_close(torch.func.jacrev(lambda t: Linear.apply(t, w, b))(x), w)
    twice = torch.func.jacrev(torch.func.jacrev(lambda t: squares(Linear.apply)(t, w, b)))
    torch.testing.assert_close(twice(x), 2 * w.T @ w)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # torch's own, on first use
def test_forward_mode_is_refused_by_torch():
    x, w = normal((3,), 0), normal((2, 3), 1)
    with pytest.raises(NotImplementedError, match="must implement the jvp function"):
        torch.func.jacfwd(lambda t: Linear.apply(t, w))(x)


# --- what it refuses -------------------------------------------------------------------------

T = torch.ones
REFUSED = [
    ([1.0], T(2, 3), None, TypeError, "linear: input must be a tensor, got list; make one with"),
    (T(3), 2.0, None, TypeError, "linear: weight must be a tensor, got float; make one with"),
    (T(3), T(2, 3), 1, TypeError, "linear: bias must be a tensor, got int; make one with"),
    *(
        (
            T(3).to(dtype),
            T(2, 3).to(dtype),
            None,
            TypeError,
            f"linear: input must be a float tensor, got {dtype}; use one such as torch.float32",
        )
        for dtype in (torch.int64, torch.bool, torch.complex64)
    ),
    (T(3), T(2, 3).long(), None, TypeError, "linear: weight must be a float tensor, got torch.int"),
    (T(3), T(2, 3), T(2).cfloat(), TypeError, "linear: bias must be a float tensor, got torch.com"),
    (
        T(3),
        T(2, 3).double(),
        None,
        TypeError,
        "linear: weight must have the dtype of input, got torch.float64 and torch.float32; convert",
    ),
    (
        T(3),
        T(2, 3),
        T(2).half(),
        TypeError,
        "linear: bias must have the dtype of input, got torch.float16 and torch.float32; convert",
    ),
    (
        T(3),
        T(3),
        None,
        ValueError,
        "linear: weight must have shape (out, in), got (3,); one row for each output feature",
    ),
    (
        T(3),
        T(1, 2, 3),
        None,
        ValueError,
        "linear: weight must have shape (out, in), got (1, 2, 3); one row for each output feature",
    ),
    (
        T(4, 2),
        T(2, 3),
        None,
        ValueError,
        "linear: input must have shape (..., in) with in = 3, got (4, 2); "
        "weight is (2, 3), that is (out, in)",
    ),
    (
        torch.tensor(1.0),
        T(2, 1),
        None,
        ValueError,
        "linear: input must have shape (..., in) with in = 1, got (); weight is (2, 1), that is",
    ),
    (
        T(4, 3),
        T(2, 3),
        T(3),
        ValueError,
        "linear: bias must have shape (out,) = (2,), got (3,); one number for each row of weight",
    ),
    # Broadcasting would take these two silently.
    (T(4, 3), T(2, 3), T(1), ValueError, "linear: bias must have shape (out,) = (2,), got (1,);"),
    (T(4, 3), T(2, 3), T(4, 2), ValueError, "linear: bias must have shape (out,) = (2,), got (4"),
]


@pytest.mark.parametrize(("input", "weight", "bias", "error", "message"), REFUSED)
def test_refuses(input, weight, bias, error, message):
    with pytest.raises(error) as raised:
        linear(input, weight, bias)
    assert str(raised.value).startswith(message)


@pytest.mark.parametrize("dtype", [torch.int64, torch.bool, torch.complex64])
def test_the_function_itself_refuses_other_dtypes(dtype):
    message = rf"^Linear: input must be a float tensor, got {dtype}; use one such as torch\.float32"
    with pytest.raises(TypeError, match=message):
        Linear.apply(T(3).to(dtype), T(2, 3).to(dtype))


def test_wrapper_is_the_function():
    y = linear(T(3), T(2, 3, requires_grad=True), T(2))
    assert type(y.grad_fn).__name__ == "LinearBackward"
    assert y.tolist() == [4.0, 4.0]


@pytest.mark.parametrize(
    ("given", "computed"),
    [
        (torch.float64, torch.float64),  # which autocast leaves as it is, as it does for F.linear
        (torch.float32, torch.bfloat16),
        (torch.float16, torch.bfloat16),
    ],
)
def test_autocast_takes_the_dtype_that_torch_takes(given, computed, assert_same):
    values = [normal(shape, 3).to(given).requires_grad_() for shape in ((5, 3), (4, 3), (4,))]
    results = []
    for function in (linear, F.linear):
        with torch.autocast("cpu", torch.bfloat16):
            y = function(*values)
        results.append((y, *torch.autograd.grad(y.sum(), values)))
    assert results[0][0].dtype == computed
    for got, expected in zip(*results, strict=True):
        assert got.dtype == expected.dtype
        torch.testing.assert_close(got, expected)


# --- the module ------------------------------------------------------------------------------

CASES = [(3, 4, True), (3, 4, False), (1, 1, True), (5, 1, True), (64, 33, True)]


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("dtype", [None, torch.float64, torch.bfloat16])
def test_starts_as_nn_linear(case, dtype, assert_same):
    modules, states = [], []
    for kind in (nn.Linear, CustomLinear):
        torch.manual_seed(1)
        modules.append(kind(*case, dtype=dtype))
        states.append(torch.get_rng_state())
    theirs, ours = modules
    assert torch.equal(*states)
    assert list(ours.state_dict()) == list(theirs.state_dict())
    for got, expected in zip(ours.parameters(), theirs.parameters(), strict=True):
        assert type(got) is nn.Parameter
        assert got.requires_grad
        assert_same(got, expected)
    assert ours.extra_repr() == theirs.extra_repr()
    assert repr(ours) == f"Custom{theirs!r}"


@pytest.mark.filterwarnings("ignore:Initializing zero-element tensors")
@pytest.mark.parametrize("case", [(0, 2), (2, 0)])
def test_no_features(case, assert_same):
    torch.manual_seed(1)
    theirs = nn.Linear(*case)
    torch.manual_seed(1)
    ours = CustomLinear(*case)
    x = torch.ones(3, case[0])
    assert_same(ours(x), theirs(x))


@pytest.mark.parametrize("bias", [True, False])
def test_state_dict_both_ways(bias, assert_same):
    ours, theirs = CustomLinear(3, 4, bias=bias), nn.Linear(3, 4, bias=bias)
    x = normal((5, 3), 0).float()
    ours.load_state_dict(theirs.state_dict())
    torch.testing.assert_close(ours(x), theirs(x))
    again = nn.Linear(3, 4, bias=bias)
    again.load_state_dict(CustomLinear(3, 4, bias=bias).state_dict())
    ours.load_state_dict(again.state_dict())
    torch.testing.assert_close(ours(x), again(x))


def test_bias_of_the_wrong_presence_is_not_loaded():
    with pytest.raises(RuntimeError, match="bias"):
        CustomLinear(3, 4).load_state_dict(nn.Linear(3, 4, bias=False).state_dict())


def test_module_calls_the_function():
    module = CustomLinear(3, 2)
    y = module(torch.ones(4, 3))
    assert type(y.grad_fn).__name__ == "LinearBackward"
    y.sum().backward()
    assert module.weight.grad.tolist() == [[4.0] * 3] * 2
    assert module.bias.grad.tolist() == [4.0] * 2


def test_frozen_weight():
    module = CustomLinear(3, 2)
    module.weight.requires_grad_(False)
    module(torch.ones(4, 3)).sum().backward()
    assert module.weight.grad is None
    assert module.bias.grad.tolist() == [4.0, 4.0]


def test_module_says_what_does_not_fit():
    with pytest.raises(ValueError, match=r"with in = 3, got \(4, 2\); weight is \(2, 3\)"):
        CustomLinear(3, 2)(torch.ones(4, 2))


@pytest.mark.parametrize("bias", [True, False])
def test_device(bias):
    module = CustomLinear(3, 2, bias=bias, device="meta")
    assert all(p.is_meta for p in module.parameters())


def test_reset_from_a_generator():
    modules = [CustomLinear(3, 2) for _ in range(2)]
    state = torch.get_rng_state()
    for module in modules:
        module.reset_parameters(torch.Generator().manual_seed(3))
    assert torch.equal(state, torch.get_rng_state())
    torch.manual_seed(3)
    expected = nn.Linear(3, 2)
    for module in modules:
        assert torch.equal(module.weight, expected.weight)
        assert torch.equal(module.bias, expected.bias)


# --- what a reader copies --------------------------------------------------------------------


def test_the_sections_run_with_torch_alone(run_sections):
    path = "customgrad/functions/linear.py"
    copied, code = run_sections(path, "imports", "Linear")
    assert max(map(len, code.splitlines())) <= 72
    y = copied["Linear"].apply(torch.ones(3), torch.ones(2, 3), torch.ones(2))
    assert y.tolist() == [4.0, 4.0]
    copied, _ = run_sections(path, "imports", "Linear", "linear", "CustomLinear")
    assert copied["CustomLinear"](3, 2)(torch.ones(4, 3)).shape == (4, 2)
    _, code = run_sections(path, "imports", "CustomLinear")
    assert max(map(len, code.splitlines())) <= 72
