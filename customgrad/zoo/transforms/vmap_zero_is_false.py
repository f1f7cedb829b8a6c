"""The vmap rule asks "if dim", and so takes batch dimension 0 for no batch.

Source: https://github.com/pytorch/pytorch/pull/90037
"""

# ruff: noqa: D101, D102
import torch


# --8<-- [start:broken]
class Broken(torch.autograd.Function):
    @staticmethod
    def forward(input, other):
        if input.shape != other.shape:
            raise ValueError("expected two tensors of one shape")
        return input * other

    @staticmethod
    def setup_context(ctx, inputs, output):
        input, other = inputs
        needs_input, needs_other = ctx.needs_input_grad
        ctx.save_for_backward(
            input if needs_other else None,
            other if needs_input else None,
        )

    @staticmethod
    def backward(ctx, grad_output):
        input, other = ctx.saved_tensors
        grad_input = grad_other = None
        if ctx.needs_input_grad[0]:
            grad_input = grad_output * other.conj()
        if ctx.needs_input_grad[1]:
            grad_other = grad_output * input.conj()
        return grad_input, grad_other

    @staticmethod
    def vmap(info, in_dims, *inputs):
        batched = []
        for tensor, dim in zip(inputs, in_dims, strict=True):
            if dim:
                tensor = tensor.movedim(dim, 0)
            else:
                shape = (info.batch_size, *tensor.shape)
                tensor = tensor.expand(shape)
            batched.append(tensor)
        return Broken.apply(*batched), 0


# --8<-- [end:broken]


# --8<-- [start:repaired]
class Repaired(torch.autograd.Function):
    @staticmethod
    def forward(input, other):
        if input.shape != other.shape:
            raise ValueError("expected two tensors of one shape")
        return input * other

    @staticmethod
    def setup_context(ctx, inputs, output):
        input, other = inputs
        needs_input, needs_other = ctx.needs_input_grad
        ctx.save_for_backward(
            input if needs_other else None,
            other if needs_input else None,
        )

    @staticmethod
    def backward(ctx, grad_output):
        input, other = ctx.saved_tensors
        grad_input = grad_other = None
        if ctx.needs_input_grad[0]:
            grad_input = grad_output * other.conj()
        if ctx.needs_input_grad[1]:
            grad_other = grad_output * input.conj()
        return grad_input, grad_other

    @staticmethod
    def vmap(info, in_dims, *inputs):
        batched = []
        for tensor, dim in zip(inputs, in_dims, strict=True):
            # None means no batch; 0 is a dimension.
            if dim is not None:
                tensor = tensor.movedim(dim, 0)
            else:
                shape = (info.batch_size, *tensor.shape)
                tensor = tensor.expand(shape)
            batched.append(tensor)
        return Repaired.apply(*batched), 0


# --8<-- [end:repaired]


def sample_inputs() -> tuple[object, ...]:
    """Return inputs as a user would give them."""
    input = torch.randn(3, 4, dtype=torch.float64, requires_grad=True)
    other = torch.randn(3, 4, dtype=torch.float64, requires_grad=True)
    return input, other
