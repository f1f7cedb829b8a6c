# === without any flattening
import torch


class Softsign(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x / (1 + x.abs())

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        return grad_output / (1 + x.abs()).square()


# === contiguous before each view
import torch


class Softsign(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        values = x.contiguous().view(-1)
        return (values / (1 + values.abs())).view(x.size())

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        slope = (1 + x.contiguous().view(-1).abs()) ** -2
        return (grad_output.contiguous().view(-1) * slope).view_as(x)


# === flatten, the denominator saved
import torch


class Softsign(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        flat = x.flatten()
        d = 1 + flat.abs()
        ctx.save_for_backward(d)
        return (flat / d).unflatten(0, x.shape) if x.dim() else (flat / d)[0]

    @staticmethod
    def backward(ctx, g):
        (d,) = ctx.saved_tensors
        return (g.flatten() / d / d).reshape(g.shape)
