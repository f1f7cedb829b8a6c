"""Odd inputs inside torch.func, inference mode and torch.compile: what the reference gives, or an error."""

from functools import partial

import pytest
import torch
from torch.autograd.functional import hessian, jacobian

from customgrad import functions as f
from sitetools import catalogue

OPERATIONS = [o for o in catalogue.OPERATIONS if "vmap" not in o.lacks]
every = pytest.mark.parametrize("operation", OPERATIONS, ids=lambda o: o.label)


def odd(operation):
    """Yield inputs: expanded, transposed and, for elementwise operations, empty, 0-d and of one element."""
    first, *rest = (x.detach() for x in operation.sample())
    if first.ndim:
        yield first[:1].clone().expand(first.shape), *rest
    if first.ndim > 1:
        yield first.transpose(0, -1).contiguous().transpose(0, -1), *rest
    if operation.elementwise:
        for shape in [(), (2, 0), (1, 1)]:
            yield first.new_full(shape, 0.3), *rest


def own(inputs):
    """Return them with memory of their own, for those who write to it."""
    return tuple(x.clone() for x in inputs)


# An empty Jacobian is a vmap over nothing, in which torch 2.13 cannot multiply a 0-d tensor by a number.
NOTHING = {"clip_gradient_norm"}


@every
def test_jacobians_and_hessians(operation):
    """Against torch.autograd: torch.func has batch norm's own second derivatives wrong in 2.13."""

    def first(*x, call=operation.call):
        return catalogue.floats(call(*own(x)))

    def second(*x, call=operation.call):
        return catalogue.total(call(*own(x)))

    reference = {"call": operation.reference}

    for inputs in odd(operation):
        by = tuple(range(len(inputs)))
        jacobians, hessians = (
            torch.func.jacrev(first, by),
            torch.func.jacrev(torch.func.jacrev(second, by), by),
        )
        if inputs[0].numel():
            for found, expected in [
                (jacobians, jacobian(partial(first, **reference), inputs)),
                (hessians, hessian(partial(second, **reference), inputs)),
            ]:
                for got, want in zip(found(*inputs), expected, strict=True):
                    assert catalogue.agree(
                        got, want, 1e-7
                    )  # equal rows: batch norm divides by nearly 0
            continue
        assert not any(block.any() for row in hessians(*inputs) for block in row)
        if operation.name in NOTHING:
            with pytest.raises(IndexError):
                jacobians(*inputs)
        else:
            shapes = [[(*y.shape, *x.shape) for x in inputs] for y in first(*inputs)]
            assert [[block.shape for block in row] for row in jacobians(*inputs)] == shapes


@every
def test_hessian_is_refused_for_want_of_a_jvp(operation):
    """torch.func.hessian is forward over reverse; only the subclasses named …ForwardMode can be in it."""
    inputs = own(x.detach() for x in operation.sample())
    with catalogue.quiet(), pytest.raises(RuntimeError, match="jvp"):
        torch.func.hessian(lambda x: catalogue.total(operation.call(x.clone(), *inputs[1:])))(
            inputs[0]
        )


@every
def test_inference_mode(operation):
    for inputs in odd(operation):
        expected = catalogue.floats(operation.call(*own(inputs)))
        with torch.inference_mode():  # with tensors from outside, and from inside
            found = catalogue.floats(operation.call(*map(torch.clone, own(inputs))))
            if operation.name != "relu_":
                assert catalogue.agree(catalogue.floats(operation.call(*inputs)), expected)
        assert catalogue.agree(found, expected)


@pytest.mark.parametrize("name", ["leaky_relu", "clip_gradient_norm", "rms_norm", "sort"])
def test_compiled(name):
    operation = next(o for o in OPERATIONS if o.name == name)
    torch._dynamo.reset()
    traced = torch.compile(operation.call, fullgraph=True, backend="aot_eager", dynamic=False)
    for inputs in odd(operation):
        results = []
        for call in (traced, operation.call):
            leaves = [x.detach().requires_grad_() for x in inputs]
            with catalogue.quiet():
                y = catalogue.floats(call(*leaves))
                results.append((*y, *torch.autograd.grad(catalogue.total(y), leaves)))
        assert catalogue.agree(*results)


X = torch.arange(9.0).reshape(3, 3)
LABELS = torch.tensor([0, 3, 1])
WRONG = {
    "label": lambda x: f.cross_entropy(x, LABELS),
    "label, in chunks": lambda x: f.linear_cross_entropy(x, X, LABELS),
    "shape": lambda x: f.rms_norm(x, torch.ones(2)),
    "dtype": lambda x: f.swish(x, torch.tensor(1.0, dtype=torch.float64)),
    "integers": lambda x: f.gelu(x.long()),
    "number": lambda x: f.scale_gradient(x, scale=10**400),
    "step": lambda x: f.lsq(x, x[0, 0] - 1, qmin=-2, qmax=1),
    "weight": lambda x: f.activated_norm(x, x[0]),
    "flag": lambda x: f.checkpointed(torch.sin, x, preserve_rng_state=None),
    "kind": lambda x: f.silu(X.to_sparse() * x.shape[0]),
}


@pytest.mark.parametrize("wrong", WRONG)
def test_what_is_wrong_is_said_inside_each_transform(wrong):
    call = WRONG[wrong]
    with pytest.raises((TypeError, ValueError)) as said:
        call(X)
    for transform, x in [
        (torch.func.jacrev, X),
        (torch.func.hessian, X),
        (torch.func.vmap, X.expand(2, 3, 3)),
    ]:
        with catalogue.quiet(), pytest.raises(said.type) as caught:
            transform(call)(x)
        assert str(caught.value) == str(said.value)
    with torch.inference_mode(), pytest.raises(said.type) as caught:
        call(X.clone())
    assert str(caught.value) == str(said.value)


@pytest.mark.parametrize("wrong", ["shape", "number"])
def test_what_is_wrong_is_said_while_compiling(wrong):
    torch._dynamo.reset()
    with pytest.raises(ValueError) as said:  # noqa: PT011
        WRONG[wrong](X)
    traced = torch.compile(WRONG[wrong], fullgraph=True, backend="aot_eager")
    with catalogue.quiet(), pytest.raises(torch._dynamo.exc.Unsupported) as caught:
        traced(X)
    assert str(said.value) in str(caught.value)
