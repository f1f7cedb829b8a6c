"""ActivatedNorm: running statistics, dtypes that differ, memory, second derivatives, and what it refuses."""

import pytest
import torch
from torch.nn import functional as F

from customgrad.functions import ActivatedNorm, activated_norm

DTYPE = torch.float64


def normal(*shape, seed=0):
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed), dtype=DTYPE)


def two(
    x,
    weight=None,
    bias=None,
    *,
    running_mean=None,
    running_var=None,
    negative_slope=0.01,
    momentum=0.1,
    eps=1e-5,
):
    y = F.batch_norm(x, running_mean, running_var, weight, bias, True, momentum, eps)
    return F.leaky_relu(y, negative_slope)


SHAPES = [(5, 3), (2, 3, 4), (2, 3, 2, 3), (1, 2, 2, 2, 2), (4, 1)]


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("layout", ["contiguous", "transposed", "sliced", "offset"])
@pytest.mark.parametrize("settings", [{}, {"negative_slope": 0.5, "eps": 0.1}], ids=str)
def test_as_torch_computes_it(shape, layout, settings, lay_out):
    channels = shape[1]
    x = lay_out(normal(*shape), layout).detach().requires_grad_()
    weight = torch.linspace(-1.5, 1.4, channels, dtype=DTYPE).requires_grad_()
    bias = normal(channels, seed=1).requires_grad_()
    cotangent = lay_out(normal(*shape, seed=2), layout)
    results = []
    for call in (activated_norm, two):
        y = call(x, weight, bias, **settings)
        results.append([y, *torch.autograd.grad(y, (x, weight, bias), cotangent)])
    torch.testing.assert_close(*results, rtol=1e-10, atol=1e-10)


def test_channels_last_stays():
    x = normal(2, 3, 4, 4).to(memory_format=torch.channels_last).requires_grad_()
    y = activated_norm(x)
    assert y.is_contiguous(memory_format=torch.channels_last)


@pytest.mark.parametrize("momentum", [0.1, 1.0, 0.0])
def test_running_statistics_move_as_torchs(momentum):
    x, results = normal(6, 2) * 3 + 1, []
    for call in (activated_norm, two):
        mean, var = torch.full((2,), 0.5, dtype=DTYPE), torch.full((2,), 2.0, dtype=DTYPE)
        call(x, running_mean=mean, running_var=var, momentum=momentum)
        results.append((mean, var))
    torch.testing.assert_close(*results, rtol=1e-10, atol=1e-10)


def test_one_running_statistic_alone():
    mean = torch.zeros(2)
    activated_norm(normal(6, 2).float() + 1, running_mean=mean, momentum=1.0)
    torch.testing.assert_close(mean, (normal(6, 2) + 1).float().mean(0))


@pytest.mark.parametrize("half", [torch.float16, torch.bfloat16], ids=str)
def test_half_precision_with_float32_parameters(half):
    """What a network under autocast hands it."""
    x = normal(8, 3).to(half).requires_grad_()
    weight, bias = (
        torch.tensor([1.0, -2.0, 0.5], requires_grad=True),
        torch.zeros(3, requires_grad=True),
    )
    y = activated_norm(x, weight, bias)
    found = torch.autograd.grad(y, (x, weight, bias), torch.ones_like(y))
    assert [y.dtype, *[g.dtype for g in found]] == [half, half, torch.float32, torch.float32]
    exact = [t.detach().double().requires_grad_() for t in (x, weight, bias)]
    wanted = torch.autograd.grad(two(*exact).sum(), exact)
    for got, want in zip(found, wanted, strict=True):
        assert (got.double() - want).abs().max() < 8 * torch.finfo(half).eps * max(
            1, want.abs().max()
        )


def test_statistics_are_float32_in_half_precision():
    """Where the numbers are large, r is below what float16 holds in full."""
    x = (normal(64, 1) * 15_000).half().requires_grad_()
    weight, bias = torch.ones(1).half(), torch.zeros(1).half()
    cotangent = normal(64, 1, seed=1).half() * 512
    y, mean, r = ActivatedNorm.apply(x, weight, bias, 0.01, 1e-5)
    assert [t.dtype for t in (y, mean, r)] == [torch.float16, torch.float32, torch.float32]
    (found,) = torch.autograd.grad(y, x, cotangent)
    exact = x.detach().double().requires_grad_()
    (wanted,) = torch.autograd.grad(two(exact), exact, cotangent.double())
    assert (found.double() - wanted).abs().max() < 2e-3 * wanted.abs().max()


def test_second_derivatives_through_the_statistics():
    """Where r is taken for a constant, this differs by more than a half."""
    x, results = torch.tensor([[1.0], [2.0], [6.0]], dtype=DTYPE, requires_grad=True), []
    for call in (activated_norm, two):
        (g,) = torch.autograd.grad(call(x).pow(3).sum(), x, create_graph=True)
        results.append(torch.autograd.grad(g.square().sum(), x)[0])
    torch.testing.assert_close(*results, rtol=1e-9, atol=1e-9)


def test_the_gradient_of_the_statistics():
    """r is an output with a gradient of its own; the mean is not differentiable."""
    x = normal(4, 2).requires_grad_()
    ones, zeros = torch.ones(2, dtype=DTYPE), torch.zeros(2, dtype=DTYPE)
    _, mean, r = ActivatedNorm.apply(x, ones, zeros, 0.01, 1e-5)
    assert not mean.requires_grad
    found = torch.autograd.grad((r**2).sum(), x)
    wanted = torch.autograd.grad((1 / (x.var(0, correction=0) + 1e-5)).sum(), x)
    torch.testing.assert_close(found, wanted, rtol=1e-9, atol=1e-9)


def test_one_tensor_of_the_inputs_size_is_kept():
    x = normal(8, 2, 5).requires_grad_()
    kept = []
    with torch.autograd.graph.saved_tensors_hooks(lambda t: kept.append(t) or t, lambda t: t):
        y = activated_norm(x)
    large = [t for t in kept if t.numel() > 2]
    assert [t.data_ptr() for t in large] == [y.data_ptr()]


def test_only_the_gradients_that_are_needed():
    tensors = [normal(4, 2), torch.ones(2, dtype=DTYPE), torch.zeros(2, dtype=DTYPE)]
    for needed in range(3):
        leaves = [t.detach().requires_grad_(n == needed) for n, t in enumerate(tensors)]
        y = activated_norm(*leaves)
        with torch.no_grad():  # as the engine calls it
            grads = ActivatedNorm.backward(y.grad_fn, torch.ones_like(y), None, None)
        assert [g is not None for g in grads[:3]] == [n == needed for n in range(3)]


def test_nan_is_carried():
    x = normal(4, 2)
    x[0, 0] = torch.nan
    y = activated_norm(x)
    assert y[:, 0].isnan().all()
    assert not y[:, 1].isnan().any()


X = torch.ones(4, 2)
NUMBERS = "2 numbers or more for each of C channels"


@pytest.mark.parametrize(
    ("arguments", "settings", "error", "message"),
    [
        ((X[0],), {}, ValueError,
         f"activated_norm: input must have shape (N, C, ...) with {NUMBERS}, got (2,); use a larger batch"),
        ((X[:1],), {}, ValueError,
         f"activated_norm: input must have shape (N, C, ...) with {NUMBERS}, got (1, 2); use a larger batch"),
        ((X[:0],), {}, ValueError,
         f"activated_norm: input must have shape (N, C, ...) with {NUMBERS}, got (0, 2); use a larger batch"),
        ((X[:, :0],), {}, ValueError,
         f"activated_norm: input must have shape (N, C, ...) with {NUMBERS}, got (4, 0); use a larger batch"),
        ((X,), {"negative_slope": 0.0}, ValueError,
         "activated_norm: negative_slope must be a finite number above 0, got 0.0; backward divides by it"),
        ((X,), {"negative_slope": -0.1}, ValueError,
         "activated_norm: negative_slope must be a finite number above 0, got -0.1; backward divides by it"),
        ((X,), {"negative_slope": "0.1"}, ValueError,
         "activated_norm: negative_slope must be a finite number above 0, got '0.1'; backward divides by it"),
        ((X,), {"negative_slope": float("nan")}, ValueError,
         "activated_norm: negative_slope must be a finite number above 0, got nan; backward divides by it"),
        ((X,), {"eps": 0.0}, ValueError,
         "activated_norm: eps must be a finite number above 0, got 0.0; backward divides by it"),
        ((X, torch.ones(3)), {}, ValueError,
         "activated_norm: weight must have shape (C,) = (2,), got (3,); one number for each channel"),
        ((X, torch.ones(2), torch.ones(1)), {}, ValueError,
         "activated_norm: bias must have shape (C,) = (2,), got (1,); one number for each channel"),
        ((X,), {"running_mean": torch.ones(1)}, ValueError,
         "activated_norm: running_mean must have shape (C,) = (2,), got (1,); one number for each channel"),
        ((X, torch.ones(2).double()), {}, TypeError,
         "activated_norm: weight must have the dtype of input or float32, got torch.float64 and "
         "torch.float32; convert one with .to(dtype)"),
        ((X, [1.0, 1.0]), {}, TypeError,
         "activated_norm: weight must be a float tensor, got list; make one with torch.tensor(...)"),
        ((X,), {"running_var": torch.ones(2).long()}, TypeError,
         "activated_norm: running_var must be a float tensor, got torch.int64; use one such as torch.float32"),
        ((X, torch.tensor([1.0, 0.0])), {}, ValueError,
         "ActivatedNorm: |weight| must be at least 0.001, got less; set it away from 0"),
        ((X, torch.tensor([1.0, -0.0009])), {}, ValueError,
         "ActivatedNorm: |weight| must be at least 0.001, got less; set it away from 0"),
        ((X, torch.tensor([1.0, torch.nan])), {}, ValueError,
         "ActivatedNorm: |weight| must be at least 0.001, got less; set it away from 0"),
    ],
)  # fmt: skip
def test_messages(arguments, settings, error, message):
    with pytest.raises(error) as caught:
        activated_norm(*arguments, **settings)
    assert str(caught.value) == message


def test_a_small_weight_in_a_batch_is_refused():
    weights, x = torch.tensor([[1.0, 1.0], [1.0, 0.0]]), normal(4, 2).float()
    with pytest.raises(ValueError, match="must be at least"):
        torch.func.vmap(lambda w: activated_norm(x, w))(weights)


@pytest.mark.filterwarnings("ignore")
def test_a_small_weight_is_refused_under_compile():
    traced = torch.compile(activated_norm, fullgraph=True, backend="aot_eager")
    x = normal(4, 2)
    assert traced(x, torch.ones(2, dtype=DTYPE)).shape == x.shape
    with pytest.raises(RuntimeError, match="must be at least"):
        traced(x, torch.zeros(2, dtype=DTYPE))
