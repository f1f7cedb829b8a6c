"""forward reads a trainable tensor of the module, which silently gets no gradient.

Source: https://github.com/pytorch/pytorch/pull/90966
"""

# ruff: noqa: D101, D102
import torch

# --8<-- [start:broken]
SCALE = torch.tensor(1.5, dtype=torch.float64, requires_grad=True)


class Broken(torch.autograd.Function):
    @staticmethod
    def forward(input):
        return input * SCALE

    @staticmethod
    def setup_context(ctx, inputs, output):
        pass

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output * SCALE


# --8<-- [end:broken]


# --8<-- [start:repaired]
class Repaired(torch.autograd.Function):
    generate_vmap_rule = True

    # What is to be trained is an argument.
    @staticmethod
    def forward(input, scale):
        return input * scale

    @staticmethod
    def setup_context(ctx, inputs, output):
        input, scale = inputs
        ctx.shapes = input.shape, scale.shape
        needs_input, needs_scale = ctx.needs_input_grad
        ctx.save_for_backward(
            input if needs_scale else None,
            scale if needs_input else None,
        )

    @staticmethod
    def backward(ctx, grad_output):
        input, scale = ctx.saved_tensors
        input_shape, scale_shape = ctx.shapes
        grad_input = grad_scale = None
        if ctx.needs_input_grad[0]:
            each = grad_output * scale.conj()
            grad_input = each.sum_to_size(input_shape)
        if ctx.needs_input_grad[1]:
            each = grad_output * input.conj()
            grad_scale = each.sum_to_size(scale_shape)
        return grad_input, grad_scale


# --8<-- [end:repaired]


def sample_inputs() -> tuple[object, ...]:
    """Return inputs as a user would give them."""
    return (torch.randn(3, 4, dtype=torch.float64, requires_grad=True),)


def repaired_inputs() -> tuple[object, ...]:
    """Return the same inputs in the form that the repaired Function takes."""
    return *sample_inputs(), SCALE.detach().clone().requires_grad_()
