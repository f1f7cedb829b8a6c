"""Gradient reversal: what the catalogue's tests do not ask."""

import re

import pytest
import torch
from torch._dynamo import testing

from customgrad.functions import ReverseGradient, reverse_gradient
from sitetools import catalogue

INF, NAN = torch.inf, torch.nan


@pytest.mark.parametrize(
    ("scale", "cotangent", "gradient"),
    [
        (1.0, 3.0, -3.0),
        (0.5, 3.0, -1.5),
        (2, 3.0, -6.0),
        (0.0, 3.0, 0.0),
        (1.0, INF, -INF),
        (0.5, -INF, INF),
        (0.0, INF, NAN),
        (1.0, NAN, NAN),
    ],
)
@pytest.mark.parametrize("value", [-INF, -1.0, 0.0, 2.0, NAN])
def test_by_hand(scale, cotangent, gradient, value):
    x = torch.tensor([value], requires_grad=True)
    y = reverse_gradient(x, scale=scale)
    (found,) = torch.autograd.grad(y, x, torch.tensor([cotangent]))
    assert torch.equal(y.nan_to_num(7.0), x.nan_to_num(7.0))
    assert torch.equal(found.nan_to_num(7.0), torch.tensor([gradient]).nan_to_num(7.0))


@pytest.mark.parametrize("layout", ["contiguous", "transposed", "sliced", "offset", "expanded"])
def test_a_view_with_the_inputs_strides(lay_out, layout):
    x = lay_out(torch.randn(3, 4), layout)
    y = reverse_gradient(x)
    assert y is not x
    assert (y.data_ptr(), y.stride(), y.shape) == (x.data_ptr(), x.stride(), x.shape)


def test_backward_is_called_where_the_input_is_a_leaf_and_the_output_the_loss():
    """Functions that handed the input on as it was were once skipped."""
    x = torch.tensor(2.0, requires_grad=True)
    reverse_gradient(reverse_gradient(x, scale=3.0), scale=0.5).backward()
    assert x.grad.item() == 1.5


def test_a_change_in_place_is_refused():
    x = torch.ones(3, requires_grad=True)
    with pytest.raises(RuntimeError, match="Output 0 of ReverseGradient is a view"):
        reverse_gradient(x).add_(1)


@pytest.mark.parametrize("scale", [0.0, 0.5, 3.0])
def test_a_second_derivative_passes_twice(scale):
    x = torch.tensor(2.0, dtype=torch.float64, requires_grad=True)
    y = reverse_gradient(x, scale=scale) ** 3
    (first,) = torch.autograd.grad(y, x, create_graph=True)
    (second,) = torch.autograd.grad(first, x)
    assert first.item() == -scale * 12.0
    assert second.item() == pytest.approx(scale**2 * 12.0)


def test_a_scale_that_changes_is_compiled_at_most_twice():
    torch._dynamo.reset()
    counter = testing.CompileCounterWithBackend("aot_eager")
    call = torch.compile(
        lambda x, scale: reverse_gradient(x, scale=scale), fullgraph=True, backend=counter
    )
    for scale in [0.1, 0.2, 0.3, 0.4, 0.5]:
        x = torch.ones(3, requires_grad=True)
        with catalogue.quiet():  # torch warns of its own doings while it compiles
            call(x, scale).sum().backward()
        assert torch.equal(x.grad, torch.full((3,), -scale))
    assert counter.frame_count <= 2


@pytest.mark.parametrize(
    ("scale", "error", "words"),
    [
        (-1.0, ValueError, "must be a finite number of at least 0, got -1.0; the sign changes anyway, and scale_gradient keeps it"),
        (INF, ValueError, "must be a finite number of at least 0, got inf; the sign changes anyway, and scale_gradient keeps it"),
        (NAN, ValueError, "must be a finite number of at least 0, got nan; the sign changes anyway, and scale_gradient keeps it"),
        (True, TypeError, "must be a number, got bool; pass a float, such as 1.0"),
        ("1", TypeError, "must be a number, got str; pass a float, such as 1.0"),
        (torch.tensor(1.0), TypeError, "must be a number, got Tensor; pass a float, such as 1.0"),
    ],
)  # fmt: skip
def test_a_bad_scale_is_refused(scale, error, words):
    with pytest.raises(error, match=rf"^reverse_gradient: scale {re.escape(words)}$"):
        reverse_gradient(torch.ones(3), scale=scale)


def test_scale_is_a_keyword_of_the_wrapper_and_an_argument_of_the_function():
    with pytest.raises(TypeError):
        reverse_gradient(torch.ones(3), 0.5)
    assert torch.equal(ReverseGradient.apply(torch.ones(3), 0.5), torch.ones(3))
