# === softplus in forward, a quotient of numbers below 1 in backward
import math

import torch


class LogCosh(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x + torch.nn.functional.softplus(-2.0 * x) - math.log(2.0)

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        e = torch.exp(-2 * x.abs())
        return g * torch.sign(x) * (1 - e) / (1 + e)


# === logaddexp
import math

import torch


class LogCosh(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(torch.tanh(x))
        return torch.logaddexp(x, -x) - math.log(2)

    @staticmethod
    def backward(ctx, grad_output):
        (slope,) = ctx.saved_tensors
        return grad_output.mul(slope)


# === setup_context, sigmoid for the slope
import torch


class LogCosh(torch.autograd.Function):
    @staticmethod
    def forward(x):
        a = abs(x)
        return a + torch.log((1 + (-2 * a).exp()) / 2)

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(inputs[0])

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        return grad_output * (2 * torch.sigmoid(2 * x) - 1)
