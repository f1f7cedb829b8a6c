"""Every call appends its mask to a list of the module, from which nothing is ever removed.

Source: https://github.com/dmlc/dgl/pull/1060
"""

# ruff: noqa: D101, D102
import torch

# --8<-- [start:broken]
MASKS = []


class Broken(torch.autograd.Function):
    @staticmethod
    def forward(input):
        return input.clamp(min=0)

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.place = len(MASKS)
        MASKS.append(output > 0)

    @staticmethod
    def backward(ctx, grad_output):
        return torch.where(MASKS[ctx.place], grad_output, 0)


# --8<-- [end:broken]


# --8<-- [start:repaired]
class Repaired(torch.autograd.Function):
    generate_vmap_rule = True

    @staticmethod
    def forward(input):
        return input.clamp(min=0)

    @staticmethod
    def setup_context(ctx, inputs, output):
        # Saved tensors live as long as the graph.
        ctx.save_for_backward(output)

    @staticmethod
    def backward(ctx, grad_output):
        (output,) = ctx.saved_tensors
        return torch.where(output > 0, grad_output, 0)


# --8<-- [end:repaired]


def sample_inputs() -> tuple[object, ...]:
    """Return inputs as a user would give them."""
    return (torch.randn(3, 4, dtype=torch.float64, requires_grad=True),)
