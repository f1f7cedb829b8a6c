"""What was found by hostile inputs: each is one clear error, or a number that is right."""

import re

import pytest
import torch

from customgrad import functions as f
from sitetools import catalogue

X = torch.arange(9.0).reshape(3, 3)
BYTES = torch.tensor([156, 0, 1], dtype=torch.uint8)
SPIKE = (
    r"spike: surrogate must be 'fast_sigmoid' or 'arctan', got \['arctan'\]; choose one of the two"
)
INT = r"gumbel_softmax_ste: dim must be an int, got (str|NoneType|float|bool); -1 is the last"


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: f.spike(X, surrogate=["arctan"]), ValueError, SPIKE),
        (lambda: f.gumbel_softmax_ste(X, dim="1"), TypeError, INT),
        (lambda: f.gumbel_softmax_ste(X, dim=None), TypeError, INT),
        (lambda: f.gumbel_softmax_ste(X, dim=0.0), TypeError, INT),
        (lambda: f.gumbel_softmax_ste(X, dim=True), TypeError, INT),
        (
            lambda: f.activated_norm(X, running_mean=torch.zeros(3), momentum=float("nan")), ValueError,
            "activated_norm: momentum must be a number from 0 to 1, got nan; 0.1 is usual",
        ),
        (
            lambda: f.activated_norm(X, running_var=torch.zeros(3), momentum=None), ValueError,
            "activated_norm: momentum must be a number from 0 to 1, got None; 0.1 is usual",
        ),
        (
            lambda: f.activated_norm(X, momentum=1.5), ValueError,
            "activated_norm: momentum must be a number from 0 to 1, got 1.5; 0.1 is usual",
        ),
        # Compared as bytes, -100 is 156.
        (lambda: f.cross_entropy(X, BYTES), ValueError, r"cross_entropy: target must hold labels .* got 156 at \(0,\); .*"),
        (
            lambda: f.linear_cross_entropy(X, X, BYTES), ValueError,
            r"linear_cross_entropy: target must hold labels .* got 156 at \(0,\); .*",
        ),
        (
            lambda: f.lsq(X, torch.tensor(torch.inf), qmin=-2, qmax=1), ValueError,
            "lsq: step must be finite, got inf; a smaller learning rate or gradient_scale keeps it there",
        ),
        (
            lambda: f.scale_gradient(X, scale=10**400), ValueError,
            r"scale_gradient: scale must be a finite number, got about 10\*\*400; 0 lets no gradient through",
        ),
        (
            lambda: f.reversible(X, X, None), TypeError,
            r"reversible: blocks must be a list of pairs \(f, g\), got NoneType; pass \[\(f, g\)\]",
        ),
        (
            lambda: f.tree_apply(None, X), TypeError,
            r"tree_apply: function must be a subclass of Function, got None; pass the class",
        ),
    ],
)  # fmt: skip
def test_messages(call, error, message):
    with pytest.raises(error, match=f"^{message}$"):
        call()


def test_swish_where_beta_times_a_finite_number_is_infinite():
    """The slope is 0 there, and no product of 0 and infinity."""
    results = []
    for call in (f.swish, lambda x, beta: x * torch.sigmoid(beta * x)):
        x = torch.tensor([-1e38, 1e38, -3.0], requires_grad=True)
        beta = torch.tensor(10.0, requires_grad=True)
        results.append(torch.autograd.grad(call(x, beta).sum(), (x, beta)))
    for got, expected in zip(*results, strict=True):
        torch.testing.assert_close(got, expected)


def test_nothing_is_packed_where_no_gradient_is_needed(monkeypatch):
    """Not kept is not enough: the work is for nothing, too."""

    def refuse(tensor):
        raise AssertionError("packed")

    monkeypatch.setattr("customgrad.functions.relumasks.pack", refuse)
    f.relu(X, keep="bits")
    with pytest.raises(AssertionError, match=r"^packed$"):
        f.relu(X.clone().requires_grad_(), keep="bits")


# What a float tensor may be besides a dense one of 16 to 64 bits. The files of linear and custom_relu are
# copied alone, so they look at less; what checkpointed is given is for its function to judge.
CHECKED = [
    o for o in catalogue.OPERATIONS if o.name not in ("custom_relu", "linear", "checkpointed")
]
NO_NUMBERS = {
    "activated_norm",
    "checkpointed",
    "cross_entropy",
    "linear_cross_entropy",
    "reversible",
}
DENSE = "must be a dense tensor, got"
KINDS = {
    "coo": (lambda x: x.to_sparse(), f"{DENSE} torch.sparse_coo; convert it with .to_dense()"),
    "csr": (lambda x: x.expand(1, -1).to_sparse_csr() if x.ndim == 1 else x.to_sparse_csr(),
            f"{DENSE} torch.sparse_csr; convert it with .to_dense()"),
    "mkldnn": (lambda x: x.to_mkldnn(), f"{DENSE} torch._mkldnn; convert it with .to_dense()"),
    "nested": (lambda x: torch.nested.nested_tensor([x, x]),
               f"{DENSE} a nested one; make that with layout=torch.jagged, or call this for each part"),
    "float8": (lambda x: x.to(torch.float8_e4m3fn),
               "must be a float tensor of 16 to 64 bits, got torch.float8_e4m3fn; use one such as torch.float32"),
    "quantised": (lambda x: torch.quantize_per_tensor(x, 0.1, 0, torch.quint8),
                  "must be a float tensor, got torch.quint8; use one such as torch.float32"),
}  # fmt: skip


@pytest.mark.parametrize("operation", CHECKED, ids=lambda o: o.label)
@pytest.mark.filterwarnings("ignore:.*(Sparse|nested|quantize_per_tensor|quantization)")
@pytest.mark.parametrize("kind", KINDS)
def test_tensors_of_another_kind_are_refused(operation, kind):
    make, words = KINDS[kind]
    first, *rest = (x.detach() for x in operation.sample(torch.float32))
    if first.ndim == 0:
        first = first.reshape(1, 1)
    call = operation.call
    if operation.name.endswith(
        "cross_entropy"
    ):  # whose labels' shape the table takes from the input's

        def call(odd, *rest):
            return operation.wrapper(odd, *rest[:1], torch.tensor(0))

    with pytest.raises(TypeError, match=rf"^\w+: {operation.first} {re.escape(words)}$"):
        call(make(first), *rest)


def test_each_tensor_is_looked_at_and_labels_too():
    for call, name in [
        (lambda x: f.cross_entropy(X, x), "target"),
        (lambda x: f.rms_norm(X, x), "weight"),
        (lambda x: f.layer_norm(X, None, x), "bias"),
        (lambda x: f.gumbel_softmax_ste(X[0], x), "noise"),
        (lambda x: f.activated_norm(X, running_mean=x), "running_mean"),
        (lambda x: f.lsq(X, x, qmin=0, qmax=1), "step"),
    ]:
        with pytest.raises(TypeError, match=rf"^\w+: {name} {re.escape(DENSE)} torch.sparse_coo; "):
            call(torch.tensor([0, 1, 2]).to_sparse())


def test_a_jagged_tensor_is_much_like_a_dense_one():
    parts = torch.randn(2), torch.randn(3)
    jagged = torch.nested.nested_tensor(parts, layout=torch.jagged, requires_grad=True)
    y = f.silu(jagged)
    for part, got in zip(parts, y.unbind(), strict=True):
        torch.testing.assert_close(got, torch.nn.functional.silu(part))


def test_checkpointed_takes_what_its_function_takes():
    """A graph's sparse matrix, or float8 weights that the function widens."""
    x = X.clone().requires_grad_()
    f.checkpointed(torch.sparse.mm, torch.eye(3).to_sparse(), x).sum().backward()
    assert torch.equal(x.grad, torch.ones(3, 3))
    small = X.to(torch.float8_e4m3fn)
    assert torch.equal(f.checkpointed(lambda t: t.float() * 2, small), X * 2)


@pytest.mark.parametrize("operation", catalogue.OPERATIONS, ids=lambda o: o.label)
def test_a_meta_tensor_gives_shapes_or_is_refused(operation):
    inputs = operation.sample(torch.float32)
    expected = catalogue.floats(operation.call(*inputs))
    meta = tuple(x.detach().to("meta").requires_grad_() for x in inputs)
    if operation.name in NO_NUMBERS:
        wanted = rf"^\w+: {operation.first} must hold numbers, got a meta tensor; make it on another device$"
        with pytest.raises(TypeError, match=wanted):
            operation.call(*meta)
        return
    outputs = catalogue.floats(operation.call(*meta))
    found = [(y.device.type, y.shape, y.dtype) for y in outputs]
    assert found == [("meta", y.shape, y.dtype) for y in expected]
    grads = torch.autograd.grad([y.sum() for y in outputs], meta)
    assert [(g.shape, g.dtype) for g in grads] == [(x.shape, x.dtype) for x in inputs]
