"""Derivatives of forward by finite differences, from both sides, with an estimate of their error.

Every value is looked at as real numbers: a complex tensor as its real and imaginary parts. The
derivative along a direction is extrapolated from a row of steps, each a quarter of the one before
(Ridders), to the left and to the right; where the two differ by more than their errors, there is a
kink, and any slope between them is a subgradient.
"""

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch

__all__ = ["Slope", "filled", "real", "slope", "unreal", "vector"]

RATIO = 4.0


def real(tensors: Sequence[torch.Tensor]) -> torch.Tensor:
    """Return tensors as one real vector in float64."""
    parts = []
    for t in tensors:
        t = t.detach().resolve_conj().resolve_neg()
        t = torch.view_as_real(t.to(torch.complex128)) if t.is_complex() else t.to(torch.float64)
        parts.append(t.reshape(-1))
    return torch.cat(parts) if parts else torch.zeros(0, dtype=torch.float64)


def unreal(vector: torch.Tensor, like: Sequence[torch.Tensor]) -> list[torch.Tensor]:
    """Return a real vector as tensors of these shapes and dtypes."""
    out, start = [], 0
    for t in like:
        count = t.numel() * (2 if t.is_complex() else 1)
        part = vector[start : start + count]
        start += count
        if t.is_complex():
            part = torch.view_as_complex(part.reshape(-1, 2).contiguous())
        out.append(part.reshape(t.shape).to(t.dtype))
    return out


def filled(
    grads: Sequence[torch.Tensor | None], like: Sequence[torch.Tensor]
) -> list[torch.Tensor]:
    """Return zeros, of the shapes and dtypes of others, for what is None."""
    return [torch.zeros_like(x) if g is None else g for g, x in zip(grads, like, strict=True)]


def vector(grads: Sequence[torch.Tensor | None], like: Sequence[torch.Tensor]) -> torch.Tensor:
    """Return gradients as one real vector, zeros for None."""
    return real(filled(grads, like))


@dataclass(frozen=True)
class Slope:
    """The derivative of every output along one direction; vectors of the outputs' real numbers."""

    left: torch.Tensor
    right: torch.Tensor
    error: torch.Tensor
    """How far off either may be."""

    @property
    def smooth(self) -> torch.Tensor:
        """Where both sides agree."""
        spread = (self.right - self.left).abs()
        return spread <= 4 * self.error + 1e-6 * (self.right.abs() + self.left.abs()) / 2

    @property
    def middle(self) -> torch.Tensor:
        """The mean of both sides."""
        return (self.left + self.right) / 2

    def outside(self, got: torch.Tensor, relative: float, scale: float) -> torch.Tensor:
        """Return by how much a slope lies outside both sides, beyond error and tolerance; else 0."""
        low, high = torch.minimum(self.left, self.right), torch.maximum(self.left, self.right)
        away = torch.maximum(low - got, got - high).clamp(min=0)
        allowed = 8 * self.error + relative * (self.middle.abs() + 0.1 * scale)
        known = self.error.isfinite() & self.left.isfinite() & self.right.isfinite()
        away = torch.where(known & (away > allowed), away, 0.0)
        return torch.where(known & got.isnan(), torch.inf, away)


def slope(
    f: Callable[[torch.Tensor], torch.Tensor | None],
    at: torch.Tensor,
    direction: torch.Tensor,
    epsilon: float,
    steps: int = 5,
    first: float = 2.0**-5,
    rounding: torch.Tensor | None = None,
) -> Slope:
    """Return the one-sided derivatives of `f` at a point along a direction.

    Args:
        f: real vector to real vector, float64; None where it cannot be evaluated.
        at: the point, (n,).
        direction: (n,).
        epsilon: the relative rounding error of `f`.
        steps: how many step sizes.
        first: the largest step, for coordinates of about one.
        rounding: how far values of `f` were seen to scatter, if that is known.
    """
    moved = direction != 0
    size = at[moved].abs().clamp(max=1.0)
    size = torch.where(size > 0, size.clamp(min=1e-6), 1.0)
    start = first * float(size.min()) / float(direction[moved].abs().max())
    here = f(at)
    sides = []
    for sign in (-1.0, 1.0):
        rows: list[torch.Tensor] = []
        h = start
        for _ in range(steps):
            there = at + sign * h * direction
            h_true = float(((there - at)[moved] / direction[moved]).abs().mean())
            value = f(there)
            if here is None or value is None or value.shape != here.shape or h_true == 0:
                rows = []
                break
            rows.append(sign * (value - here) / h_true)
            h /= RATIO
        sides.append(rows)
    if here is None or not (sides[0] and sides[1]):
        unknown = torch.full_like(here if here is not None else at, torch.nan)
        return Slope(unknown, unknown, torch.full_like(unknown, torch.inf))
    noise = epsilon * (here.abs() + float(here.abs().max() if here.numel() else 0)) / (h * RATIO)
    if rounding is not None and rounding.shape == here.shape:
        noise = noise + 2 * rounding / (h * RATIO)
    (left, left_error), (right, right_error) = (_extrapolated(rows, noise) for rows in sides)
    return Slope(left, right, torch.maximum(left_error, right_error) + 4 * noise)


def _extrapolated(
    rows: list[torch.Tensor], noise: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return Ridders' best value of each element and its error; one-sided: errors h, h², h³."""
    best, error = rows[-1], torch.full_like(rows[-1], torch.inf)
    spread = (rows[-1] - rows[-2]).abs()
    nearest = (RATIO * rows[-1] - rows[-2]) / (RATIO - 1)
    table = rows
    power = RATIO
    while len(table) > 1:
        finer = [(power * b - a) / (power - 1) for a, b in itertools.pairwise(table)]
        for new, a, b in zip(finer, table, table[1:], strict=False):
            off = torch.maximum((new - a).abs(), (new - b).abs())
            better = off < error
            best, error = torch.where(better, new, best), torch.where(better, off, error)
        table, power = finer, power * RATIO
    # Larger steps may cross a jump and agree by accident; the smallest two must bear it out.
    unsure = (best - nearest).abs() > spread / 2 + 8 * noise
    return best, torch.where(unsure, torch.inf, error)
