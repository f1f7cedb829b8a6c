"""CG601 to CG605: layouts and shapes that the samples do not have."""

import contextlib
import io
import re

import pytest
import torch

from customgrad.checker import check


class ReadsMemory(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return 2 * x

    @staticmethod
    def backward(ctx, grad):
        return 2 * torch.tensor(grad.untyped_storage().tolist(), dtype=torch.uint8)[
            : 8 * grad.numel()
        ].view(grad.dtype).view(grad.shape)


class Views(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return 2 * x

    @staticmethod
    def backward(ctx, grad):
        return 2 * grad.view(-1).reshape(grad.shape)


class Misreads(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return 2 * x.as_strided(x.shape, (3, 1))

    @staticmethod
    def backward(ctx, grad):
        return 2 * grad


class Noise(torch.autograd.Function):
    """The random numbers follow the layout of the input, and are right."""

    @staticmethod
    def forward(ctx, x):
        mask = torch.rand_like(x) > 0.5
        ctx.save_for_backward(mask)
        return x * mask

    @staticmethod
    def backward(ctx, grad):
        (mask,) = ctx.saved_tensors
        return grad * mask


class Largest(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return 2 * x

    @staticmethod
    def backward(ctx, grad):
        return 2 * grad / grad.abs().max() * grad.abs().max()


class Squeezes(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.shape = x.shape
        return x.sum(1).squeeze()

    @staticmethod
    def backward(ctx, grad):
        return grad.unsqueeze(1).expand(ctx.shape)


class Adds(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, y):
        ctx.rows = y.dim() == 1 and x.dim() == 2
        ctx.shape = y.shape
        return x * 2 + y

    @staticmethod
    def backward(ctx, grad):
        return grad * 2, grad.sum(0) if ctx.rows else grad.mean().expand(ctx.shape) * 1


class Sums(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, y):
        ctx.shapes = x.shape, y.shape
        return x * 2 + y

    @staticmethod
    def backward(ctx, grad):
        return (grad * 2).sum_to_size(ctx.shapes[0]), grad.sum_to_size(ctx.shapes[1])


def inputs(*shapes):
    generator = torch.Generator().manual_seed(0)
    return tuple(
        torch.randn(s, generator=generator, dtype=torch.float64, requires_grad=True) for s in shapes
    )


CASES = [
    (
        ReadsMemory,
        [(2, 3)],
        "CG601",
        "as if it were contiguous.*strides or storage offset",
        "contiguous()",
    ),
    (Views, [(2, 3)], "CG601", "grad.view", ".reshape"),
    (Misreads, [(2, 3)], "CG602", "forward reads the input's memory .*as_strided", "contiguous()"),
    (Largest, [(2, 3)], "CG603", "an empty input, with no elements .*max", "new_zeros"),
    (
        Squeezes,
        [(2, 3)],
        "CG604",
        r"squeeze removes the dimension of size 1.*squeeze\(\)",
        "name the dimension",
    ),
    (Adds, [(2, 3), (3,)], "CG605", "not summed over the dimensions .*grad.sum", "sum_to_size"),
]


@pytest.mark.parametrize(("function", "shapes", "code", "cause", "fix"), CASES)
def test_another_layout_or_shape_is_named(function, shapes, code, cause, fix):
    report = check(function, inputs(*shapes), select="CG6")
    assert [f.code for f in report.findings] == [code], str(report)
    found = report.findings[0]
    assert re.search(cause, found.cause), found.cause
    assert fix in found.fix
    out = io.StringIO()
    raised = False
    with contextlib.redirect_stdout(out):
        try:
            exec(found.reproduction, {})
        except (RuntimeError, IndexError):
            raised = True
    assert raised == ("raises" in found.message), out.getvalue()
    assert raised or len(out.getvalue().splitlines()) >= 2


@pytest.mark.parametrize(
    ("function", "shapes"), [(Noise, [(4, 6)]), (Sums, [(2, 3), (3,)]), (Sums, [(2, 3), (2, 1)])]
)
def test_right_ones_pass(function, shapes):
    report = check(function, inputs(*shapes), select="CG6")
    assert not report.findings, str(report)
