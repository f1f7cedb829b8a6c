"""CG801 to CG806: NaN, low precision, dtypes and autocast."""

import contextlib
import io

import pytest
import torch

from customgrad.checker import check


class Norm(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        out = torch.linalg.vector_norm(x)
        ctx.save_for_backward(x, out)
        return out

    @staticmethod
    def backward(ctx, grad_output):
        x, out = ctx.saved_tensors
        return grad_output * x / out


class Root(torch.autograd.Function):
    """Correct: infinite at 0, as it must be."""

    @staticmethod
    def forward(ctx, x):
        out = x.sqrt()
        ctx.save_for_backward(out)
        return out

    @staticmethod
    def backward(ctx, grad_output):
        (out,) = ctx.saved_tensors
        return grad_output / (2 * out)


class Softplus(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return torch.nn.functional.softplus(x)

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        return grad_output * x.exp() / (1 + x.exp())


class Spread(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return (x - x.mean()).square().mean().add(1e-5).sqrt()

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        variance = x.square().mean() - x.mean() ** 2
        return grad_output * (x - x.mean()) / x.numel() / variance.add(1e-5).sqrt()


class Float(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.float() * 2

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output * 2


class Fixed(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, weight):
        ctx.save_for_backward(x, weight)
        return x @ weight

    @staticmethod
    def backward(ctx, grad_output):
        x, weight = ctx.saved_tensors
        return grad_output @ weight.double().T, x.T @ grad_output


class Zeros(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.shape = x.shape
        return x[1:].clone()

    @staticmethod
    def backward(ctx, grad_output):
        grad = torch.zeros(ctx.shape)
        grad[1:] = grad_output
        return grad


class Product(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, weight):
        ctx.save_for_backward(x, weight)
        return x @ weight

    @staticmethod
    def backward(ctx, grad_output):
        x, weight = ctx.saved_tensors
        return grad_output @ weight.T, x.T @ grad_output


class Counted(torch.autograd.Function):
    """The scale of a fixed point goes by the dtype of the product, which autocast changes."""

    @staticmethod
    def forward(ctx, x, weight):
        out = x @ weight
        ctx.bits = 8 * out.element_size()
        ctx.save_for_backward(x, weight)
        return out * (ctx.bits / 32)

    @staticmethod
    def backward(ctx, grad_output):
        x, weight = ctx.saved_tensors
        grad = grad_output.to(x.dtype)
        return grad @ weight.T * (ctx.bits / 32), x.T @ grad * (ctx.bits / 32)


def one():
    return (torch.rand(5, dtype=torch.float64) + 0.5,)


def two():
    return torch.randn(3, 4, dtype=torch.float64), torch.randn(4, 2, dtype=torch.float64)


CASES = [
    (Norm, one, "CG801", "bug", "0 / 0", "torch.where", "nan"),
    (Softplus, one, "CG801", "bug", "exp gives inf", "sigmoid", "nan"),
    (Spread, one, "CG802", "hazard", "E[x²] - E[x]²", "centre", "in float64"),
    (Float, one, "CG803", "hazard", "x.float()", "input.dtype", "float32"),
    (Zeros, one, "CG805", "hazard", "torch.zeros(ctx.shape)", "new_zeros", "expected"),
]


@pytest.mark.parametrize(("function", "make", "code", "severity", "cause", "fix", "shown"), CASES)
def test_fault_is_found_and_shown(function, make, code, severity, cause, fix, shown):
    report = check(function, make, select=code)
    (finding,) = report.findings
    assert (finding.code, finding.severity) == (code, severity)
    assert cause in finding.cause, finding.cause
    assert fix in finding.fix, finding.fix
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(finding.reproduction, {})
    assert shown in printed.getvalue(), printed.getvalue()


@pytest.mark.parametrize(
    ("function", "code", "severity", "cause"),
    [(Fixed, "CG804", "bug", "weight.double()"), (Product, "CG806", "missing", "bfloat16")],
)
def test_backward_that_raises_is_found_and_its_script_raises(function, code, severity, cause):
    report = check(function, two, select=code)
    (finding,) = report.findings
    assert finding.severity == severity
    assert cause in finding.cause, finding.cause
    with pytest.raises(RuntimeError, match="dtype"):
        exec(finding.reproduction, {})


def test_another_gradient_under_autocast_is_wrong():
    (finding,) = check(Counted, two, select="CG806").findings
    assert finding.severity == "hazard"
    assert "another dtype or value than backward takes it for" in finding.cause
    assert "custom_fwd" in finding.fix
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(finding.reproduction, {})
    assert "without autocast" in printed.getvalue()


@pytest.mark.parametrize(("function", "make"), [(Root, one), (Product, two)])
def test_nothing_is_said_about_a_correct_one(function, make):
    report = check(function, make, select="CG80")
    assert not report.failures, report.text()
    assert not report.facts.get("stopped")
