"""Both gradients are views of one tensor, and end up as one piece of memory.

Source: https://github.com/pytorch/pytorch/issues/34082
"""

# ruff: noqa: D101, D102
import torch


# --8<-- [start:broken]
class Broken(torch.autograd.Function):
    generate_vmap_rule = True

    @staticmethod
    def forward(input, other):
        if input.shape != other.shape:
            raise ValueError("expected two tensors of one shape")
        return input + other

    @staticmethod
    def setup_context(ctx, inputs, output):
        pass

    @staticmethod
    def backward(ctx, grad_output):
        grads = []
        for needed in ctx.needs_input_grad:
            gradient = grad_output.view_as(grad_output)
            grads.append(gradient if needed else None)
        return tuple(grads)


# --8<-- [end:broken]


# --8<-- [start:repaired]
class Repaired(torch.autograd.Function):
    generate_vmap_rule = True

    @staticmethod
    def forward(input, other):
        if input.shape != other.shape:
            raise ValueError("expected two tensors of one shape")
        return input + other

    @staticmethod
    def setup_context(ctx, inputs, output):
        pass

    @staticmethod
    def backward(ctx, grad_output):
        grads = []
        for needed in ctx.needs_input_grad:
            # The engine sees that it is one tensor, and copies.
            gradient = grad_output
            grads.append(gradient if needed else None)
        return tuple(grads)


# --8<-- [end:repaired]


def sample_inputs() -> tuple[object, ...]:
    """Return inputs as a user would give them."""
    input = torch.randn(3, 4, dtype=torch.float64, requires_grad=True)
    other = torch.randn(3, 4, dtype=torch.float64, requires_grad=True)
    return input, other
