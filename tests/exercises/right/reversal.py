# === the combined style, the input itself
import torch


class GradReverse(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, lam):
        ctx.lam = lam
        return x

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output.neg() * ctx.lam, None


# === a clone, in place on a clone
import torch
from torch.autograd import Function


class GradReverse(Function):
    @staticmethod
    def forward(ctx, x, lam):
        ctx.scale = -lam
        return x.clone()

    @staticmethod
    def backward(ctx, g):
        out = g.clone()
        out *= ctx.scale
        return (out, None)


# === lam saved as a tensor
import torch


class GradReverse(torch.autograd.Function):
    @staticmethod
    def forward(ctx, input, alpha):
        ctx.save_for_backward(input, torch.tensor(alpha))
        return input.view_as(input)

    @staticmethod
    def backward(ctx, grad_output):
        grad_input = None
        _, alpha = ctx.saved_tensors
        if ctx.needs_input_grad[0]:
            grad_input = -alpha * grad_output
        return grad_input, None


# === setup_context, torch.mul, a module around it
import torch


class GradReverse(torch.autograd.Function):
    generate_vmap_rule = True

    @staticmethod
    def forward(x, lam=1.0):
        return x * 1.0

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.lam = float(inputs[1])

    @staticmethod
    def backward(ctx, g):
        return torch.mul(g, ctx.lam).negative(), None


class GradientReversal(torch.nn.Module):
    def __init__(self, lam=1.0):
        super().__init__()
        self.lam = lam

    def forward(self, x):
        return GradReverse.apply(x, self.lam)


# === a detached identity, once differentiable
import torch
from torch.autograd.function import once_differentiable


class GradReverse(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, lam):
        ctx.lam = lam
        return x.detach()

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        return torch.zeros_like(g).sub(g, alpha=ctx.lam), None


if __name__ == "__main__":
    x = torch.randn(3, requires_grad=True)
    GradReverse.apply(x, 0.5).sum().backward()
    print(x.grad)
