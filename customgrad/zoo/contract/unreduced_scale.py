"""A broadcast argument gets a gradient of the output's shape; only the engine's repair hides it.

The value is right once the engine has summed it. But backward holds as many elements as the output
has, and who calls this backward by hand, from another one, gets the wrong shape.

Source: https://github.com/pytorch/pytorch/issues/65244
"""

# ruff: noqa: D101, D102
import torch


# --8<-- [start:broken]
class Broken(torch.autograd.Function):
    generate_vmap_rule = True

    @staticmethod
    def forward(input, scale):
        if scale.shape != input.shape[-1:]:
            raise ValueError("scale: one factor for each column")
        return input * scale

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs)

    @staticmethod
    def backward(ctx, grad_output):
        input, scale = ctx.saved_tensors
        grad_input = grad_scale = None
        if ctx.needs_input_grad[0]:
            grad_input = grad_output * scale.conj()
        if ctx.needs_input_grad[1]:
            grad_scale = grad_output * input.conj()
        return grad_input, grad_scale


# --8<-- [end:broken]


# --8<-- [start:repaired]
class Repaired(torch.autograd.Function):
    generate_vmap_rule = True

    @staticmethod
    def forward(input, scale):
        if scale.shape != input.shape[-1:]:
            raise ValueError("scale: one factor for each column")
        return input * scale

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs)

    @staticmethod
    def backward(ctx, grad_output):
        input, scale = ctx.saved_tensors
        grad_input = grad_scale = None
        if ctx.needs_input_grad[0]:
            grad_input = grad_output * scale.conj()
        if ctx.needs_input_grad[1]:
            grad_scale = grad_output * input.conj()
            # The sum over what forward has broadcast.
            grad_scale = grad_scale.sum_to_size(scale.shape)
        return grad_input, grad_scale


# --8<-- [end:repaired]


def sample_inputs() -> tuple[object, ...]:
    """Return inputs as a user would give them."""
    return (
        torch.randn(3, 4, dtype=torch.float64, requires_grad=True),
        torch.randn(4, dtype=torch.float64, requires_grad=True),
    )
