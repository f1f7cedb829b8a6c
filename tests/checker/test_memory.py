"""CG401 to CG406: what is kept for backward."""

import contextlib
import functools
import gc
import io

import pytest
import torch

from customgrad.checker import check

X = torch.tensor([0.5, -1.25, 2.0], dtype=torch.float64)
SEEN = []


def printed(finding):
    """Run a reproduction, and return what it prints."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(finding.reproduction, {})
    return out.getvalue()


def found(subject, *inputs):
    return {f.code: f for f in check(subject, inputs, select="CG4").findings}


class Exp(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(out := x.exp())
        return out

    @staticmethod
    def backward(ctx, grad):
        (out,) = ctx.saved_tensors
        return grad * out


class OutputKept(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.result = x.exp()
        return ctx.result

    @staticmethod
    def backward(ctx, grad):
        return grad * ctx.result


class MaskKept(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.parts = {"mask": x > 0}
        return x.clamp(min=0)

    @staticmethod
    def backward(ctx, grad):
        return grad * ctx.parts["mask"]


class Harmless(torch.autograd.Function):
    """A generator state, a number, a constant table, a module: nothing of the call."""

    @staticmethod
    def forward(ctx, x):
        ctx.state = torch.get_rng_state()
        ctx.table = torch.arange(1.0, 4.0, dtype=x.dtype)
        ctx.count, ctx.layer, ctx.shape = 3, torch.nn.Linear(1, 1), x.shape
        return x * ctx.table

    @staticmethod
    def backward(ctx, grad):
        return grad * ctx.table


class Closure(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        ctx.again = functools.partial(Closure.slope, ctx)
        return x**2

    @staticmethod
    def slope(ctx, x):
        return 2 * x

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        return grad * ctx.again(x)


class Growing(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        SEEN.append(x)
        ctx.save_for_backward(x)
        return x**2

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        return grad * 2 * x


class Shape(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.sum()

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        return grad.expand(x.shape)


class Product(torch.autograd.Function):
    """Each input is needed for the other's gradient alone."""

    @staticmethod
    def forward(ctx, x, y):
        ctx.save_for_backward(x, y)
        return x * y

    @staticmethod
    def backward(ctx, grad):
        x, y = ctx.saved_tensors
        return grad * y, grad * x if ctx.needs_input_grad[1] else None


class Cloned(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x.clone())
        return x**2

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        return grad * 2 * x


class Twice(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, y):
        ctx.save_for_backward(x, y)
        return x * y

    @staticmethod
    def backward(ctx, grad):
        return grad * ctx.saved_tensors[1], grad * ctx.saved_tensors[0]


def test_an_output_on_ctx_is_a_cycle():
    made = found(OutputKept, X)
    assert list(made) == ["CG401"]
    assert "ctx.result" in made["CG401"].cause
    assert "reference cycle" in made["CG401"].cause
    assert "ctx.save_for_backward(output)" in made["CG401"].fix
    try:
        assert printed(made["CG401"]) == "freed: False\n"
    finally:
        gc.enable()


def test_an_intermediate_in_a_dict_on_ctx_outlives_backward():
    made = found(MaskKept, X)
    assert list(made) == ["CG401"]
    assert "ctx.parts['mask']" in made["CG401"].message
    assert "outlive" in printed(made["CG401"])


def test_states_constants_and_modules_on_ctx_are_no_fault():
    assert found(Harmless, X) == {}


def test_a_closure_over_ctx_is_a_cycle():
    made = found(Closure, X)
    assert list(made) == ["CG402"]
    assert "ctx.again = functools.partial" in made["CG402"].cause


def test_a_list_of_the_module_that_grows_is_named():
    SEEN.clear()
    made = found(Growing, X)
    assert list(made) == ["CG403"]
    assert made["CG403"].cause.startswith("SEEN, global to all calls")
    assert "`SEEN.append(x)`" in made["CG403"].cause
    assert "tensors alive" in printed(made["CG403"])
    SEEN.clear()


def test_a_tensor_saved_for_its_shape_is_useless():
    made = found(Shape, X)
    assert list(made) == ["CG404"]
    assert "24 bytes" in made["CG404"].got
    assert "shape" in made["CG404"].cause
    assert printed(made["CG404"]) == "saved: (3,) torch.float64\n"


def test_what_one_subset_needs_is_not_useless():
    y = torch.tensor([2.0, 0.25, -1.0], dtype=torch.float64)
    assert found(Product, X, y) == {}
    assert found(Product, X.clone().requires_grad_(), y) == {}


def test_a_saved_clone_of_an_input_is_named():
    made = found(Cloned, X)
    assert "CG405" in made
    assert "x.clone() is a clone of the input x" in made["CG405"].cause
    assert "an input: False" in printed(made["CG405"])


def test_a_second_read_of_saved_tensors_fails_under_checkpoint():
    made = found(Twice, X, X + 1)
    assert list(made) == ["CG406"]
    assert "read more than once" in made["CG406"].cause
    with pytest.raises(RuntimeError, match="unpacked"):
        printed(made["CG406"])


def test_bytes_saved_are_told():
    report = check(Exp, (X,), select="CG4")
    assert report
    assert not report.findings
    assert report.facts["bytes saved per element"] == 8
