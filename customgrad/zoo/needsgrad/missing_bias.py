"""A gradient is returned for the bias even when the bias is None, which the engine refuses.

Source: https://github.com/pytorch/pytorch/issues/74725
"""

# ruff: noqa: D101, D102
import torch


# --8<-- [start:broken]
class Broken(torch.autograd.Function):
    generate_vmap_rule = True

    @staticmethod
    def forward(input, bias=None):
        if bias is None:
            return input.tanh()
        if bias.shape != input.shape[-1:]:
            raise ValueError("expected one bias for each feature")
        return (input + bias).tanh()

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(output)

    @staticmethod
    def backward(ctx, grad_output):
        (output,) = ctx.saved_tensors
        grad = grad_output * (1 - output**2).conj()
        grad_bias = grad.sum_to_size(grad.shape[-1:])
        return grad, grad_bias


# --8<-- [end:broken]


# --8<-- [start:repaired]
class Repaired(torch.autograd.Function):
    generate_vmap_rule = True

    @staticmethod
    def forward(input, bias=None):
        if bias is None:
            return input.tanh()
        if bias.shape != input.shape[-1:]:
            raise ValueError("expected one bias for each feature")
        return (input + bias).tanh()

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(output)

    @staticmethod
    def backward(ctx, grad_output):
        (output,) = ctx.saved_tensors
        grad = grad_output * (1 - output**2).conj()
        grad_bias = None
        # False as well for a bias of None.
        if ctx.needs_input_grad[1]:
            grad_bias = grad.sum_to_size(grad.shape[-1:])
        return grad if ctx.needs_input_grad[0] else None, grad_bias


# --8<-- [end:repaired]


def sample_inputs() -> tuple[object, ...]:
    """Return inputs as a user would give them."""
    input = torch.randn(3, 4, dtype=torch.float64, requires_grad=True)
    bias = torch.randn(4, dtype=torch.float64, requires_grad=True)
    return input, bias
