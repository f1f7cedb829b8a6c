"""Batch normalisation and LeakyReLU in one, keeping its output alone.

Contract: the values and the gradients of ``leaky_relu(batch_norm(input))`` in training mode.

Formula, for each channel, with its mean and r = 1 / sqrt(variance + eps) over n numbers, the
slope s and the cotangent g = grad_output; h is the normalised input, taken back from the output::

    z = weight * (input - mean) * r + bias          output = z if z > 0 else s * z
    h = (z - bias) / weight                         k = g if z > 0 else s * g
    grad_bias  = sum(k)                             grad_weight = sum(k * h)
    grad_input = weight * r * (k - grad_bias / n - h * grad_weight / n)
"""

# ruff: noqa: D102
# mypy: allow-untyped-defs, allow-incomplete-defs
import math

# --8<-- [start:imports]
import torch
from torch.nn import functional as F

# --8<-- [end:imports]
from customgrad.functions import _checks as check
from customgrad.functions._direct import direct

__all__ = ["ActivatedNorm", "activated_norm"]


# --8<-- [start:ActivatedNorm]
LEAST = 1e-3  # of |weight|, since backward divides by it


class ActivatedNorm(torch.autograd.Function):
    """leaky_relu(batch_norm(input)), and the mean and r it used."""

    generate_vmap_rule = True

    @staticmethod
    def forward(input, weight, bias, negative_slope, eps):
        if not input.is_floating_point():
            raise TypeError(
                "ActivatedNorm: input must be a float tensor, "
                f"got {input.dtype}; use one such as torch.float32"
            )
        said = f"ActivatedNorm: |weight| must be at least {LEAST}, "
        said += "got less; set it away from 0"
        if torch.compiler.is_compiling():
            torch._assert_async((weight.abs() >= LEAST).all(), said)
        else:  # under vmap, of the whole batch
            values = torch.func.debug_unwrap(weight).detach()
            if not (values.abs() >= LEAST).all():
                raise ValueError(said)
        wide = torch.promote_types(weight.dtype, torch.float32)
        output, mean, r = torch.native_batch_norm(
            input, weight.to(wide), bias.to(wide),
            None, None, True, 0.0, eps,
        )  # fmt: skip
        return F.leaky_relu_(output, negative_slope), mean, r

    @staticmethod
    def setup_context(ctx, inputs, output):
        _, weight, bias, ctx.slope, ctx.eps = inputs
        output, mean, r = output
        ctx.save_for_backward(output, weight, bias, r)
        ctx.mark_non_differentiable(mean)
        ctx.set_materialize_grads(False)

    @staticmethod
    def backward(ctx, grad_output, _, grad_r):
        output, weight, bias, r = ctx.saved_tensors
        weight, bias = weight.to(r.dtype), bias.to(r.dtype)
        if grad_output is None:
            grad_output = torch.zeros_like(output)
        if not torch.is_grad_enabled() and grad_r is None:
            z = F.leaky_relu(output, 1 / ctx.slope)
            slope_backward = torch.ops.aten.leaky_relu_backward
            k = slope_backward(grad_output, output, ctx.slope, True)
            # The kernel takes h = (z - mean) * r: given the bias and
            # 1 / weight for these two, it takes it back from z.
            grads = torch.ops.aten.native_batch_norm_backward(
                k, z, weight * weight * r, None, None, bias, 1 / weight,
                True, ctx.eps, ctx.needs_input_grad[:3],
            )  # fmt: skip
            return *grads, None, None
        # Someone differentiates this: with operations that have a
        # derivative, and r is an output, so that it has one, too.
        dims = [d for d in range(output.ndim) if d != 1]
        shape = [-1 if d == 1 else 1 for d in range(output.ndim)]
        n = output.numel() // output.shape[1]
        positive = output > 0
        z = torch.where(positive, output, output / ctx.slope)
        k = torch.where(positive, grad_output, grad_output * ctx.slope)
        h = (z - bias.view(shape)) / weight.view(shape)
        grad_bias, grad_weight = k.sum(dims), (k * h).sum(dims)
        along = weight * r * grad_weight
        if grad_r is not None:
            along = along + grad_r * r * r
        scale, along = (weight * r).view(shape), along.view(shape)
        centred = k - grad_bias.view(shape) / n
        grad_input = scale * centred - h * along / n
        return grad_input, grad_weight, grad_bias, None, None


# --8<-- [end:ActivatedNorm]
direct(ActivatedNorm)


# --8<-- [start:activated_norm]
def activated_norm(
    input: torch.Tensor,
    weight: torch.Tensor | None = None,
    bias: torch.Tensor | None = None,
    *,
    running_mean: torch.Tensor | None = None,
    running_var: torch.Tensor | None = None,
    negative_slope: float = 0.01,
    momentum: float = 0.1,
    eps: float = 1e-5,
) -> torch.Tensor:
    """Return ``leaky_relu(batch_norm(input))`` with this batch's statistics, through ``ActivatedNorm``.

    Args:
        input: float tensor (N, C, ...), float16, bfloat16, float32 or float64, of any strides.
        weight: (C,), of the input's dtype or float32; ones if None. No element is near 0.
        bias: (C,), likewise; zeros if None.
        running_mean: (C,), moved towards this batch's mean, as ``F.batch_norm`` does, or None.
        running_var: (C,), likewise.
        negative_slope: finite and above 0, so that the output tells what went in.
        momentum: how far the running statistics move.
        eps: added to the variance; above 0.

    Saves for backward:
        The output, 4 bytes per element in float32, which the next layer keeps anyway; and (C,)
        numbers. Batch norm and LeakyReLU one after the other keep both of their inputs.

    Conventions:
        The slope at 0 is ``negative_slope``, as torch has it. NaN is carried. The input is taken
        back from the output, up to rounding. Backward can itself be differentiated.

    Returns:
        A new tensor of the input's shape and dtype.

    Raises:
        TypeError: if a tensor is none, or its dtype does not fit.
        ValueError: if shapes do not fit, a channel has fewer than 2 numbers, an element of weight
            is nearer to 0 than 0.001, or a number is out of its range.

    Source:
        Rota Bulò, Porzi and Kontschieder, "In-place activated BatchNorm for memory-optimized
        training of DNNs", CVPR 2018, https://arxiv.org/abs/1712.02616.
    """
    check.floats("activated_norm", "input", input, meta=False)
    channels = input.shape[1] if input.ndim > 1 else 0
    if channels == 0 or input.numel() < 2 * channels:
        raise ValueError(
            "activated_norm: input must have shape (N, C, ...) with 2 numbers or more for each of "
            f"C channels, got {tuple(input.shape)}; use a larger batch"
        )
    dtype = check.wide(input)
    for name, number in {"negative_slope": negative_slope, "eps": eps}.items():
        real = isinstance(number, (int, float)) and not isinstance(number, bool)
        if not (real and 0 < number < math.inf):
            raise ValueError(
                f"activated_norm: {name} must be a finite number above 0, got {check.said(number)}; "
                "backward divides by it"
            )
        check.held("activated_norm", name, number, dtype, hint="backward divides by it", least=True)
    real = isinstance(momentum, (int, float)) and not isinstance(momentum, bool)
    if not (real and 0 <= momentum <= 1):
        said = check.said(momentum)
        raise ValueError(
            f"activated_norm: momentum must be a number from 0 to 1, got {said}; 0.1 is usual"
        )
    weight = input.new_ones(channels) if weight is None else weight
    bias = input.new_zeros(channels) if bias is None else bias
    both = {"weight": weight, "bias": bias}
    running = {"running_mean": running_mean, "running_var": running_var}
    for name, value in (both | {k: v for k, v in running.items() if v is not None}).items():
        check.floats("activated_norm", name, value)
        if value.shape != (channels,):
            got = f"(C,) = {(channels,)}, got {tuple(value.shape)}; one number for each channel"
            raise ValueError(f"activated_norm: {name} must have shape {got}")
        if name in both and value.dtype not in (input.dtype, torch.float32):
            raise TypeError(
                f"activated_norm: {name} must have the dtype of input or float32, got "
                f"{value.dtype} and {input.dtype}; convert one with .to(dtype)"
            )
    output, mean, r = ActivatedNorm.apply(input, weight, bias, float(negative_slope), eps)
    n = input.numel() // channels
    with torch.no_grad():
        if running_mean is not None:
            running_mean.lerp_(mean.to(running_mean.dtype), momentum)
        if running_var is not None:
            variance = (r**-2 - eps) * (n / (n - 1))
            running_var.lerp_(variance.to(running_var.dtype), momentum)
    result: torch.Tensor = output
    return result


# --8<-- [end:activated_norm]
