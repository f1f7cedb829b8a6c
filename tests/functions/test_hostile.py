"""What was found by hostile inputs: each is one clear error, or a number that is right."""

import pytest
import torch

from customgrad import functions as f

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
