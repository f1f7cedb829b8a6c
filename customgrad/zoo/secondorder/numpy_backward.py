"""Backward leaves torch for NumPy, and does not say that it can be differentiated only once.

A gradient penalty then gets a slope without a graph, and trains on a part of its gradient.

Source: https://github.com/pytorch/pytorch/issues/76185
"""

# ruff: noqa: D101, D102
import numpy as np
import torch


# --8<-- [start:broken]
class Broken(torch.autograd.Function):
    @staticmethod
    def forward(input):
        if not input.is_floating_point():
            raise TypeError("expected a float tensor")
        return torch.from_numpy(np.asarray(np.sin(input.numpy())))

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs)

    @staticmethod
    def backward(ctx, grad_output):
        (input,) = ctx.saved_tensors
        slope = np.asarray(np.cos(input.detach().numpy()))
        return grad_output * torch.from_numpy(slope)


# --8<-- [end:broken]


# --8<-- [start:repaired]
class Repaired(torch.autograd.Function):
    @staticmethod
    def forward(input):
        if not input.is_floating_point():
            raise TypeError("expected a float tensor")
        return torch.from_numpy(np.asarray(np.sin(input.numpy())))

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs)

    @staticmethod
    def backward(ctx, grad_output):
        (input,) = ctx.saved_tensors
        # Torch's own cosine: it has a graph.
        return grad_output * torch.cos(input)


# --8<-- [end:repaired]


def sample_inputs() -> tuple[object, ...]:
    """Return inputs as a user would give them."""
    return (torch.randn(3, 4, dtype=torch.float64, requires_grad=True),)
