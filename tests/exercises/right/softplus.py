# === logaddexp, the combined style
import torch


class Softplus(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return torch.logaddexp(x, torch.zeros_like(x))

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        return grad_output * torch.sigmoid(x)


# === a threshold, and a sigmoid by hand
import torch
from torch.autograd import Function


class Softplus(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        small = torch.clamp(x, max=30)
        return torch.where(x > 30, x, torch.log1p(torch.exp(small)))

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g / (1 + torch.exp(-x))


# === the sigmoid saved, log of a sum
import torch


class Softplus(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(torch.sigmoid(x))
        m = torch.maximum(x, torch.zeros_like(x))
        return m + torch.log(torch.exp(x - m) + torch.exp(-m))

    @staticmethod
    def backward(ctx, grad_output):
        slope = ctx.saved_tensors[0]
        return slope * grad_output


# === the output saved, relu and a helper
import torch


def softplus(x):
    return torch.relu(x) + torch.log(1 + torch.exp(-torch.abs(x)))


class Softplus(torch.autograd.Function):
    @staticmethod
    def forward(x):
        return softplus(x)

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(output)

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx, dy):
        (y,) = ctx.saved_tensors
        return dy * -torch.expm1(-y)


# === minus the logarithm of a sigmoid
import torch
import torch.nn.functional as F


class Softplus(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return -F.logsigmoid(-x)

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        e = torch.exp(-x.abs())
        return g * torch.where(x >= 0, 1 / (1 + e), e / (1 + e))


if __name__ == "__main__":
    print(Softplus.apply(torch.tensor([-800.0, 0.0, 800.0])))
