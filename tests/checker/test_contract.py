"""CG104 to CG110: what backward returns, and forward where nobody needs a gradient."""

import contextlib
import io

import pytest
import torch

from customgrad.checker import check


class Scale(torch.autograd.Function):
    """Correct."""

    @staticmethod
    def forward(ctx, x, scale):
        ctx.save_for_backward(x, scale)
        return x * scale

    @staticmethod
    def backward(ctx, grad_output):
        x, scale = ctx.saved_tensors
        return grad_output * scale, (grad_output * x).sum_to_size(scale.shape)


class Unreduced(Scale):
    @staticmethod
    def backward(ctx, grad_output):
        x, scale = ctx.saved_tensors
        return grad_output * scale, grad_output * x


class Averaged(Scale):
    @staticmethod
    def forward(ctx, x, scale):
        ctx.save_for_backward(x, scale)
        return x.mean(0) * scale

    @staticmethod
    def backward(ctx, grad_output):
        x, scale = ctx.saved_tensors
        grad_x = (grad_output * scale / len(x)).expand_as(x)
        return grad_x, (grad_output * x.mean(0)).expand_as(x)


class Doubled(Scale):
    @staticmethod
    def backward(ctx, grad_output):
        x, scale = ctx.saved_tensors
        return grad_output.double() * scale, (grad_output * x).sum_to_size(scale.shape)


class Gather(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, index):
        ctx.save_for_backward(index)
        ctx.shape = x.shape
        return x.gather(-1, index)

    @staticmethod
    def backward(ctx, grad_output):
        (index,) = ctx.saved_tensors
        grad_x = grad_output.new_zeros(ctx.shape).scatter_add(-1, index, grad_output)
        return grad_x, torch.zeros_like(index)


class NotStatic(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return 2 * x

    def backward(ctx, grad_output):
        return 2 * grad_output


class Halved(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2 if x.requires_grad else x

    @staticmethod
    def backward(ctx, grad_output):
        return 2 * grad_output


class Total(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, parts):
        return x + sum(parts)

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output, None


class Flagged(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        rows = x.reshape(-1)
        ctx.wanted = rows.requires_grad
        return 2 * x

    @staticmethod
    def backward(ctx, grad_output):
        return 2 * grad_output if ctx.wanted else None


def inputs():
    return torch.randn(3, 4, dtype=torch.float64), torch.randn(4, dtype=torch.float64)


def one():
    return (torch.randn(3, 4, dtype=torch.float64),)


def parts():
    return (
        torch.randn(3, dtype=torch.float64, requires_grad=True),
        [torch.randn(3, dtype=torch.float64, requires_grad=True)],
    )


def single_parts():
    """Checked in float64: the flag of a tensor in a list survives the change."""
    return torch.ones(3, requires_grad=True), [torch.ones(3, requires_grad=True)]


def gather():
    return torch.randn(3, 4, dtype=torch.float64), torch.tensor([[0, 2], [1, 1], [3, 0]])


CASES = [
    (Unreduced, inputs, "CG104", "hazard", "scale", "sum_to_size", "(3, 4)"),
    (Averaged, inputs, "CG104", "bug", "scale", "wrong", "(3, 4)"),
    (Doubled, inputs, "CG105", "hazard", "grad_output.double()", "x.dtype", "float64"),
    (Gather, gather, "CG106", "hazard", "index", "None for index", "int64"),
    (Halved, one, "CG108", "bug", "x.requires_grad", "needs_input_grad", "without"),
    (Total, parts, "CG109", "hazard", "parts is a list", "one by one", "None"),
    (Total, single_parts, "CG109", "hazard", "parts is a list", "one by one", "None"),
    (Flagged, one, "CG110", "bug", "rows.requires_grad", "needs_input_grad", "None"),
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


def test_method_that_is_not_static_is_quiet():
    report = check(NotStatic, one, select="CG107")
    assert [f.severity for f in report.findings] == ["missing"]
    assert report
    assert "@staticmethod" in report.findings[0].fix


def test_nothing_is_said_about_a_correct_one():
    report = check(Scale, inputs, select="CG10")
    assert not report.findings, report.text()
    assert not report.facts.get("stopped")


class WithoutSetup(torch.autograd.Function):
    @staticmethod
    def forward(x, scale):
        return x * scale

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output * ctx.scale, None


def test_a_forward_without_ctx_lacks_its_setup_context():
    (found,) = check(WithoutSetup, (torch.ones(2), 2.0)).findings
    assert found.code == "CG101"
    assert "no setup_context, so apply passes ctx before the 2 arguments" in found.cause
    assert "setup_context(ctx, inputs, output)" in found.fix


def test_a_call_with_too_few_arguments_is_told_with_the_style():
    (found,) = check(Scale, (torch.ones(2),)).findings
    assert found.code == "CG101"
    assert "1 required positional argument: 'scale'" in found.message
