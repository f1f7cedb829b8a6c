"""The linear layer with a backward of its own.

Contract: ``torch.nn.functional.linear`` and its gradients, for real float dtypes.

Formula, with X = input as (N, in), W = weight as (out, in) and the cotangent
G = grad_output as (N, out), where N is the product of all leading dimensions::

    output      = X Wᵀ + bias
    grad_input  = G W
    grad_weight = Gᵀ X
    grad_bias   = the sum of G's rows
"""

# ruff: noqa: D102
# mypy: allow-untyped-defs, allow-incomplete-defs
# --8<-- [start:imports]
import math

import torch

# --8<-- [end:imports]
from customgrad.functions._direct import direct

__all__ = ["CustomLinear", "Linear", "linear"]


# --8<-- [start:Linear]
def rows(tensor):
    """Reshape (..., n) to (N, n): leading dimensions are one batch."""
    *leading, n = tensor.shape
    return tensor.reshape(math.prod(leading), n)


class Linear(torch.autograd.Function):
    """input @ weight.T + bias, over the last dimension of input."""

    generate_vmap_rule = True

    @staticmethod
    def forward(input, weight, bias=None):
        if not input.is_floating_point():
            raise TypeError(
                "Linear: input must be a float tensor, "
                f"got {input.dtype}; use one such as torch.float32"
            )
        output = input @ weight.T
        return output if bias is None else output + bias

    @staticmethod
    def setup_context(ctx, inputs, output):
        input, weight, _ = inputs
        needs_input, needs_weight, _ = ctx.needs_input_grad
        # Each of the two is needed only for the gradient of the other.
        ctx.save_for_backward(
            input if needs_weight else None,
            weight if needs_input else None,
        )

    @staticmethod
    def backward(ctx, grad_output):
        input, weight = ctx.saved_tensors
        needs_input, needs_weight, needs_bias = ctx.needs_input_grad
        grad_input = grad_weight = grad_bias = None
        if needs_input:
            grad_input = grad_output @ weight
        if needs_weight:
            grad_weight = rows(grad_output).T @ rows(input)
        if needs_bias:
            grad_bias = rows(grad_output).sum(0)
        return grad_input, grad_weight, grad_bias


# --8<-- [end:Linear]
direct(Linear)


# --8<-- [start:linear]
def linear(
    input: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor | None = None
) -> torch.Tensor:
    """Return ``input @ weight.T + bias`` over the last dimension, through ``Linear``.

    Args:
        input: float tensor (..., in); any number of leading dimensions, none included.
        weight: (out, in), of the input's dtype.
        bias: (out,), of the input's dtype, or None.

    Saves for backward:
        The input if the weight needs a gradient, the weight if the input needs one, by
        reference: in float32 4 bytes per element of each, and nothing new is allocated
        while both are alive anyway. The bias needs nothing saved.

    Conventions:
        No gradient is computed for what needs none. An empty batch gives gradients of 0
        for weight and bias. Backward can itself be differentiated. ``torch.func.vmap``,
        ``grad`` and ``jacrev`` work; forward mode (``jvp``, ``jacfwd``) does not. Under
        autocast the product is computed in autocast's dtype, as ``F.linear``'s is.

    Returns:
        A new tensor (..., out) of the input's dtype.

    Raises:
        TypeError: if an argument is no tensor, the input's dtype is integer, bool or
            complex, or the dtypes differ.
        ValueError: if the shapes do not fit.
    """
    arguments = {"input": input, "weight": weight} | ({} if bias is None else {"bias": bias})
    for name, value in arguments.items():
        if not isinstance(value, torch.Tensor):
            raise TypeError(
                f"linear: {name} must be a tensor, got {type(value).__name__}; "
                "make one with torch.tensor(...)"
            )
        if not value.is_floating_point():
            raise TypeError(
                f"linear: {name} must be a float tensor, got {value.dtype}; "
                "use one such as torch.float32"
            )
        device = "cpu" if input.is_meta else input.device.type
        if value.dtype != input.dtype and not torch.is_autocast_enabled(device):
            raise TypeError(
                f"linear: {name} must have the dtype of input, got {value.dtype} "
                f"and {input.dtype}; convert one with .to(dtype)"
            )
    if weight.ndim != 2:
        raise ValueError(
            f"linear: weight must have shape (out, in), got {tuple(weight.shape)}; "
            "one row for each output feature"
        )
    if input.shape[-1:] != weight.shape[1:]:
        raise ValueError(
            f"linear: input must have shape (..., in) with in = {weight.shape[1]}, got "
            f"{tuple(input.shape)}; weight is {tuple(weight.shape)}, that is (out, in)"
        )
    if bias is not None and bias.shape != weight.shape[:1]:
        raise ValueError(
            f"linear: bias must have shape (out,) = {tuple(weight.shape[:1])}, got "
            f"{tuple(bias.shape)}; one number for each row of weight"
        )
    if torch.is_autocast_enabled(device) and input.dtype != torch.float64:
        # Here, and not inside: backward runs without autocast.
        dtype = torch.get_autocast_dtype(device)
        input, weight = input.to(dtype), weight.to(dtype)
        bias = None if bias is None else bias.to(dtype)
    output: torch.Tensor = Linear.apply(input, weight, bias)
    return output


# --8<-- [end:linear]


# --8<-- [start:CustomLinear]
class CustomLinear(torch.nn.Module):
    """``nn.Linear`` with the gradient computed by ``Linear``."""

    def __init__(
        self,
        in_features: int,
        out_features: int,
        bias: bool = True,
        device=None,
        dtype=None,
    ):
        super().__init__()
        self.in_features = in_features
        self.out_features = out_features
        options = {"device": device, "dtype": dtype}
        weight = torch.empty(out_features, in_features, **options)
        self.weight = torch.nn.Parameter(weight)
        if bias:
            bias_values = weight.new_empty(out_features)
            self.bias = torch.nn.Parameter(bias_values)
        else:
            self.register_parameter("bias", None)
        self.reset_parameters()

    def reset_parameters(self, generator=None):
        """Draw weight and bias as nn.Linear does, in its order."""
        init = torch.nn.init
        init.kaiming_uniform_(self.weight, 5**0.5, generator=generator)
        if self.bias is not None:
            fan_in = self.in_features
            end = 1 / fan_in**0.5 if fan_in > 0 else 0
            init.uniform_(self.bias, -end, end, generator=generator)

    def forward(self, input: torch.Tensor) -> torch.Tensor:
        """Return input @ weight.T + bias, through Linear."""
        return linear(input, self.weight, self.bias)

    def extra_repr(self) -> str:
        """Return the sizes, as nn.Linear prints them."""
        return (
            f"in_features={self.in_features}, "
            f"out_features={self.out_features}, "
            f"bias={self.bias is not None}"
        )


# --8<-- [end:CustomLinear]
