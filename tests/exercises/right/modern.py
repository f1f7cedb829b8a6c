# === saves by index
import torch


class ScaledCube(torch.autograd.Function):
    generate_vmap_rule = True

    @staticmethod
    def forward(x, scale):
        return x * x * x * scale

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(inputs[0])
        ctx.scale = inputs[1]

    @staticmethod
    def backward(ctx, g):
        x = ctx.saved_tensors[0]
        return g * (3 * ctx.scale) * x * x, None


# === a rule for vmap written by hand
import torch
from torch.autograd import Function


class ScaledCube(Function):
    @staticmethod
    def forward(x, scale):
        return scale * x.pow(3)

    @staticmethod
    def setup_context(ctx, inputs, output):
        x, scale = inputs
        ctx.save_for_backward(x)
        ctx.scale = scale

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        return 3 * ctx.scale * x.pow(2) * grad_output, None

    @staticmethod
    def vmap(info, in_dims, x, scale):
        return ScaledCube.apply(x, scale), in_dims[0]


# === asks what is needed, a helper
import torch


def slope(x, scale):
    return 3 * scale * x**2


class ScaledCube(torch.autograd.Function):
    generate_vmap_rule = True

    @staticmethod
    def forward(x, scale):
        return torch.mul(x**3, scale)

    @staticmethod
    def setup_context(ctx, inputs, output):
        (x, ctx.factor) = inputs
        ctx.save_for_backward(x)
        ctx.save_for_forward(x)

    @staticmethod
    def backward(ctx, dy):
        if not ctx.needs_input_grad[0]:
            return None, None
        (x,) = ctx.saved_tensors
        return dy * slope(x, ctx.factor), None

    @staticmethod
    def jvp(ctx, dx, _):
        (x,) = ctx.saved_tensors
        return dx * slope(x, ctx.factor)
