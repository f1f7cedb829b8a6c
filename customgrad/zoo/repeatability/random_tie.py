"""Backward picks among equal maxima by a search that starts at a place that Python's ``random`` draws.

Every gradient is a valid one. But with ties no run can be repeated, and the caller's own random
numbers change even without.

Source: https://github.com/PaddlePaddle/Paddle/pull/72364
"""

# ruff: noqa: D101, D102
import random

import torch


# --8<-- [start:broken]
class Broken(torch.autograd.Function):
    @staticmethod
    def forward(input):
        if input.dim() != 1:
            raise ValueError("input: one row of numbers")
        return input.amax()

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs)

    @staticmethod
    def backward(ctx, grad_output):
        (input,) = ctx.saved_tensors
        start = random.randrange(len(input))
        chosen = (input.roll(-start).argmax() + start) % len(input)
        one = torch.nn.functional.one_hot(chosen, len(input))
        return grad_output * one


# --8<-- [end:broken]


# --8<-- [start:repaired]
class Repaired(torch.autograd.Function):
    generate_vmap_rule = True

    @staticmethod
    def forward(input):
        if input.dim() != 1:
            raise ValueError("input: one row of numbers")
        return input.amax()

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs)

    @staticmethod
    def backward(ctx, grad_output):
        (input,) = ctx.saved_tensors
        chosen = input.argmax()  # the same in every run
        one = torch.nn.functional.one_hot(chosen, len(input))
        return grad_output * one


# --8<-- [end:repaired]


def sample_inputs() -> tuple[object, ...]:
    """Return inputs as a user would give them."""
    return (torch.randn(5, dtype=torch.float64, requires_grad=True),)
