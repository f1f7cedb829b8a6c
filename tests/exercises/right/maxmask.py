# === the combined style, a comparison
import torch


class MaxMask(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        largest = x.amax(-1)
        mask = (x == largest.unsqueeze(-1)).to(x.dtype)
        ctx.mark_non_differentiable(mask)
        ctx.save_for_backward(mask)
        return largest, mask

    @staticmethod
    def backward(ctx, g, _):
        (mask,) = ctx.saved_tensors
        return g[..., None] * mask


# === the index saved, one_hot and scatter
import torch
import torch.nn.functional as F
from torch.autograd import Function


class MaxMask(Function):
    @staticmethod
    def forward(ctx, x):
        values, index = torch.max(x, dim=-1)
        mask = F.one_hot(index, x.shape[-1]).to(x.dtype)
        ctx.save_for_backward(index)
        ctx.shape = x.shape
        ctx.mark_non_differentiable(mask)
        return values, mask

    @staticmethod
    def backward(ctx, grad_output, unused):
        (index,) = ctx.saved_tensors
        grad = grad_output.new_zeros(ctx.shape)
        return grad.scatter(-1, index.unsqueeze(-1), grad_output.unsqueeze(-1))


# === not materialised, torch.where
import torch


class MaxMask(torch.autograd.Function):
    @staticmethod
    def forward(x):
        index = x.argmax(-1, keepdim=True)
        mask = torch.zeros_like(x)
        mask.scatter_(-1, index, 1)
        return torch.gather(x, -1, index).squeeze(-1), mask

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.set_materialize_grads(False)
        ctx.mark_non_differentiable(output[1])
        ctx.save_for_backward(output[1])

    @staticmethod
    def backward(ctx, grad_largest, grad_mask):
        if grad_largest is None:
            return None
        mask = ctx.saved_tensors[0]
        wide = grad_largest.unsqueeze(-1)
        return torch.where(mask > 0, wide, torch.zeros_like(wide))
