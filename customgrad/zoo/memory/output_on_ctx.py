"""The output is an attribute of ctx: a reference cycle, which only the garbage collector frees.

Source: https://github.com/pytorch/pytorch/issues/25340
"""

# ruff: noqa: D101, D102
import torch


# --8<-- [start:broken]
class Broken(torch.autograd.Function):
    generate_vmap_rule = True

    @staticmethod
    def forward(input):
        return input.exp()

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.output = output

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output * ctx.output.conj()


# --8<-- [end:broken]


# --8<-- [start:repaired]
class Repaired(torch.autograd.Function):
    generate_vmap_rule = True

    @staticmethod
    def forward(input):
        return input.exp()

    @staticmethod
    def setup_context(ctx, inputs, output):
        # A saved output does not hold its own grad_fn.
        ctx.save_for_backward(output)

    @staticmethod
    def backward(ctx, grad_output):
        (output,) = ctx.saved_tensors
        return grad_output * output.conj()


# --8<-- [end:repaired]


def sample_inputs() -> tuple[object, ...]:
    """Return inputs as a user would give them."""
    return (torch.randn(3, 4, dtype=torch.float64, requires_grad=True),)
