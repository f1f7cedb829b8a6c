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
        match = re.search(entry["match"], f"{kind}: {message}" if message else kind)
        if not match or not re.fullmatch(entry.get("where", ".*"), where):
            continue
        line = re.search(entry.get("source", ""), source, re.M)
        if line is None:
            continue
        words = [group or "" for group in (match[0], *match.groups())]
        named = {"where": where, "name": line[1] if line.lastindex else ""}
        return entry["why"].format(*words, **named), entry["fix"].format(*words, **named)
    return None


def of_words(got: str) -> Fact | None:
    """Return why a check saw these words, where the table knows them."""
    for entry in _table()["words"]:
        if match := re.fullmatch(entry["match"], got):
            words = (match[0], *match.groups())
            return entry["why"].format(*words), entry["fix"].format(*words)
    return None


def of_change(label: str) -> Fact | None:
    """Return what is said where something is no longer as it was."""
    if label.startswith("grad_output"):
        return (
            "backward writes into grad_output, which other parts of the graph may still read",
            "make a new tensor: no +=, *=, no assignment to elements, no method that ends in _",
        )
    name, _, after = label.partition(" after ")
    if after == "the call":
        return (
            f"forward changes {name}, which belongs to the caller",
            "make a new tensor: no +=, *=, no assignment to elements, no method that ends in _",
        )
    if after == "backward":
        return (
            f"backward changes {name}, which belongs to the caller: it writes into what was saved",
            "make a new tensor: no +=, *=, no assignment to elements, no method that ends in _",
        )
    return None


def of_values(
    check: Check, seen: Seen, expected: Mapping[str, Any], found: Difference
) -> Fact | None:
    """Return a relation between what came and what was expected, and what follows from it."""
    got, right = found.got, found.expected
    if fact := of_change(found.label):
        return fact
    if isinstance(output := seen.values.get("output"), str) and "output" not in expected:
        return of_words(output)
    if isinstance(got, str) and isinstance(right, str):
        return _kind(found.label, got, right) or of_words(got)
    if not isinstance(right, torch.Tensor):
        return None
    name = re.split(r",| alone$", found.label.removeprefix("gradient of "))[0]
    backward = found.label.startswith(("gradient of ", "second derivative by "))
    what = f"the {found.label}" if backward else f"{found.label}"
    method = "backward" if backward else "forward"
    if found.label.startswith("second derivative by "):
        return _second(got, right, found.label)
    if fact := _again(seen, expected, found):
        return fact
    if got is None:
        if found.label == f"gradient of {name} alone":
            return (
                f"backward gives no gradient for {name} where {name} alone needs one",
                f"compute it whenever ctx.needs_input_grad says so, at the place of {name}",
            )
        if backward:
            return (
                f"backward gives no gradient for {name}",
                f"return a tensor in the place of {name}: is the word return missing, or is it None?",
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


def _kind(label: str, got: str, right: str) -> Fact | None:
    """Return what is said of a dtype, or of what backward itself returned."""
    if kinds := re.fullmatch(r"output for (\w+)", label):
        return (
            f"for a {kinds[1]} input, forward returns {got}",
            "compute in the dtype of the input: make new tensors with zeros_like(x), x.new_zeros(...)"
            " or dtype=x.dtype",
        )
    if place := re.fullmatch(r"what backward returns for (\w+)", label):
        name = place[1]
        if got == "nothing":
            return (
                f"backward returns nothing in the place of {name}",
                "return one value for each argument of forward, in their order",
            )
        if right == "None":
            return (
                f"backward returns {got} for {name}, which has no gradient",
                f"return None in the place of {name}",
            )
        if got == "None":
            return (
                f"backward returns None for {name}",
                f"return the gradient in the place of {name}",
            )
        mine, theirs = got.partition(" of shape "), right.partition(" of shape ")
        if mine[2] != theirs[2] and mine[2] and theirs[2]:
            return (
                f"backward itself returns a gradient of shape {mine[2]} for {name}, which has shape"
                f" {theirs[2]}",
                f"sum it over the axes along which {name} was repeated, to the shape of {name}",
            )
        if mine[0] != theirs[0] and mine[2]:
            return (
                f"backward returns a gradient in {mine[0]} for {name}, which is {theirs[0]}",
                "compute in the dtype of the input: no .float(), no dtype=torch.float32",
            )
        return f"backward returns {got} for {name}", f"return a tensor like {name}: {right}"
    return None


def _again(seen: Seen, expected: Mapping[str, Any], found: Difference) -> Fact | None:
    """Return what is said where the same backward is right once, and wrong another time."""

    def right(label: str) -> bool:
        return label in expected and same(seen.values.get(label), expected[label], NEAR)

    if found.label.endswith(", time 2") and right(found.label.removesuffix("2") + "1"):
        return (
            "the second backward through the same graph gives another gradient than the first one",
            "change nothing in backward that it reads: neither saved tensors nor attributes of ctx",
        )
    if found.label.endswith(", call 1") and right(f"{found.label[:-6]}one call"):
        return (
            "after a second call, backward of the first one gives a wrong gradient: something is"
            " kept outside ctx, and the second call overwrote it",
            "keep it with ctx.save_for_backward: each call has a ctx of its own",
        )
    return None


def _second(got: Any, right: torch.Tensor, label: str) -> Fact | None:
    if isinstance(got, torch.Tensor) and bool((got == 0).all()) and bool((right != 0).any()):
        return (
            f"the {label.replace('second', 'gradient’s')} is zero: autograd cannot see how backward"
            " depends on it",
            "compute in backward from saved inputs or outputs of forward and from grad_output, with"
            " torch's operations; no .data, .detach(), no_grad and no @once_differentiable",
        )
    return None


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
        if bool((g != 0).all()) and got.numel() > 1:
            yield from _instead(got, right / g, g, what)
    if bool((got == 0).all()) and bool((right != 0).any()):
        yield f"{what} is zero everywhere", f"does {method} return what it computed?"
    for label, other in others.items():
        if ", " in label:  # the same gradient at another time
            continue
        if isinstance(other, torch.Tensor) and other.shape == got.shape and equal(other):
            yield (
                f"{what} is what {label} should be: they are swapped",
                f"return them in the order of forward's {'arguments' if gradient else 'outputs'}",
            )
    for label, other in given.items():
        if isinstance(other, torch.Tensor) and label != "grad_output" and equal(other):
            yield f"{what} is {label} itself", f"look at what {method} returns"
    for label, other in given.items():
        if not isinstance(other, torch.Tensor) or not bool((other != 0).any()) or got.numel() < 3:
            continue
        with contextlib.suppress(RuntimeError):
            wide = other.detach().expand_as(got).to(got.dtype)
            for words, part in (("too large", wide), ("too small", -wide)):
                if not same(got, right, NEAR) and same(got - right, part, NEAR):
                    yield (
                        f"{what} is {words} by {label}",
                        f"look at how {label} is used in {method}",
                    )
    yield from _factor(got, right, what, method, given)
    if got.dim() == 2 and got.shape[0] == got.shape[1] and equal(right.T):
        yield f"{what} is the transpose of the right one", "transpose it, or swap the factors"
    yield from _formula(got, right, what, given, name, g if gradient else None)
    yield from _places(got, right, what, given, name)
    yield from _near(got, right, what, method)


G = "grad_output"
INSTEAD: dict[str, tuple[Callable[[torch.Tensor], torch.Tensor], str]] = {
    "the sum of grad_output": (lambda g: g.sum().expand_as(g), "grad_output itself"),
    "the mean of grad_output": (lambda g: g.mean().expand_as(g), "grad_output itself"),
    "the size of grad_output, without its sign": (torch.abs, "grad_output itself"),
    "the sign of grad_output": (torch.sign, "grad_output itself"),
    "the first element of grad_output": (lambda g: g.reshape(-1)[0].expand_as(g), "all of it"),
    "grad_output clipped to [-1, 1]": (lambda g: g.clamp(-1, 1), "it unclipped"),
    "grad_output without its negative part": (torch.relu, "all of it"),
    "grad_output divided by its norm": (lambda g: g / g.norm(), "grad_output itself"),
    "grad_output in reverse order": (lambda g: g.flip(tuple(range(g.dim()))), "the order it has"),
    "1 over grad_output": (lambda g: 1 / g, "grad_output itself"),
}


def _instead(got: torch.Tensor, slope: torch.Tensor, g: torch.Tensor, what: str) -> Iterator[Fact]:
    """Say what stands where grad_output belongs."""
    for words, (made, use) in INSTEAD.items():
        other = made(g)
        if not same(other, g, NEAR) and same(got, slope * other, NEAR):
            yield f"{what} contains {words} in the place of grad_output", f"use {use}"


FORMULAS: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "": torch.ones_like,
    "x": lambda x: x,
    "x²": lambda x: x**2,
    "x³": lambda x: x**3,
    "x⁴": lambda x: x**4,
    "|x|": torch.abs,
    "x|x|": lambda x: x * x.abs(),
    "sign(x)": torch.sign,
    "1/x": lambda x: 1 / x,
    "1/x²": lambda x: 1 / x**2,
    "√|x|": lambda x: x.abs().sqrt(),
    "eˣ": torch.exp,
    "e⁻ˣ": lambda x: torch.exp(-x),
    "x·eˣ": lambda x: x * torch.exp(x),
    "e²ˣ": lambda x: torch.exp(2 * x),
    "log x": torch.log,
    "2ˣ": torch.exp2,
    "eˣ - 1": torch.expm1,
    "sin x": torch.sin,
    "cos x": torch.cos,
    "tanh x": torch.tanh,
    "sigmoid(x)": torch.sigmoid,
    "(1 - sigmoid(x))": lambda x: torch.sigmoid(-x),
    "sigmoid(x)(1 - sigmoid(x))": lambda x: torch.sigmoid(x) * torch.sigmoid(-x),
    "x·sigmoid(x)": lambda x: x * torch.sigmoid(x),
    "(1 + x·(1 - sigmoid(x)))": lambda x: 1 + x * torch.sigmoid(-x),
    "log(1 + eˣ)": lambda x: torch.log1p(torch.exp(x)),
    "(x > 0)": lambda x: (x > 0).to(x.dtype),
    "(x >= 0)": lambda x: (x >= 0).to(x.dtype),
    "(x < 0)": lambda x: (x < 0).to(x.dtype),
}
FACTORS = {
    1.0: "", 2.0: "2 · ", 3.0: "3 · ", 4.0: "4 · ", 6.0: "6 · ", 0.5: "1/2 · ", 1 / 3: "1/3 · ",
    0.25: "1/4 · ",
}  # fmt: skip


def _named(values: torch.Tensor, x: torch.Tensor) -> str:
    """Return the formula in x that gives these values, or ""."""
    for words, formula in FORMULAS.items():
        made = formula(x)
        if not bool(torch.isfinite(made).all()):
            continue
        for factor, times in FACTORS.items():
            for sign, minus in ((1, ""), (-1, "-")):
                if same(values, sign * factor * made, NEAR):
                    return f"{minus}{times}{words}".removesuffix(" · ") or "1"
    return ""


def _formula(
    got: Any, right: Any, what: str, given: Mapping[str, Any], name: str, g: torch.Tensor | None
) -> Iterator[Fact]:
    """Name the formula that was computed, where one input decides and there are enough of it."""
    inputs = [
        v for k, v in given.items() if isinstance(v, torch.Tensor) and k not in ("grad_output",)
    ]
    if len(inputs) != 1 or inputs[0].shape != got.shape or got.numel() < 3:
        return
    x = inputs[0]
    if not x.is_floating_point() or len(set(flat(x))) < 3:
        return
    if g is None:
        if what.startswith("the gradient"):
            return
        mine, theirs, times = _named(got, x), _named(right, x), ""
    else:
        if g.shape != got.shape or not bool((g != 0).all()):
            return
        mine, theirs, times = _named(got / g, x), _named(right / g, x), " times grad_output"
    if mine and mine != theirs:
        due = f", and {theirs}{times} is right" if theirs else ""
        yield f"{what} is {mine}{times}{due}", "compare the formula with the one of the statement"


def _near(got: Any, right: Any, what: str, method: str) -> Iterator[Fact]:
    """Say that the numbers are nearly right, as those of an approximation are."""
    pairs = list(zip(flat(got), flat(right), strict=True))
    off = [abs(a - b) / abs(b) for a, b in pairs if b]
    if off and all(a == b for a, b in pairs if not b) and max(off) < 5e-3:
        yield (
            f"{what} is nearly right, but off by up to {100 * max(off):.2g} %: more than rounding",
            f"is something approximated in {method}, by a finite difference, a rounded constant, or float32?",
        )


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
                f" (1/{round(1 / c)})" if 0 < c < 1 and abs(1 / c - round(1 / c)) < 1e-4 else ""
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
        name, x = "x", given.get("x")
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
        enough = words == "at 0" or len(members) > 2
        if enough and any(members) and not all(members) and wrong == members:
            name_words = words if name == "x" else words.replace("x ", f"{name} ")
            yield (
                f"{what} is wrong {name_words}, and right everywhere else",
                f"look at what happens {name_words}",
            )
            return


def first(check: Check, seen: Seen, expected: Mapping[str, Any]) -> Difference | None:
    """Return the first value that differs."""
    return compare(seen.values, expected, check.tolerance)
