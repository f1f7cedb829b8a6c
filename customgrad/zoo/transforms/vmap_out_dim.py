"""The vmap rule says that the batch is dimension 0 of the output, wherever it was in the input.

Source: https://github.com/pytorch/pytorch/pull/92023
"""

# ruff: noqa: D101, D102
import torch


# --8<-- [start:broken]
class Broken(torch.autograd.Function):
    @staticmethod
    def forward(input):
        return input.exp()

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(output)

    @staticmethod
    def backward(ctx, grad_output):
        (output,) = ctx.saved_tensors
        return grad_output * output.conj()

    @staticmethod
    def vmap(info, in_dims, input):
        return Broken.apply(input), 0


# --8<-- [end:broken]


# --8<-- [start:repaired]
class Repaired(torch.autograd.Function):
    @staticmethod
    def forward(input):
        return input.exp()

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(output)

    @staticmethod
    def backward(ctx, grad_output):
        (output,) = ctx.saved_tensors
        return grad_output * output.conj()

    @staticmethod
    def vmap(info, in_dims, input):
        (batch,) = in_dims
        # Elementwise: the batch stays where it was.
        return Repaired.apply(input), batch


# --8<-- [end:repaired]


def sample_inputs() -> tuple[object, ...]:
    """Return inputs as a user would give them."""
    return (torch.randn(3, 4, dtype=torch.float64, requires_grad=True),)
