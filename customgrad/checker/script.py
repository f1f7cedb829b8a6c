"""Minimal reproductions: a script that shows the fault without customgrad."""

from typing import TYPE_CHECKING, Any

import torch

from customgrad.checker.samples import Sample

if TYPE_CHECKING:
    from customgrad.checker.exam import Exam

__all__ = ["OUTPUT", "imported", "literal", "script", "spied", "variables"]

OUTPUT = "out = {call}\nout = out[0] if isinstance(out, tuple) else out\n"
"""The lines of a script that call the subject and take its first output."""


def literal(value: Any) -> str:
    """Return an expression that makes this value."""
    if isinstance(value, torch.Tensor):
        plain = value.detach().resolve_conj().resolve_neg()
        if plain.numel() > 64:
            made = f"torch.randn({tuple(plain.shape)}, dtype={plain.dtype})"
            return made if plain.is_floating_point() or plain.is_complex() else repr(plain.tolist())
        numbers = repr(plain.tolist()).replace("nan", "float('nan')").replace("inf", "float('inf')")
        text = f"torch.tensor({numbers}, dtype={plain.dtype})"
        if plain.numel() == 0 and plain.dim() > 1:
            text = f"torch.empty({tuple(plain.shape)}, dtype={plain.dtype})"
        return text
    if isinstance(value, list | tuple) and not hasattr(value, "_fields"):
        items = ", ".join(_item(v) for v in value)
        if isinstance(value, list):
            return f"[{items}]"
        return f"({items},)" if len(value) == 1 else f"({items})"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{k!r}: {_item(v)}" for k, v in value.items()) + "}"
    return _expression(value)


def _expression(value: Any) -> str:
    """Return what a script writes for a value that is no tensor."""
    if isinstance(value, torch.Generator):
        return f"torch.Generator().manual_seed({value.initial_seed()})"
    if isinstance(value, torch.nn.Module):
        return _module(value)
    name = getattr(value, "__name__", "")
    for place, words in ((torch, "torch"), (torch.nn.functional, "torch.nn.functional")):
        if name and getattr(place, name, None) is value:
            return f"{words}.{name}"
    if imported(value):
        return name
    text = repr(value)
    return "..." if text.startswith("<") else text


def _module(module: torch.nn.Module) -> str:
    """Return an expression for a module of torch, or a place to put another."""
    text = repr(module)
    if type(module).__module__.startswith("torch.nn.") and "\n" not in text:
        double = any(p.dtype == torch.float64 for p in module.parameters())
        return f"torch.nn.{text}" + ".double()" * double
    return "..."


def imported(value: Any) -> str:
    """Return the line that imports a function or class; empty for anything else."""
    name, module = getattr(value, "__qualname__", ""), getattr(value, "__module__", "") or ""
    plain = callable(value) and name.isidentifier() and module not in ("", "__main__", "builtins")
    return f"from {module} import {name}" if plain else ""


def _item(value: Any) -> str:
    """Return an expression for what stands in a container; it says itself that it needs a gradient."""
    text = literal(value)
    needs = isinstance(value, torch.Tensor) and value.requires_grad and text.endswith(")")
    return text[:-1] + ", requires_grad=True)" if needs else text


def variables(exam: "Exam", sample: Sample) -> list[str]:
    """Return a name for each argument that a script can assign to."""
    names = exam.subject.names(len(sample.values))
    return [
        n if n.isidentifier() and n not in ("input", "torch") else f"x{k}"
        for k, n in enumerate(names)
    ]


def script(exam: "Exam", sample: Sample, body: str) -> str:
    """Return a script: imports, the inputs, then the body.

    In the body, `{call}` is the call, `{inputs}` the inputs that need gradients (a tuple),
    `{args}` the arguments, `{name}` how the subject is called, and `{class}` its name.
    """
    names = variables(exam, sample)
    brought = dict.fromkeys(filter(None, (imported(v) for v in sample.values)))
    lines = ["import torch", exam.subject.source(), *brought, ""]
    for i, (name, value) in enumerate(zip(names, sample.values, strict=True)):
        needs = ", requires_grad=True)" if i in sample.wanted else ")"
        text = literal(value)
        if i in sample.wanted and text.endswith(")"):
            text = text[:-1] + needs
        hint = f"  # put your {type(value).__name__} here" if text == "..." else ""
        lines.append(f"{name} = {text}{hint}")
    passed = [
        f"{n}.clone()" if exam.in_place and i in sample.wanted else n for i, n in enumerate(names)
    ]
    wanted = [names[i] for i in sample.wanted]
    filled = body.replace("{call}", f"{exam.subject.called}({', '.join(passed)})")
    filled = filled.replace("{inputs}", f"({', '.join(wanted)},)")
    filled = filled.replace("{args}", ", ".join(passed)).replace("{name}", exam.subject.called)
    filled = filled.replace("{class}", exam.subject.name)
    return "\n".join([*lines, "", filled.strip("\n"), ""])


def spied(body: str) -> str:
    """Return a script's body that looks at what backward returns."""
    return (
        "shapes, dtypes = {}, {}\n"
        "class Spy({class}):\n"
        "    @staticmethod\n"
        "    def backward(ctx, *cotangents):\n"
        "        returned = {class}.backward(ctx, *cotangents)\n"
        "        for i, g in enumerate(returned if isinstance(returned, tuple) else (returned,)):\n"
        "            if g is not None:\n"
        "                shapes[i], dtypes[i] = tuple(g.shape), g.dtype\n"
        "        return returned\n"
        "out = Spy.apply({args})\n"
        "out = out[0] if isinstance(out, tuple) else out\n"
        f"out.backward(torch.randn_like(out))\n{body}"
    )
