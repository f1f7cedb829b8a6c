"""Gumbel-softmax, straight through: a choice in forward, its softmax in backward.

Contract: a one-hot sample of the categorical distribution with these logits; the gradient of
the softmax of the same noisy logits.

Formula, with Gumbel noise n, the temperature t and the cotangent g = grad_output::

    soft       = softmax((input + n) / t)
    output     = one-hot of the largest
    grad_input = soft * (g - sum of soft * g) / t
"""

# ruff: noqa: D102
# mypy: allow-untyped-defs, allow-incomplete-defs
# --8<-- [start:imports]
import torch

# --8<-- [end:imports]
from customgrad.functions import _checks as check
from customgrad.functions._direct import direct

__all__ = ["GumbelSoftmaxSTE", "gumbel_softmax_ste"]


# --8<-- [start:GumbelSoftmaxSTE]
class GumbelSoftmaxSTE(torch.autograd.Function):
    """(one-hot, softmax) of input + noise; one gradient for both."""

    generate_vmap_rule = True

    @staticmethod
    def forward(input, noise, temperature, dim):
        if not input.is_floating_point():
            raise TypeError(
                "GumbelSoftmaxSTE: input must be a float tensor, "
                f"got {input.dtype}; use one such as torch.float32"
            )
        wide = torch.promote_types(input.dtype, torch.float32)
        noisy = input.to(wide) + noise.to(wide)
        soft = (noisy / temperature).softmax(dim)
        index = noisy.argmax(dim, keepdim=True)
        # top / top is 1, and NaN where a NaN is among the logits.
        top = soft.gather(dim, index)
        hard = torch.zeros_like(soft).scatter(dim, index, top / top)
        return hard.to(input.dtype), soft.to(input.dtype)

    @staticmethod
    def setup_context(ctx, inputs, output):
        _, noise, ctx.temperature, ctx.dim = inputs
        ctx.noise_dtype = noise.dtype
        # An output may be kept: a second derivative finds it.
        ctx.save_for_backward(output[1])
        ctx.set_materialize_grads(False)

    @staticmethod
    def backward(ctx, grad_hard, grad_soft):
        (soft,) = ctx.saved_tensors
        got = [g for g in (grad_hard, grad_soft) if g is not None]
        if not got:
            return None, None, None, None
        kernel = torch.ops.aten._softmax_backward_data
        g = kernel(sum(got), soft, ctx.dim, soft.dtype)
        g = g / ctx.temperature
        needs_input, needs_noise, *_ = ctx.needs_input_grad
        grad_input = g if needs_input else None
        grad_noise = g.to(ctx.noise_dtype) if needs_noise else None
        return grad_input, grad_noise, None, None


# --8<-- [end:GumbelSoftmaxSTE]
direct(GumbelSoftmaxSTE)


def gumbel_like(input: torch.Tensor, generator: torch.Generator | None) -> torch.Tensor:
    """Return finite Gumbel noise: drawn in float32 at least, and never from an exact 0."""
    wide = torch.promote_types(input.dtype, torch.float32)
    drawn = torch.empty(input.shape, dtype=wide, device=input.device)
    drawn.exponential_(generator=generator).clamp_(min=torch.finfo(wide).tiny)
    return drawn.log_().neg_().to(input.dtype)


# --8<-- [start:gumbel_softmax_ste]
def gumbel_softmax_ste(
    input: torch.Tensor,
    noise: torch.Tensor | None = None,
    *,
    temperature: float = 1.0,
    dim: int = -1,
    generator: torch.Generator | None = None,
) -> torch.Tensor:
    """Return a one-hot sample with the gradient of its softmax, through ``GumbelSoftmaxSTE``.

    Args:
        input: logits, a float tensor (float16, bfloat16, float32 or float64) of any shape and
            any strides; 0-d, empty batches and expanded tensors included.
        noise: float tensor of the input's shape, added to it. Drawn, from the Gumbel
            distribution, if not given.
        temperature: a finite number above 0; the smaller, the steeper the softmax.
        dim: the dimension along which one is chosen.
        generator: what the noise is drawn from, where it is not torch's global one.

    Saves for backward:
        The softmax: as many bytes per element as the input's dtype has, 4 in float32.

    Conventions:
        Each slice holds exactly one 1, all else is 0; of equal ones the first is taken. -inf
        is never chosen, and has the gradient 0. A slice with a NaN or inf, or with nothing but
        -inf, holds a NaN. Noise is drawn in float32 or float64 and is finite. Backward can be
        differentiated. Inside ``torch.func.vmap`` give the noise.

    Returns:
        A new tensor of the input's shape and dtype.

    Raises:
        TypeError: if input or noise is no tensor, or its dtype is integer, bool or complex,
            temperature is no number, dim no int, or generator none.
        ValueError: if the noise has another shape, temperature is not above 0 or too near it, the
            input has no such dimension or nothing along it, or noise and generator are both given.

    Source:
        Jang, Gu and Poole, "Categorical reparameterization with Gumbel-softmax", ICLR 2017,
        https://arxiv.org/abs/1611.01144, section 2.2.
    """
    for name, value in {"input": input, "noise": noise}.items():
        if name == "noise" and value is None:
            continue
        check.floats("gumbel_softmax_ste", name, value)
    hint = "1.0 is usual"
    temperature = check.number(
        "gumbel_softmax_ste",
        "temperature",
        temperature,
        above=0.0,
        hint=hint,
        dtype=check.wide(input),
    )
    check.whole("gumbel_softmax_ste", "dim", dim, "-1 is the last")
    if not -max(input.ndim, 1) <= dim < max(input.ndim, 1):
        raise ValueError(
            f"gumbel_softmax_ste: dim must be one of input's {input.ndim} dimensions, got "
            f"{check.said(dim)}; -1 is the last"
        )
    if input.ndim and input.shape[dim] == 0:
        raise ValueError(
            "gumbel_softmax_ste: input must have something to choose from, got shape "
            f"{tuple(input.shape)} with dim={dim}; choose another dim"
        )
    if generator is not None and not isinstance(generator, torch.Generator):
        raise TypeError(
            "gumbel_softmax_ste: generator must be a torch.Generator, got "
            f"{type(generator).__name__}; make one with torch.Generator().manual_seed(0)"
        )
    if noise is None:
        noise = gumbel_like(input, generator)
    elif generator is not None:
        raise ValueError(
            "gumbel_softmax_ste: generator must be None where noise is given, got both; leave one out"
        )
    if noise.shape != input.shape:
        raise ValueError(
            f"gumbel_softmax_ste: noise must have input's shape {tuple(input.shape)}, got "
            f"{tuple(noise.shape)}; expand it"
        )
    hard: torch.Tensor = GumbelSoftmaxSTE.apply(input, noise, temperature, dim)[0]
    return hard


# --8<-- [end:gumbel_softmax_ste]
