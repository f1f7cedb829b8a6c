"""ReLUs that keep a mask of their output: one byte an element, or one bit.

Contract: the values and the gradients of ``torch.relu``, bit for bit; called by ``relu`` in relus.py.

Formula, with the cotangent g = grad_output::

    mask       = output is not 0 (NaN is not)
    grad_input = g where mask, 0 elsewhere

A mask is worth its time where nothing else keeps the output: in front of a sum, a mean or a pool.
"""

# ruff: noqa: D102
# mypy: allow-untyped-defs, allow-incomplete-defs
# --8<-- [start:imports]
import torch
from torch.nn import functional as F

# --8<-- [end:imports]
from customgrad.functions._direct import direct

__all__ = ["ReLUFromMask", "ReLUPacked"]


# --8<-- [start:ReLUFromMask]
class ReLUFromMask(torch.autograd.Function):
    """max(input, 0); keeps one byte an element."""

    generate_vmap_rule = True

    @staticmethod
    def forward(input):
        if not input.is_floating_point():
            raise TypeError(
                "ReLUFromMask: input must be a float tensor, "
                f"got {input.dtype}; use one such as torch.float32"
            )
        return torch.relu(input)

    @staticmethod
    def setup_context(ctx, inputs, output):
        if ctx.needs_input_grad[0]:
            ctx.save_for_backward(output.bool())

    @staticmethod
    def backward(ctx, grad_output):
        (mask,) = ctx.saved_tensors
        # As uint8, since bools are converted slowly. The kernel asks
        # for values above 0: a product would make inf * 0 a NaN.
        above = mask.view(torch.uint8).to(grad_output.dtype)
        return torch.ops.aten.threshold_backward(grad_output, above, 0)


# --8<-- [end:ReLUFromMask]
direct(ReLUFromMask)


# --8<-- [start:ReLUPacked]
TO_TOP = 0x0102040810204080  # of bytes 0 or 1: gathers them on top
TO_EACH = 0x0101010101010101  # of one byte: repeats it eight times
ONE_EACH = 0x8040201008040201 - 2**64  # keeps another bit of each


def pack(tensor):
    """Return one bit an element, 0 for a 0, eight to a byte."""
    mask = tensor.bool().flatten()
    if missing := -mask.numel() % 8:
        mask = F.pad(mask, (0, missing))
    words = mask.view(torch.int64).mul_(TO_TOP)
    return words.bitwise_right_shift_(56).to(torch.uint8)


def unpack(packed, like):
    """Return numbers above 0 where pack saw something but 0."""
    words = packed.to(torch.int64).mul_(TO_EACH)
    above = words.bitwise_and_(ONE_EACH).view(torch.uint8)
    above = above[: like.numel()]
    return above.to(like.dtype).reshape(like.shape)


class ReLUPacked(torch.autograd.Function):
    """max(input, 0); keeps one bit an element."""

    @staticmethod
    def forward(input):
        if not input.is_floating_point():
            raise TypeError(
                "ReLUPacked: input must be a float tensor, "
                f"got {input.dtype}; use one such as torch.float32"
            )
        return torch.relu(input)

    @staticmethod
    def setup_context(ctx, inputs, output):
        if ctx.needs_input_grad[0]:
            ctx.save_for_backward(pack(output))

    @staticmethod
    def vmap(info, in_dims, input):
        # Elementwise: a batch is one more dimension.
        return ReLUPacked.apply(input), in_dims[0]

    @staticmethod
    def backward(ctx, grad_output):
        (packed,) = ctx.saved_tensors
        above = unpack(packed, grad_output)
        return torch.ops.aten.threshold_backward(grad_output, above, 0)


# --8<-- [end:ReLUPacked]
direct(ReLUPacked)
