"""Faults that no input as given shows: options, repeated indices, other shapes, labels, seeds, cycles."""

import contextlib
import gc
import io
import re

import pytest
import torch

from customgrad.checker import check

X = torch.tensor([[0.5, -1.25, 2.0], [0.75, 1.5, -0.25]], dtype=torch.float64)


def printed(finding):
    """Run a reproduction, and return what it prints."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(finding.reproduction, {})
    return out.getvalue()


class Norm(torch.autograd.Function):
    """Backward is that of p = 2."""

    @staticmethod
    def forward(ctx, x, p, mean):
        norm = torch.linalg.vector_norm(x, ord=p, dim=1)
        ctx.save_for_backward(x, norm)
        ctx.mean = mean
        return norm.mean() if mean else norm

    @staticmethod
    def backward(ctx, grad):
        x, norm = ctx.saved_tensors
        if ctx.mean:
            grad = grad / len(x)
        safe = torch.where(norm == 0, torch.ones_like(norm), norm)
        return (grad / safe)[:, None] * x if grad.dim() else grad * x / safe[:, None], None, None


class Loss(torch.autograd.Function):
    """Backward knows the mean alone."""

    @staticmethod
    def forward(ctx, x, reduction):
        ctx.save_for_backward(x)
        return x.square().mean() if reduction == "mean" else x.square().sum()

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        return grad * 2 * x / x.numel(), None


class Rows(torch.autograd.Function):
    """The gradient of a row that is taken twice is written, not added."""

    @staticmethod
    def forward(ctx, table, ids):
        ctx.save_for_backward(ids)
        ctx.shape = table.shape
        return table[ids]

    @staticmethod
    def backward(ctx, grad):
        (ids,) = ctx.saved_tensors
        made = grad.new_zeros(ctx.shape)
        made[ids] = grad
        return made, None


class Doubled(torch.autograd.Function):
    """Height and width are taken for each other."""

    @staticmethod
    def forward(ctx, x):
        ctx.shape = x.shape
        return x.repeat_interleave(2, 1).repeat_interleave(2, 2)

    @staticmethod
    def backward(ctx, grad):
        n, height, width = ctx.shape
        return grad.reshape(n, width, 2, height, 2).sum((2, 4)).reshape(ctx.shape)


class Distances(torch.autograd.Function):
    """A shortcut for equal arguments is right for a symmetric cotangent alone."""

    @staticmethod
    def forward(ctx, a, b):
        ctx.same = a.shape == b.shape and torch.equal(a, b)
        ctx.save_for_backward(a, b)
        return (a[:, None] - b[None]).square().sum(-1)

    @staticmethod
    def backward(ctx, grad):
        a, b = ctx.saved_tensors
        d = 2 * grad[..., None] * (a[:, None] - b[None])
        return (2 * d.sum(1), torch.zeros_like(b)) if ctx.same else (d.sum(1), -d.sum(0))


class Nested(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.square(), [x.tanh()]

    @staticmethod
    def backward(ctx, grad, _=None):
        (x,) = ctx.saved_tensors
        return 2 * x * grad


class Labels(torch.autograd.Function):
    """Writes into the labels of the caller."""

    @staticmethod
    def forward(ctx, x, labels, mask):
        labels.masked_fill_(~mask, -1)
        keep = labels >= 0
        ctx.save_for_backward(keep, labels.clamp(min=0))
        ctx.shape = x.shape
        return (x.gather(1, labels.clamp(min=0)[:, None])[:, 0] * keep).sum()

    @staticmethod
    def backward(ctx, grad):
        keep, labels = ctx.saved_tensors
        made = grad.new_zeros(ctx.shape)
        return made.scatter_(1, labels[:, None], (grad * keep)[:, None]), None, None


class Seeds(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        torch.manual_seed(3)
        noise = torch.randn_like(x)
        ctx.save_for_backward(noise)
        return x * noise

    @staticmethod
    def backward(ctx, grad):
        (noise,) = ctx.saved_tensors
        return grad * noise


class Stuck(torch.autograd.Function):
    """Saves a view of its output, which holds the output, which holds the graph."""

    @staticmethod
    def forward(ctx, x):
        out = x.exp()
        ctx.save_for_backward(out[None])
        return out

    @staticmethod
    def backward(ctx, grad):
        return grad * ctx.saved_tensors[0][0]


class Scaled(torch.autograd.Function):
    """The loss scale is multiplied in twice."""

    @staticmethod
    def forward(ctx, x, wanted):
        ctx.save_for_backward(wanted)
        return x.new_ones(1)

    @staticmethod
    def backward(ctx, grad):
        (wanted,) = ctx.saved_tensors
        return wanted * grad * grad, None


class Halves(torch.autograd.Function):
    """Adds up in the dtype that comes in."""

    @staticmethod
    def forward(ctx, weight, ids):
        ctx.save_for_backward(ids)
        ctx.shape = weight.shape
        return weight[ids]

    @staticmethod
    def backward(ctx, grad):
        (ids,) = ctx.saved_tensors
        return grad.new_zeros(ctx.shape).index_put((ids,), grad, accumulate=True), None


class Squeezed(torch.autograd.Function):
    @staticmethod
    def forward(ctx, a, v):
        ctx.save_for_backward(a, v)
        return (a * v[:, None]).sum(2)

    @staticmethod
    def backward(ctx, grad):
        a, v = ctx.saved_tensors
        return grad[..., None] * v[:, None], (a.mT @ grad[..., None]).squeeze()


class Conjugate(torch.autograd.Function):
    """Product of real or complex tensors, without the conjugate."""

    @staticmethod
    def forward(ctx, a, b):
        ctx.save_for_backward(a, b)
        return a * b

    @staticmethod
    def backward(ctx, grad):
        a, b = ctx.saved_tensors
        return grad * b, grad * a


IDS = torch.tensor([4, 0, 2])
LABELS = torch.tensor([2, 1])
SIX = torch.arange(12, dtype=torch.float64).reshape(6, 2).cos()
CASES = [
    (Norm, (X, 2.0, False), "CG206", "argument p", "every value of p"),
    (Loss, (X, "mean"), "CG206", "argument reduction", "every value of reduction"),
    (Rows, (SIX, IDS), "CG204", "repeated.*accumulat.*made\\[ids\\] = grad", "table"),
    (Doubled, (X[:, :, None] * X[:, None, :],), "CG207", "not square", "x\\["),
    (Distances, (SIX[:3], SIX[2:]), "CG204", "two arguments .*equal", "b\\["),
    (Nested, (X,), "CG109", "nested list .*return", "one flat tuple"),
    (Labels, (X, LABELS, torch.tensor([True, False])), "CG502", "labels in place", "clone labels"),
    (Seeds, (X,), "CG904", "seeds the global.*manual_seed\\(3\\)", "Generator of your own"),
    (Stuck, (X,), "CG402", "view of an output", "save the output itself"),
    (Squeezed, (SIX.reshape(2, 2, 3), X), "CG604", "squeeze", "reshape the gradient"),
    (Conjugate, (X, X + 1), "CG209", "complex conjugate", "conj\\(\\)"),
]


@pytest.mark.parametrize(
    ("subject", "inputs", "code", "cause", "fix"), CASES, ids=[c[0].__name__ for c in CASES]
)
def test_a_variant_of_the_inputs_shows_it(subject, inputs, code, cause, fix):
    report = check(subject, inputs, select=code)
    gc.collect()
    assert [f.code for f in report.failures] == [code], report.text(not_run=True)
    finding = report.failures[0]
    assert torch.equal(LABELS, torch.tensor([2, 1]))
    assert re.search(cause, finding.cause), finding.cause
    assert re.search(fix, finding.fix), finding.fix
    compile(finding.reproduction, "", "exec")


def test_a_flag_is_tried_as_well():
    report = check(Norm, (X, 2.0, False), select="CG206")
    assert report.failures[0].variant == "p=3.0 instead of 2.0"


def test_the_scripts_show_it():
    seeds = check(Seeds, (X,), select="CG904").failures[0]
    assert len(set(printed(seeds).splitlines())) == 1
    nested = check(Nested, (X,), select="CG109").failures[0]
    assert printed(nested) == "[True, [False]]\n"


def test_a_surrogate_may_clip_but_not_square_its_cotangent():
    report = check(Scaled, (X, X), surrogate=True, select="CG202")
    assert [f.code for f in report.failures] == ["CG202"]
    assert "multiplied in 2 times" in report.failures[0].cause
    assert "4.0" in printed(report.failures[0])


def test_sums_in_half_precision_stop_growing():
    ids = torch.zeros(600, dtype=torch.long)
    report = check(Halves, (torch.ones(3, 2, dtype=torch.bfloat16), ids), select="CG802")
    assert report.failures[0].got == "256"
    assert report.failures[0].expected == "600"
    assert "accumulated in bfloat16" in report.failures[0].cause
    wide = check(Halves, (torch.ones(3, 2), ids), select="CG802")
    assert wide
