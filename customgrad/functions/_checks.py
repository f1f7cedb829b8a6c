"""Checks of arguments, with the words of their errors; they work in ``torch.func`` transforms, too."""

import sys
from typing import Any

import torch

from customgrad.functions._numbers import count, flag, held, kind, number, said, whole
from customgrad.functions._tensors import autocast, dense, floats, same, shape, tensor, wide

__all__ = [
    "autocast",
    "count",
    "dense",
    "flag",
    "floats",
    "held",
    "labels",
    "layer",
    "norm",
    "number",
    "reduction",
    "said",
    "same",
    "shape",
    "tensor",
    "whole",
    "wide",
]


def layer(name: str, input: torch.Tensor, weight: torch.Tensor, bias: Any) -> torch.Size:
    """Refuse arguments of a linear layer that do not fit together; return the weight's shape.

    Raises:
        TypeError: if one is no float tensor, or outside autocast their dtypes differ.
        ValueError: if the shapes do not fit.
    """
    floats(name, "input", input, meta=False)
    floats(name, "weight", weight, like=input)
    if weight.ndim != 2 or len(weight) == 0:
        raise ValueError(
            f"{name}: weight must have shape (V, D) with V > 0, got {tuple(weight.shape)}; "
            "one row for each class"
        )
    wanted = (*input.shape[:-1], weight.shape[1])
    shape(name, "input", input, wanted, "its rows are as long as those of weight")
    if bias is not None:
        floats(name, "bias", bias, like=input)
        shape(name, "bias", bias, weight.shape[:1], "one number for each row of weight")
    return weight.shape


def norm(name: str, input: torch.Tensor, parameters: dict[str, Any], eps: object) -> float:
    """Refuse arguments of a norm over the last dimension that do not fit together; return eps.

    Raises:
        TypeError: if one is no float tensor, or eps no number.
        ValueError: if the shapes do not fit, or eps is negative or not finite.
    """
    floats(name, "input", input)
    given = {key: value for key, value in parameters.items() if value is not None}
    for key, value in given.items():
        floats(name, key, value)
    if input.ndim == 0:
        raise ValueError(
            f"{name}: input must have shape (..., D), got (); "
            "give one number a row with .unsqueeze(-1)"
        )
    for key, value in given.items():
        shape(name, key, value, input.shape[-1:], "one number for each column of input")
    if isinstance(eps, bool) or not isinstance(eps, int | float):
        raise TypeError(f"{name}: eps must be a number, got {kind(eps)}; use one such as 1e-6")
    if not 0 <= eps <= sys.float_info.max:
        raise ValueError(
            f"{name}: eps must be finite and at least 0, got {said(eps)}; use one such as 1e-6"
        )
    return held(name, "eps", eps, torch.float64, hint="use one such as 1e-6")


def labels(
    name: str, target: object, wanted: tuple[int, ...], classes: int, ignore_index: object
) -> None:
    """Refuse what is no tensor of labels, and labels out of range.

    Inside ``torch.compile`` the values are not looked at: there ``gather`` raises an error.

    Args:
        name: of the function that was called.
        target: what it was given.
        wanted: what the target's shape must be, one label for each row of the logits.
        classes: labels go from 0 to classes - 1.
        ignore_index: the label that is let through besides.

    Raises:
        TypeError: if the target is no integer tensor, or ignore_index no integer.
        ValueError: if the shape does not fit, or a label or ignore_index is out of range.
    """
    if isinstance(ignore_index, bool) or not isinstance(ignore_index, int):
        raise TypeError(
            f"{name}: ignore_index must be an integer, got {kind(ignore_index)}; "
            "use -100 if no label is to be ignored"
        )
    if not -(2**63) <= ignore_index < 2**63:
        raise ValueError(
            f"{name}: ignore_index must be an integer of 64 bits, got {said(ignore_index)}; "
            "use -100 if no label is to be ignored"
        )
    if not isinstance(target, torch.Tensor):
        raise TypeError(
            f"{name}: target must be an integer tensor, got {kind(target)}; "
            "make one with torch.tensor(...)"
        )
    dense(name, "target", target)
    if target.is_floating_point() or target.is_complex() or target.dtype == torch.bool:
        raise TypeError(
            f"{name}: target must be an integer tensor, got {target.dtype}; "
            "give labels, or use torch.nn.functional.cross_entropy for probabilities"
        )
    shape(name, "target", target, wanted, "one label for each row of input")
    if torch.compiler.is_compiling() or target.is_meta:
        return
    values = target
    while torch._C._functorch.is_functorch_wrapped_tensor(values):
        values = torch._C._functorch.get_unwrapped(values)
    values = values.long()  # as a byte, -100 is 156
    wrong = (values != ignore_index) & ((values < 0) | (values >= classes))
    if wrong.any():
        place = tuple(wrong.nonzero()[0].tolist())
        raise ValueError(
            f"{name}: target must hold labels from 0 to {classes - 1} or "
            f"ignore_index = {ignore_index}, got {int(values[place])} at {place}; "
            "compare the labels with the number of classes"
        )


def reduction(name: str, value: object, known: tuple[str, ...]) -> None:
    """Refuse a reduction that is not among those known.

    Raises:
        ValueError: naming those that are.
    """
    if value not in known:
        words = " or ".join(f'"{word}"' for word in known)
        raise ValueError(
            f"{name}: reduction must be {words}, got {said(value)}; "
            "it says what becomes of the losses of the rows"
        )
