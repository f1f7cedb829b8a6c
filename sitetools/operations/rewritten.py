"""Rewritten gradients: backward is not the derivative of forward, on purpose."""

import math
from collections.abc import Callable

import torch

from customgrad import functions
from sitetools.operation import Bench, Make, Operation, elements, sizes


def reversed_by_detach(x: torch.Tensor, scale: float) -> torch.Tensor:
    """Return x, with -scale times its gradient, in one line."""
    return (1 + scale) * x.detach() - scale * x


def scaled_by_detach(x: torch.Tensor, scale: float) -> torch.Tensor:
    """Return x to rounding, with scale times its gradient, in one line."""
    return scale * x + (x - scale * x).detach()


def hooked(x: torch.Tensor, change: Callable[[torch.Tensor], torch.Tensor]) -> torch.Tensor:
    """Return x, with a hook that changes its gradient."""
    y: torch.Tensor = x.view_as(x)
    if y.requires_grad:
        y.register_hook(change)
    return y


def within_norm(grad: torch.Tensor, max_norm: float) -> torch.Tensor:
    """Return a gradient cut to the norm, as `clip_grad_norm_` writes it, without the 1e-6."""
    factor: torch.Tensor = (max_norm / torch.linalg.vector_norm(grad)).clamp(max=1.0)
    return grad * factor


def reversal(scale: float, variant: str = "") -> Operation:
    """Return an entry."""
    return Operation(
        "reversal", functions.ReverseGradient, functions.reverse_gradient,
        lambda x: reversed_by_detach(x, scale), options={"scale": scale}, variant=variant, derivative=False,
    )  # fmt: skip


def scaling(scale: float, variant: str = "") -> Operation:
    """Return an entry."""
    return Operation(
        "scaling", functions.ScaleGradient, functions.scale_gradient,
        lambda x: scaled_by_detach(x, scale), options={"scale": scale}, variant=variant, derivative=False,
    )  # fmt: skip


def by_value(limit: float, variant: str = "", *, reached: bool) -> Operation:
    """Return an entry; gradcheck sends ones, and can tell only where a limit below 1 is reached."""
    return Operation(
        "clipping", functions.ClipGradientValue, functions.clip_gradient_value,
        lambda x: hooked(x, lambda g: g.clamp(-limit, limit)), options={"limit": limit}, variant=variant,
        derivative=not reached,
    )  # fmt: skip


def by_norm(max_norm: float, variant: str = "", *, reached: bool) -> Operation:
    """Return an entry, likewise."""
    return Operation(
        "clipping", functions.ClipGradientNorm, functions.clip_gradient_norm,
        lambda x: hooked(x, lambda g: within_norm(g, max_norm)), options={"max_norm": max_norm}, variant=variant,
        derivative=not reached,
    )  # fmt: skip


def straight_through(hard: torch.Tensor, soft: torch.Tensor) -> torch.Tensor:
    """Return the values of the one and the gradient of the other, in one line."""
    return soft + (hard - soft).detach()


def clamped(x: torch.Tensor) -> torch.Tensor:
    """Return x between the bounds of the entries below."""
    return x.clamp(-0.5, 0.7)


def spiking(
    surrogate: str, slope: float, smooth: Callable[[torch.Tensor], torch.Tensor]
) -> Operation:
    """Return an entry, with the step whose slope is taken."""
    return Operation(
        "spike", functions.Spike, functions.spike,
        lambda x: straight_through((x > 0).to(x.dtype), smooth(x)),
        options={"surrogate": surrogate, "slope": slope}, derivative=False,
        variant="" if surrogate == "fast_sigmoid" else surrogate,
    )  # fmt: skip


def quantised_by_hooks(
    x: torch.Tensor, step: torch.Tensor, qmin: int, qmax: int, scale: float
) -> torch.Tensor:
    """Return LSQ with the paper's gradients, equations 3 and 5, in hooks, so that they have derivatives."""
    v = x / step
    q = v.detach().clamp(qmin, qmax).round()
    inside = (v > qmin) & (v < qmax)
    slope = scale * torch.where(inside, q - v, q)
    by_x = hooked(x, lambda g: g * inside)
    by_step = hooked(step.expand_as(x), lambda g: g * slope)
    return (q * step).detach() + (by_x - by_x.detach()) + (by_step - by_step.detach())


def quantised_by_detach(
    x: torch.Tensor, step: torch.Tensor, qmin: int, qmax: int, scale: float
) -> torch.Tensor:
    """Return LSQ as the paper's appendix writes it; other second derivatives."""
    step = scaled_by_detach(step, scale)
    v = (x / step).clamp(qmin, qmax)
    return straight_through(v.round(), v) * step


def two(*shape: int) -> Make:
    """Return what makes two inputs of that shape."""
    return lambda: (torch.randn(shape), torch.randn(shape))


def quantising(
    variant: str, steps: tuple[int, ...], qmin: int, qmax: int, scale: float
) -> Operation:
    """Return an entry, with one step or several."""
    return Operation(
        "lsq", functions.LSQ, functions.lsq,
        lambda x, step: quantised_by_hooks(x, step, qmin, qmax, scale),
        inputs=lambda draw: (draw(3, 3), draw(*steps).abs() + 0.3), elementwise=False, derivative=False,
        options={"qmin": qmin, "qmax": qmax, "gradient_scale": scale}, variant=variant,
        bench=Bench(
            sizes(0.3), elements(10**6, 0.3),
            composed=lambda x, step: quantised_by_detach(x, step, qmin, qmax, scale),
        ),
    )  # fmt: skip


def chosen(logits: torch.Tensor, noise: torch.Tensor, temperature: float, dim: int) -> torch.Tensor:
    """Return a one-hot sample, composed."""
    soft = ((logits + noise) / temperature).softmax(dim)
    index = soft.detach().argmax(dim, keepdim=True)
    return straight_through(torch.zeros_like(soft).scatter(dim, index, 1.0), soft)


def choosing(temperature: float, dim: int, variant: str = "") -> Operation:
    """Return an entry."""
    return Operation(
        "gumbel", functions.GumbelSoftmaxSTE, functions.gumbel_softmax_ste,
        lambda x, noise: chosen(x, noise, temperature, dim),
        inputs=lambda draw: (draw(3, 3), draw(3, 3)), elementwise=False, derivative=False, computed=1,
        options={"temperature": temperature, "dim": dim}, variant=variant,
        apply=lambda apply, x, noise: apply(x, noise, temperature, dim)[0],
        bench=Bench(
            {"1×10": two(1, 10), "1000×100": two(1000, 100), "10000×1000": two(10000, 1000)}, two(1000, 1000),
        ),
    )  # fmt: skip


OPERATIONS = (
    Operation(
        "rounding", functions.RoundSTE, functions.round_ste, lambda x: straight_through(x.round(), x),
        derivative=False, forward_mode=functions.RoundSTEForwardMode,
    ),
    reversal(1.0),
    reversal(0.3, "with a scale below 1"),
    scaling(0.3),
    scaling(-2.0, "with a negative scale"),
    by_value(0.5, reached=True),
    by_value(1.5, "where some pass", reached=False),
    by_norm(0.5, reached=True),
    by_norm(100.0, "where all pass", reached=False),
    Operation(
        "sign", functions.SignSTE, functions.sign_ste,
        lambda x: straight_through(x.sign(), x.clamp(-1, 1)), derivative=False,
    ),
    Operation(
        "clamp", functions.ClampSTE, functions.clamp_ste, lambda x: straight_through(clamped(x), x),
        options={"min": -0.5, "max": 0.7, "gated": False}, derivative=False,
    ),
    Operation(
        "clamp", functions.ClampSTE, functions.clamp_ste, clamped, clamped,
        options={"min": -0.5, "max": 0.7, "gated": True}, variant="gated",
    ),
    spiking("fast_sigmoid", 25.0, lambda x: x / (1 + 25.0 * x.abs())),
    spiking("arctan", 2.0, lambda x: torch.atan(math.pi * x) / math.pi),
    quantising("", (), -2, 3, 0.5),
    quantising("with a step for each row", (3, 1), 0, 2, 1.0),
    choosing(0.7, -1),
    choosing(2.0, 0, "along the first dimension"),
)  # fmt: skip
