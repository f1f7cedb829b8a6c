# === a helper with loops, the combined style
import torch


def unbroadcast(grad, shape):
    while grad.dim() > len(shape):
        grad = grad.sum(0)
    for axis, size in enumerate(shape):
        if size == 1 and grad.shape[axis] != 1:
            grad = grad.sum(axis, keepdim=True)
    return grad


class Multiply(torch.autograd.Function):
    @staticmethod
    def forward(ctx, a, b):
        ctx.save_for_backward(a, b)
        return a * b

    @staticmethod
    def backward(ctx, grad_output):
        a, b = ctx.saved_tensors
        return unbroadcast(grad_output * b, a.shape), unbroadcast(grad_output * a, b.shape)


# === all axes at once, then reshape
import torch
from torch.autograd import Function


class Multiply(Function):
    @staticmethod
    def forward(ctx, a, b):
        ctx.save_for_backward(a, b)
        return torch.mul(a, b)

    @staticmethod
    def _reduce(grad, like):
        extra = grad.dim() - like.dim()
        axes = list(range(extra))
        axes += [k + extra for k, n in enumerate(like.shape) if n == 1]
        if axes:
            grad = grad.sum(dim=axes)
        return grad.reshape(like.shape)

    @staticmethod
    def backward(ctx, g):
        a, b = ctx.saved_tensors
        return Multiply._reduce(g * b, a), Multiply._reduce(g * a, b)


# === asks what is needed
import torch


class Multiply(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, y):
        ctx.save_for_backward(x, y)
        return x.mul(y)

    @staticmethod
    def backward(ctx, grad):
        x, y = ctx.saved_tensors
        grad_x, grad_y = None, None
        if ctx.needs_input_grad[0]:
            grad_x = torch.mul(grad, y).sum_to_size(x.shape)
        if ctx.needs_input_grad[1]:
            grad_y = torch.mul(grad, x).sum_to_size(*y.shape) if y.dim() else (grad * x).sum()
        return grad_x, grad_y


# === setup_context, in place on a clone
import torch


def fit(grad, shape):
    missing = grad.ndim - len(shape)
    grad = grad.sum(dim=tuple(range(missing))) if missing else grad
    ones = tuple(k for k, n in enumerate(shape) if n == 1)
    return grad.sum(ones, keepdim=True) if ones else grad


class Multiply(torch.autograd.Function):
    @staticmethod
    def forward(a, b):
        return a * b

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs)

    @staticmethod
    def backward(ctx, grad_output):
        a, b = ctx.saved_tensors
        ga = grad_output.clone().mul_(b)
        gb = grad_output.clone().mul_(a)
        return fit(ga, a.shape), fit(gb, b.shape)
