# === nothing is summed: torch does it
import torch


class Gain(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, gain):
        ctx.save_for_backward(x, gain)
        return x * gain

    @staticmethod
    def backward(ctx, grad_output):
        x, gain = ctx.saved_tensors
        return grad_output * gain, grad_output * x


# === summed by hand, axis by axis
import torch


def unbroadcast(grad, shape):
    while grad.dim() > len(shape):
        grad = grad.sum(0)
    for axis, size in enumerate(shape):
        if size == 1 and grad.shape[axis] != 1:
            grad = grad.sum(axis, keepdim=True)
    return grad


class Gain(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, gain):
        ctx.save_for_backward(x, gain)
        return torch.mul(x, gain)

    @staticmethod
    def backward(ctx, g):
        x, gain = ctx.saved_tensors
        return unbroadcast(g * gain, x.shape), unbroadcast(g * x, gain.shape)


# === setup_context, sum over a list of axes
import torch


def reduced(grad, like):
    extra = grad.dim() - like.dim()
    axes = [*range(extra)]
    axes += [k + extra for k, n in enumerate(like.shape) if n == 1 and grad.shape[k + extra] > 1]
    return grad.sum(axes, keepdim=True).reshape(like.shape) if axes else grad


class Gain(torch.autograd.Function):
    @staticmethod
    def forward(x, gain):
        return x * gain

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs)

    @staticmethod
    def backward(ctx, grad_output):
        x, gain = ctx.saved_tensors
        return reduced(grad_output * gain, x), reduced(grad_output * x, gain)
