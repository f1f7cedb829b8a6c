"""Backward works in blocks of four and leaves the remainder at zero.

Source: https://github.com/1bit-MONSTER/1bit-MONSTER/issues/301
"""

# ruff: noqa: D101, D102
import torch


# --8<-- [start:broken]
class Broken(torch.autograd.Function):
    generate_vmap_rule = True

    @staticmethod
    def forward(input):
        return torch.special.erf(input)

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs)

    @staticmethod
    def backward(ctx, grad_output):
        (input,) = ctx.saved_tensors
        x, g = input.reshape(-1), grad_output.reshape(-1)
        out = []
        for i in range(len(x) // 4):
            block = slice(4 * i, 4 * i + 4)
            slope = 2 / torch.pi**0.5 * torch.exp(-(x[block] ** 2))
            out.append(g[block] * slope)
        out.append(torch.zeros_like(x[4 * len(out) :]))
        return torch.cat(out).reshape(input.shape)


# --8<-- [end:broken]


# --8<-- [start:repaired]
class Repaired(torch.autograd.Function):
    generate_vmap_rule = True

    @staticmethod
    def forward(input):
        return torch.special.erf(input)

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs)

    @staticmethod
    def backward(ctx, grad_output):
        (input,) = ctx.saved_tensors
        x, g = input.reshape(-1), grad_output.reshape(-1)
        out = [torch.zeros_like(x[:0])]
        # Rounded up: the last block may be short.
        for i in range((len(x) + 3) // 4):
            block = slice(4 * i, 4 * i + 4)
            slope = 2 / torch.pi**0.5 * torch.exp(-(x[block] ** 2))
            out.append(g[block] * slope)
        return torch.cat(out).reshape(input.shape)


# --8<-- [end:repaired]


def sample_inputs() -> tuple[object, ...]:
    """Return inputs as a user would give them."""
    return (torch.randn(2, 4, dtype=torch.float64, requires_grad=True),)
