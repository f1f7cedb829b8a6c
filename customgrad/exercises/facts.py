"""What can be said of a wrong value without a mutant that fits: only what the numbers show.

Each function looks for one relation between what came and what was expected, and says it. Nothing
here guesses: where no relation holds, nothing is said.
"""

import contextlib
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import torch

from customgrad.exercises.checking import Check, Difference, Seen, compare, flat, same

__all__ = ["of_error", "of_values"]

NEAR = 1e-5
Fact = tuple[str, str]


@cache
def _table() -> dict[str, list[dict[str, Any]]]:
    with Path(__file__).with_name("errors.toml").open("rb") as file:
        return tomllib.load(file)


def of_error(kind: str, message: str, where: str, source: str) -> Fact | None:
    """Return why an error of this kind was raised, and what to do, where the table knows it."""
    for entry in _table()["error"]:
        match = re.search(entry["match"], f"{kind}: {message}")
        if not match or entry.get("where", where) != where:
            continue
        if "source" in entry and not re.search(entry["source"], source, re.M):
            continue
        words = [group or "" for group in (match[0], *match.groups())]
        return entry["why"].format(*words), entry["fix"].format(*words)
    return None


def of_words(got: str) -> Fact | None:
    """Return why a check saw these words, where the table knows them."""
    for entry in _table()["words"]:
        if match := re.fullmatch(entry["match"], got):
            words = (match[0], *match.groups())
            return entry["why"].format(*words), entry["fix"].format(*words)
    return None


def of_values(
    check: Check, seen: Seen, expected: Mapping[str, Any], found: Difference
) -> Fact | None:
    """Return a relation between what came and what was expected, and what follows from it."""
    got, right = found.got, found.expected
    if isinstance(got, str) and not isinstance(right, torch.Tensor):
        return of_words(got)
    if not isinstance(right, torch.Tensor):
        return None
    name = found.label.removeprefix("gradient of ").partition(",")[0]
    backward = found.label.startswith("gradient of ")
    what = f"the {found.label}" if backward else f"{found.label}"
    method = "backward" if backward else "forward"
    if got is None:
        if backward:
            return (
                f"backward gives no gradient for {name}",
                f"return a tensor in the place of {name}, not None",
            )
        return (f"{method} returns None", "is a return missing?")
    if not isinstance(got, torch.Tensor):
        return (f"{what} is a {type(got).__name__}, not a tensor", f"return a tensor from {method}")
    given = dict(seen.given)
    for look in (_shape, _dtype):
        if fact := look(got, right, what, method, given, name):
            return fact
    if got.shape != right.shape or got.dtype != right.dtype or not got.numel():
        return None
    others = {k: v for k, v in expected.items() if k != found.label}
    return next(_relations(got, right, what, method, given, name, others), None)


def _shape(got: Any, right: Any, what: str, method: str, given: Any, name: str) -> Fact | None:
    if got.shape == right.shape:
        return None
    shapes = f"{what} has shape {tuple(got.shape)}, expected {tuple(right.shape)}"
    if got.dim() == 2 and right.dim() == 2 and same(got.T, right, NEAR):
        return (
            f"{shapes}: it is the transpose",
            f"transpose what {method} returns, or swap the factors",
        )
    if got.numel() > right.numel():
        with_sum = None
        with contextlib.suppress(RuntimeError):
            with_sum = got.sum_to_size(right.shape)
        if with_sum is not None and same(with_sum, right, NEAR):
            return (
                f"{shapes}: {name} was broadcast, and its gradient is not summed back",
                f"sum over the axes along which {name} was repeated: grad.sum_to_size({name}.shape)",
            )
    if got.numel() == right.numel() and same(got.reshape(right.shape), right, NEAR):
        return f"{shapes}: the numbers are right", f"give it the shape that is expected in {method}"
    return shapes, f"make {method} keep the shape"


def _dtype(got: Any, right: Any, what: str, method: str, given: Any, name: str) -> Fact | None:
    if got.dtype == right.dtype:
        return None
    kinds = [str(t.dtype).removeprefix("torch.") for t in (got, right)]
    return (
        f"{what} is {kinds[0]}, expected {kinds[1]}",
        f"compute in the dtype of the input in {method}; make new tensors with zeros_like or new_zeros",
    )


def _relations(
    got: torch.Tensor,
    right: torch.Tensor,
    what: str,
    method: str,
    given: Mapping[str, Any],
    name: str,
    others: Mapping[str, Any],
) -> Iterator[Fact]:
    def equal(a: Any) -> bool:
        return (
            isinstance(a, torch.Tensor)
            and a.shape == got.shape
            and same(got, a.to(got.dtype), NEAR)
        )

    gradient = what.startswith("the gradient")
    g = given.get("grad_output")
    g = g if isinstance(g, torch.Tensor) else None
    finite = bool(torch.isfinite(right).all())
    if finite and not bool(torch.isfinite(got).all()):
        bad = next(i for i, v in enumerate(flat(got)) if v != v or abs(v) == float("inf"))
        x = given.get(name if gradient else next(iter(given), ""))
        at = ""
        if isinstance(x, torch.Tensor) and x.shape == got.shape:
            at = f" where {name if gradient else 'x'} is {flat(x)[bad]:g}"
        kind = "NaN" if flat(got)[bad] != flat(got)[bad] else "infinite"
        yield (
            f"{what} is {kind}{at}: a step on the way overflows, or divides 0 by 0",
            "find the step whose result leaves the range, such as exp of a large number, and rewrite it",
        )
        return
    if gradient and g is not None and g.shape == got.shape:
        if equal(g):
            yield (
                f"{what} is grad_output itself: the derivative is missing",
                "multiply grad_output by the derivative, element by element",
            )
        safe = torch.where(g == 0, torch.ones_like(g), g)
        if bool((g != 0).all()) and bool((g != g.reshape(-1)[0]).any()) and equal(right / safe):
            yield (
                f"{what} is the derivative alone: grad_output is not used (chain rule)",
                "multiply by grad_output in backward",
            )
        if equal(right * g):
            yield f"{what} contains grad_output twice", "multiply by grad_output once"
        if equal(right + g) or equal(right - g):
            yield f"{what} differs from the right one by grad_output", "multiply, do not add"
        if equal(right / safe + g) or equal(right / safe - g):
            yield (
                f"{what} is grad_output plus the derivative: they are to be multiplied",
                "multiply grad_output by the derivative",
            )
    if bool((got == 0).all()) and bool((right != 0).any()):
        yield f"{what} is zero everywhere", f"does {method} return what it computed?"
    for label, other in others.items():
        if isinstance(other, torch.Tensor) and other.shape == got.shape and equal(other):
            yield (
                f"{what} is what {label} should be: they are swapped",
                f"return them in the order of forward's {'arguments' if gradient else 'outputs'}",
            )
    for label, other in given.items():
        if isinstance(other, torch.Tensor) and label != "grad_output" and equal(other):
            yield f"{what} is {label} itself", f"look at what {method} returns"
    yield from _factor(got, right, what, method, given)
    if got.dim() == 2 and got.shape[0] == got.shape[1] and equal(right.T):
        yield f"{what} is the transpose of the right one", "transpose it, or swap the factors"
    yield from _places(got, right, what, given, name)


def _factor(
    got: Any, right: Any, what: str, method: str, given: Mapping[str, Any]
) -> Iterator[Fact]:
    pairs = [(a, b) for a, b in zip(flat(got), flat(right), strict=True) if b != 0 or a != 0]
    if len(pairs) < 2 or any(b == 0 or isinstance(a, complex) for a, b in pairs):
        return
    ratios = [a / b for a, b in pairs]
    low, high = min(ratios), max(ratios)
    if high - low <= NEAR * max(abs(high), abs(low)) and ratios[0] != 0:
        c = ratios[0]
        if abs(c + 1) < NEAR:
            yield f"{what} has the wrong sign", f"change the sign in {method}"
        elif abs(c - 1) > NEAR:
            inverse = (
                f" (1/{round(1 / c)})" if abs(c) < 1 and abs(1 / c - round(1 / c)) < 1e-4 else ""
            )
            more = ""
            for label, value in given.items():
                sizes = [value.numel(), *value.shape] if isinstance(value, torch.Tensor) else []
                number = (
                    value
                    if isinstance(value, float | int) and not isinstance(value, bool)
                    else None
                )
                if number is not None and abs(c - number) < NEAR and number not in (0, 1):
                    more = f"; that is {label}"
                elif number is not None and number and abs(c - 1 / number) < NEAR and number != 1:
                    more = f"; that is 1/{label}"
                elif c > 1 and round(c) in sizes and abs(c - round(c)) < NEAR and round(c) > 2:
                    more = (
                        more
                        or "; that is a size of the inputs: a sum where a mean is due, or the reverse"
                    )
                elif c < 1 and c > 0 and round(1 / c) in sizes and inverse and round(1 / c) > 2:
                    more = (
                        more or "; that is one over a size of the inputs: a mean where a sum is due"
                    )
            yield (
                f"{what} is {c:.6g}{inverse} times the right one everywhere{more}",
                f"look for the factor in {method}",
            )
        return
    differences = [a - b for a, b in pairs]
    if max(differences) - min(differences) <= NEAR * max(1.0, abs(differences[0])):
        yield (
            f"{what} is off by {differences[0]:.6g} everywhere",
            f"look for what is added in {method}",
        )


def _places(got: Any, right: Any, what: str, given: Mapping[str, Any], name: str) -> Iterator[Fact]:
    x = given.get(name)
    if not isinstance(x, torch.Tensor) or x.shape != got.shape or x.is_complex():
        x = given.get("x")
    if not isinstance(x, torch.Tensor) or x.shape != got.shape or x.is_complex():
        return
    right_at = [same(a, b, NEAR) for a, b in zip(flat(got), flat(right), strict=True)]
    values = flat(x)
    sets: dict[str, Callable[[float], bool]] = {
        "at 0": lambda v: v == 0,
        "where x is negative": lambda v: v < 0,
        "where x is positive": lambda v: v > 0,
        "where x <= 0": lambda v: v <= 0,
        "where x >= 0": lambda v: v >= 0,
    }
    for words, inside in sets.items():
        wrong = [not ok for ok in right_at]
        members = [inside(v) for v in values]
        if any(members) and not all(members) and wrong == members:
            name_words = words if name == "x" else words.replace("x ", f"{name} ")
            yield (
                f"{what} is wrong {name_words}, and right everywhere else",
                f"look at what happens {name_words}",
            )
            return


def first(check: Check, seen: Seen, expected: Mapping[str, Any]) -> Difference | None:
    """Return the first value that differs."""
    return compare(seen.values, expected, check.tolerance)
