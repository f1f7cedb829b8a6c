"""Checks of arguments that are numbers or flags, with the words of their errors."""

import math
import sys

import torch

__all__ = ["count", "flag", "held", "number", "said", "whole"]


def said(value: object) -> str:
    """Return how a message shows a value; an int that fills lines, or that Python won't print, is short."""
    if isinstance(value, int) and value.bit_length() > 128:
        sign = "-" if value < 0 else ""
        return f"about {sign}10**{round(math.log10(abs(value)))}"
    return repr(value)


def kind(value: object) -> str:
    """Return the name of a value's type; NumPy's bool is none of Python's."""
    own = type(value)
    return f"numpy.{own.__name__}" if own.__module__ == "numpy" else own.__name__


def flag(name: str, argument: str, value: object) -> None:
    """Refuse what is no bool.

    Raises:
        TypeError: naming the function, the argument and what it is.
    """
    if not isinstance(value, bool):
        raise TypeError(f"{name}: {argument} must be a bool, got {kind(value)}; pass True or False")


def whole(name: str, argument: str, value: object, hint: str) -> None:
    """Refuse what is no int.

    Raises:
        TypeError: naming the function, the argument and what it is.
    """
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f"{name}: {argument} must be an int, got {kind(value)}; {hint}")


def count(name: str, argument: str, value: object) -> None:
    """Refuse what is no whole number from 1.

    Raises:
        TypeError: if it is no integer.
        ValueError: if it is less than 1.
    """
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f"{name}: {argument} must be an integer, got {kind(value)}; use 128, say")
    if value < 1:
        raise ValueError(f"{name}: {argument} must be at least 1, got {said(value)}; use 128, say")


def held(
    name: str, argument: str, value: float, dtype: torch.dtype, *, hint: str, least: bool = False
) -> float:
    """Return a number that torch takes; refuse one that is finite, and would not be in a dtype.

    Args:
        name: of the function whose argument it is.
        argument: how the function calls it.
        value: an int or a float; infinities and NaN are let through.
        dtype: what is computed in. Scalars of float16 and bfloat16 are float32 in torch.
        hint: the next step, the end of the error's sentence.
        least: refuse what is below the dtype's smallest normal number, too, but for 0.

    Raises:
        ValueError: if it is out of the dtype's range.
    """
    size = abs(value)
    if 1e-4 < size < 6e4:  # in the range of each dtype, which takes longer to ask for
        return value
    info = torch.finfo(dtype)
    far = size > info.max and (isinstance(value, int) or not math.isinf(value))
    if far or (least and 0 < size < info.smallest_normal):
        raise ValueError(
            f"{name}: {argument} must be within the range of {dtype}, got {said(value)}; {hint}"
        )
    return float(value) if size >= 2**63 else value  # such an int is too much for torch


def number(
    name: str,
    argument: str,
    value: object,
    *,
    hint: str,
    least: float = -float("inf"),
    above: float = -float("inf"),
    dtype: torch.dtype = torch.float64,
) -> float:
    """Return a number that torch takes; refuse what is none, not finite or out of bounds.

    Args:
        name: of the function whose argument it is.
        argument: how the function calls it.
        value: what the caller gave: an int or a float; bools and tensors are refused.
        hint: the next step, the end of the error's sentence.
        least: the smallest number that is taken.
        above: a number that must be exceeded.
        dtype: what is computed in, where a number out of its range would do harm.

    Raises:
        TypeError: if it is no int and no float.
        ValueError: if it is NaN, infinite, or out of bounds.
    """
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise TypeError(
            f"{name}: {argument} must be a number, got {kind(value)}; pass a float, such as 1.0"
        )
    wanted = "a finite number"
    if least > -float("inf"):
        wanted += f" of at least {least:g}"
    if above > -float("inf"):
        wanted += f" above {above:g}"
    if not (abs(value) <= sys.float_info.max) or value < least or value <= above:
        raise ValueError(f"{name}: {argument} must be {wanted}, got {said(value)}; {hint}")
    # A divisor that becomes 0 makes infinities and NaN.
    small = above == 0 and dtype != torch.float64
    return held(name, argument, value, dtype, hint=hint, least=small)
