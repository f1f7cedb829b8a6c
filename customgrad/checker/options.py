"""Arguments that are no tensors: other numbers, flags and words, and what they are for."""

import re
from collections.abc import Iterator
from dataclasses import replace
from types import CodeType

import torch

from customgrad.checker import numeric, sandbox
from customgrad.checker.exam import Exam
from customgrad.checker.samples import Sample
from customgrad.checker.subject import Subject

__all__ = ["PATIENCE", "options", "unfinished"]

PATIENCE = re.compile(
    r"eps|tol|iter|step|max_|min_|num|count|size|seed|beta_?fast|thresh|unroll|order|dim|axis|blank|ignore|index",
    re.I,
)
"""Arguments that say how exact or how long, or which part: another value may be none that forward is meant for."""


def options(sample: Sample, subject: Subject) -> Iterator[Sample]:
    """Yield variants in which one argument that is no tensor has another value.

    Numbers are only made larger, since a tolerance or a count of iterations must not get coarser;
    words come from the constants that forward and backward name.
    """
    names = subject.names(len(sample.values))
    words = {
        c
        for name in ("forward", "setup_context", "backward")
        if (method := subject.method(name)) is not None
        for c in _constants(method.__code__)
    }
    for i, value in enumerate(sample.values):
        name = names[i] if i < len(names) else f"argument {i}"
        others: list[object] = []
        if isinstance(value, bool):
            others = [not value]
        elif isinstance(value, int):
            others = [value + 1] if abs(value) < 100 else []
        elif isinstance(value, float) and value == value and abs(value) < 1e3:
            if abs(value) >= 1e-2:
                others = [value * 1.5, value + 1.0] if value == int(value) else [value * 1.25]
            elif value == 0:
                others = [0.1, 1.0]
        elif isinstance(value, str):
            usual = {"mean", "sum", "none"}
            made = words | usual if value in usual else words
            others = [*sorted(w for w in made if w != value and w.isidentifier())[:6]]
        for other in others:
            values = list(sample.values)
            values[i] = other
            yield replace(
                sample, values=tuple(values), label=f"{name}={other!r} instead of {value!r}"
            )


def _constants(code: CodeType) -> Iterator[str]:
    for constant in code.co_consts:
        if isinstance(constant, str) and len(constant) < 20:
            yield constant
        elif isinstance(constant, tuple | frozenset):
            yield from (c for c in constant if isinstance(c, str) and len(c) < 20)
        elif isinstance(constant, CodeType):
            yield from _constants(constant)


def unfinished(exam: Exam, sample: Sample) -> bool:
    """Whether forward iterates, and does not come to its end here as it does on the inputs as given."""
    for i, (name, value) in enumerate(zip(exam.names, sample.values, strict=True)):
        if type(value) is not int or not re.search("iter|step|max|sweep|^n_?|num", name, re.I):
            continue
        moved = []
        for one in (exam.base, sample):
            more = replace(one, values=(*one.values[:i], 2 * value + 1, *one.values[i + 1 :]))
            a, b = (sandbox.attempt(exam.run, s, grad=False) for s in (one, more))
            if not a.ok or not b.ok:
                return False
            x, y = (numeric.real(r.value.outputs) for r in (a, b))
            moved.append(x.shape != y.shape or not torch.allclose(x, y, rtol=1e-7, atol=0))
        if moved == [False, True]:
            return True
    return False
