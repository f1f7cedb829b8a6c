# === a clone that is changed in place
import torch


class HardTanh(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.clamp(-1, 1)

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        grad = grad_output.clone()
        grad[x.abs() > 1] = 0
        return grad


# === torch.where, bounds included
import torch


class HardTanh(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        inside = (x > -1) & (x < 1)
        ctx.save_for_backward(inside)
        return torch.where(inside, x, torch.sign(x))

    @staticmethod
    def backward(ctx, grad_output):
        (inside,) = ctx.saved_tensors
        return torch.where(inside, grad_output, torch.zeros_like(grad_output))


# === setup_context, the output tells
import torch


class HardTanh(torch.autograd.Function):
    @staticmethod
    def forward(x):
        return x.clip(-1.0, 1.0)

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(output)

    @staticmethod
    def backward(ctx, grad_output):
        (y,) = ctx.saved_tensors
        return grad_output.masked_fill(y.abs() == 1, 0.0)
