"""What a wrong gradient has to do with the right one: the sign, a factor, another input's."""

import torch

__all__ = ["relation"]

CLOSE = 2e-3


def _same(a: torch.Tensor, b: torch.Tensor) -> bool:
    known = a.isfinite() & b.isfinite()
    if not bool(known.any()):
        return False
    a, b = a[known], b[known]
    return bool((a - b).abs().max() <= CLOSE * (1e-9 + b.abs().max()))


def relation(
    got: torch.Tensor, expected: torch.Tensor, columns: torch.Tensor, names: list[str]
) -> str:
    """Return what the gradient looks like, as a sentence without its full stop; empty if like nothing.

    Args:
        got: what backward gave, a row a cotangent.
        expected: the same by finite differences; NaN where unknown.
        columns: the number of the input that each column belongs to.
        names: of these inputs.
    """
    wrong = [
        k for k in range(len(names)) if not _same(got[:, columns == k], expected[:, columns == k])
    ]
    known = expected.isfinite() & got.isfinite()
    if not wrong or not bool(known.any()):
        return ""
    parts = []
    for k in wrong:
        g, e = got[:, columns == k], expected[:, columns == k]
        parts.append(f"the gradient of {names[k]} {_like(g, e, got, expected, columns, names, k)}")
    return "; ".join(parts[:2])


def _like(
    g: torch.Tensor,
    e: torch.Tensor,
    got: torch.Tensor,
    expected: torch.Tensor,
    columns: torch.Tensor,
    names: list[str],
    k: int,
) -> str:
    known = e.isfinite() & g.isfinite()
    if bool(g.isnan().any()):
        return "is NaN where forward is finite"
    if not bool(g[known].any()):
        return "is zero (missing), although the output depends on it"
    if _same(g, -e):
        return "has the wrong sign"
    big = known & (e.abs() > 1e-6 * e[known].abs().max())
    if bool(big.any()):
        ratio = g[big] / e[big]
        middle = float(ratio.median())
        if (
            middle
            and bool((ratio - middle).abs().max() <= CLOSE * abs(middle))
            and _same(g, middle * e)
        ):
            return f"is {_number(middle)} times what it should be: a factor or a mean/sum is wrong"
    for other, name in enumerate(names):
        o = expected[:, columns == other]
        if other != k and o.shape == g.shape and _same(g, o):
            return f"is the one that {name} should get: gradients in the wrong order"
    if e.shape[0] == e.shape[1] and _same(g, e.T):
        return "is transposed"
    off = known & ((g - e).abs() > CLOSE * e[known].abs().max())
    rows, cols = off.any(1), off.any(0)
    if bool(off.any()) and int(cols.sum()) < off.shape[1]:
        return f"is wrong in {int(cols.sum())} of {off.shape[1]} elements"
    if int(rows.sum()) < off.shape[0]:
        return f"is wrong for {int(rows.sum())} of {off.shape[0]} elements of the output"
    return "is another function than forward's derivative"


def _number(value: float) -> str:
    nearest = round(value)
    if nearest and abs(value - nearest) < 1e-3 * abs(value):
        return str(nearest)
    inverse = round(1 / value) if value else 0
    if inverse and abs(1 / value - inverse) < 1e-3 * abs(1 / value):
        return f"1/{inverse}"
    return f"{value:.4g}"
