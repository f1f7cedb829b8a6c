# === the combined style, asks what is needed
import torch


class Linear(torch.autograd.Function):
    @staticmethod
    def forward(ctx, input, weight, bias=None):
        ctx.save_for_backward(input, weight, bias)
        output = input.mm(weight.t())
        if bias is not None:
            output += bias.unsqueeze(0).expand_as(output)
        return output

    @staticmethod
    def backward(ctx, grad_output):
        input, weight, bias = ctx.saved_tensors
        grad_input = grad_weight = grad_bias = None
        if ctx.needs_input_grad[0]:
            grad_input = grad_output.mm(weight)
        if ctx.needs_input_grad[1]:
            grad_weight = grad_output.t().mm(input)
        if bias is not None and ctx.needs_input_grad[2]:
            grad_bias = grad_output.sum(0)
        return grad_input, grad_weight, grad_bias


# === torch's linear in forward, einsum in backward
import torch
import torch.nn.functional as F
from torch.autograd import Function


class Linear(Function):
    @staticmethod
    def forward(ctx, x, weight, bias):
        ctx.save_for_backward(x, weight)
        ctx.bias = bias is not None
        return F.linear(x, weight, bias)

    @staticmethod
    def backward(ctx, g):
        x, weight = ctx.saved_tensors
        dx = torch.einsum("no,oi->ni", g, weight)
        dw = torch.einsum("no,ni->oi", g, x)
        db = torch.einsum("no->o", g) if ctx.bias else None
        return dx, dw, db


# === the transpose of a product, setup_context
import torch


class Linear(torch.autograd.Function):
    @staticmethod
    def forward(x, weight, bias):
        out = torch.matmul(x, weight.transpose(0, 1))
        if bias is not None:
            out = out + bias
        return out

    @staticmethod
    def setup_context(ctx, inputs, output):
        x, weight, bias = inputs
        ctx.save_for_backward(x, weight, bias)

    @staticmethod
    def backward(ctx, dy):
        x, weight, bias = ctx.saved_tensors
        dw = (x.T @ dy).T
        db = None
        if bias is not None:
            db = dy.sum(dim=0).reshape(bias.shape)
        return dy @ weight, dw, db


# === addmm, a product with ones, once differentiable
import torch
from torch.autograd.function import once_differentiable


class Linear(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, weight, bias):
        ctx.save_for_backward(x, weight)
        ctx.has_bias = bias is not None
        if bias is None:
            return torch.mm(x, weight.T)
        return torch.addmm(bias, x, weight.T)

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        x, weight = ctx.saved_tensors
        grads = [grad_output @ weight, grad_output.T @ x]
        if ctx.has_bias:
            grads.append(grad_output.T @ grad_output.new_ones(len(grad_output)))
        else:
            grads.append(None)
        return tuple(grads)
