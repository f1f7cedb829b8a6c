"""When both outputs are used, the second one's part of the gradient replaces the first one's.

Source: https://github.com/pytorch/pytorch/pull/41547
"""

# ruff: noqa: D101, D102
import torch


# --8<-- [start:broken]
class Broken(torch.autograd.Function):
    generate_vmap_rule = True

    @staticmethod
    def forward(input):
        return input.sin(), input.cos()

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.set_materialize_grads(False)
        ctx.save_for_backward(*output)

    @staticmethod
    def backward(ctx, grad_sin, grad_cos):
        sin, cos = ctx.saved_tensors
        grad_input = None
        if grad_sin is not None:
            grad_input = grad_sin * cos.conj()
        if grad_cos is not None:
            grad_input = -grad_cos * sin.conj()
        return grad_input


# --8<-- [end:broken]


# --8<-- [start:repaired]
class Repaired(torch.autograd.Function):
    generate_vmap_rule = True

    @staticmethod
    def forward(input):
        return input.sin(), input.cos()

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.set_materialize_grads(False)
        ctx.save_for_backward(*output)

    @staticmethod
    def backward(ctx, grad_sin, grad_cos):
        sin, cos = ctx.saved_tensors
        grad_input = torch.zeros_like(sin)
        if grad_sin is not None:
            grad_input = grad_input + grad_sin * cos.conj()
        if grad_cos is not None:
            # Added: the input reaches the loss on both ways.
            grad_input = grad_input - grad_cos * sin.conj()
        return grad_input


# --8<-- [end:repaired]


def sample_inputs() -> tuple[object, ...]:
    """Return inputs as a user would give them."""
    return (torch.randn(3, 4, dtype=torch.float64, requires_grad=True),)
