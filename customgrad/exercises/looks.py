"""The checks that most exercises share: values, gradients, what may not change, what is kept.

Each function returns a `Check`; ``name`` is what the file defines, the arguments follow by their
names in the order of the call, as in ``gradient("the slope", "Square", x=tensor(1.0, -2.0))``.
"""

from collections.abc import Callable, Mapping
from typing import Any

import torch

from customgrad.exercises.checking import Check, Seen, leaf

__all__ = [
    "batch",
    "dtypes",
    "forward_mode",
    "function",
    "gradient",
    "interleaved",
    "keeps",
    "needs",
    "returns",
    "second",
    "third",
    "twice",
    "unchanged",
    "untouched",
    "value",
]


def _called(name: str, given: Mapping[str, Any], then: str = "") -> str:
    return f"{name}.apply({', '.join(given)})" + (f", then {then}" if then else "")


def _apply(answer: Any, name: str, given: Mapping[str, Any]) -> Any:
    return getattr(answer, name).apply(*given.values())


def _outputs(result: Any) -> tuple[Any, ...]:
    return tuple(result) if isinstance(result, tuple | list) else (result,)


def _cotangents(outputs: tuple[Any, ...], g: Any) -> list[Any]:
    """Return what backward is given: as asked, or numbers that are all different."""
    if g is not None:
        return [leaf(t, False) for t in _outputs(g)]
    return [uneven(t) for t in outputs]


def uneven(like: torch.Tensor) -> torch.Tensor:
    """Return numbers that are all different, each third one negative: 1.5, -2, 2.5, 3, -3.5, ..."""
    place = torch.arange(like.numel(), dtype=torch.float64)
    values = (1.5 + 0.5 * place) * torch.where(place % 3 == 1, -1.0, 1.0)
    return values.to(like.dtype).reshape(like.shape)


def function(name: str, methods: tuple[str, ...] = ("forward", "backward")) -> Check:
    """See that the name is a Function whose methods are static."""
    import inspect

    def see(answer: Any) -> Seen:
        learned = getattr(answer, name)
        if not isinstance(learned, type) or not issubclass(learned, torch.autograd.Function):
            what = "a class without the base" if isinstance(learned, type) else "no class"
            return Seen(name, {"kind": what})
        values = {"kind": "a torch.autograd.Function"}
        chain = learned.__mro__[: learned.__mro__.index(torch.autograd.Function)]
        own = [m for m in (*methods, "setup_context") if any(m in vars(c) for c in chain)]
        static = [m for m in own if isinstance(inspect.getattr_static(learned, m), staticmethod)]
        missing = [m for m in methods if m not in own]
        plain = [m for m in own if m not in static]
        values["methods"] = (
            f"no {' and no '.join(missing)}"
            if missing
            else f"{' and '.join(plain)} not static"
            if plain
            else "all there and static"
        )
        return Seen(name, values)

    expected = {"kind": "a torch.autograd.Function", "methods": "all there and static"}
    return Check(f"{name} is a Function with static methods", see, expected)


def value(words: str, name: str, *, tolerance: float = 1e-6, why: str = "", **given: Any) -> Check:
    """Compare the output, or the outputs, with the reference's."""

    def see(answer: Any) -> Seen:
        result = _apply(answer, name, {k: leaf(v) for k, v in given.items()})
        outputs = _outputs(result)
        if len(outputs) == 1:
            values = {"output": _detached(result)}
        else:
            values = {f"output {k}": _detached(t) for k, t in enumerate(outputs)}
        return Seen(_called(name, given), values, given)

    return Check(words, see, tolerance=tolerance, why=why)


def _detached(value: Any) -> Any:
    return value.detach().clone() if isinstance(value, torch.Tensor) else value


def gradient(
    words: str,
    name: str,
    *,
    g: Any = None,
    wrap: Callable[..., Any] | None = None,
    wrapped: str = "",
    use: tuple[int, ...] | None = None,
    tolerance: float = 1e-6,
    why: str = "",
    **given: Any,
) -> Check:
    """Compare the gradients of all tensors with the reference's.

    Args:
        words: what is looked at.
        name: the Function.
        g: what backward is given; different numbers if None.
        wrap: composes the call with more, as ``lambda apply, x: apply(2 * x) ** 2``.
        wrapped: the words for it.
        use: of several outputs, those that backward starts from.
        tolerance: relative.
        why: what is said if no mutant fits.
        given: the arguments by name.
    """

    def see(answer: Any) -> Seen:
        leaves = {k: leaf(v) for k, v in given.items()}
        apply = getattr(answer, name).apply
        result = wrap(apply, *leaves.values()) if wrap else apply(*leaves.values())
        outputs = _outputs(result)
        if not all(isinstance(t, torch.Tensor) for t in outputs):
            kinds = ", ".join(type(t).__name__ for t in outputs)
            return Seen(_called(name, given), {"output": f"no tensor: {kinds}"}, given)
        if use is not None:
            outputs = tuple(outputs[k] for k in use)
        cotangents = _cotangents(outputs, g)
        before = [t.clone() for t in cotangents]  # an answer may write into what it is given
        told = {**given, "grad_output": before[0] if len(before) == 1 else before}
        wanted = {k: t for k, t in leaves.items() if _differentiable(t)}
        found = torch.autograd.grad(outputs, tuple(wanted.values()), cotangents, allow_unused=True)
        values = {f"gradient of {k}": v for k, v in zip(wanted, found, strict=True)}
        then = "backward(grad_output)"
        return Seen(wrapped or _called(name, given, then), values, told)

    return Check(words, see, tolerance=tolerance, why=why)


def _differentiable(value: Any) -> bool:
    return isinstance(value, torch.Tensor) and value.requires_grad


def second(words: str, name: str, *, tolerance: float = 1e-6, why: str = "", **given: Any) -> Check:
    """Compare the gradient of the gradient's weighted sum with the reference's."""

    def see(answer: Any) -> Seen:
        leaves = {k: leaf(v) for k, v in given.items()}
        outputs = _outputs(_apply(answer, name, leaves))
        wanted = [t for t in leaves.values() if _differentiable(t)]
        names = [k for k, t in leaves.items() if _differentiable(t)]
        g = [t.requires_grad_() for t in _cotangents(outputs, None)]
        first = torch.autograd.grad(outputs, wanted, g, create_graph=True, allow_unused=True)
        total = sum((uneven(t) * t).sum() for t in first if t is not None)
        found = (
            torch.autograd.grad(total, [*wanted, *g], allow_unused=True)
            if isinstance(total, torch.Tensor) and total.requires_grad
            else [None] * (len(wanted) + len(g))
        )
        # An unused input and a zero gradient are the same to the second derivative.
        ends = [
            *names,
            *(["grad_output"] if len(g) == 1 else [f"grad_output {k}" for k in range(len(g))]),
        ]
        values = {
            f"second derivative by {k}": torch.zeros_like(t) if f is None else f.detach()
            for k, t, f in zip(ends, [*wanted, *g], found, strict=True)
        }
        return Seen(_called(name, given, "grad twice (create_graph=True)"), values, given)

    return Check(words, see, tolerance=tolerance, why=why)


def unchanged(name: str, **given: Any) -> Check:
    """See that forward leaves the arguments as they are; backward is not run."""

    def see(answer: Any) -> Seen:
        leaves = {k: leaf(v) for k, v in given.items()}
        _apply(answer, name, leaves)
        values = {f"{k} after the call": _detached(t) for k, t in leaves.items()}
        return Seen(_called(name, given), values, given)

    words = f"{' and '.join(given)} {'stays as it was' if len(given) == 1 else 'stay as they were'}"
    expected = {f"{k} after the call": v for k, v in given.items()}
    return Check(f"{words} in forward", see, expected)


def untouched(name: str, **given: Any) -> Check:
    """See that neither the arguments nor what backward is given have changed."""

    def see(answer: Any) -> Seen:
        leaves = {k: leaf(v) for k, v in given.items()}
        outputs = _outputs(_apply(answer, name, leaves))
        values = {f"{k} after the call": _detached(t) for k, t in leaves.items()}
        cotangents = _cotangents(outputs, None)
        before = [t.clone() for t in cotangents]
        if any(_differentiable(t) for t in outputs):
            pairs = [(t, c) for t, c in zip(outputs, cotangents, strict=True) if t.requires_grad]
            torch.autograd.backward([t for t, _ in pairs], [c for _, c in pairs])
        changed = any(not torch.equal(a, b) for a, b in zip(before, cotangents, strict=True))
        values["grad_output after backward"] = "changed" if changed else "as it was"
        values |= {f"{k} after backward": _detached(t) for k, t in leaves.items()}
        return Seen(_called(name, given, "backward(grad_output)"), values, given)

    expected: dict[str, Any] = {f"{k} after the call": v for k, v in given.items()}
    expected["grad_output after backward"] = "as it was"
    expected |= {f"{k} after backward": v for k, v in given.items()}
    return Check(
        "x and grad_output stay as they were"
        if list(given) == ["x"]
        else "the inputs and grad_output stay as they were",
        see,
        expected,
    )


def keeps(words: str, name: str, allowed: Callable[[dict[str, Any]], str], **given: Any) -> Check:
    """See what is kept for backward.

    Args:
        words: what is looked at.
        name: the Function.
        allowed: given ``saved`` (each tensor that is kept by save_for_backward, as a pair of
            words and elements), ``context`` (names on ctx that hold tensors), ``inputs`` and
            ``outputs`` (tensors); returns "" or what is wrong.
        given: the arguments by name.
    """

    def see(answer: Any) -> Seen:
        leaves = {k: leaf(v) for k, v in given.items()}
        saved: list[torch.Tensor] = []

        def pack(t: torch.Tensor) -> torch.Tensor:
            saved.append(t)
            return t

        with torch.autograd.graph.saved_tensors_hooks(pack, lambda t: t):
            result = _apply(answer, name, leaves)
        outputs = _outputs(result)
        node = outputs[0].grad_fn if isinstance(outputs[0], torch.Tensor) else None
        context = {k: v for k, v in getattr(node, "__dict__", {}).items() if _holds(v)}
        facts = {"saved": saved, "context": context, "inputs": leaves, "outputs": outputs}
        return Seen(_called(name, given), {"kept for backward": allowed(facts) or words}, given)

    return Check(words, see, {"kept for backward": words})


def _holds(value: Any) -> bool:
    if isinstance(value, list | tuple):
        return any(map(_holds, value))
    if isinstance(value, dict):
        return any(map(_holds, value.values()))
    return isinstance(value, torch.Tensor)


def plainly(facts: dict[str, Any]) -> str:
    """Allow anything but an input or an output that is held by ctx itself."""
    ends = [*facts["inputs"].values(), *facts["outputs"]]
    for name, held in facts["context"].items():
        for t in held if isinstance(held, list | tuple) else [held]:
            if any(t is e or _shares(t, e) for e in ends):
                return f"ctx.{name} holds an input or output"
    return ""


def _shares(a: Any, b: Any) -> bool:
    if not (isinstance(a, torch.Tensor) and isinstance(b, torch.Tensor)) or not a.numel():
        return False
    return a.untyped_storage().data_ptr() == b.untyped_storage().data_ptr()


def only(which: str, at_most: int = 1) -> Callable[[dict[str, Any]], str]:
    """Allow what `plainly` does, and of large tensors this one alone ("input", "output" or "any")."""

    def allowed(facts: dict[str, Any]) -> str:
        if problem := plainly(facts):
            return problem
        large = max(t.numel() for t in facts["outputs"] if isinstance(t, torch.Tensor))
        kept = [*facts["saved"]]
        for held in facts["context"].values():
            kept += [t for t in (held if isinstance(held, list | tuple) else [held]) if _holds(t)]
        big = [t for t in kept if t.numel() >= large]
        if len(big) > at_most:
            return f"{len(big)} tensors of {large} elements"
        if which == "any" or not big:
            return "" if big or which == "any" else f"no tensor of {large} elements"
        ends = facts["inputs"].values() if which == "input" else facts["outputs"]
        wrong = [t for t in big if not any(_shares(t, e) for e in ends)]
        if wrong:
            other = "output" if which == "input" else "input"
            ends = facts["inputs"].values() if other == "input" else facts["outputs"]
            is_other = any(_shares(wrong[0], e) for e in ends)
            return (
                f"the {other}, not the {which}" if is_other else f"a tensor that is not the {which}"
            )
        return ""

    return allowed


def interleaved(name: str, first: Mapping[str, Any], then: Mapping[str, Any]) -> Check:
    """Call twice, and only then run both backward passes, the first call's first."""

    def see(answer: Any) -> Seen:
        def call(given: Mapping[str, Any]) -> tuple[dict[str, Any], tuple[Any, ...]]:
            leaves = {k: leaf(v) for k, v in given.items()}
            return leaves, _outputs(_apply(answer, name, leaves))

        def back(words: str, leaves: dict[str, Any], outputs: tuple[Any, ...]) -> dict[str, Any]:
            wanted = {n: t for n, t in leaves.items() if _differentiable(t)}
            found = torch.autograd.grad(
                outputs, tuple(wanted.values()), _cotangents(outputs, None), allow_unused=True
            )
            return {f"gradient of {n}, {words}": f for n, f in zip(wanted, found, strict=True)}

        values = back("one call", *call(first))
        runs = [call(first), call(then)]
        values |= back("call 1", *runs[0]) | back("call 2", *runs[1])
        return Seen(f"two calls of {name}.apply, then both backwards", values, first)

    return Check("two calls do not mix", see)


def twice(name: str, **given: Any) -> Check:
    """Run backward twice with retain_graph: both times the same."""

    def see(answer: Any) -> Seen:
        leaves = {k: leaf(v) for k, v in given.items()}
        outputs = _outputs(_apply(answer, name, leaves))
        wanted = {k: t for k, t in leaves.items() if _differentiable(t)}
        values: dict[str, Any] = {}
        for k in (1, 2):
            found = torch.autograd.grad(
                outputs,
                tuple(wanted.values()),
                _cotangents(outputs, None),
                retain_graph=True,
                allow_unused=True,
            )
            values |= {
                f"gradient of {n}, time {k}": _detached(f)
                for n, f in zip(wanted, found, strict=True)
            }
        return Seen(_called(name, given, "backward twice (retain_graph=True)"), values, given)

    return Check("backward twice gives the same", see)


def needs(name: str, **given: Any) -> Check:
    """Let each tensor need a gradient alone."""

    def see(answer: Any) -> Seen:
        values: dict[str, Any] = {}
        floats = [
            k for k, v in given.items() if isinstance(v, torch.Tensor) and v.is_floating_point()
        ]
        for alone in floats:
            leaves = {k: leaf(v, k == alone) for k, v in given.items()}
            outputs = _outputs(_apply(answer, name, leaves))
            (values[f"gradient of {alone} alone"],) = torch.autograd.grad(
                outputs, leaves[alone], _cotangents(outputs, None), allow_unused=True
            )
        return Seen(_called(name, given) + " where one input needs a gradient", values, given)

    return Check("each input may need a gradient alone", see)


def dtypes(name: str, names: tuple[str, ...] = ("float32", "float64"), **given: Any) -> Check:
    """See that outputs and gradients have the dtype of the input."""

    def see(answer: Any) -> Seen:
        values = {}
        for dtype in names:
            kind = getattr(torch, dtype)
            cast = {
                k: v.to(kind) if isinstance(v, torch.Tensor) and v.is_floating_point() else v
                for k, v in given.items()
            }
            leaves = {k: leaf(v) for k, v in cast.items()}
            outputs = _outputs(_apply(answer, name, leaves))
            values[f"output for {dtype}"] = str(outputs[0].dtype).removeprefix("torch.")
        return Seen(_called(name, given), values, given)

    return Check(
        "the output has the input's dtype", see, {f"output for {dtype}": dtype for dtype in names}
    )


def forward_mode(words: str, name: str, *, why: str = "", **given: Any) -> Check:
    """Compare the forward-mode derivative (jvp) with the reference's."""

    def see(answer: Any) -> Seen:
        import torch.autograd.forward_ad as fwd

        with fwd.dual_level():
            duals = {
                k: fwd.make_dual(
                    leaf(v, False),
                    uneven(v),
                )
                if isinstance(v, torch.Tensor) and v.is_floating_point()
                else v
                for k, v in given.items()
            }
            outputs = _outputs(_apply(answer, name, duals))
            tangents = [fwd.unpack_dual(t).tangent for t in outputs]
        values = {
            f"tangent of output {k}" if len(tangents) > 1 else "tangent": t
            for k, t in enumerate(tangents)
        }
        return Seen(f"forward-mode derivative of {_called(name, given)}", values, given)

    return Check(words, see, why=why)


def batch(
    words: str, name: str, *, dims: tuple[Any, ...] | None = None, why: str = "", **given: Any
) -> Check:
    """Compare torch.vmap of the Function with the reference's, the first axis mapped."""

    def see(answer: Any) -> Seen:
        places = dims or tuple(0 if isinstance(v, torch.Tensor) else None for v in given.values())
        result = torch.vmap(getattr(answer, name).apply, in_dims=places)(
            *(leaf(v, False) for v in given.values())
        )
        outputs = _outputs(result)
        values = {f"output {k}" if len(outputs) > 1 else "output": t for k, t in enumerate(outputs)}
        return Seen(f"torch.vmap({name}.apply, in_dims={places})", values, given)

    return Check(words, see, why=why)


def returns(name: str, **given: Any) -> Check:
    """See what backward itself returns: autograd sums and casts it before anybody sees it."""

    def kind(value: Any) -> str:
        if value is None:
            return "None"
        if not isinstance(value, torch.Tensor):
            return f"a {type(value).__name__}"
        return f"{str(value.dtype).removeprefix('torch.')} of shape {tuple(value.shape)}"

    floats = {k for k, v in given.items() if isinstance(v, torch.Tensor) and v.is_floating_point()}
    expected = {
        f"what backward returns for {k}": kind(v if k in floats else None) for k, v in given.items()
    }

    def see(answer: Any) -> Seen:
        outputs = _outputs(_apply(answer, name, {k: leaf(v) for k, v in given.items()}))
        node = next((t.grad_fn for t in outputs if getattr(t, "grad_fn", None) is not None), None)
        if node is None or not hasattr(node, "apply"):
            return Seen(_called(name, given), expected, given)
        made = node.apply(*_cotangents(outputs, None))
        made = made if isinstance(made, tuple) else (made,)
        values = {
            label: kind(made[k]) if k < len(made) else "nothing" for k, label in enumerate(expected)
        }
        return Seen(_called(name, given, "backward(grad_output)"), values, given)

    return Check("each gradient has the shape and the dtype of its input", see, expected)


def third(words: str, name: str, *, tolerance: float = 1e-6, why: str = "", x: Any) -> Check:
    """Compare the third derivative with the reference's, each time weighed by different numbers."""

    def see(answer: Any) -> Seen:
        start = leaf(x)
        made = _apply(answer, name, {"x": start})
        for _ in range(3):
            if not (isinstance(made, torch.Tensor) and made.requires_grad):
                made = torch.zeros_like(start)
                break
            weights = torch.linspace(1.0, 2.0, made.numel(), dtype=made.dtype).reshape(made.shape)
            (made,) = torch.autograd.grad(made, start, weights, create_graph=True)
        values = {"third derivative by x": _detached(made)}
        return Seen(
            _called(name, {"x": x}, "grad three times (create_graph=True)"), values, {"x": x}
        )

    return Check(words, see, tolerance=tolerance, why=why)
