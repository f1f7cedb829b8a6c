"""Checks of arguments, with the words of their errors; they work in ``torch.func`` transforms, too."""

import sys
from typing import Any

import torch

__all__ = [
    "count",
    "floats",
    "labels",
    "layer",
    "norm",
    "number",
    "reduction",
    "shape",
    "tensor",
]


def count(name: str, argument: str, value: object) -> None:
    """Refuse what is no whole number from 1.

    Raises:
        TypeError: if it is no integer.
        ValueError: if it is less than 1.
    """
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(
            f"{name}: {argument} must be an integer, got {type(value).__name__}; use 128, say"
        )
    if value < 1:
        raise ValueError(f"{name}: {argument} must be at least 1, got {value}; use 128, say")


def tensor(name: str, argument: str, value: object) -> None:
    """Refuse what is no tensor.

    Raises:
        TypeError: naming the function, the argument and what it is.
    """
    if not isinstance(value, torch.Tensor):
        raise TypeError(
            f"{name}: {argument} must be a float tensor, got {type(value).__name__}; "
            "make one with torch.tensor(...)"
        )


def floats(name: str, argument: str, value: Any, like: torch.Tensor | None = None) -> None:
    """Refuse what is no float tensor, or outside autocast has another dtype than `like`.

    Raises:
        TypeError: naming the function, the argument and what it is.
    """
    tensor(name, argument, value)
    if not value.is_floating_point():
        raise TypeError(
            f"{name}: {argument} must be a float tensor, got {value.dtype}; "
            "use one such as torch.float32"
        )
    if like is None or torch.is_autocast_enabled(like.device.type):
        return
    if value.dtype != like.dtype:
        raise TypeError(
            f"{name}: {argument} must have the dtype of input, got {value.dtype} "
            f"and {like.dtype}; convert one with .to(dtype)"
        )


def number(
    name: str,
    argument: str,
    value: object,
    *,
    hint: str,
    least: float = -float("inf"),
    above: float = -float("inf"),
) -> None:
    """Refuse what is no finite number, below the one bound, or not above the other.

    Args:
        name: of the function whose argument it is.
        argument: how the function calls it.
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
            f"{name}: {argument} must be a number, got {type(value).__name__}; pass a float, such as 1.0"
        )
    wanted = "a finite number"
    if least > -float("inf"):
        wanted += f" of at least {least:g}"
    if above > -float("inf"):
        wanted += f" above {above:g}"
    if not (abs(value) <= sys.float_info.max) or value < least or value <= above:
        raise ValueError(f"{name}: {argument} must be {wanted}, got {value}; {hint}")


def shape(name: str, argument: str, value: torch.Tensor, wanted: Any, meaning: str) -> None:
    """Refuse another shape than the one that is wanted.

    Raises:
        ValueError: with both, and what the shape means.
    """
    if tuple(value.shape) != tuple(wanted):
        raise ValueError(
            f"{name}: {argument} must have shape {tuple(wanted)}, got {tuple(value.shape)}; {meaning}"
        )


def layer(name: str, input: torch.Tensor, weight: torch.Tensor, bias: Any) -> torch.Size:
    """Refuse arguments of a linear layer that do not fit together; return the weight's shape.

    Raises:
        TypeError: if one is no float tensor, or outside autocast their dtypes differ.
        ValueError: if the shapes do not fit.
    """
    floats(name, "input", input)
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


def norm(name: str, input: torch.Tensor, parameters: dict[str, Any], eps: object) -> None:
    """Refuse arguments of a norm over the last dimension that do not fit together.

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
        raise TypeError(
            f"{name}: eps must be a number, got {type(eps).__name__}; use one such as 1e-6"
        )
    if not 0 <= eps < torch.inf:
        raise ValueError(
            f"{name}: eps must be finite and at least 0, got {eps}; use one such as 1e-6"
        )


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
        ValueError: if the shape does not fit, or a label is out of range.
    """
    if isinstance(ignore_index, bool) or not isinstance(ignore_index, int):
        raise TypeError(
            f"{name}: ignore_index must be an integer, got {type(ignore_index).__name__}; "
            "use -100 if no label is to be ignored"
        )
    if not isinstance(target, torch.Tensor):
        raise TypeError(
            f"{name}: target must be an integer tensor, got {type(target).__name__}; "
            "make one with torch.tensor(...)"
        )
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
            f"{name}: reduction must be {words}, got {value!r}; "
            "it says what becomes of the losses of the rows"
        )
