# === the input saved, the combined style
import torch


class SinCos(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.sin(), x.cos()

    @staticmethod
    def backward(ctx, g_sin, g_cos):
        (x,) = ctx.saved_tensors
        return g_sin * x.cos() - g_cos * x.sin()


# === not materialised
import torch
from torch.autograd import Function


class SinCos(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.set_materialize_grads(False)
        s = torch.sin(x)
        c = torch.cos(x)
        ctx.save_for_backward(s, c)
        return s, c

    @staticmethod
    def backward(ctx, gs, gc):
        s, c = ctx.saved_tensors
        grad = None
        if gs is not None:
            grad = gs * c
        if gc is not None:
            term = gc * -s
            grad = term if grad is None else grad + term
        return grad


# === in place on a fresh tensor, outputs as *grads
import torch


class SinCos(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        sin, cos = torch.sin(x), torch.cos(x)
        ctx.save_for_backward(sin, cos)
        return (sin, cos)

    @staticmethod
    def backward(ctx, *grads):
        sin, cos = ctx.saved_tensors
        grad_input = torch.zeros_like(sin)
        grad_input += grads[0] * cos
        grad_input -= grads[1] * sin
        return grad_input


# === asks what is needed, setup_context
import torch


class SinCos(torch.autograd.Function):
    generate_vmap_rule = True

    @staticmethod
    def forward(x):
        return torch.sin(x), torch.sin(x + torch.pi / 2)

    @staticmethod
    def setup_context(ctx, inputs, output):
        (x,) = inputs
        ctx.save_for_backward(x)

    @staticmethod
    def backward(ctx, grad_sin, grad_cos):
        if not ctx.needs_input_grad[0]:
            return None
        (x,) = ctx.saved_tensors
        return torch.cos(x).mul(grad_sin).sub(torch.sin(x).mul(grad_cos))
