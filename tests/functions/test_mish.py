"""Mish against its definition, and its kernel against its formula."""

import math

import pytest
import torch

from customgrad.functions import Mish, mish


def by_hand(x):
    """Value, slope and second derivative at x."""
    s = 1 / (1 + math.exp(-x))
    t = math.tanh(math.log1p(math.exp(x)))
    c = 1 - t * t
    slope = t + x * s * c
    second = 2 * s * c + x * (s * (1 - s) * c - 2 * t * c * s * s)
    return x * t, slope, second


def test_value_slope_and_second_derivative_by_hand():
    points = [-30.0, -5.0, -1.0, -1e-8, 0.0, 0.5, 2.0, 15.0]
    x = torch.tensor(points, dtype=torch.float64, requires_grad=True)
    y = mish(x)
    (slope,) = torch.autograd.grad(y.sum(), x, create_graph=True)
    (second,) = torch.autograd.grad(slope.sum(), x)
    expected = torch.tensor([by_hand(p) for p in points], dtype=torch.float64)
    assert torch.allclose(torch.stack([y, slope, second], 1), expected, rtol=1e-10, atol=1e-14)
    assert slope[4].item() == pytest.approx(0.6, rel=1e-15)


@pytest.mark.parametrize(
    "dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64], ids=str
)
def test_the_formula_agrees_with_the_kernel(dtype):
    """The formula runs where somebody differentiates backward, the kernel everywhere else."""
    x = torch.linspace(-15, 15, 301, dtype=torch.float64).to(dtype).requires_grad_()
    (kernel,) = torch.autograd.grad(Mish.apply(x).sum(), x)
    (formula,) = torch.autograd.grad(Mish.apply(x).sum(), x, create_graph=True)
    assert formula.requires_grad
    assert not kernel.requires_grad
    assert (kernel - formula).abs().max().item() <= 16 * torch.finfo(dtype).eps


def test_extreme_arguments():
    x = torch.tensor([-1000.0, -100.0, 100.0, 1000.0], requires_grad=True)
    for graph in (False, True):
        y = mish(x)
        (grad,) = torch.autograd.grad(y.sum(), x, create_graph=graph)
        assert y[2:].tolist() == [100.0, 1000.0]
        assert y[:2].abs().max().item() < 1e-40
        assert grad[2:].tolist() == [1.0, 1.0]
        assert grad[:2].abs().max().item() < 1e-38
