"""Modules and closures as calls that are given each tensor they may need a gradient for."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import torch

__all__ = ["explicit", "of_pairs"]


def explicit(where: str, function: Any) -> tuple[Callable[..., Any], tuple[torch.Tensor, ...]]:
    """Return ``call(*inputs, *tensors)``, which computes what the function does, and its tensors.

    A module's buffers are updated by the first call alone.

    Args:
        where: how an error begins, with the argument's name.
        function: a module, whose parameters are its tensors; a callable, which has none; or a
            pair (callable, tensors), called as ``callable(*inputs, *tensors)``.

    Raises:
        TypeError: for anything else.
    """
    if isinstance(function, torch.nn.Module):
        named, ran = dict(function.named_parameters()), False

        def call(*arguments: Any) -> Any:
            nonlocal ran
            # The second run must not move batch norm's running statistics once more.
            buffers = {n: b.clone() for n, b in function.named_buffers()} if ran else {}
            if not torch.compiler.is_compiling():
                ran = True
            inputs = arguments[: len(arguments) - len(named)]
            own = dict(zip(named, arguments[len(inputs) :], strict=True))
            return torch.func.functional_call(function, own | buffers, inputs)

        return call, tuple(named.values())
    pair = function if isinstance(function, tuple) and len(function) == 2 else (function, ())
    plain, tensors = pair
    several = isinstance(tensors, (tuple, list))
    if not callable(plain) or not several or not all(isinstance(t, torch.Tensor) for t in tensors):
        got = type(plain).__name__ + (f" with {type(tensors).__name__}" if not several else "")
        raise TypeError(
            f"{where} must be a module, a callable or a pair (callable, tensors), got {got}; "
            "a callable's tensors are passed to it after its input"
        )
    return plain, tuple(tensors)


def of_pairs(where: str, name: str, pairs: Sequence[Any]) -> Iterator[tuple[str, Any]]:
    """Yield what each pair (f, g) holds, with how a message calls it.

    Raises:
        TypeError: for a pair that is none.
        ValueError: if there is none.
    """
    if not isinstance(pairs, Sequence | torch.nn.ModuleList):
        raise TypeError(
            f"{where}: {name} must be a list of pairs (f, g), got {type(pairs).__name__}; pass [(f, g)]"
        )
    if not len(pairs):
        raise ValueError(f"{where}: {name} must hold at least one pair (f, g), got none; add one")
    for n, pair in enumerate(pairs):
        if not isinstance(pair, (tuple, list)) or len(pair) != 2:
            raise TypeError(
                f"{where}: {name}[{n}] must be a pair (f, g), got {type(pair).__name__}; pass both"
            )
        yield f"f of {name}[{n}]", pair[0]
        yield f"g of {name}[{n}]", pair[1]
