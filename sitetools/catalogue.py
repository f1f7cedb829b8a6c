"""The catalogue as a table: each Function with what it must equal, and what works with what, found by trying.

The tests run every operation through one set of checks, the benchmarks measure them, and the table
"what works with what" is made from the probes here. No cell of it is typed.
"""

import contextlib
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import torch
from torch.nn import functional as F
from torch.utils.checkpoint import checkpoint

from customgrad import functions

Draw = Callable[..., torch.Tensor]


@dataclass(frozen=True)
class Operation:
    """One differentiable operation of the package."""

    name: str
    """The wrapper's name; the page is docs/functions/<page>.md."""
    page: str
    function: type[torch.autograd.Function]
    call: Callable[..., torch.Tensor]
    reference: Callable[..., torch.Tensor]
    """The same values and gradients, composed of torch's own differentiable operations."""
    builtin: Callable[..., torch.Tensor] | None = None
    """torch's own operation of the same name."""
    inputs: Callable[[Draw], tuple[torch.Tensor, ...]] = lambda draw: (draw(3, 3),)
    """Makes float inputs of about nine elements from `draw(*shape)`."""
    elementwise: bool = True
    """One input of any shape, and an output of that shape."""
    derivative: bool = True
    """Backward is the derivative of forward; not so where a gradient is rewritten on purpose."""
    variant: str = ""
    """What is special about these inputs, where an operation has several entries."""

    def sample(self, dtype: torch.dtype = torch.float64, seed: int = 0) -> tuple[torch.Tensor, ...]:
        """Return leaf inputs that require gradients."""
        generator = torch.Generator().manual_seed(seed)

        def draw(*shape: int) -> torch.Tensor:
            return torch.randn(shape, generator=generator, dtype=torch.float64).to(dtype)

        return tuple(x.requires_grad_() for x in self.inputs(draw))


OPERATIONS = (
    Operation("custom_relu", "relu", functions.CustomReLU, functions.custom_relu, F.relu, F.relu),
    Operation(
        "linear", "linear", functions.Linear, functions.linear, F.linear, F.linear,
        lambda draw: (draw(2, 3), draw(4, 3), draw(4)), elementwise=False,
    ),
    Operation(
        "linear", "linear", functions.Linear, functions.linear, F.linear, F.linear,
        lambda draw: (draw(3), draw(2, 3)), elementwise=False, variant="a vector, no bias",
    ),
    Operation(
        "round_ste", "rounding", functions.RoundSTE, functions.round_ste,
        lambda x: x + (x.round() - x).detach(), derivative=False,
    ),
    Operation("silu", "silu", functions.SiLU, functions.silu, lambda x: x * torch.sigmoid(x), F.silu),
)  # fmt: skip


def agree(got: Any, expected: Any, tolerance: float = 1e-9) -> bool:
    """Return whether two results hold the same numbers, to float64's precision."""
    return all(
        torch.allclose(a, b, rtol=tolerance, atol=tolerance, equal_nan=True)
        for a, b in zip(got, expected, strict=True)
    )


def gradients(
    call: Callable[..., torch.Tensor], inputs: tuple[torch.Tensor, ...]
) -> tuple[torch.Tensor, ...]:
    """Return the gradients of a weighted sum of the output, by each input."""
    output = call(*inputs)
    weights = torch.arange(1, output.numel() + 1, dtype=torch.float64).reshape(output.shape)
    total = (output * weights.to(output.dtype)).sum()
    return torch.autograd.grad(total, inputs)


def double_backward(o: Operation) -> bool:
    """Probe: gradients of gradients are those of the reference."""
    results = []
    for call in (o.call, o.reference):
        inputs = o.sample()
        output = call(*inputs)
        # By the cotangent, too: where an operation is linear in pieces, nothing else is left.
        cotangent = torch.linspace(1, 2, output.numel(), dtype=torch.float64).reshape(output.shape)
        leaves = (*inputs, cotangent.requires_grad_())
        first = torch.autograd.grad(output, inputs, cotangent, create_graph=True)
        total = torch.stack([(g * g).sum() for g in first]).sum()
        results.append(
            torch.autograd.grad(total, leaves, allow_unused=True, materialize_grads=True)
        )
    return agree(results[0], results[1])


def jvp(o: Operation) -> bool:
    """Probe: forward mode gives the reference's directional derivative."""
    inputs = tuple(x.detach() for x in o.sample())
    along = tuple(torch.ones_like(x) for x in inputs)
    found, expected = (torch.func.jvp(call, inputs, along) for call in (o.call, o.reference))
    return agree(found, expected)


def vmap(o: Operation) -> bool:
    """Probe: one call over a batch gives what a loop gives, gradients included."""
    samples = [tuple(x.detach() for x in o.sample(seed=seed)) for seed in range(3)]
    batch = tuple(torch.stack(column) for column in zip(*samples, strict=True))

    def grads(*inputs: torch.Tensor) -> tuple[torch.Tensor, ...]:
        argnums = tuple(range(len(inputs)))
        total = torch.func.grad(lambda *x: o.call(*x).square().sum(), argnums)
        found: tuple[torch.Tensor, ...] = total(*inputs)
        return found

    def loop(*inputs: torch.Tensor) -> tuple[torch.Tensor, ...]:
        leaves = tuple(x.clone().requires_grad_() for x in inputs)
        return torch.autograd.grad(o.reference(*leaves).square().sum(), leaves)

    together = torch.func.vmap(grads)(*batch)
    alone = [torch.stack(column) for column in zip(*(loop(*s) for s in samples), strict=True)]
    return agree(together, alone)


def compiled(o: Operation) -> bool:
    """Probe: `torch.compile(fullgraph=True)` traces forward and backward."""
    torch._dynamo.reset()
    traced = torch.compile(o.call, fullgraph=True, backend="aot_eager")
    return agree(gradients(traced, o.sample()), gradients(o.reference, o.sample()))


def autocast(o: Operation) -> bool:
    """Probe: under autocast the output has the reference's dtype, and the gradients are its gradients."""
    inputs = o.sample(torch.float32)
    with torch.autocast("cpu", torch.bfloat16):
        output, expected = o.call(*inputs), o.reference(*inputs)
    results = [torch.autograd.grad(y.float().square().sum(), inputs) for y in (output, expected)]
    return (
        output.dtype == expected.dtype
        and all(g.dtype == x.dtype for g, x in zip(results[0], inputs, strict=True))
        and agree(results[0], results[1], 0.02)
    )


def checkpointed(o: Operation) -> bool:
    """Probe: inside `torch.utils.checkpoint`, without a reentrant backward."""

    def call(*inputs: torch.Tensor) -> torch.Tensor:
        output: torch.Tensor = checkpoint(o.call, *inputs, use_reentrant=False)
        return output

    return agree(gradients(call, o.sample()), gradients(o.reference, o.sample()))


def complex_numbers(o: Operation) -> bool:
    """Probe: complex inputs have torch's values and gradients."""
    inputs = tuple(
        torch.complex(x.detach(), x.detach().flip(0)).requires_grad_() for x in o.sample()
    )
    results = []
    for call in (o.call, o.reference):
        results.append(torch.autograd.grad(torch.view_as_real(call(*inputs)).sum(), inputs))
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
