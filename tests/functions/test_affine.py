"""Affine: each combination of what is there, of what needs a gradient, and of shapes."""

import itertools

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.autograd import gradcheck, gradgradcheck

from customgrad.functions import Affine, affine

DTYPES = [torch.float16, torch.bfloat16, torch.float32, torch.float64]
LAYOUTS = ["contiguous", "transposed", "sliced", "offset", "expanded"]
PRECISE = {"rtol": 1e-6, "atol": 1e-8}
SUBSETS = list(itertools.product([False, True], repeat=3))
# Shape of the input, and shapes that broadcast to it.
SHAPES = {
    (): [()],
    (0,): [(), (0,), (1,)],
    (3,): [(), (3,), (1,)],
    (2, 3): [(), (3,), (1, 3), (2, 1), (2, 3), (1, 1)],
    (2, 0): [(0,), (2, 1), (1,)],
    (2, 3, 2): [(2,), (3, 1), (2, 1, 1), (1, 3, 2), (2, 3, 2)],
}
CASES = [(shape, w, b) for shape, fits in SHAPES.items() for w in [*fits, None] for b in [*fits, None]]  # fmt: skip
T = torch.ones


def whole(shape, seed, dtype=torch.float64):
    """Small whole numbers: every sum of products is exact in every dtype and order."""
    generator = torch.Generator().manual_seed(seed)
    return torch.randint(-3, 4, shape, generator=generator).to(dtype)


def composed(input, weight, bias):
    output = input.clone() if weight is None else input * weight
    return output if bias is None else output + bias


def value_and_grads(call, arguments, g):
    arguments = [None if a is None else a.detach().requires_grad_() for a in arguments]
    output = call(*arguments)
    return output, *torch.autograd.grad(output, [a for a in arguments if a is not None], g)


@settings(max_examples=200, deadline=None, derandomize=True)
@given(
    case=st.sampled_from(CASES), dtype=st.sampled_from(DTYPES), seed=st.integers(0, 10**6),
    layouts=st.tuples(*[st.sampled_from(LAYOUTS)] * 4),
)  # fmt: skip
def test_exactly_as_composed(assert_same, lay_out, case, dtype, seed, layouts):
    tensors = [
        None if shape is None else lay_out(whole(shape, seed + n, dtype), layouts[n])
        for n, shape in enumerate(case)
    ]
    g = lay_out(whole(case[0], seed + 3, dtype), layouts[3])
    before = [None if t is None else t.clone() for t in (*tensors, g)]
    found = value_and_grads(affine, tensors, g)
    expected = value_and_grads(composed, tensors, g)
    for a, b in zip(found, expected, strict=True):
        assert_same(a + 0, b + 0)  # a sum of zeros may have either sign
    for a, b in zip((*tensors, g), before, strict=True):
        assert a is b is None or torch.equal(a, b)


def test_by_hand():
    x = torch.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    w = torch.tensor([[10.0], [100.0]], requires_grad=True)
    b = torch.tensor([5.0, 6.0], requires_grad=True)
    y = Affine.apply(x, w, b)
    assert y.tolist() == [[15.0, 26.0], [305.0, 406.0]]
    y.backward(torch.tensor([[1.0, 2.0], [3.0, 4.0]]))
    assert x.grad.tolist() == [[10.0, 20.0], [300.0, 400.0]]
    assert w.grad.tolist() == [[5.0], [25.0]]
    assert b.grad.tolist() == [4.0, 6.0]


@pytest.mark.parametrize("case", [c for c in CASES if c[0] == (2, 3)][::5], ids=str)
def test_gradcheck_and_gradgradcheck(case):
    shapes = [shape for shape in case if shape is not None]
    present = [shape is not None for shape in case]
    leaves = [whole(s, n).add(0.25).requires_grad_() for n, s in enumerate(shapes)]

    def call(*leaves):
        given = iter(leaves)
        return affine(*(next(given) if there else None for there in present))

    assert gradcheck(call, leaves, check_batched_grad=True, **PRECISE)
    assert gradgradcheck(call, leaves, check_batched_grad=True, **PRECISE)


@pytest.mark.parametrize("needs", [s for s in SUBSETS if any(s)])
def test_only_what_is_needed(needs, counted):
    tensors = [whole((2, 3), 0), whole((3,), 1), whole((3,), 2)]
    for tensor, needed in zip(tensors, needs, strict=True):
        tensor.requires_grad_(needed)
    saved = []
    with torch.autograd.graph.saved_tensors_hooks(lambda t: saved.append(t) or t, lambda t: t):
        y = Affine.apply(*tensors)
    x, w, _ = tensors
    expected = [x.data_ptr()] * needs[1] + [w.data_ptr()] * needs[0]
    assert [t.data_ptr() for t in saved] == expected
    with counted:
        grads = Affine.backward(y.grad_fn, T(2, 3, dtype=torch.float64))
    assert [g is not None for g in grads] == list(needs)
    assert counted.names.count("mul") == needs[0] + needs[1]
    assert counted.names.count("sum_to_size") == needs[1] + needs[2]


def test_neither_is_a_copy_and_no_view():
    x = T(3, requires_grad=True)
    y = affine(x)
    assert y.data_ptr() != x.data_ptr()
    y.mul_(2)
    y.sum().backward()
    assert x.grad.tolist() == [2.0, 2.0, 2.0]
    assert x.tolist() == [1.0, 1.0, 1.0]


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=str)
def test_sums_of_half_precision_are_accumulated_in_float32(dtype):
    """By steps in its own precision the sum of so many ones would stop at 2048 or 256."""
    x, w, b = T(5000, 1, dtype=dtype), T(1, dtype=dtype), torch.zeros(1, dtype=dtype)
    _, grad_input, *grads = value_and_grads(affine, (x, w, b), T(5000, 1, dtype=dtype))
    exact = torch.tensor([5000.0]).to(dtype)
    assert grad_input.eq(1).all()
    assert all(torch.equal(g, exact) for g in grads)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16], ids=str)
def test_mixed_dtypes_under_autocast(dtype):
    x, w, b = whole((2, 3), 0, dtype), whole((3,), 1).float(), whole((3,), 2).float()
    with torch.autocast("cpu", dtype):
        found = value_and_grads(affine, (x, w, b), T(2, 3))
        expected = value_and_grads(composed, (x, w, b), T(2, 3))
    for a, e in zip(found, expected, strict=True):
        assert a.dtype == e.dtype
        assert torch.equal(a, e)


@pytest.mark.parametrize("in_dims", [(0, None, None), (None, 0, None), (0, 0, 1), (1, None, 0)])
def test_vmap_over_some_of_them(in_dims):
    shapes = [(2, 3), (3,), (2, 1)]
    tensors = []
    for n, (shape, dim) in enumerate(zip(shapes, in_dims, strict=True)):
        shape = list(shape)
        if dim is not None:
            shape.insert(dim, 4)
        tensors.append(whole(shape, n))

    def of(call):
        return torch.func.grad(lambda *t: call(*t).square().sum(), (0, 1, 2))

    found = torch.func.vmap(of(affine), in_dims)(*tensors)
    expected = torch.func.vmap(of(composed), in_dims)(*tensors)
    assert all(torch.equal(a, b) for a, b in zip(found, expected, strict=True))


REFUSED = [
    ((T(3), [1.0]), TypeError, "affine: weight must be a float tensor or None, got list; make one with torch.tensor(...)"),
    ((T(3), None, 1.0), TypeError, "affine: bias must be a float tensor or None, got float; make one with torch.tensor(...)"),
    ((T(3), T(3).long()), TypeError, "affine: weight must be a float tensor, got torch.int64; use one such as torch.float32"),
    ((T(3), None, T(3).cfloat()), TypeError, "affine: bias must be a float tensor, got torch.complex64; use one such as torch.float32"),
    ((T(3), T(3).double()), TypeError, "affine: weight must have the dtype of input, got torch.float64 and torch.float32; convert one with .to(dtype)"),
    ((T(2, 3), T(2)), ValueError, "affine: weight must broadcast to the shape of input, (2, 3), got (2,); give it input's last dimensions, or 1 in place of one"),
    ((T(3), None, T(2, 3)), ValueError, "affine: bias must broadcast to the shape of input, (3,), got (2, 3); give it input's last dimensions, or 1 in place of one"),
    ((T(1), T(3)), ValueError, "affine: weight must broadcast to the shape of input, (1,), got (3,); give it input's last dimensions, or 1 in place of one"),
    ((T(()), T(1)), ValueError, "affine: weight must broadcast to the shape of input, (), got (1,); give it input's last dimensions, or 1 in place of one"),
]  # fmt: skip


@pytest.mark.parametrize(("arguments", "error", "message"), REFUSED)
def test_refuses(arguments, error, message):
    with pytest.raises(error) as raised:
        affine(*arguments)
    assert str(raised.value) == message
