# === the combined style
import torch


class Exp(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        y = x.exp()
        ctx.save_for_backward(y)
        return y

    @staticmethod
    def backward(ctx, grad_output):
        (y,) = ctx.saved_tensors
        return y * grad_output


# === a power of e, in place on a clone
import math
import torch
from torch.autograd import Function


class Exp(Function):
    @staticmethod
    def forward(ctx, input):
        result = torch.pow(math.e, input)
        ctx.save_for_backward(result)
        return result

    @staticmethod
    def backward(ctx, g):
        grad = g.clone()
        grad.mul_(ctx.saved_tensors[0])
        return grad


# === exp_ on a clone, once differentiable
import torch
from torch.autograd.function import once_differentiable


class Exp(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        out = x.detach().clone().exp_()
        ctx.save_for_backward(out)
        return out

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        (out,) = ctx.saved_tensors
        return torch.mul(g, out)


# === expm1, setup_context, a test of its own
import torch


def expo(x):
    return torch.expm1(x) + 1


class Exp(torch.autograd.Function):
    generate_vmap_rule = True

    @staticmethod
    def forward(x):
        return expo(x)

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.set_materialize_grads(False)
        ctx.save_for_backward(output)

    @staticmethod
    def backward(ctx, dy):
        if dy is None:
            return None
        return dy * ctx.saved_tensors[0]


if __name__ == "__main__":
    t = torch.randn(3, dtype=torch.double, requires_grad=True)
    print(torch.autograd.gradcheck(Exp.apply, (t,)))
