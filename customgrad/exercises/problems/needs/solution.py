"""The needs exercise, solved."""

# --8<-- [start:solution]
import torch


class MatMul(torch.autograd.Function):
    @staticmethod
    def forward(a, b):
        return a @ b

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs)

    @staticmethod
    def backward(ctx, grad_output):
        a, b = ctx.saved_tensors
        need_a, need_b = ctx.needs_input_grad
        grad_a = grad_output @ b.T if need_a else None
        grad_b = a.T @ grad_output if need_b else None
        return grad_a, grad_b


# --8<-- [end:solution]
