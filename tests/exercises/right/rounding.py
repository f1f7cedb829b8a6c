# === the combined style, nothing kept
import torch


class RoundSTE(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.round()

    @staticmethod
    def backward(ctx, g):
        return g


# === a clone of the gradient, as a tuple
import torch
from torch.autograd import Function


class RoundSTE(Function):
    @staticmethod
    def forward(ctx, input):
        return torch.round(input)

    @staticmethod
    def backward(ctx, grad_output):
        return (grad_output.clone(),)


# === in place on a clone, once_differentiable, input saved for no reason
import torch
from torch.autograd.function import once_differentiable


class RoundSTE(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        y = x.clone()
        y.round_()
        return y

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * torch.ones_like(x)


# === halves by hand, setup_context
import torch


class RoundSTE(torch.autograd.Function):
    generate_vmap_rule = True

    @staticmethod
    def forward(x):
        low = x.floor()
        rest = x - low
        odd = torch.remainder(low, 2) == 1
        up = (rest > 0.5) | ((rest == 0.5) & odd)
        return torch.where(up, low + 1, low)

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.shape = inputs[0].shape

    @staticmethod
    def backward(ctx, grad_output):
        if not ctx.needs_input_grad[0]:
            return None
        return grad_output.view(ctx.shape) if grad_output.is_contiguous() else grad_output


def round_ste(x):
    return RoundSTE.apply(x)


if __name__ == "__main__":
    x = torch.tensor([0.5, 1.5], requires_grad=True)
    round_ste(x).sum().backward()
    print(x.grad)
