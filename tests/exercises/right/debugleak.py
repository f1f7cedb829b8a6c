# === the input saved, the output computed again
import torch


def logistic(x):
    return 1 / (1 + torch.exp(-x))


class Sigmoid(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return logistic(x)

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        y = logistic(x)
        return grad_output * (y - y * y)


# === setup_context
import torch


class Sigmoid(torch.autograd.Function):
    @staticmethod
    def forward(x):
        return torch.exp(-x).add(1).reciprocal()

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(output)

    @staticmethod
    def backward(ctx, grad_output):
        (y,) = ctx.saved_tensors
        return grad_output * (1 - y) * y


# === the slope is saved, a tensor of its own
import torch


class Sigmoid(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        y = 1 / (1 + (-x).exp())
        ctx.save_for_backward(y * (1 - y))
        return y

    @staticmethod
    def backward(ctx, grad_output):
        (slope,) = ctx.saved_tensors
        return slope * grad_output
