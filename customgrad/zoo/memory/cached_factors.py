"""A list of intermediates on ctx outlives backward, and hides them from double backward.

Source: https://github.com/dmlc/dgl/pull/1060
"""

# ruff: noqa: D101, D102
import torch


# --8<-- [start:broken]
class Broken(torch.autograd.Function):
    generate_vmap_rule = True

    @staticmethod
    def forward(input):
        return input * input.sigmoid()

    @staticmethod
    def setup_context(ctx, inputs, output):
        (input,) = inputs
        ctx.factors = [input, input.sigmoid()]

    @staticmethod
    def backward(ctx, grad_output):
        input, gate = ctx.factors
        slope = gate * (1 + input * (1 - gate))
        return grad_output * slope.conj()


# --8<-- [end:broken]


# --8<-- [start:repaired]
class Repaired(torch.autograd.Function):
    generate_vmap_rule = True

    @staticmethod
    def forward(input):
        return input * input.sigmoid()

    @staticmethod
    def setup_context(ctx, inputs, output):
        (input,) = inputs
        ctx.save_for_backward(input)

    @staticmethod
    def backward(ctx, grad_output):
        (input,) = ctx.saved_tensors
        # Computed here, so that it depends on the input.
        gate = input.sigmoid()
        slope = gate * (1 + input * (1 - gate))
        return grad_output * slope.conj()


# --8<-- [end:repaired]


def sample_inputs() -> tuple[object, ...]:
    """Return inputs as a user would give them."""
    return (torch.randn(3, 4, dtype=torch.float64, requires_grad=True),)
