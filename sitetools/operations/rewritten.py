"""Rewritten gradients: backward is not the derivative of forward, on purpose."""

from collections.abc import Callable

import torch

from customgrad import functions
from sitetools.operation import Operation


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
)  # fmt: skip
