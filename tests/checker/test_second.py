"""CG301 to CG303: the derivative of backward itself."""

import contextlib
import io

import pytest
import torch
from torch.autograd.function import once_differentiable

import customgrad
from customgrad.checker import check

X = torch.tensor([0.5, -1.25, 2.0], dtype=torch.float64)


def printed(finding):
    """Run a reproduction, and return what it prints."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(finding.reproduction, {})
    return out.getvalue()


def codes(subject, *inputs, **options):
    return [f.code for f in check(subject, inputs, select="CG3", **options).findings]


class Kept(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.wave = torch.cos(x)
        return torch.sin(x)

    @staticmethod
    def backward(ctx, grad):
        return grad * ctx.wave


class Half(torch.autograd.Function):
    """One factor has a graph, the other is detached."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x**3

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        return grad * 3 * x * x.detach()


class Once(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x**3

    @staticmethod
    @once_differentiable
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        return grad * 3 * x * x


class Strict(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x**3

    @staticmethod
    @customgrad.once_differentiable
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        return grad * 3 * x * x


class Cube(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x**3

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        return grad * 3 * x * x


class Through(torch.autograd.Function):
    """Straight-through: constant, so that nothing is lost."""

    @staticmethod
    def forward(ctx, x):
        return x.round()

    @staticmethod
    def backward(ctx, grad):
        return grad.detach()


class Surrogate(torch.autograd.Function):
    """A surrogate slope that depends on the input, and is detached."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return (x > 0).to(x.dtype)

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        return grad / (1 + x.data.abs()) ** 2


def test_a_dropped_second_derivative_names_the_attribute():
    report = check(Kept, (X,), select="CG301")
    (found,) = report.findings
    assert found.severity == "bug"
    assert "gradient of x depends on the inputs, but has no graph" in found.message
    assert "ctx.wave, an intermediate kept as an attribute on ctx (test_second.py:" in found.cause
    assert "`ctx.wave = torch.cos(x)`" in found.cause
    assert "compute ctx.wave again in backward" in found.fix
    assert "have a graph: [False]\nFalse" in printed(found)


def test_a_wrong_second_derivative_names_the_line():
    (found,) = check(Half, (X,), select="CG302").findings
    assert "second derivative is wrong" in found.message
    assert found.cause.startswith("backward detaches a tensor")
    assert "`return grad * 3 * x * x.detach()`" in found.cause
    assert printed(found).endswith("False\n")


def test_what_is_declared_once_is_missing_and_no_bug():
    (found,) = check(Once, (X,), select="CG3").findings
    assert (found.code, found.severity) == ("CG303", "missing")
    assert "silent where the cotangent needs no gradient" in found.cause
    assert "customgrad.once_differentiable" in found.fix
    (strict,) = check(Strict, (X,), select="CG3").findings
    assert (strict.code, strict.severity) == ("CG303", "missing")
    assert "silent" not in strict.cause


def test_a_surrogate_has_a_derivative_of_its_own():
    assert codes(Surrogate, X, surrogate=True) == ["CG301"]


@pytest.mark.parametrize("subject", [Cube, Cube.apply, torch.relu, lambda x: torch.relu(x) ** 2])
def test_right_second_derivatives_are_quiet(subject):
    assert codes(subject, X) == []
    assert codes(subject, torch.tensor([0.0, 1.0], dtype=torch.float64)) == []


def test_a_detached_cotangent_is_found_and_a_constant_slope_is_not():
    assert codes(Through, X, surrogate=True) == ["CG302"]
    assert codes(torch.nn.functional.hardtanh, X) == []
