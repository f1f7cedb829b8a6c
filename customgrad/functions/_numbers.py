"""The check of an argument that must be one number, with the words of its error."""

import sys
from typing import Any

__all__ = ["number"]


def number(
    where: str,
    name: str,
    value: Any,
    *,
    hint: str,
    least: float = -float("inf"),
    above: float = -float("inf"),
) -> None:
    """Refuse what is no finite number, below the one bound, or not above the other.

    Args:
        where: the function whose argument it is.
        name: the argument.
        value: what the caller gave: an int or a float; bools and tensors are refused.
        hint: the next step, the end of the error's sentence.
        least: the smallest number that is taken.
        above: a number that must be exceeded.

    Raises:
        TypeError: if it is no int and no float.
        ValueError: if it is NaN, infinite, or out of bounds.
    """
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise TypeError(
            f"{where}: {name} must be a number, got {type(value).__name__}; pass a float, such as 1.0"
        )
    wanted = "a finite number"
    if least > -float("inf"):
        wanted += f" of at least {least:g}"
    if above > -float("inf"):
        wanted += f" above {above:g}"
    if not (abs(value) <= sys.float_info.max) or value < least or value <= above:
        raise ValueError(f"{where}: {name} must be {wanted}, got {value}; {hint}")
