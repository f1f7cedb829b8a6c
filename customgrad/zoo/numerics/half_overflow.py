"""Forward squares in float64, backward in the input's own dtype: in float16 what is above 255 overflows.

The scale is then 1 / inf, 0, and so is the gradient.

Source: https://github.com/pytorch/pytorch/pull/133085
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
        wide = input.double()
        scale = wide.square().mean(-1, True).add(1e-5).rsqrt()
        return (wide * scale).to(input.dtype)

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs)

    @staticmethod
    def backward(ctx, grad_output):
        (input,) = ctx.saved_tensors
        scale = input.square().mean(-1, True).add(1e-5).rsqrt()
        wide, grad = input.double(), grad_output.double()
        output = wide * scale
        along = (grad * output).mean(-1, True)
        return (scale * (grad - output * along)).to(input.dtype)


# --8<-- [end:broken]


# --8<-- [start:repaired]
class Repaired(torch.autograd.Function):
    generate_vmap_rule = True

    @staticmethod
    def forward(input):
        if not input.is_floating_point() or not input.dim():
            raise TypeError("expected a float tensor with rows")
        wide = input.double()
        scale = wide.square().mean(-1, True).add(1e-5).rsqrt()
        return (wide * scale).to(input.dtype)

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs)

    @staticmethod
    def backward(ctx, grad_output):
        (input,) = ctx.saved_tensors
        # Widened before it is squared, as in forward.
        wide, grad = input.double(), grad_output.double()
        scale = wide.square().mean(-1, True).add(1e-5).rsqrt()
        output = wide * scale
        along = (grad * output).mean(-1, True)
        return (scale * (grad - output * along)).to(input.dtype)


# --8<-- [end:repaired]


def sample_inputs() -> tuple[object, ...]:
    """Return inputs as a user would give them."""
    return (torch.randn(3, 4, dtype=torch.float64, requires_grad=True),)
