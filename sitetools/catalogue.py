"""The catalogue as a table: each Function with what it must equal, and what works with what, found by trying.

The tests run every operation through one set of checks, the benchmarks measure them, and the table
"what works with what" is made from the probes here. No cell of it is typed.
"""

import contextlib
import importlib
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch.utils.checkpoint import checkpoint

from sitetools.operation import Call, Operation

FAMILIES = ("activations", "layers", "losses", "rewritten", "twice", "outputs", "memory")
"""The modules of sitetools.operations, in the order of the tables."""
OPERATIONS: tuple[Operation, ...] = tuple(
    operation
    for family in FAMILIES
    for operation in importlib.import_module(f"sitetools.operations.{family}").OPERATIONS
)


def floats(result: Any) -> tuple[torch.Tensor, ...]:
    """Return the outputs that have a gradient: one tensor, or those of a tuple that hold floats."""
    several = result if isinstance(result, tuple) else (result,)
    return tuple(y for y in several if y.is_floating_point() or y.is_complex())


def agree(got: Any, expected: Any, tolerance: float = 1e-9) -> bool:
    """Return whether two results hold the same numbers, to float64's precision."""
    return all(
        torch.allclose(a, b, rtol=tolerance, atol=tolerance, equal_nan=True)
        for a, b in zip(got, expected, strict=True)
    )


def total(result: Any) -> torch.Tensor:
    """Return a sum of all that has a gradient, in which each number weighs differently."""
    parts = []
    for y in floats(result):
        weights = torch.linspace(1, 2, y.numel(), dtype=torch.float64).reshape(y.shape)
        parts.append((torch.view_as_real(y).sum(-1) if y.is_complex() else y).mul(weights).sum())
    return torch.stack(parts).sum()


def gradients(call: Call, inputs: tuple[torch.Tensor, ...]) -> tuple[torch.Tensor, ...]:
    """Return the gradients of a weighted sum of the outputs, by each input."""
    return torch.autograd.grad(total(call(*inputs)), inputs)


def double_backward(o: Operation) -> bool:
    """Probe: gradients of gradients are those of the reference."""
    results = []
    for call in (o.call, o.reference):
        inputs = o.sample()
        outputs = floats(call(*inputs))
        # By the cotangents, too: where an operation is linear in pieces, nothing else is left.
        cotangents = tuple(
            torch.linspace(1, 2, y.numel(), dtype=y.dtype).reshape(y.shape).requires_grad_()
            for y in outputs
        )
        first = torch.autograd.grad(outputs, inputs, cotangents, create_graph=True)
        squares = torch.stack([(g * g).sum() for g in first]).sum()
        leaves = (*inputs, *cotangents)
        results.append(
            torch.autograd.grad(squares, leaves, allow_unused=True, materialize_grads=True)
        )
    return agree(results[0], results[1])


def forward_mode(call: Call, o: Operation) -> bool:
    """Return whether a call has the reference's directional derivative in forward mode."""
    inputs = tuple(x.detach() for x in o.sample())
    along = tuple(torch.linspace(1, 2, x.numel(), dtype=x.dtype).reshape(x.shape) for x in inputs)
    found, expected = (
        torch.func.jvp(lambda *x, f=f: floats(f(*x)), inputs, along) for f in (call, o.reference)
    )
    return all(agree(a, b) for a, b in zip(found, expected, strict=True))


def jvp(o: Operation) -> bool:
    """Probe: forward mode gives the reference's directional derivative."""
    return forward_mode(o.call, o)


def vmap(o: Operation) -> bool:
    """Probe: one call over a batch gives what a loop gives, gradients included."""
    samples = [tuple(x.detach() for x in o.sample(seed=seed)) for seed in range(3)]
    batch = tuple(torch.stack(column) for column in zip(*samples, strict=True))
    by = tuple(range(len(batch)))
    both = torch.func.grad_and_value(lambda *x: total(o.call(*x)), by)
    found, values = torch.func.vmap(both)(*batch)
    loop = [gradients(o.reference, tuple(x.clone().requires_grad_() for x in s)) for s in samples]
    expected = [torch.stack(column) for column in zip(*loop, strict=True)]
    totals = torch.stack([total(o.reference(*s)) for s in samples])
    return agree((values, *found), (totals, *expected))


def compiled(o: Operation) -> bool:
    """Probe: `torch.compile(fullgraph=True)` traces forward and backward."""
    torch._dynamo.reset()
    traced = torch.compile(o.call, fullgraph=True, backend="aot_eager")
    return agree(gradients(traced, o.sample()), gradients(o.reference, o.sample()))


def autocast(o: Operation) -> bool:
    """Probe: under autocast the outputs have the dtypes of torch's own, and the gradients are its gradients."""
    inputs = o.sample(torch.float32)
    with torch.autocast("cpu", torch.bfloat16):
        outputs, expected = floats(o.call(*inputs)), floats((o.builtin or o.reference)(*inputs))
    results = [
        torch.autograd.grad(total(tuple(y.float() for y in ys)), inputs)
        for ys in (outputs, expected)
    ]
    return (
        [y.dtype for y in outputs] == [y.dtype for y in expected]
        and all(g.dtype == x.dtype for g, x in zip(results[0], inputs, strict=True))
        and agree(results[0], results[1], 0.02)
    )


def checkpointed(o: Operation) -> bool:
    """Probe: inside `torch.utils.checkpoint`, without a reentrant backward."""

    def call(*inputs: torch.Tensor) -> Any:
        return checkpoint(o.call, *inputs, use_reentrant=False)

    return agree(gradients(call, o.sample()), gradients(o.reference, o.sample()))


def complex_numbers(o: Operation) -> bool:
    """Probe: complex inputs have torch's values and gradients."""
    results = []
    for call in (o.call, o.reference):
        inputs = tuple(torch.complex(x.detach(), x.detach().flip(0)) for x in o.sample())
        results.append(gradients(call, tuple(x.requires_grad_() for x in inputs)))
    return agree(results[0], results[1])


PROBES: dict[str, Callable[[Operation], bool]] = {
    "double backward": double_backward, "jvp": jvp, "vmap": vmap, "compile": compiled,
    "autocast": autocast, "checkpoint": checkpointed, "complex": complex_numbers,
}  # fmt: skip
"""Column of the table → what is tried for it."""


def works(probe: Callable[[Operation], bool], operation: Operation) -> str:
    """Return "yes" where the probe passes, "refused" where an error says no, and "wrong" otherwise."""
    with quiet():
        try:
            return "yes" if probe(operation) else "wrong"
        except (RuntimeError, TypeError):
            return "refused"


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Keep what a refusal prints beside its error from the terminal."""
    import logging

    logging.disable(logging.CRITICAL)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logging.disable(logging.NOTSET)
