"""CG501 to CG507: what is changed in place, what goes stale, and whose memory it is."""

import contextlib
import io
import re

import pytest
import torch

from customgrad.checker import check


class ScalesCotangent(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return 3 * x.sum()

    @staticmethod
    def backward(ctx, grad):
        grad.mul_(3)
        return grad.expand(2, 3).clone()


class ClampsInput(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, y):
        y.clamp_(min=0)
        return x + y

    @staticmethod
    def backward(ctx, grad):
        return grad, grad * 1


class KeepsArray(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.array = x.detach().numpy()
        return x**2

    @staticmethod
    def backward(ctx, grad):
        return 2 * torch.from_numpy(ctx.array) * grad


class Twins(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, y):
        return x + y

    @staticmethod
    def backward(ctx, grad):
        return grad.view(2, 3), grad.view(2, 3)


class Cached(torch.autograd.Function):
    KEPT = torch.ones(2, 3, dtype=torch.float64)

    @staticmethod
    def forward(ctx, x):
        return x.sum()

    @staticmethod
    def backward(ctx, grad):
        return Cached.KEPT.view(2, 3) if bool(grad == 1) else grad.expand(2, 3)


class Numpy(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return torch.from_numpy(x.detach().numpy())

    @staticmethod
    def backward(ctx, grad):
        return grad


class Row(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x[0]

    @staticmethod
    def backward(ctx, grad):
        return torch.stack([grad, torch.zeros_like(grad)])


class SpendsSaved(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.slope = 2 * x
        return x**2

    @staticmethod
    def backward(ctx, grad):
        ctx.slope *= grad
        return ctx.slope.clone()


class Fine(torch.autograd.Function):
    """Returns the same object twice, changes a marked input, saves as it should."""

    @staticmethod
    def forward(ctx, x, y):
        ctx.mark_dirty(x)
        x.mul_(2)
        ctx.save_for_backward(y)
        return x + 0 * y, x

    @staticmethod
    def backward(ctx, grad, other):
        total = 2 * (grad + other)
        return total, None


class Plain(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, y):
        return x + y

    @staticmethod
    def backward(ctx, grad):
        return grad, grad


def inputs(count):
    generator = torch.Generator().manual_seed(0)
    return tuple(
        torch.randn(2, 3, generator=generator, dtype=torch.float64, requires_grad=True)
        for _ in range(count)
    )


CASES = [
    (ScalesCotangent, 1, "CG501", "backward writes into grad .*grad.mul_", "grad.clone"),
    (ClampsInput, 2, "CG502", "modifies y in place .*y.clamp_", "mark_dirty"),
    (KeepsArray, 1, "CG503", "NumPy array of the same memory .*numpy", "save_for_backward"),
    (Twins, 2, "CG504", "views of one storage .*grad.view", "the same object for both"),
    (Cached, 1, "CG504", "a cache.*KEPT.view", "clone"),
    (Numpy, 1, "CG505", "own storage .*from_numpy", "clone"),
    (Row, 1, "CG506", "a view of x, or x itself", "clone"),
    (SpendsSaved, 1, "CG507", "overwrites a saved tensor in place .*ctx.slope", "out of place"),
]


@pytest.mark.parametrize(("function", "count", "code", "cause", "fix"), CASES)
def test_what_is_not_its_own_is_named(function, count, code, cause, fix):
    report = check(function, inputs(count), select="CG5")
    found = next(f for f in report.findings if f.code == code)
    assert re.search(cause, found.cause), found.cause
    assert fix in found.fix
    printed = run(found.reproduction)
    if code == "CG506":
        assert "is a view and is being modified inplace" in printed
    else:
        assert "Error" not in printed
        assert printed.count("tensor") >= 2
    Cached.KEPT.fill_(1)


def run(script):
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        try:
            exec(script, {})
        except RuntimeError as error:
            return f"Error {error}"
    return out.getvalue()


def test_a_copy_of_the_cotangent_shows_that_it_changed():
    report = check(ScalesCotangent, inputs(1), select="CG501")
    got, expected = run(report.findings[0].reproduction).splitlines()
    assert got.removeprefix("got: ") != expected.removeprefix("expected: ")


@pytest.mark.parametrize("function", [Fine, Plain])
def test_marked_inputs_and_one_object_returned_twice_are_right(function):
    report = check(function, inputs(2), select="CG5")
    assert not report.failures, str(report)


def test_what_was_changed_on_the_way_is_as_before():
    assert not check(Cached, inputs(1), select="CG504")
    assert bool((Cached.KEPT == 1).all())
