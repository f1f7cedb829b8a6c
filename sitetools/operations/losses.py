"""Losses and norms."""

from typing import Any

import torch
from torch.nn import functional as F

from customgrad import functions
from sitetools.operation import Bench, Call, Operation


def rms_composed(
    x: torch.Tensor, weight: torch.Tensor | None = None, eps: float = 0.0
) -> torch.Tensor:
    """Return RMSNorm as models write it."""
    eps = eps or torch.finfo(x.dtype).eps
    normal = x * torch.rsqrt(x.square().mean(-1, keepdim=True) + eps)
    return normal if weight is None else normal * weight


def rms_builtin(
    x: torch.Tensor, weight: torch.Tensor | None = None, eps: float | None = None
) -> torch.Tensor:
    """Return torch's own RMSNorm over the last dimension."""
    return F.rms_norm(x, x.shape[-1:], weight, eps)


def layer_composed(x: torch.Tensor, w: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """Return LayerNorm of simple operations."""
    centred = x - x.mean(-1, keepdim=True)
    variance = centred.square().mean(-1, keepdim=True)
    return centred * torch.rsqrt(variance + 1e-5) * w + b


def layer_builtin(
    x: torch.Tensor, w: torch.Tensor | None = None, b: torch.Tensor | None = None, eps: float = 1e-5
) -> torch.Tensor:
    """Return torch's own LayerNorm over the last dimension."""
    return F.layer_norm(x, x.shape[-1:], w, b, eps)


def rows(count: int, size: int) -> tuple[torch.Tensor, ...]:
    """Return rows to normalise, and a weight."""
    return torch.randn(count, size), torch.randn(size)


def labels(x: torch.Tensor, classes: int) -> torch.Tensor:
    """Return a label for each row, every fourth one to be ignored."""
    number = torch.arange(len(x))
    return torch.where(number % 4 == 3, -100, number * 7 % classes)


def chunked(reduction: str, chunk: int) -> dict[str, Any]:
    """Return the parts of an entry that need labels."""

    def call(wrapper: Call, x: torch.Tensor, w: torch.Tensor, *bias: torch.Tensor) -> torch.Tensor:
        loss: torch.Tensor = wrapper(x, w, labels(x, len(w)), *bias)
        return loss

    def composed(x: torch.Tensor, w: torch.Tensor, *bias: torch.Tensor) -> torch.Tensor:
        return F.cross_entropy(F.linear(x, w, *bias), labels(x, len(w)), reduction=reduction)

    def apply(f: Call, x: torch.Tensor, w: torch.Tensor, *bias: torch.Tensor) -> Any:
        options = (*(bias or (None,)), -100, reduction, chunk, True)
        return f(x, w, labels(x, len(w)), *options)[0]

    return {
        "reference": composed, "through": call, "apply": apply, "elementwise": False,
        "options": {"reduction": reduction, "chunk": chunk},
    }  # fmt: skip


def crossed(reduction: str) -> dict[str, Any]:
    """Return the parts of an entry of cross-entropy on logits."""

    def call(wrapper: Call, x: torch.Tensor) -> torch.Tensor:
        # A list comes from a test of what is refused.
        target = labels(x, x.shape[1]) if isinstance(x, torch.Tensor) else x
        loss: torch.Tensor = wrapper(x, target)
        return loss

    def composed(x: torch.Tensor) -> torch.Tensor:
        rows = F.nll_loss(
            x - x.logsumexp(1, keepdim=True), labels(x, x.shape[1]), reduction=reduction
        )
        return rows

    def builtin(x: torch.Tensor) -> torch.Tensor:
        return F.cross_entropy(x, labels(x, x.shape[1]), reduction=reduction)

    def apply(f: Call, x: torch.Tensor) -> Any:
        return f(x, labels(x, x.shape[1]), -100, reduction)[0]

    return {
        "reference": composed, "builtin": builtin, "through": call, "apply": apply,
        "elementwise": False, "options": {"reduction": reduction}, "computed": 2,
    }  # fmt: skip


def head(count: int, size: int, classes: int) -> tuple[torch.Tensor, ...]:
    """Return the inputs of a classifier's last layer."""
    return torch.randn(count, size), torch.randn(classes, size) / size**0.5


OPERATIONS = (
    Operation(
        "rmsnorm", functions.RMSNorm, functions.rms_norm, rms_composed, rms_builtin,
        lambda draw: (draw(3, 3), draw(3)), elementwise=False, computed=1, apply=lambda f, *x: f(*x, None),
        bench=Bench.of(
            {"8×16": lambda: rows(8, 16), "4096×1024": lambda: rows(4096, 1024)}, half="4096×1024"
        ),
    ),
    Operation(
        "rmsnorm", functions.RMSNorm, functions.rms_norm, lambda x: rms_composed(x, eps=0.5),
        lambda x: rms_builtin(x, eps=0.5), lambda draw: (draw(2, 2, 2),), options={"eps": 0.5},
        apply=lambda f, x: f(x, None, 0.5), elementwise=False, computed=1, variant="no weight, with eps",
    ),
    Operation(
        "chunkedloss", functions.LinearCrossEntropy, functions.linear_cross_entropy, **chunked("mean", 128),
        inputs=lambda draw: (draw(5, 2), draw(3, 2), draw(3)), computed=4,
        bench=Bench.of({
            "64×32 by 1000×32": lambda: head(64, 32, 1000),
            "2048×256 by 16384×256": lambda: head(2048, 256, 16384),
        }),
    ),
    Operation(
        "chunkedloss", functions.LinearCrossEntropy, functions.linear_cross_entropy, **chunked("sum", 2),
        inputs=lambda draw: (draw(5, 2), draw(3, 2)), computed=3, variant="a sum, no bias, in chunks",
    ),
    Operation(
        "crossentropy", functions.CrossEntropy, functions.cross_entropy, **crossed("mean"),
        inputs=lambda draw: (draw(5, 3),),
        bench=Bench({"8×10": lambda: (torch.randn(8, 10),), "2048×16384": lambda: (torch.randn(2048, 16384),)},
                    lambda: (torch.randn(2048, 4096),), half="2048×16384"),
    ),
    Operation(
        "crossentropy", functions.CrossEntropy, functions.cross_entropy, **crossed("none"),
        inputs=lambda draw: (draw(4, 3),), variant="each row's own",
    ),
    Operation(
        "layernorm", functions.LayerNorm, functions.layer_norm, layer_composed, layer_builtin,
        lambda draw: (draw(3, 3), draw(3), draw(3)), elementwise=False, computed=2,
        apply=lambda f, *x: f(*x, 1e-5),
        bench=Bench.of(
            {
                "8×16": lambda: (*rows(8, 16), torch.randn(16)),
                "4096×1024": lambda: (*rows(4096, 1024), torch.randn(1024)),
            },
            half="4096×1024",
        ),
    ),
    Operation(
        "layernorm", functions.LayerNorm, functions.layer_norm, lambda x: layer_builtin(x, eps=0.5),
        lambda x: layer_builtin(x, eps=0.5), lambda draw: (draw(2, 2, 2),), options={"eps": 0.5},
        apply=lambda f, x: f(x, None, None, 0.5), elementwise=False, computed=2, variant="alone, with eps",
    ),
)  # fmt: skip
