# === trailing None by unpacking
import torch


class ScaledTanh(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, scale, shift):
        t = x.tanh()
        ctx.save_for_backward(t)
        ctx.scale = scale
        return t.mul(scale).add(shift)

    @staticmethod
    def backward(ctx, grad):
        t = ctx.saved_tensors[0]
        return (grad * ctx.scale * (1 - t.square()), *[None] * 2)


# === setup_context, the input saved
import torch


class ScaledTanh(torch.autograd.Function):
    @staticmethod
    def forward(x, scale, shift):
        return scale * torch.tanh(x) + shift

    @staticmethod
    def setup_context(ctx, inputs, output):
        x, scale, _ = inputs
        ctx.save_for_backward(x)
        ctx.scale = scale

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        slope = 1 / torch.cosh(x) ** 2
        return ctx.scale * slope * grad_output, None, None


# === needs_input_grad is asked
import torch


class ScaledTanh(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, scale, shift=0.0):
        t = torch.tanh(x)
        ctx.save_for_backward(t)
        ctx.scale, ctx.shift = scale, shift
        return scale * t + shift

    @staticmethod
    def backward(ctx, grad_output):
        (t,) = ctx.saved_tensors
        grad_x = grad_scale = grad_shift = None
        if ctx.needs_input_grad[0]:
            grad_x = (grad_output - grad_output * t**2) * ctx.scale
        return grad_x, grad_scale, grad_shift
