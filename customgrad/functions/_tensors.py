"""Checks of arguments that are tensors, with the words of their errors; they work in ``torch.func``, too."""

from typing import Any

import torch

from customgrad.functions._numbers import kind

__all__ = ["autocast", "dense", "floats", "same", "shape", "tensor", "wide"]

KNOWN = (torch.float16, torch.bfloat16, torch.float32, torch.float64)


def wide(tensor: torch.Tensor) -> torch.dtype:
    """Return the dtype of the scalars that torch computes with for this tensor."""
    return torch.float64 if tensor.dtype == torch.float64 else torch.float32


def autocast(tensor: torch.Tensor) -> bool:
    """Return whether autocast is on for this tensor; a meta tensor has none, and torch raises."""
    return not tensor.is_meta and torch.is_autocast_enabled(tensor.device.type)


def dense(name: str, argument: str, value: torch.Tensor) -> None:
    """Refuse sparse tensors, and nested ones but for the jagged kind, which is much like a dense one.

    Raises:
        TypeError: naming the function, the argument and what it is.
    """
    if value.layout not in (torch.strided, torch.jagged):
        raise TypeError(
            f"{name}: {argument} must be a dense tensor, got {value.layout}; "
            "convert it with .to_dense()"
        )
    if value.is_nested and value.layout is torch.strided:
        raise TypeError(
            f"{name}: {argument} must be a dense tensor, got a nested one; "
            "make that with layout=torch.jagged, or call this for each part"
        )


def tensor(name: str, argument: str, value: object, *, plain: bool = True) -> None:
    """Refuse what is no tensor and, plain, what is not dense or holds floats of fewer than 16 bits.

    Other dtypes are let through: their refusal is part of the Function.

    Raises:
        TypeError: naming the function, the argument and what it is.
    """
    if not isinstance(value, torch.Tensor):
        raise TypeError(
            f"{name}: {argument} must be a float tensor, got {kind(value)}; "
            "make one with torch.tensor(...)"
        )
    common = value.layout == torch.strided and value.dtype in KNOWN and not value.is_nested
    if common or not plain:
        return
    dense(name, argument, value)
    if value.dtype not in KNOWN and value.is_floating_point():
        raise TypeError(
            f"{name}: {argument} must be a float tensor of 16 to 64 bits, got {value.dtype}; "
            "use one such as torch.float32"
        )


def floats(
    name: str,
    argument: str,
    value: Any,
    like: torch.Tensor | None = None,
    *,
    meta: bool = True,
    plain: bool = True,
) -> None:
    """Refuse what is no float tensor, or outside autocast has another dtype than `like`.

    Args:
        name: of the function that was called.
        argument: how the function calls it.
        value: what the caller gave.
        like: the tensor whose dtype it must have.
        meta: whether a tensor without numbers will do.
        plain: whether it must be dense, and of 16 bits or more.

    Raises:
        TypeError: naming the function, the argument and what it is.
    """
    tensor(name, argument, value, plain=plain)
    if not value.is_floating_point():
        raise TypeError(
            f"{name}: {argument} must be a float tensor, got {value.dtype}; "
            "use one such as torch.float32"
        )
    if not meta and value.is_meta:
        raise TypeError(
            f"{name}: {argument} must hold numbers, got a meta tensor; make it on another device"
        )
    if like is not None and not autocast(like):
        same(name, argument, value, like)


def same(name: str, argument: str, value: torch.Tensor, input: torch.Tensor) -> None:
    """Refuse another dtype than the input's.

    Raises:
        TypeError: with both.
    """
    if value.dtype != input.dtype:
        raise TypeError(
            f"{name}: {argument} must have the dtype of input, got {value.dtype} "
            f"and {input.dtype}; convert one with .to(dtype)"
        )


def shape(name: str, argument: str, value: torch.Tensor, wanted: Any, meaning: str) -> None:
    """Refuse another shape than the one that is wanted.

    Raises:
        ValueError: with both, and what the shape means.
    """
    if tuple(value.shape) != tuple(wanted):
        raise ValueError(
            f"{name}: {argument} must have shape {tuple(wanted)}, got {tuple(value.shape)}; {meaning}"
        )
