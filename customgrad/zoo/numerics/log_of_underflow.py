"""Backward takes the logarithm of a probability that has become zero: 0 times minus infinity, NaN.

Forward's ``entr`` knows that p log p is 0 there; backward does not.

Source: https://github.com/huggingface/trl/pull/7263
"""

# ruff: noqa: D101, D102
import torch


# --8<-- [start:broken]
class Broken(torch.autograd.Function):
    generate_vmap_rule = True

    @staticmethod
    def forward(logits):
        return torch.special.entr(logits.softmax(-1)).sum(-1, True)

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs, output)

    @staticmethod
    def backward(ctx, grad_output):
        logits, entropy = ctx.saved_tensors
        chance = logits.softmax(-1)
        surprise = -chance.log()
        return grad_output * chance * (surprise - entropy)


# --8<-- [end:broken]


# --8<-- [start:repaired]
class Repaired(torch.autograd.Function):
    generate_vmap_rule = True

    @staticmethod
    def forward(logits):
        return torch.special.entr(logits.softmax(-1)).sum(-1, True)

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs, output)

    @staticmethod
    def backward(ctx, grad_output):
        logits, entropy = ctx.saved_tensors
        chance = logits.softmax(-1)
        # What cannot happen is no surprise: 0, and not infinity.
        surprise = -logits.log_softmax(-1)
        surprise = torch.where(chance > 0, surprise, 0)
        return grad_output * chance * (surprise - entropy)


# --8<-- [end:repaired]


def sample_inputs() -> tuple[object, ...]:
    """Return inputs as a user would give them."""
    return (torch.randn(3, 4, dtype=torch.float64, requires_grad=True),)
