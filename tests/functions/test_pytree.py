"""Trees of tensors: what goes in and comes out, and the norm of everything in one."""

import collections

import pytest
import torch
from torch.autograd import gradcheck, gradgradcheck

from customgrad.functions import TreeNorm, tree_apply, tree_norm
from customgrad.lessons.functions.pytree import Hidden, Listed, Scaled

PRECISE = {"rtol": 1e-6, "atol": 1e-8}
Pair = collections.namedtuple("Pair", "left right")
T = torch.ones


def leaf(*values, dtype=torch.float64):
    return torch.tensor(values, dtype=dtype, requires_grad=True)


class Numbered(torch.autograd.Function):
    """Adds to each tensor its number, from a start."""

    @staticmethod
    def forward(ctx, start, *tensors):
        return tuple(x + start + n for n, x in enumerate(tensors))

    @staticmethod
    def backward(ctx, *grads):
        return None, *(g * (n + 1) for n, g in enumerate(grads))


def zero():
    return torch.zeros((), requires_grad=True)


TREES = {
    "tensor": (zero, "10"),
    "list": (lambda: [zero(), zero()], "[10, 11]"),
    "tuple": (lambda: (zero(), zero()), "(10, 11)"),
    "dict": (lambda: {"b": zero(), "a": zero()}, "{'b': 10, 'a': 11}"),
    "ordered": (lambda: collections.OrderedDict(b=zero(), a=zero()), "OrderedDict({'b': 10, 'a': 11})"),
    "default": (lambda: collections.defaultdict(list, b=[zero()], a=[]), "defaultdict(<class 'list'>, {'b': [10], 'a': []})"),
    "named": (lambda: Pair(zero(), {"x": zero()}), "Pair(left=10, right={'x': 11})"),
    "none": (lambda: [None, zero(), (None,)], "[None, 10, (None,)]"),
    "deep": (lambda: {"a": [(zero(), {"b": zero()}), []], 3: zero()}, "{'a': [(10, {'b': 11}), []], 3: 12}"),
}  # fmt: skip


def numbers(tree):
    """The same tree with numbers in place of tensors."""
    if isinstance(tree, torch.Tensor):
        return int(tree.item())
    if isinstance(tree, dict):
        built = tree.copy()
        built.update({k: numbers(v) for k, v in tree.items()})
        return built
    if isinstance(tree, Pair):
        return Pair(*map(numbers, tree))
    return tree if tree is None else type(tree)(map(numbers, tree))


def tensors(tree):
    if isinstance(tree, torch.Tensor):
        return [tree]
    parts = tree.values() if isinstance(tree, dict) else tree or ()
    return [x for part in parts for x in tensors(part)]


@pytest.mark.parametrize("name", TREES)
def test_out_comes_what_went_in(name):
    make, expected = TREES[name]
    tree = make()
    shape = numbers(tree)
    result = tree_apply(Numbered, tree, 10)
    found = repr(numbers(result)).replace("OrderedDict([('b', 10), ('a', 11)])", expected)
    assert found == expected
    assert type(result) is type(tree)
    assert numbers(tree) == shape, "the tree given is left as it was"
    torch.stack(tensors(result)).sum().backward()
    leaves = tensors(tree)
    assert [x.grad.item() for x in leaves] == [n + 1 for n in range(len(leaves))]


def test_one_result_for_the_whole_tree():
    x, y = leaf(3.0), leaf(4.0)
    norm = tree_apply(TreeNorm, {"x": x, "y": [y]})
    norm.backward()
    assert (norm.item(), x.grad.item(), y.grad.item()) == (5.0, 0.6, 0.8)


REFUSED = [
    (lambda: tree_apply(Scaled, [], 2), ValueError, "tree_apply: tree must hold a tensor, got none in a list; make no call for an empty tree"),
    (lambda: tree_apply(Scaled, {"a": None}, 2), ValueError, "tree_apply: tree must hold a tensor, got none in a dict; make no call for an empty tree"),
    (lambda: tree_apply(Scaled, [T(1), {"k": 2.0}], 2), TypeError,
     "tree_apply: tree[1]['k'] must be a tensor, None, or a list, tuple or dict of those, got float; take it out"),
    (lambda: tree_apply(Scaled, {T(1)}, 2), TypeError,
     "tree_apply: tree must be a tensor, None, or a list, tuple or dict of those, got set; take it out"),
    (lambda: tree_apply(Pairs, [T(1)]), ValueError,
     "tree_apply: function must return one tensor, or one for each of 1 in tree, got 2; call function.apply on the tensors for other outputs"),
    (lambda: tree_norm(None), ValueError, "tree_norm: tree must hold a tensor, got none in a NoneType; make no call for an empty tree"),
    (lambda: tree_norm({"a": [T(1), "x"]}), TypeError,
     "tree_norm: tree['a'][1] must be a tensor, None, or a list, tuple or dict of those, got str; take it out"),
    (lambda: tree_norm((T(1), T(1).long())), TypeError, "tree_norm: tree[1] must be a float tensor, got torch.int64; use one such as torch.float32"),
    (lambda: TreeNorm.apply(T(1), T(1).bool()), TypeError, "TreeNorm: tensors[1] must be a float tensor, got torch.bool; use one such as torch.float32"),
]  # fmt: skip


class Pairs(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x + 1, x + 2


@pytest.mark.parametrize(("call", "error", "message"), REFUSED)
def test_refuses(call, error, message):
    with pytest.raises(error) as raised:
        call()
    assert str(raised.value) == message


# --- the norm ------------------------------------------------------------------------------------


def test_the_value_is_that_of_torch_which_has_no_gradient():
    x, y = leaf(1.0, -2.0), leaf(2.0)
    theirs = torch.nn.utils.get_total_norm([x, y])
    assert tree_norm([x, y]).item() == theirs.item() == 3.0
    assert not theirs.requires_grad


@pytest.mark.parametrize("dtypes", [(torch.float32, torch.float64), (torch.float16, torch.float32), (torch.bfloat16, torch.bfloat16)], ids=str)  # fmt: skip
def test_mixed_dtypes(dtypes):
    x, y = leaf(3.0, dtype=dtypes[0]), leaf([4.0], dtype=dtypes[1])
    norm = tree_norm([x, y])
    assert norm.dtype == torch.promote_types(*dtypes)
    assert norm.item() == 5.0
    handed = TreeNorm.backward(norm.grad_fn, torch.ones_like(norm))
    assert tuple(g.dtype for g in handed) == dtypes
    norm.backward()
    assert (x.grad.dtype, y.grad.dtype) == dtypes
    torch.testing.assert_close(x.grad.double().item(), 0.6, rtol=1e-2, atol=0)


@pytest.mark.parametrize("size", [300.0, 1e-4])
def test_half_precision_neither_overflows_nor_vanishes(size):
    """Squares of these are no float16; neither is one over the smaller norm times four."""
    x = torch.full((4,), size, dtype=torch.float16, requires_grad=True)
    norm = tree_norm([x])
    norm.backward(torch.tensor(8.0, dtype=torch.float16))
    assert norm.item() == pytest.approx(2 * size, rel=1e-3)
    assert x.grad.tolist() == pytest.approx([4.0] * 4, rel=2e-3)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=str)
def test_half_precision_is_rounded_once(dtype):
    for seed in range(20):
        generator = torch.Generator().manual_seed(seed)
        tree = [torch.randn(7, generator=generator).to(dtype) for _ in range(5)]
        exact = torch.cat(tree).double().square().sum().sqrt()
        assert tree_norm(tree) == exact.to(dtype)


def test_at_zero_both_derivatives_are_zero():
    x, y = leaf(0.0, 0.0), leaf(0.0)
    grads = torch.autograd.grad(tree_norm([x, y]), (x, y), create_graph=True)
    assert [g.tolist() for g in grads] == [[0.0, 0.0], [0.0]]
    second = torch.autograd.grad(sum(g.sum() for g in grads), (x, y))
    assert [g.tolist() for g in second] == [[0.0, 0.0], [0.0]]


@pytest.mark.parametrize(
    ("values", "norm", "grads"),
    [
        ([torch.inf, 1.0], torch.inf, [torch.nan, 0.0]),
        ([torch.nan, 1.0], torch.nan, [torch.nan, torch.nan]),
        ([-0.0, 2.0], 2.0, [0.0, 1.0]),
    ],
)
def test_special_values(values, norm, grads):
    x = leaf(*values)
    found = tree_norm(x)
    found.backward()
    expected = torch.tensor([norm, *grads], dtype=torch.float64)
    assert torch.allclose(torch.stack([found, *x.grad]), expected, equal_nan=True)


def test_empty_tensors_and_strides():
    x = torch.arange(6.0, dtype=torch.float64).reshape(2, 3).t().requires_grad_()
    empty = torch.zeros(0, 3, dtype=torch.float64, requires_grad=True)
    one = torch.ones((), dtype=torch.float64).expand(4).requires_grad_()
    norm = tree_norm({"x": x, "e": empty, "one": one})
    norm.backward()
    assert norm.item() == pytest.approx(59**0.5)
    torch.testing.assert_close(x.grad, x.detach() / 59**0.5)
    assert empty.grad.shape == (0, 3)
    torch.testing.assert_close(one.grad, torch.full((4,), 59**-0.5, dtype=torch.float64))


def test_a_frozen_tensor_is_neither_kept_nor_given_a_gradient():
    x, frozen = leaf(3.0), torch.tensor([4.0], dtype=torch.float64)
    kept = []
    with torch.autograd.graph.saved_tensors_hooks(lambda t: kept.append(t) or t, lambda t: t):
        norm = tree_norm([frozen, x])
    assert {t.data_ptr() for t in kept} == {norm.data_ptr(), x.data_ptr()}
    grads = TreeNorm.backward(norm.grad_fn, torch.ones((), dtype=torch.float64))
    assert grads[0] is None
    assert grads[1].tolist() == [0.6]


def test_in_slow_mode_over_a_tree():
    leaves = (leaf(1.0, -2.0), leaf(0.5), leaf(3.0, 1.0, 1.0))

    def call(*leaves):
        return tree_norm({"a": leaves[0], "b": [leaves[1], (leaves[2], None)]})

    assert gradcheck(call, leaves, check_batched_grad=True, **PRECISE)
    assert gradgradcheck(call, leaves, check_batched_grad=True, **PRECISE)


# --- the lesson's traps --------------------------------------------------------------------------


def test_what_is_hidden_in_a_list_has_no_gradient():
    x = leaf(1.0)
    assert not Hidden.apply([x]).requires_grad
    assert not Listed.apply(2.0, x)[0].requires_grad
    assert Scaled.apply(2.0, x)[0].requires_grad
