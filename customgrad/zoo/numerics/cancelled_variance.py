"""Backward makes the variance as E[x²] - E[x]², which cancels where the mean is large.

In float32 a mean of 1000 with a spread of 1 is enough.

Source: https://github.com/tracel-ai/burn/issues/5607
"""

# ruff: noqa: D101, D102
import torch


# --8<-- [start:broken]
class Broken(torch.autograd.Function):
    generate_vmap_rule = True

    @staticmethod
    def forward(input):
        if not input.is_floating_point() or not input.dim():
            raise TypeError("expected a float tensor with rows")
        centred = input - input.mean(-1, keepdim=True)
        variance = centred.square().mean(-1, keepdim=True)
        return centred * torch.rsqrt(variance + 1e-3)

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs, output)

    @staticmethod
    def backward(ctx, grad_output):
        input, output = ctx.saved_tensors
        mean = input.mean(-1, keepdim=True)
        square = input.square().mean(-1, keepdim=True)
        scale = torch.rsqrt(square - mean**2 + 1e-3)
        grad = grad_output - grad_output.mean(-1, keepdim=True)
        along = (grad_output * output).mean(-1, keepdim=True)
        return scale * (grad - output * along)


# --8<-- [end:broken]


# --8<-- [start:repaired]
class Repaired(torch.autograd.Function):
    generate_vmap_rule = True

    @staticmethod
    def forward(input):
        if not input.is_floating_point() or not input.dim():
            raise TypeError("expected a float tensor with rows")
        centred = input - input.mean(-1, keepdim=True)
        variance = centred.square().mean(-1, keepdim=True)
        return centred * torch.rsqrt(variance + 1e-3)

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs, output)

    @staticmethod
    def backward(ctx, grad_output):
        input, output = ctx.saved_tensors
        # Centred before it is squared.
        centred = input - input.mean(-1, keepdim=True)
        square = centred.square().mean(-1, keepdim=True)
        scale = torch.rsqrt(square + 1e-3)
        grad = grad_output - grad_output.mean(-1, keepdim=True)
        along = (grad_output * output).mean(-1, keepdim=True)
        return scale * (grad - output * along)


# --8<-- [end:repaired]


def sample_inputs() -> tuple[object, ...]:
    """Return inputs as a user would give them."""
    return (torch.randn(3, 4, dtype=torch.float64, requires_grad=True),)
