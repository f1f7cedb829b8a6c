"""CG901 to CG905: the same again gives the same again."""

import contextlib
import io
import random
import time

import torch
from torch.autograd.function import once_differentiable

from customgrad.checker import check

X = torch.tensor([0.5, -1.25, 2.0], dtype=torch.float64)
STEPS = {"count": 0.0}


def printed(finding):
    """Run a reproduction, and return what it prints."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(finding.reproduction, {})
    return out.getvalue()


def found(subject, *inputs, **options):
    return {f.code: f for f in check(subject, inputs, select="CG90", **options).findings}


class Overwrites(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.slope = 2 * x
        return x**2

    @staticmethod
    def backward(ctx, grad):
        ctx.slope *= grad
        return ctx.slope.clone()


class Shared(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        Shared.last = x
        return x**2

    @staticmethod
    def backward(ctx, grad):
        return grad * 2 * Shared.last


class Draws(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, grad):
        return grad * 2 * (1 + 0.1 * random.random())


class Forked(torch.autograd.Function):
    """Draws in backward what forward drew, and leaves the generator as it was."""

    @staticmethod
    def forward(ctx, x):
        ctx.state = torch.get_rng_state()
        return x * (torch.rand_like(x) < 0.5)

    @staticmethod
    def backward(ctx, grad):
        with torch.random.fork_rng(devices=[]):
            torch.set_rng_state(ctx.state)
            return grad * (torch.rand_like(grad) < 0.5)


class Steps(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        STEPS["count"] += 1.0
        return x * STEPS["count"]

    @staticmethod
    def backward(ctx, grad):
        return grad


class Counted(torch.autograd.Function):
    """NaN in the output is no difference, and a counter that nothing reads no state."""

    calls = 0

    @staticmethod
    def forward(ctx, x):
        Counted.calls += 1
        ctx.save_for_backward(x)
        return x.log()

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        return grad / x


def test_a_saved_tensor_that_backward_overwrites():
    made = found(Overwrites, X)
    assert list(made) == ["CG901"]
    assert "`ctx.slope *= grad`" in made["CG901"].cause
    assert "3 times the gradient" in printed(made["CG901"])


def test_state_on_the_class_is_the_next_call_s():
    made = found(Shared, X)
    assert list(made) == ["CG902"]
    assert made["CG902"].cause.startswith("Shared.last, shared by all calls")
    assert "`Shared.last = x`" in made["CG902"].cause
    assert "after another call" in printed(made["CG902"])


def test_random_numbers_in_backward():
    made = found(Draws, X)
    assert list(made) == ["CG903"]
    assert made["CG903"].severity == "bug"
    assert "Python's random" in made["CG903"].message
    assert "random.random()" in made["CG903"].cause
    assert "generator unchanged: True" in printed(made["CG903"])


def test_a_forward_that_counts_its_calls():
    made = found(Steps, X)
    assert list(made) == ["CG904"]
    assert '`STEPS["count"] += 1.0`' in made["CG904"].cause
    one, two = printed(made["CG904"]).split("tensor")[1:]
    assert one != two


class Racing(torch.autograd.Function):
    """Another thread may write to the class between two lines of forward."""

    @staticmethod
    def forward(ctx, x):
        Racing.slope = 2 * x
        time.sleep(0.001)
        ctx.save_for_backward(Racing.slope)
        return x**2

    @staticmethod
    @once_differentiable
    def backward(ctx, grad):
        (slope,) = ctx.saved_tensors
        return grad * slope


def test_two_threads_that_share_the_class():
    (finding,) = check(Racing, (X,), select="CG905").findings
    assert finding.severity == "bug"
    assert "shared by threads" in finding.cause
    assert "CG902" not in found(Racing, X)  # one thread alone notices nothing


def test_what_is_repeatable_is_quiet():
    assert found(Forked, X) == {}
    assert found(Counted, X) == {}
    assert found(torch.sin, X) == {}
