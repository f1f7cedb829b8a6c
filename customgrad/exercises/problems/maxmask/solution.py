"""The maxmask exercise, solved."""

# --8<-- [start:solution]
import torch


class MaxMask(torch.autograd.Function):
    @staticmethod
    def forward(x):
        largest, index = x.max(dim=-1, keepdim=True)
        mask = torch.zeros_like(x).scatter(-1, index, 1.0)
        return largest.squeeze(-1), mask

    @staticmethod
    def setup_context(ctx, inputs, output):
        _, mask = output
        ctx.mark_non_differentiable(mask)
        ctx.save_for_backward(mask)

    @staticmethod
    def backward(ctx, grad_largest, grad_mask):
        (mask,) = ctx.saved_tensors
        return grad_largest.unsqueeze(-1) * mask


# --8<-- [end:solution]
