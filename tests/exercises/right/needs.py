# === the combined style, two ifs
import torch


class MatMul(torch.autograd.Function):
    @staticmethod
    def forward(ctx, a, b):
        ctx.save_for_backward(a, b)
        return torch.mm(a, b)

    @staticmethod
    def backward(ctx, grad_output):
        a, b = ctx.saved_tensors
        grad_a = grad_b = None
        if ctx.needs_input_grad[0]:
            grad_a = grad_output.mm(b.t())
        if ctx.needs_input_grad[1]:
            grad_b = a.t().mm(grad_output)
        return grad_a, grad_b


# === saves only what is needed
import torch
from torch.autograd import Function


class MatMul(Function):
    @staticmethod
    def forward(ctx, a, b):
        need_a, need_b = ctx.needs_input_grad
        ctx.save_for_backward(a if need_b else None, b if need_a else None)
        return a.matmul(b)

    @staticmethod
    def backward(ctx, g):
        a, b = ctx.saved_tensors
        return (
            None if b is None else g.matmul(b.transpose(-1, -2)),
            None if a is None else a.transpose(-1, -2).matmul(g),
        )


# === einsum, a list of gradients
import torch


class MatMul(torch.autograd.Function):
    @staticmethod
    def forward(ctx, a, b):
        ctx.save_for_backward(a, b)
        return torch.einsum("nk,km->nm", a, b)

    @staticmethod
    def backward(ctx, dy):
        a, b = ctx.saved_tensors
        grads = [None, None]
        if ctx.needs_input_grad[0]:
            grads[0] = torch.einsum("nm,km->nk", dy, b)
        if ctx.needs_input_grad[1]:
            grads[1] = torch.einsum("nm,nk->km", dy, a)
        return tuple(grads)


# === the transpose of the other product
import torch


class MatMul(torch.autograd.Function):
    @staticmethod
    def forward(a, b):
        return a @ b

    @staticmethod
    def setup_context(ctx, inputs, output):
        a, b = inputs
        ctx.save_for_backward(a, b)

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx, grad):
        a, b = ctx.saved_tensors
        first = (b @ grad.T).T if ctx.needs_input_grad[0] else None
        second = (grad.T @ a).T if ctx.needs_input_grad[1] else None
        return first, second
