"""Forward asks a flattened copy whether a gradient is wanted, and a copy never wants one.

Of a contiguous input ``flatten`` makes a view, which still says ``requires_grad``. Of any other it
makes a copy, in forward without a graph: backward then returns None, and training goes on without
this gradient.

Source: https://github.com/verl-project/verl/pull/7235
"""

# ruff: noqa: D101, D102
import torch


# --8<-- [start:broken]
class Broken(torch.autograd.Function):
    @staticmethod
    def forward(ctx, input, weight):
        rows = input.flatten(0, -2)
        ctx.save_for_backward(input, weight)
        ctx.wanted = rows.requires_grad, weight.requires_grad
        return (rows @ weight).view(input.shape[:-1])

    @staticmethod
    def backward(ctx, grad_output):
        input, weight = ctx.saved_tensors
        grad = grad_output.unsqueeze(-1)
        grad_input = grad_weight = None
        if ctx.wanted[0]:
            grad_input = grad * weight.conj()
        if ctx.wanted[1]:
            each = grad * input.conj()
            grad_weight = each.sum_to_size(weight.shape)
        return grad_input, grad_weight


# --8<-- [end:broken]


# --8<-- [start:repaired]
class Repaired(torch.autograd.Function):
    @staticmethod
    def forward(ctx, input, weight):
        rows = input.flatten(0, -2)
        ctx.save_for_backward(input, weight)
        return (rows @ weight).view(input.shape[:-1])

    @staticmethod
    def backward(ctx, grad_output):
        input, weight = ctx.saved_tensors
        grad = grad_output.unsqueeze(-1)
        grad_input = grad_weight = None
        # Autograd's own record of what is wanted.
        if ctx.needs_input_grad[0]:
            grad_input = grad * weight.conj()
        if ctx.needs_input_grad[1]:
            each = grad * input.conj()
            grad_weight = each.sum_to_size(weight.shape)
        return grad_input, grad_weight


# --8<-- [end:repaired]


def sample_inputs() -> tuple[object, ...]:
    """Return inputs as a user would give them."""
    return (
        torch.randn(2, 3, 4, dtype=torch.float64, requires_grad=True),
        torch.randn(4, dtype=torch.float64, requires_grad=True),
    )
