"""The vmap rule runs forward on the whole batch, and takes the mean over all examples.

Source: https://docs.pytorch.org/docs/stable/notes/extending.func.html
"""

# ruff: noqa: D101, D102
import torch


# --8<-- [start:broken]
class Broken(torch.autograd.Function):
    @staticmethod
    def forward(input):
        return input - input.mean()

    @staticmethod
    def setup_context(ctx, inputs, output):
        pass

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output - grad_output.mean()

    @staticmethod
    def vmap(info, in_dims, input):
        (batch,) = in_dims
        return Broken.apply(input), batch


# --8<-- [end:broken]


# --8<-- [start:repaired]
class Repaired(torch.autograd.Function):
    # Torch's rule keeps the examples apart.
    generate_vmap_rule = True

    @staticmethod
    def forward(input):
        return input - input.mean()

    @staticmethod
    def setup_context(ctx, inputs, output):
        pass

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output - grad_output.mean()


# --8<-- [end:repaired]


def sample_inputs() -> tuple[object, ...]:
    """Return inputs as a user would give them."""
    return (torch.randn(3, 4, dtype=torch.float64, requires_grad=True),)
