"""LSQ: the paper's equations in Python's own numbers, steps of each shape, and what is refused."""

import math
import re
from types import SimpleNamespace

import pytest
import torch

from customgrad.functions import LSQ, lsq

INF, NAN = torch.inf, torch.nan
DTYPES = [torch.float16, torch.bfloat16, torch.float32, torch.float64]
VALUES = [-9.0, -1.01, -1.0, -0.99, -0.75, -0.25, -0.1, 0.0, 0.25, 0.3, 0.75, 1.49, 1.5, 1.51, 1e4]


def paper(x, step, qmin, qmax):
    """Return the output and the two slopes of one number: equations 1, 5 and 3."""
    v = x / step
    if v <= qmin:
        return qmin * step, 0.0, qmin
    if v >= qmax:
        return qmax * step, 0.0, qmax
    return round(v) * step, 1.0, round(v) - v


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("count", [1, 37])
@pytest.mark.parametrize("scale", [1.0, 0.25, 0])
def test_the_equations_of_the_paper(dtype, count, scale):
    x = torch.tensor(VALUES, dtype=dtype).repeat_interleave(count).requires_grad_()
    step = torch.tensor(0.5, dtype=dtype, requires_grad=True)
    y = lsq(x, step, qmin=-2, qmax=3, gradient_scale=scale)
    rows = [paper(v, 0.5, -2, 3) for v in x.tolist()]
    assert y.dtype == dtype
    assert y.tolist() == [row[0] for row in rows]
    g = torch.linspace(0.5, 1.5, len(rows)).to(dtype)
    grads = torch.autograd.grad(y, (x, step), g)
    assert grads[0].tolist() == [a * row[1] for a, row in zip(g.tolist(), rows, strict=True)]
    wanted = scale * math.fsum(a * row[2] for a, row in zip(g.tolist(), rows, strict=True))
    size = math.fsum(abs(a * row[2]) for a, row in zip(g.tolist(), rows, strict=True))
    assert grads[1].dtype == dtype
    assert abs(grads[1].item() - wanted) <= 4 * torch.finfo(dtype).eps * size


@pytest.mark.parametrize("shape", [(), (1,), (4,), (3, 1), (1, 1), (3, 4), (2, 1, 1)], ids=str)
def test_steps_of_each_shape_are_as_many_single_ones(shape):
    generator = torch.Generator().manual_seed(2)
    x = torch.randn(2, 3, 4, generator=generator, dtype=torch.float64).requires_grad_()
    step = torch.rand(shape, generator=generator, dtype=torch.float64).add(0.2).requires_grad_()
    g = torch.randn(2, 3, 4, generator=generator, dtype=torch.float64)
    found = torch.autograd.grad(lsq(x, step, qmin=-2, qmax=3), (x, step), g)
    each = step.detach().expand(2, 3, 4).clone().requires_grad_()
    single = torch.autograd.grad(lsq(x, each, qmin=-2, qmax=3), (x, each), g)
    assert torch.equal(found[0], single[0])
    assert found[1].shape == shape
    assert torch.allclose(found[1], single[1].sum_to_size(shape), rtol=1e-12)


@pytest.mark.parametrize("of_step", DTYPES, ids=str)
@pytest.mark.parametrize("of_input", DTYPES, ids=str)
def test_dtypes_may_differ(of_input, of_step):
    x = torch.tensor([0.3, -0.7], dtype=of_input, requires_grad=True)
    step = torch.tensor([0.5], dtype=of_step, requires_grad=True)
    y = lsq(x, step, qmin=-2, qmax=3)
    grads = torch.autograd.grad(y.sum(), (x, step))
    assert (y.dtype, grads[0].dtype, grads[1].dtype) == (of_input, of_input, of_step)
    assert y.tolist() == [0.5, -0.5]


@pytest.mark.parametrize("count", [1, 37])
def test_special_values(count):
    x = torch.tensor([-INF, INF, NAN]).repeat_interleave(count).requires_grad_()
    step = torch.ones(3 * count, requires_grad=True)
    y = lsq(x, step, qmin=-2, qmax=3)
    assert torch.equal(y.nan_to_num(7.0), torch.tensor([-2.0, 3.0, 7.0]).repeat_interleave(count))
    grads = torch.autograd.grad(y.sum(), (x, step))
    assert (grads[0] == 0).all()
    assert torch.equal(grads[1], torch.tensor([-2.0, 3.0, 3.0]).repeat_interleave(count))


def test_an_empty_input():
    x = torch.zeros(0, 3, requires_grad=True)
    step = torch.tensor(0.5, requires_grad=True)
    grads = torch.autograd.grad(lsq(x, step, qmin=-2, qmax=3).sum(), (x, step))
    assert grads[0].shape == (0, 3)
    assert grads[1].item() == 0


SIGNED = "4 bits with a sign are -8 and 7"
HALF = torch.tensor(0.5)


@pytest.mark.parametrize(
    ("step", "keywords", "error", "words"),
    [
        (0.5, {}, TypeError, "step must be a float tensor, got float; make one with torch.tensor(...)"),
        (torch.tensor(1), {}, TypeError, "step must be a float tensor, got torch.int64; use one such as torch.float32"),
        (torch.tensor(0.0), {}, ValueError, "step must be above 0, got 0; a smaller learning rate or gradient_scale keeps it there"),
        (torch.tensor([[1.0], [-0.5]]), {}, ValueError, "step must be above 0, got -0.5; a smaller learning rate or gradient_scale keeps it there"),
        (torch.tensor(NAN), {}, ValueError, "step must be above 0, got nan; a smaller learning rate or gradient_scale keeps it there"),
        (torch.ones(2), {}, ValueError, "step must broadcast to input's shape (2, 3), got (2,); one number, or one for each channel"),
        (torch.ones(1, 2, 3), {}, ValueError, "step must broadcast to input's shape (2, 3), got (1, 2, 3); one number, or one for each channel"),
        (HALF, {"qmin": 3}, ValueError, f"qmin must be below qmax, got 3 and 3; {SIGNED}"),
        (HALF, {"qmax": -3}, ValueError, f"qmin must be below qmax, got -2 and -3; {SIGNED}"),
        (HALF, {"qmax": 3.0}, TypeError, f"qmax must be an int, got float; {SIGNED}"),
        (HALF, {"qmin": True}, TypeError, f"qmin must be an int, got bool; {SIGNED}"),
        (HALF, {"gradient_scale": -1.0}, ValueError, "gradient_scale must be a finite number of at least 0, got -1.0; 1 / sqrt(numel * qmax) is the paper's"),
        (HALF, {"gradient_scale": HALF}, TypeError, "gradient_scale must be a number, got Tensor; pass a float, such as 1.0"),
    ],
)  # fmt: skip
def test_bad_arguments_are_refused(step, keywords, error, words):
    with pytest.raises(error, match=f"^lsq: {re.escape(words)}$"):
        lsq(torch.ones(2, 3), step, **{"qmin": -2, "qmax": 3} | keywords)


def test_a_copied_function_refuses_a_step_of_integers_by_itself():
    words = "LSQ: step must be a float tensor, got torch.int64; use one such as torch.float32"
    with pytest.raises(TypeError, match=f"^{re.escape(words)}$"):
        LSQ.apply(torch.ones(3), torch.tensor(1), -2, 3, 1.0)


@pytest.mark.parametrize("wanted", [(True, False), (False, True)])
def test_only_the_gradient_that_is_needed(wanted):
    ctx = SimpleNamespace(
        saved_tensors=(torch.ones(3), HALF), qmin=-2, qmax=3, scale=1.0,
        needs_input_grad=(*wanted, False, False, False),
    )  # fmt: skip
    grads = LSQ.backward(ctx, torch.ones(3))
    assert tuple(g is not None for g in grads[:2]) == wanted


def test_half_precision_is_rounded_once():
    """The slope is a small difference of numbers of up to 1000: float16 itself would lose it."""
    x = torch.linspace(0, 100, 401).half().requires_grad_()
    step = torch.tensor(0.1).half().requires_grad_()
    exact = [v.detach().double().requires_grad_() for v in (x, step)]
    found, wanted = (
        torch.autograd.grad(lsq(*pair, qmin=0, qmax=2000).sum(), pair)
        for pair in ((x, step), exact)
    )
    assert abs(found[1].item() - wanted[1].item()) < 0.01


STEPS = [-1.0, 0.0, NAN, float("inf")]


@pytest.mark.parametrize("bad", STEPS)
def test_a_bad_step_is_refused_inside_transforms(bad):
    """Also one of a batch, whose others are good."""
    x = torch.randn(2, 3)
    wanted = r"^lsq: step must be (above 0|finite), got .*; a smaller learning rate or gradient_scale keeps it there$"
    steps = torch.tensor([0.5, bad])
    for call in (
        lambda: torch.func.vmap(lambda s: lsq(x, s, qmin=-2, qmax=1))(steps),
        lambda: torch.func.jacrev(lambda s: lsq(x, s, qmin=-2, qmax=1))(steps[1]),
    ):
        with pytest.raises(ValueError, match=wanted):
            call()


@pytest.mark.filterwarnings("ignore")
def test_a_bad_step_is_refused_under_compile():
    torch._dynamo.reset()
    traced = torch.compile(
        lambda x, s: lsq(x, s, qmin=-2, qmax=1), fullgraph=True, backend="aot_eager"
    )
    x = torch.randn(2, 3)
    assert torch.equal(traced(x, HALF), lsq(x, HALF, qmin=-2, qmax=1))
    for bad in STEPS:
        with pytest.raises(
            RuntimeError, match=r"^lsq: step must be finite and above 0, got another; "
        ):
            traced(x, torch.tensor(bad))
