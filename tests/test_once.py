"""The strict once_differentiable: an error in the cases in which torch's own gives a wrong number."""

import subprocess
import sys

import pytest
import torch
from torch.autograd.function import once_differentiable as torchs

import customgrad
from customgrad import once_differentiable


def cube(decorator, keep):
    """x³ whose backward is marked; it keeps its input, its output and input, or nothing by save_for_backward."""

    class Cube(torch.autograd.Function):
        generate_vmap_rule = True

        @staticmethod
        def forward(x):
            return x**3

        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.x = inputs[0].detach()
            if keep == "input":
                ctx.save_for_backward(*inputs)
            elif keep == "output":
                ctx.save_for_backward(output)

        @staticmethod
        @decorator
        def backward(ctx, grad_output):
            return 3 * ctx.x**2 * grad_output

    return Cube


# How a second derivative is asked for: of x³ + (dx³/dx)², which is 12 + 288 at x = 2.
def by_backward(x, y, g):
    (y + g**2).backward()
    return x.grad


def by_grad(x, y, g):
    return torch.autograd.grad(y + g**2, x)[0]


def of_the_gradient_alone(x, y, g):
    return torch.autograd.grad(g**2, x, allow_unused=True)[0]


WAYS = [by_backward, by_grad, of_the_gradient_alone]
MESSAGE = (
    r"^Cube: its backward must not be differentiated, got a derivative of its gradient; "
    r"use a Function whose backward has one, or leave out create_graph=True$"
)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("keep", ["input", "output", "nothing"])
def test_differentiating_twice_is_refused(way, keep):
    x = torch.tensor(2.0, requires_grad=True)
    y = cube(once_differentiable, keep).apply(x)
    (g,) = torch.autograd.grad(y, x, create_graph=True)
    assert g.item() == 12
    with pytest.raises(RuntimeError, match=MESSAGE):
        way(x, y, g)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("keep", ["input", "output"])
def test_an_intermediate_tensor_is_no_way_round(way, keep):
    x = torch.tensor(2.0, requires_grad=True)
    h = x * 1
    h.retain_grad()
    y = cube(once_differentiable, keep).apply(h)
    (g,) = torch.autograd.grad(y, h, create_graph=True)
    with pytest.raises(RuntimeError, match=MESSAGE):
        way(h, y, g)


def test_a_cotangent_that_needs_a_gradient_is_refused_too():
    x, w = (torch.tensor(2.0, requires_grad=True) for _ in range(2))
    (g,) = torch.autograd.grad(
        cube(once_differentiable, "nothing").apply(x) * w, x, create_graph=True
    )
    with pytest.raises(RuntimeError, match=MESSAGE):
        torch.autograd.grad(g, w)


def test_torchs_own_gives_a_wrong_number():
    """Why there is another one; where torch mends it, this fails, and the strict one may go."""
    x = torch.tensor(2.0, requires_grad=True)
    y = cube(torchs, "input").apply(x)
    (g,) = torch.autograd.grad(y, x, create_graph=True)
    assert by_backward(x, y, g).item() == 12  # 300 would be right


def test_the_first_derivative_is_left_alone():
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    marked = cube(once_differentiable, "input")
    (g,) = torch.autograd.grad(marked.apply(x).sum(), x)
    assert g.tolist() == [3.0, 12.0]
    assert g.grad_fn is None
    assert torch.func.vmap(torch.func.grad(marked.apply))(x.detach()).tolist() == [3.0, 12.0]
    with pytest.raises(RuntimeError, match="its backward must not be differentiated"):
        torch.func.grad(torch.func.grad(marked.apply))(torch.tensor(2.0))


@pytest.mark.parametrize("create_graph", [False, True])
def test_backward_runs_without_recording(create_graph):
    inside = []

    class Square(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x**2

        @staticmethod
        @once_differentiable
        def backward(ctx, grad_output):
            (x,) = ctx.saved_tensors
            grad = 2 * x * grad_output
            inside.append(grad.requires_grad)
            return grad

    x = torch.tensor(3.0, requires_grad=True)
    (grad,) = torch.autograd.grad(Square.apply(x), x, create_graph=create_graph)
    assert grad.item() == 6.0
    assert inside == [False]
    assert grad.requires_grad is create_graph  # the node that raises


def test_none_and_several_gradients():
    class Pair(torch.autograd.Function):
        @staticmethod
        def forward(ctx, a, n, b):
            ctx.save_for_backward(a, b)
            return a * b

        @staticmethod
        @once_differentiable
        def backward(ctx, grad_output):
            a, b = ctx.saved_tensors
            return grad_output * b, None, grad_output * a

    a, b = (torch.tensor(v, requires_grad=True) for v in (2.0, 5.0))
    ga, gb = torch.autograd.grad(Pair.apply(a, 3, b), (a, b), create_graph=True)
    assert (ga.item(), gb.item()) == (5.0, 2.0)
    with pytest.raises(RuntimeError, match=r"^Pair: its backward"):
        torch.autograd.grad(ga, b)


def test_importing_the_package_alone_needs_no_torch():
    code = "import sys, customgrad; print('torch' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
    assert customgrad.once_differentiable is once_differentiable
    with pytest.raises(AttributeError, match="has no attribute 'twice'"):
        _ = customgrad.twice
