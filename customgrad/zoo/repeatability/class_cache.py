"""Forward keeps its input on the class, where the next call overwrites it.

One call before each backward works, so tests of one layer pass; two layers share the last input.

Source: https://github.com/pytorch/pytorch/issues/16947
"""

# ruff: noqa: D101, D102
import torch


# --8<-- [start:broken]
class Broken(torch.autograd.Function):
    kept = None

    @staticmethod
    def forward(input):
        return torch.special.erf(input)

    @staticmethod
    def setup_context(ctx, inputs, output):
        (Broken.kept,) = inputs

    @staticmethod
    def backward(ctx, grad_output):
        input = Broken.kept
        slope = 2 / torch.pi**0.5 * torch.exp(-input * input)
        return grad_output * slope


# --8<-- [end:broken]


# --8<-- [start:repaired]
class Repaired(torch.autograd.Function):
    generate_vmap_rule = True

    @staticmethod
    def forward(input):
        return torch.special.erf(input)

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs)  # this call's own

    @staticmethod
    def backward(ctx, grad_output):
        (input,) = ctx.saved_tensors
        slope = 2 / torch.pi**0.5 * torch.exp(-input * input)
        return grad_output * slope


# --8<-- [end:repaired]


def sample_inputs() -> tuple[object, ...]:
    """Return inputs as a user would give them."""
    return (torch.randn(3, 4, dtype=torch.float64, requires_grad=True),)
