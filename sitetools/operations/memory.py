"""Memory: Functions that compute again what autograd would keep."""

from collections.abc import Sequence
from typing import Any

import torch
from torch.nn import functional as F
from torch.utils.checkpoint import checkpoint

from customgrad import functions
from customgrad.functions.checkpointing import Again
from customgrad.functions.reversible import Step
from sitetools.operation import Bench, Operation, elements, sizes


def mlp(x: torch.Tensor, first: torch.Tensor, second: torch.Tensor) -> torch.Tensor:
    """Return a layer of twice the width, GELU, and a layer back."""
    return F.linear(F.gelu(F.linear(x, first)), second)


def halves(weights: Sequence[torch.Tensor]) -> list[Any]:
    """Return a step for each two weights."""
    return [(mlp, pair) for pair in zip(weights[::2], weights[1::2], strict=True)]


def reversible(call: Any, x1: torch.Tensor, x2: torch.Tensor, *weights: torch.Tensor) -> Any:
    """Call the wrapper with a block for each four weights."""
    steps = halves(weights)
    return call(x1, x2, list(zip(steps[::2], steps[1::2], strict=True)))


def reversible_apply(apply: Any, x1: torch.Tensor, x2: torch.Tensor, *weights: torch.Tensor) -> Any:
    """Call the Function in the same way."""
    return apply(tuple(Step(f, len(own)) for f, own in halves(weights)), x1, x2, *weights)


def residual(x1: torch.Tensor, x2: torch.Tensor, *weights: torch.Tensor) -> Any:
    """Return the chain of blocks under plain autograd."""
    for f, own in halves(weights):
        x1, x2 = x2, x1 + f(x2, *own)
    return x1, x2


def residual_checkpointed(x1: torch.Tensor, x2: torch.Tensor, *weights: torch.Tensor) -> Any:
    """Return the same chain with each step under torch's checkpoint."""
    for f, own in halves(weights):
        x1, x2 = x2, x1 + checkpoint(f, x2, *own, use_reentrant=False)
    return x1, x2


def chain(rows: int, width: int, blocks: int) -> tuple[torch.Tensor, ...]:
    """Return two halves and the weights of that many blocks."""
    weights: list[torch.Tensor] = []
    for _ in range(2 * blocks):
        weights += [torch.randn(2 * width, width) / width**0.5, torch.randn(width, 2 * width) / 16]
    return torch.randn(rows, width), torch.randn(rows, width), *weights


def narrow(draw: Any) -> tuple[torch.Tensor, ...]:
    """Return one block of width 1, with numbers that keep half precision near."""
    return draw(2, 1), draw(2, 1), draw(2, 1) / 2, draw(1, 2) / 2, draw(2, 1) / 2, draw(1, 2) / 2


def torch_checkpoint(x: torch.Tensor, *weights: torch.Tensor) -> Any:
    """Return the layers under torch's own checkpoint."""
    return checkpoint(mlp, x, *weights, use_reentrant=False)


def layers(rows: int, width: int) -> tuple[torch.Tensor, ...]:
    """Return inputs of `mlp` with four times the width inside."""
    shapes = (4 * width, width), (width, 4 * width)
    return torch.randn(rows, width), *[torch.randn(shape) / width**0.5 for shape in shapes]


CHECKPOINT: dict[str, Any] = {
    "page": "checkpointing", "function": functions.Checkpoint, "wrapper": functions.checkpointed, "reference": mlp,
    "builtin": torch_checkpoint, "inputs": lambda draw: (draw(2, 1), draw(2, 1) / 2, draw(1, 2) / 2),
    "through": lambda call, *x: call(mlp, *x), "apply": lambda apply, *x: apply(Again(mlp), *x), "elementwise": False,
}  # fmt: skip
TRACED = (
    "the state of the random generators cannot be traced. With `preserve_rng_state=False`, "
    "your promise that nothing random is drawn, it works; compiled code cannot check the promise."
)

REVERSIBLE: dict[str, Any] = {
    "page": "reversible", "function": functions.Reversible, "wrapper": functions.reversible, "reference": residual,
    "inputs": narrow, "through": reversible, "apply": reversible_apply, "elementwise": False, "computed": 2,
}  # fmt: skip


def norm(slope: float = 0.01) -> Any:
    """Return torch's batch norm and LeakyReLU, one after the other."""
    return lambda x, w=None, b=None: F.leaky_relu(F.batch_norm(x, None, None, w, b, True), slope)


def away(draw: Any) -> tuple[torch.Tensor, ...]:
    """Return two channels, weights of both signs away from 0, and biases."""
    return draw(3, 2, 2), torch.tensor([-1.25, 0.75], dtype=draw(1).dtype), draw(2)


def convolved(call: Any) -> Any:
    """Return three layers of a convolution with what is to be measured."""

    def run(x: torch.Tensor, *parameters: torch.Tensor) -> torch.Tensor:
        for kernel, w, b in zip(*[iter(parameters)] * 3, strict=True):
            x = call(F.conv2d(x, kernel, padding=1), w, b)
        return x

    return run


def images(size: int) -> tuple[torch.Tensor, ...]:
    """Return images of 16 channels, and kernels, weights and biases of three layers."""
    layers = [(torch.randn(16, 16, 3, 3) / 12, torch.ones(16), torch.zeros(16)) for _ in range(3)]
    return torch.randn(8, 16, size, size), *[t for layer in layers for t in layer]


def gelu_then_linear(
    x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor | None = None
) -> torch.Tensor:
    """Return the two layers, one after the other."""
    return F.linear(F.gelu(x), weight, bias)


def tanh_then_linear(x: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
    """Return the same with the approximation by tanh."""
    return F.linear(F.gelu(x, approximate="tanh"), weight)


def eight(call: Any) -> Any:
    """Return eight linear layers, each with GELU behind it; what is measured spans from GELU to linear."""

    def run(x: torch.Tensor, first: torch.Tensor, *weights: torch.Tensor) -> torch.Tensor:
        x = F.linear(x, first)
        for weight in weights:
            x = call(x, weight)
        return F.gelu(x)

    return run


def square(rows: int, width: int) -> tuple[torch.Tensor, ...]:
    """Return inputs and eight square weights."""
    return torch.randn(rows, width), *[torch.randn(width, width) / width**0.5 for _ in range(8)]


NORM, STEEP = norm(), norm(0.5)

OPERATIONS = (
    Operation(
        "activatednorm", functions.ActivatedNorm, functions.activated_norm, NORM, NORM, away,
        apply=lambda apply, x, w, b: apply(x, w, b, 0.01, 1e-5)[0], elementwise=False, computed=2,
        bench=Bench.of(
            {"8×16×8×8": lambda: images(8), "8×16×64×64": lambda: images(64)},
            within=convolved, beside_inputs=True,
        ),
    ),
    Operation(
        "activatednorm", functions.ActivatedNorm, functions.activated_norm, STEEP, STEEP,
        lambda draw: (draw(5, 2),), {"negative_slope": 0.5},
        apply=lambda apply, x: apply(x, x.new_ones(2), x.new_zeros(2), 0.5, 1e-5)[0],
        elementwise=False, computed=4, variant="without weight and bias",
    ),
    Operation(
        "actlinear", functions.GELULinear, functions.gelu_linear, gelu_then_linear, gelu_then_linear,
        lambda draw: (draw(2, 3), draw(4, 3), draw(4)), elementwise=False,
        apply=lambda apply, x, w, b: apply(x, w, b, "none"),
        bench=Bench.of(
            {"32×64": lambda: square(32, 64), "4096×256": lambda: square(4096, 256)},
            within=eight, beside_inputs=True,
        ),
    ),
    Operation(
        "actlinear", functions.GELULinear, functions.gelu_linear, tanh_then_linear, tanh_then_linear,
        lambda draw: (draw(3), draw(2, 3)), {"approximate": "tanh"},
        apply=lambda apply, x, w: apply(x, w, None, "tanh"), elementwise=False, variant="tanh, a vector, no bias",
    ),
    Operation(
        **CHECKPOINT,
        lacks={"compile": TRACED},
        bench=Bench.of(
            {"8×256": lambda: layers(8, 256), "1024×256": lambda: layers(1024, 256)}, beside_inputs=True,
        ),
    ),
    Operation(**CHECKPOINT, options={"preserve_rng_state": False}, variant="without random numbers"),
    Operation(
        **REVERSIBLE,
        lacks={"compile": TRACED},
        bench=Bench.of(
            {"64×64": lambda: chain(64, 64, 16), "4096×64": lambda: chain(4096, 64, 16)},
            cases={"torch's checkpoint": residual_checkpointed}, beside_inputs=True,
        ),
    ),
    Operation(**REVERSIBLE, options={"preserve_rng_state": False}, variant="without random numbers"),
    Operation(
        "swish", functions.Swish, functions.swish, lambda x, beta: x * torch.sigmoid(beta * x),
        inputs=lambda draw: (draw(3, 3), draw()), elementwise=False,
        bench=Bench(sizes(1.5), elements(10**6, 1.5)),
    ),
)  # fmt: skip
