"""The sign with a straight-through gradient, which is cut off where the input is large.

Contract: the values of ``torch.sign``, and the gradient of ``torch.clamp(input, -1, 1)``.

Formula, with the cotangent g = grad_output::

    output     = sign(input): -1, 0 or 1
    grad_input = g where |input| ≤ 1, otherwise 0
"""

# ruff: noqa: D102
# mypy: allow-untyped-defs, allow-incomplete-defs
# --8<-- [start:imports]
import torch

# --8<-- [end:imports]
from customgrad.functions import _checks as check
from customgrad.functions._direct import direct

__all__ = ["SignSTE", "sign_ste"]


# --8<-- [start:SignSTE]
class SignSTE(torch.autograd.Function):
    """sign(input); the gradient passes where |input| ≤ 1."""

    generate_vmap_rule = True

    @staticmethod
    def forward(input):
        if not input.is_floating_point():
            raise TypeError(
                "SignSTE: input must be a float tensor, "
                f"got {input.dtype}; use one such as torch.float32"
            )
        return input.sign()

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs)

    @staticmethod
    def backward(ctx, grad_output):
        (input,) = ctx.saved_tensors
        # The kernel's limits are exclusive: take the next number.
        limit = 1 + torch.finfo(input.dtype).eps
        # At NaN it gives g or 0, by position: send it beyond, to 0.
        number = input.nan_to_num(nan=2.0)
        kernel = torch.ops.aten.hardtanh_backward
        return kernel(grad_output, number, -limit, limit)


# --8<-- [end:SignSTE]
direct(SignSTE)


# --8<-- [start:sign_ste]
def sign_ste(input: torch.Tensor) -> torch.Tensor:
    """Return sign(input), elementwise, with the gradient of a clamp to ±1, through ``SignSTE``.

    Args:
        input: float tensor (float16, bfloat16, float32 or float64) of any shape and any
            strides; 0-d, empty and expanded tensors included.

    Saves for backward:
        The input: as many bytes per element as its dtype has, 4 in float32.

    Conventions:
        The sign of 0 is 0, and of NaN, too, as in ``torch.sign``. The gradient passes at
        -1 and 1, as in ``torch.clamp`` and in the paper; in ``torch.nn.functional.hardtanh``
        it does not. Beyond, at infinity and at NaN it is 0, even an infinite one. Backward
        is linear in the cotangent, and its derivative by the input is 0. The gradient is
        not the derivative of the output: ``gradcheck`` refuses it, and should.

    Returns:
        A new tensor of the input's shape and dtype.

    Raises:
        TypeError: if the input is no tensor, or its dtype is integer, bool or complex.

    Source:
        Courbariaux, Hubara, Soudry, El-Yaniv and Bengio, "Binarized neural networks: training
        deep neural networks with weights and activations constrained to +1 or -1", 2016,
        https://arxiv.org/abs/1602.02830, section 1.
    """
    check.tensor("sign_ste", "input", input)
    output: torch.Tensor = SignSTE.apply(input)
    return output


# --8<-- [end:sign_ste]
