"""Forward takes a tensor without dimensions, and backward asks for the size of its last one.

Source: https://github.com/chainer/chainer/issues/1152
"""

# ruff: noqa: D101, D102
import torch


# --8<-- [start:broken]
class Broken(torch.autograd.Function):
    generate_vmap_rule = True

    @staticmethod
    def forward(input):
        return input - input.mean(-1, keepdim=True)

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.shape = output.shape

    @staticmethod
    def backward(ctx, grad_output):
        total = grad_output.sum(-1, keepdim=True)
        return grad_output - total / ctx.shape[-1]


# --8<-- [end:broken]


# --8<-- [start:repaired]
class Repaired(torch.autograd.Function):
    generate_vmap_rule = True

    @staticmethod
    def forward(input):
        return input - input.mean(-1, keepdim=True)

    @staticmethod
    def setup_context(ctx, inputs, output):
        pass

    @staticmethod
    def backward(ctx, grad_output):
        # mean knows what to do without dimensions.
        return grad_output - grad_output.mean(-1, keepdim=True)


# --8<-- [end:repaired]


def sample_inputs() -> tuple[object, ...]:
    """Return inputs as a user would give them."""
    return (torch.randn(3, 4, dtype=torch.float64, requires_grad=True),)
