"""CG701 to CG706: inputs that need no gradient, several outputs, tensors that are no argument."""

import contextlib
import io
import re

import pytest
import torch

from customgrad.checker import check

GAIN = torch.tensor(2.0, dtype=torch.float64, requires_grad=True)


class Packs(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, y):
        ctx.save_for_backward(
            *(t for t, n in ((y, ctx.needs_input_grad[0]), (x, ctx.needs_input_grad[1])) if n)
        )
        return x * y

    @staticmethod
    def backward(ctx, grad):
        y, x = ctx.saved_tensors
        return grad * y, grad * x


class Wasteful(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, y):
        ctx.save_for_backward(x, y)
        return x * y

    @staticmethod
    def backward(ctx, grad):
        x, y = ctx.saved_tensors
        return grad * y, grad * x


class Unmaterialised(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, y):
        ctx.set_materialize_grads(False)
        return x * 2, y * 3

    @staticmethod
    def backward(ctx, one, other):
        return one * 2, other * 3


class Counts(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, y):
        return x * y.detach() * 0 + x + y, torch.ones_like(x[0])

    @staticmethod
    def backward(ctx, grad, count):
        return grad, grad


class Gains(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, y):
        return (x + y) * GAIN

    @staticmethod
    def backward(ctx, grad):
        return grad * GAIN, grad * GAIN


class Bias(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, bias=None):
        return x * 1 if bias is None else x + bias

    @staticmethod
    def backward(ctx, grad):
        return grad, grad


class Careful(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, y=None):
        ctx.set_materialize_grads(False)
        kept = GAIN.detach()
        whole = x * kept if y is None else (x + y) * kept
        mask = (whole > 0).to(whole.dtype)
        ctx.mark_non_differentiable(mask)
        ctx.gain = float(kept)
        return whole, mask

    @staticmethod
    def backward(ctx, grad, mask):
        if grad is None:
            return None, None
        x, y = ctx.needs_input_grad
        return grad * ctx.gain if x else None, grad * ctx.gain if y else None


def inputs():
    generator = torch.Generator().manual_seed(0)
    return tuple(
        torch.randn(2, 3, generator=generator, dtype=torch.float64, requires_grad=True)
        for _ in range(2)
    )


CASES = [
    (Packs, "CG701", "frozen, needs_input_grad has a False", "save None in place", True),
    (Wasteful, "CG702", "does not ask ctx.needs_input_grad", "if ctx.needs_input_grad", None),
    (Unmaterialised, "CG703", "None .*set_materialize_grads.*one . 2", "is not None", True),
    (
        Counts,
        "CG704",
        "piecewise constant and not marked as non-differentiable",
        "ctx.mark_non_diff",
        False,
    ),
    (Gains, "CG705", "captures GAIN .*GAIN", "pass GAIN to apply", False),
    (Bias, "CG706", "although it is None", "return None for bias", True),
]


@pytest.mark.parametrize(("function", "code", "cause", "fix", "raises"), CASES)
def test_the_argument_or_output_is_named(function, code, cause, fix, raises):
    report = check(function, inputs(), select="CG7")
    assert code in [f.code for f in report.findings], str(report)
    assert all(f.code == code or f.severity == "missing" for f in report.findings), str(report)
    found = next(f for f in report.findings if f.code == code)
    assert re.search(cause, found.cause), found.cause
    assert fix in found.fix
    if raises is None:
        return
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        try:
            exec(found.reproduction, {})
        except (RuntimeError, TypeError, ValueError):
            assert raises
            return
    assert not raises
    assert "None" in out.getvalue() or "True" in out.getvalue()
    GAIN.grad = None


def test_a_captured_tensor_is_as_before():
    version, value = GAIN._version, GAIN.item()
    assert not check(Gains, inputs(), select="CG705")
    assert (GAIN._version, GAIN.item(), GAIN.grad) == (version, value, None)


def test_right_ones_pass():
    report = check(Careful, inputs(), select="CG7")
    assert not report.findings, str(report)
