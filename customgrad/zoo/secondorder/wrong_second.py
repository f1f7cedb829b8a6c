"""Backward is a Function of its own, whose backward has the wrong formula.

Source: https://github.com/tensorflow/tensorflow/issues/3767
"""

# ruff: noqa: D101, D102
import torch


# --8<-- [start:broken]
class BrokenGradient(torch.autograd.Function):
    generate_vmap_rule = True

    @staticmethod
    def forward(input, grad_output):
        part = torch.sigmoid(input)
        return grad_output * part * (1 - part)

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs)

    @staticmethod
    def backward(ctx, grad):
        input, grad_output = ctx.saved_tensors
        part = torch.sigmoid(input)
        slope = part * (1 - part)
        grad_input = grad_grad = None
        if ctx.needs_input_grad[0]:
            second = slope * (1 - part)
            grad_input = grad * grad_output * second
        if ctx.needs_input_grad[1]:
            grad_grad = grad * slope
        return grad_input, grad_grad


class Broken(torch.autograd.Function):
    generate_vmap_rule = True

    @staticmethod
    def forward(input):
        if not input.is_floating_point():
            raise TypeError("expected a float tensor")
        return torch.sigmoid(input)

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs)

    @staticmethod
    def backward(ctx, grad_output):
        return BrokenGradient.apply(*ctx.saved_tensors, grad_output)


# --8<-- [end:broken]


# --8<-- [start:repaired]
class RepairedGradient(torch.autograd.Function):
    generate_vmap_rule = True

    @staticmethod
    def forward(input, grad_output):
        part = torch.sigmoid(input)
        return grad_output * part * (1 - part)

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs)

    @staticmethod
    def backward(ctx, grad):
        input, grad_output = ctx.saved_tensors
        part = torch.sigmoid(input)
        slope = part * (1 - part)
        grad_input = grad_grad = None
        if ctx.needs_input_grad[0]:
            second = slope * (1 - 2 * part)  # of part - part**2
            grad_input = grad * grad_output * second
        if ctx.needs_input_grad[1]:
            grad_grad = grad * slope
        return grad_input, grad_grad


class Repaired(torch.autograd.Function):
    generate_vmap_rule = True

    @staticmethod
    def forward(input):
        if not input.is_floating_point():
            raise TypeError("expected a float tensor")
        return torch.sigmoid(input)

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs)

    @staticmethod
    def backward(ctx, grad_output):
        return RepairedGradient.apply(*ctx.saved_tensors, grad_output)


# --8<-- [end:repaired]


def sample_inputs() -> tuple[object, ...]:
    """Return inputs as a user would give them."""
    return (torch.randn(3, 4, dtype=torch.float64, requires_grad=True),)
