"""Fake quantisation with a learned step: LSQ.

Contract: the input, rounded to whole steps from qmin to qmax; the gradients of the paper.

Formula, with v = input / step, the cotangent g = grad_output and a number scale::

    output     = step * round(clamp(v, qmin, qmax))
    grad_input = g where qmin < v < qmax, otherwise 0
    grad_step  = scale * sum of g * (round(v) - v where qmin < v < qmax, otherwise qmin or qmax)
"""

# ruff: noqa: D102
# mypy: allow-untyped-defs, allow-incomplete-defs
# --8<-- [start:imports]
import torch

# --8<-- [end:imports]
from customgrad.functions import _checks as check
from customgrad.functions._direct import direct

__all__ = ["LSQ", "lsq"]


# --8<-- [start:LSQ]
def in_steps(input, step):
    """Return input / step, in float32 at least."""
    wide = torch.promote_types(input.dtype, torch.float32)
    return input.to(wide) / step.to(wide)


class LSQ(torch.autograd.Function):
    """Whole steps from qmin to qmax; the step has a gradient."""

    generate_vmap_rule = True

    @staticmethod
    def forward(input, step, qmin, qmax, scale):
        for name, value in (("input", input), ("step", step)):
            if not value.is_floating_point():
                raise TypeError(
                    f"LSQ: {name} must be a float tensor, got "
                    f"{value.dtype}; use one such as torch.float32"
                )
        q = in_steps(input, step).clamp(qmin, qmax).round()
        return (q * step).to(input.dtype)

    @staticmethod
    def setup_context(ctx, inputs, output):
        input, step, ctx.qmin, ctx.qmax, ctx.scale = inputs
        ctx.save_for_backward(input, step)

    @staticmethod
    def backward(ctx, grad_output):
        input, step = ctx.saved_tensors
        qmin, qmax = ctx.qmin, ctx.qmax
        # The kernel below has no rule for NaN: it counts as too large.
        v = in_steps(input, step).nan_to_num(nan=torch.inf)
        g = grad_output.to(v.dtype)
        # hardtanh_backward(t, v, a, b) is t where a < v < b, else 0.
        within = torch.ops.aten.hardtanh_backward
        grad_input = grad_step = None
        if ctx.needs_input_grad[1]:
            q = v.clamp(qmin, qmax).round()
            slope = q - within(v, v, qmin, qmax)
            total = (g * slope).sum_to_size(step.shape)
            grad_step = (ctx.scale * total).to(step.dtype)
        if ctx.needs_input_grad[0]:
            grad_input = within(g, v, qmin, qmax).to(input.dtype)
        return grad_input, grad_step, None, None, None


# --8<-- [end:LSQ]
direct(LSQ)

SIGNED = "4 bits with a sign are -8 and 7"


def check_step(step: torch.Tensor) -> None:
    """Refuse steps that are not finite and above 0; under vmap, those of the whole batch."""
    keep = "a smaller learning rate or gradient_scale keeps it there"
    if torch.compiler.is_compiling():
        good = ((step > 0) & (step < torch.inf)).all()
        torch._assert_async(good, f"lsq: step must be finite and above 0, got another; {keep}")
        return
    values = torch.func.debug_unwrap(step).detach()
    if not bool((values > 0).all()):
        raise ValueError(f"lsq: step must be above 0, got {values.min().item():g}; {keep}")
    if bool(values.isinf().any()):
        raise ValueError(f"lsq: step must be finite, got inf; {keep}")


# --8<-- [start:lsq]
def lsq(
    input: torch.Tensor, step: torch.Tensor, *, qmin: int, qmax: int, gradient_scale: float = 1.0
) -> torch.Tensor:
    """Return the input rounded to whole steps from qmin to qmax, through ``LSQ``.

    Args:
        input: float tensor (float16, bfloat16, float32 or float64) of any shape and any
            strides; 0-d, empty and expanded tensors included.
        step: float tensor above 0 that broadcasts to the input's shape: one number, or one
            for each channel, such as (out, 1). Its dtype may be another float dtype.
        qmin: the smallest whole number of steps, such as -8.
        qmax: the largest, such as 7; above qmin.
        gradient_scale: what the step's gradient is multiplied by. The paper takes
            1 / sqrt(numel * qmax), with the number of weights, or of features, of a layer.

    Saves for backward:
        The input and the step: in float32 4 bytes per element, by reference.

    Conventions:
        Halves go to the even neighbour. At qmin and qmax, and beyond, the input's gradient
        is 0 and the step's is qmin or qmax, as in the paper. Computed in float32, or
        float64. NaN is carried; its gradient is that of a value that is too large. Backward
        can be differentiated; it is not the derivative of the output.

    Returns:
        A new tensor of the input's shape and dtype.

    Raises:
        TypeError: if input or step is no tensor, or its dtype is integer, bool or complex; if
            qmin or qmax is no int, or gradient_scale no number.
        ValueError: if qmin is not below qmax or one is no float32, the shapes do not fit, gradient_scale is
            negative, infinite or NaN, or a step is not finite and above 0. The last is looked at on the
            CPU alone; inside ``torch.compile`` it is a RuntimeError.

    Source:
        Esser, McKinstry, Bablani, Appuswamy and Modha, "Learned step size quantization",
        ICLR 2020, https://arxiv.org/abs/1902.08153, equations 1 to 5.
    """
    for name, value in {"input": input, "step": step}.items():
        check.floats("lsq", name, value)
    for name, bound in {"qmin": qmin, "qmax": qmax}.items():
        check.whole("lsq", name, bound, SIGNED)
    if qmin >= qmax:
        both = f"{check.said(qmin)} and {check.said(qmax)}"
        raise ValueError(f"lsq: qmin must be below qmax, got {both}; {SIGNED}")
    dtype = check.wide(input)
    low, high = (
        check.held("lsq", name, bound, dtype, hint=SIGNED)
        for name, bound in {"qmin": qmin, "qmax": qmax}.items()
    )
    fits = zip(reversed(step.shape), reversed(input.shape), strict=False)
    if step.ndim > input.ndim or any(s not in (1, n) for s, n in fits):
        raise ValueError(
            f"lsq: step must broadcast to input's shape {tuple(input.shape)}, got "
            f"{tuple(step.shape)}; one number, or one for each channel"
        )
    hint = "1 / sqrt(numel * qmax) is the paper's"
    gradient_scale = check.number(
        "lsq", "gradient_scale", gradient_scale, least=0.0, hint=hint, dtype=dtype
    )
    if step.device.type == "cpu":  # elsewhere looking at it would wait for the device
        check_step(step)
    output: torch.Tensor = LSQ.apply(input, step, low, high, gradient_scale)
    return output


# --8<-- [end:lsq]
