"""The output is a view of the input, which the caller cannot change in place.

Source: https://github.com/pytorch/pytorch/issues/61519
"""

# ruff: noqa: D101, D102
import torch


# --8<-- [start:broken]
class Broken(torch.autograd.Function):
    generate_vmap_rule = True

    @staticmethod
    def forward(input, start):
        return input[..., start:]

    @staticmethod
    def setup_context(ctx, inputs, output):
        input, _ = inputs
        ctx.missing = input.shape[-1] - output.shape[-1]

    @staticmethod
    def backward(ctx, grad_output):
        pad = torch.nn.functional.pad
        return pad(grad_output, (ctx.missing, 0)), None


# --8<-- [end:broken]


# --8<-- [start:repaired]
class Repaired(torch.autograd.Function):
    generate_vmap_rule = True

    @staticmethod
    def forward(input, start):
        # Memory of its own.
        return input[..., start:].clone()

    @staticmethod
    def setup_context(ctx, inputs, output):
        input, _ = inputs
        ctx.missing = input.shape[-1] - output.shape[-1]

    @staticmethod
    def backward(ctx, grad_output):
        pad = torch.nn.functional.pad
        return pad(grad_output, (ctx.missing, 0)), None


# --8<-- [end:repaired]


def sample_inputs() -> tuple[object, ...]:
    """Return inputs as a user would give them."""
    input = torch.randn(3, 4, dtype=torch.float64, requires_grad=True)
    return input, 1
