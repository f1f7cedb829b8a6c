"""The shorter way into a Function: torch's own results, and torch's own way where a call is not the plain one."""

import inspect

import pytest
import torch

from customgrad.functions._direct import direct


def scaled():
    """A Function whose second argument has a default."""

    class Scaled(torch.autograd.Function):
        generate_vmap_rule = True

        @staticmethod
        def forward(x, factor=3.0):
            return x * factor

        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.factor = inputs[1]

        @staticmethod
        def backward(ctx, grad_output):
            return grad_output * ctx.factor, None

    return Scaled


def outcome(function, *args, **kwargs):
    """Return value and gradient of a call, or its error."""
    x = torch.tensor(2.0, requires_grad=True)
    try:
        y = function.apply(x, *args, **kwargs)
    except TypeError as error:
        return str(error)
    return y.item(), torch.autograd.grad(y, x)[0].item()


CALLS = {
    "every argument": ((5.0,), {}, (10.0, 5.0)),
    "a default": ((), {}, (6.0, 3.0)),
    "a keyword": ((), {"factor": 5.0}, (10.0, 5.0)),
    "a keyword beside every argument": ((5.0,), {"factor": 7.0}, "multiple values"),
    "too many": ((5.0, 6.0), {}, "too many"),
}


@pytest.mark.parametrize("call", CALLS)
def test_a_call_gives_what_torchs_own_gives(call):
    args, kwargs, expected = CALLS[call]
    found = outcome(direct(scaled()), *args, **kwargs)
    assert found == outcome(scaled(), *args, **kwargs)
    assert expected in found if isinstance(expected, str) else found == expected


def test_it_changes_the_class_in_place_and_returns_it():
    function = scaled()
    assert direct(function) is function


def test_the_plain_call_does_not_ask_for_the_signature(monkeypatch):
    function = direct(scaled())
    monkeypatch.setattr(inspect, "signature", None)
    assert function.apply(torch.tensor(2.0), 5.0).item() == 10.0
    with pytest.raises(TypeError, match="not callable"):
        function.apply(torch.tensor(2.0))


def test_a_forward_that_takes_any_number_of_tensors_has_the_short_way_too(monkeypatch):
    class Sum(torch.autograd.Function):
        @staticmethod
        def forward(factor, *tensors):
            return factor * sum(tensors)

        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.factor, ctx.count = inputs[0], len(inputs) - 1

        @staticmethod
        def backward(ctx, grad_output):
            return None, *[ctx.factor * grad_output] * ctx.count

    function = direct(Sum)
    monkeypatch.setattr(inspect, "signature", None)
    x = torch.tensor(2.0, requires_grad=True)
    for count in (1, 2, 5):
        y = function.apply(3.0, *[x] * count)
        assert (y.item(), torch.autograd.grad(y, x)[0].item()) == (6.0 * count, 3.0 * count)
    with pytest.raises(TypeError, match="not callable"):
        function.apply()


def test_inside_a_transform_it_is_torchs_own_way():
    function = direct(scaled())
    assert torch.func.grad(lambda x: function.apply(x, 5.0))(torch.tensor(2.0)).item() == 5.0
    assert torch.func.vmap(lambda x: function.apply(x, 5.0))(torch.ones(2)).tolist() == [5.0, 5.0]


def test_a_forward_that_takes_ctx_is_refused():
    class Old(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x

        @staticmethod
        def backward(ctx, grad_output):
            return grad_output

    message = (
        r"^direct: Old must define setup_context, got a forward that takes ctx; "
        r"use its apply as it is$"
    )
    with pytest.raises(TypeError, match=message):
        direct(Old)
