"""The gradient of a per-channel factor is summed over the wrong axes.

Where the two axes are of one length nothing complains, and every channel learns from the wrong sum.

Source: https://github.com/ooples/AiDotNet.Tensors/issues/234
"""

# ruff: noqa: D101, D102
import torch


# --8<-- [start:broken]
class Broken(torch.autograd.Function):
    generate_vmap_rule = True

    @staticmethod
    def forward(input, scale):
        if input.dim() != 3 or scale.shape != input.shape[1:2]:
            raise ValueError("input: batch, channel, time")
        return input * scale[:, None]

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs)

    @staticmethod
    def backward(ctx, grad_output):
        input, scale = ctx.saved_tensors
        grad_input = grad_scale = None
        if ctx.needs_input_grad[0]:
            grad_input = grad_output * scale[:, None].conj()
        if ctx.needs_input_grad[1]:
            grad_scale = (grad_output * input.conj()).sum((0, 1))
        return grad_input, grad_scale


# --8<-- [end:broken]


# --8<-- [start:repaired]
class Repaired(torch.autograd.Function):
    generate_vmap_rule = True

    @staticmethod
    def forward(input, scale):
        if input.dim() != 3 or scale.shape != input.shape[1:2]:
            raise ValueError("input: batch, channel, time")
        return input * scale[:, None]

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs)

    @staticmethod
    def backward(ctx, grad_output):
        input, scale = ctx.saved_tensors
        grad_input = grad_scale = None
        if ctx.needs_input_grad[0]:
            grad_input = grad_output * scale[:, None].conj()
        if ctx.needs_input_grad[1]:
            # Over batch and time; the channel stays.
            grad_scale = (grad_output * input.conj()).sum((0, 2))
        return grad_input, grad_scale


# --8<-- [end:repaired]


def sample_inputs() -> tuple[object, ...]:
    """Return inputs as a user would give them."""
    return (
        torch.randn(2, 3, 4, dtype=torch.float64, requires_grad=True),
        torch.randn(3, dtype=torch.float64, requires_grad=True),
    )
