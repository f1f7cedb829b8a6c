"""ReLU in variants that differ in what they keep for backward.

Contract: the values and the gradients of ``torch.relu``, bit for bit.

Formula, with the cotangent g = grad_output::

    output     = max(input, 0)
    grad_input = 0 where output <= 0, g elsewhere

Output and input are above 0 at the same places, and NaN at the same.
"""

# ruff: noqa: D102
# mypy: allow-untyped-defs, allow-incomplete-defs
# --8<-- [start:imports]
import torch

# --8<-- [end:imports]
from customgrad.functions import _checks as check
from customgrad.functions._direct import direct
from customgrad.functions.relumasks import ReLUFromMask, ReLUPacked

__all__ = ["ReLUFromInput", "ReLUFromOutput", "ReLUInPlace", "relu", "relu_"]


# --8<-- [start:ReLUFromOutput]
class ReLUFromOutput(torch.autograd.Function):
    """max(input, 0); keeps its output."""

    generate_vmap_rule = True

    @staticmethod
    def forward(input):
        if not input.is_floating_point():
            raise TypeError(
                "ReLUFromOutput: input must be a float tensor, "
                f"got {input.dtype}; use one such as torch.float32"
            )
        return torch.relu(input)

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(output)

    @staticmethod
    def backward(ctx, grad_output):
        (output,) = ctx.saved_tensors
        return torch.ops.aten.threshold_backward(grad_output, output, 0)


# --8<-- [end:ReLUFromOutput]
direct(ReLUFromOutput)


# --8<-- [start:ReLUFromInput]
class ReLUFromInput(torch.autograd.Function):
    """max(input, 0); keeps its input."""

    generate_vmap_rule = True

    @staticmethod
    def forward(input):
        if not input.is_floating_point():
            raise TypeError(
                "ReLUFromInput: input must be a float tensor, "
                f"got {input.dtype}; use one such as torch.float32"
            )
        return torch.relu(input)

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs)

    @staticmethod
    def backward(ctx, grad_output):
        (input,) = ctx.saved_tensors
        return torch.ops.aten.threshold_backward(grad_output, input, 0)


# --8<-- [end:ReLUFromInput]
direct(ReLUFromInput)


# --8<-- [start:ReLUInPlace]
class ReLUInPlace(torch.autograd.Function):
    """max(input, 0), written over the input; keeps that."""

    @staticmethod
    def forward(input):
        if not input.is_floating_point():
            raise TypeError(
                "ReLUInPlace: input must be a float tensor, "
                f"got {input.dtype}; use one such as torch.float32"
            )
        input.relu_()
        return input  # itself, or torch.compile refuses

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.mark_dirty(*inputs)
        ctx.save_for_backward(output)

    @staticmethod
    def vmap(info, in_dims, input):
        # Elementwise: a batch is one more dimension.
        return ReLUInPlace.apply(input), in_dims[0]

    @staticmethod
    def backward(ctx, grad_output):
        (output,) = ctx.saved_tensors
        return torch.ops.aten.threshold_backward(grad_output, output, 0)


# --8<-- [end:ReLUInPlace]
direct(ReLUInPlace)


# --8<-- [start:relu]
def relu(input: torch.Tensor, *, keep: str = "output") -> torch.Tensor:
    """Return max(input, 0), elementwise, through the ``Function`` that keeps what you name.

    Args:
        input: float tensor (float16, bfloat16, float32 or float64) of any shape and any
            strides; 0-d, empty and expanded tensors included.
        keep: "output" (``ReLUFromOutput``), "input" (``ReLUFromInput``), "mask"
            (``ReLUFromMask``) or "bits" (``ReLUPacked``).

    Saves for backward:
        In bytes per element, in float32: the output 4, and nothing new where the next
        operation keeps it, too; the input 4; the mask 1; the bits 1/8.

    Conventions:
        The gradient at 0 is 0, also at -0.0. NaN is carried, and the gradient passes there.
        Elsewhere the gradient is 0 whatever the cotangent, infinity and NaN included. Empty
        tensors give empty tensors. Backward can itself be differentiated. With "output" the
        result must not be changed in place before backward; autograd notices and raises.

    Returns:
        A new tensor of the input's shape and dtype.

    Raises:
        TypeError: if the input is no tensor, or its dtype is integer, bool or complex.
        ValueError: if keep is none of the four words.
    """
    functions = {
        "output": ReLUFromOutput, "input": ReLUFromInput, "mask": ReLUFromMask, "bits": ReLUPacked
    }  # fmt: skip
    check.tensor("relu", "input", input)
    if not isinstance(keep, str) or keep not in functions:
        raise ValueError(
            f"relu: keep must be 'output', 'input', 'mask' or 'bits', got {check.said(keep)}; "
            "'output' costs least between layers"
        )
    output: torch.Tensor = functions[keep].apply(input)
    return output


# --8<-- [end:relu]


def relu_(input: torch.Tensor) -> torch.Tensor:
    """Write max(input, 0) over the input, elementwise, through ``ReLUInPlace``.

    Args:
        input: float tensor of any shape, as for ``relu``; no leaf that requires a gradient
            or view of one, and not expanded.

    Saves for backward:
        The input, which is the output now: no new memory.

    Conventions:
        Those of ``relu``. An operation before it that kept its output cannot go backward any
        more; autograd notices and raises.

    Returns:
        The input itself.

    Raises:
        TypeError: if the input is no tensor, or its dtype is integer, bool or complex.
        RuntimeError: if it is a leaf that requires a gradient, a view of one, or expanded.
    """
    check.tensor("relu_", "input", input)
    places = zip(input.shape, input.stride(), strict=True)
    if input.numel() and any(size > 1 and step == 0 for size, step in places):
        raise RuntimeError(
            "relu_: input must have memory of its own for each element, got an expanded tensor; "
            "use relu(input), or give a clone"
        )
    base = input if input._base is None else input._base
    if torch.is_grad_enabled() and base.requires_grad and base.is_leaf:
        raise RuntimeError(
            "relu_: input must not be a leaf that requires a gradient, got one or a view of it; "
            "use relu(input), or change it under torch.no_grad()"
        )
    output: torch.Tensor = ReLUInPlace.apply(input)
    return output
