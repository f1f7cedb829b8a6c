"""Interpolation holds the border value outside, but its gradient goes on with the last slope.

Source: https://github.com/pytorch/pytorch/issues/23925
"""

# ruff: noqa: D101, D102
import torch


# --8<-- [start:broken]
class Broken(torch.autograd.Function):
    generate_vmap_rule = True

    @staticmethod
    def forward(signal, position):
        if signal.dim() != 1 or len(signal) < 2:
            raise ValueError("signal: at least two samples in a row")
        where = position.clamp(0, len(signal) - 1)
        left = where.detach().long().clamp(max=len(signal) - 2)
        low, high = signal[left], signal[left + 1]
        return low + (where - left) * (high - low)

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs)

    @staticmethod
    def backward(ctx, grad_output):
        signal, position = ctx.saved_tensors
        where = position.clamp(0, len(signal) - 1)
        left = where.detach().long().clamp(max=len(signal) - 2)
        grad_signal = grad_position = None
        if ctx.needs_input_grad[0]:
            high = grad_output * (where - left)
            i, low = left.reshape(-1), (grad_output - high).reshape(-1)
            low = torch.zeros_like(signal).index_add(0, i, low)
            grad_signal = low.index_add(0, i + 1, high.reshape(-1))
        if ctx.needs_input_grad[1]:
            slope = signal[left + 1] - signal[left]
            grad_position = grad_output * slope
        return grad_signal, grad_position


# --8<-- [end:broken]


# --8<-- [start:repaired]
class Repaired(torch.autograd.Function):
    generate_vmap_rule = True

    @staticmethod
    def forward(signal, position):
        if signal.dim() != 1 or len(signal) < 2:
            raise ValueError("signal: at least two samples in a row")
        where = position.clamp(0, len(signal) - 1)
        left = where.detach().long().clamp(max=len(signal) - 2)
        low, high = signal[left], signal[left + 1]
        return low + (where - left) * (high - low)

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs)

    @staticmethod
    def backward(ctx, grad_output):
        signal, position = ctx.saved_tensors
        where = position.clamp(0, len(signal) - 1)
        left = where.detach().long().clamp(max=len(signal) - 2)
        grad_signal = grad_position = None
        if ctx.needs_input_grad[0]:
            high = grad_output * (where - left)
            i, low = left.reshape(-1), (grad_output - high).reshape(-1)
            low = torch.zeros_like(signal).index_add(0, i, low)
            grad_signal = low.index_add(0, i + 1, high.reshape(-1))
        if ctx.needs_input_grad[1]:
            slope = signal[left + 1] - signal[left]
            # Outside, forward is constant.
            slope = torch.where(position == where, slope, 0)
            grad_position = grad_output * slope
        return grad_signal, grad_position


# --8<-- [end:repaired]


def sample_inputs() -> tuple[object, ...]:
    """Return inputs as a user would give them."""
    position = torch.tensor([0.3, 1.6, 2.2], dtype=torch.float64, requires_grad=True)
    return torch.randn(4, dtype=torch.float64, requires_grad=True), position
