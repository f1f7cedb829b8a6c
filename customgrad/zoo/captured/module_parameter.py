"""The argument is a module, whose parameter silently gets no gradient.

Source: https://github.com/pytorch/pytorch/issues/74725
"""

# ruff: noqa: D101, D102
import torch


# --8<-- [start:broken]
class Broken(torch.autograd.Function):
    @staticmethod
    def forward(input, layer):
        if layer.weight.shape != input.shape[-1:]:
            raise ValueError("expected one weight for each feature")
        return input * layer.weight

    @staticmethod
    def setup_context(ctx, inputs, output):
        _, ctx.layer = inputs

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output * ctx.layer.weight.conj(), None


# --8<-- [end:broken]


# --8<-- [start:repaired]
class Repaired(torch.autograd.Function):
    generate_vmap_rule = True

    # The tensor itself is the argument.
    @staticmethod
    def forward(input, weight):
        if weight.shape != input.shape[-1:]:
            raise ValueError("expected one weight for each feature")
        return input * weight

    @staticmethod
    def setup_context(ctx, inputs, output):
        input, weight = inputs
        needs_input, needs_weight = ctx.needs_input_grad
        ctx.save_for_backward(
            input if needs_weight else None,
            weight if needs_input else None,
        )

    @staticmethod
    def backward(ctx, grad_output):
        input, weight = ctx.saved_tensors
        grad_input = grad_weight = None
        if ctx.needs_input_grad[0]:
            grad_input = grad_output * weight.conj()
        if ctx.needs_input_grad[1]:
            each = grad_output * input.conj()
            grad_weight = each.sum_to_size(each.shape[-1:])
        return grad_input, grad_weight


# --8<-- [end:repaired]


def sample_inputs() -> tuple[object, ...]:
    """Return inputs as a user would give them."""
    layer = torch.nn.RMSNorm(4, dtype=torch.float64)
    return torch.randn(3, 4, dtype=torch.float64, requires_grad=True), layer


def repaired_inputs() -> tuple[object, ...]:
    """Return the same inputs in the form that the repaired Function takes."""
    input, layer = sample_inputs()
    return input, layer.weight
