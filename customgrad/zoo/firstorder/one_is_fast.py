"""A shortcut for a cotangent of 1 hides that the other path is wrong.

The other path forgets that the loss is a mean. Tests call ``backward()`` on the loss itself, and
never take it.

Source: https://github.com/NVIDIA/TransformerEngine/pull/2139
"""

# ruff: noqa: D101, D102
import torch


# --8<-- [start:broken]
class Broken(torch.autograd.Function):
    @staticmethod
    def forward(input):
        return torch.nn.functional.softplus(input).mean()

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs)

    @staticmethod
    def backward(ctx, grad_output):
        (input,) = ctx.saved_tensors
        slope = torch.sigmoid(input)
        if torch.equal(grad_output, torch.ones_like(grad_output)):
            return slope / input.numel() * grad_output
        return slope * grad_output


# --8<-- [end:broken]


# --8<-- [start:repaired]
class Repaired(torch.autograd.Function):
    generate_vmap_rule = True

    @staticmethod
    def forward(input):
        return torch.nn.functional.softplus(input).mean()

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs)

    @staticmethod
    def backward(ctx, grad_output):
        (input,) = ctx.saved_tensors
        slope = torch.sigmoid(input)
        # One path, whatever the cotangent is.
        return slope / input.numel() * grad_output


# --8<-- [end:repaired]


def sample_inputs() -> tuple[object, ...]:
    """Return inputs as a user would give them."""
    return (torch.randn(3, 4, dtype=torch.float64, requires_grad=True),)
