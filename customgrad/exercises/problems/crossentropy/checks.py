"""What is checked in an answer to the cross-entropy exercise."""

from types import SimpleNamespace
from typing import Any

import torch

from customgrad.exercises.checking import Composed, tensor
from customgrad.exercises.looks import (
    dtypes,
    function,
    gradient,
    interleaved,
    keeps,
    plainly,
    returns,
    twice,
    untouched,
    value,
)

NAME = "SoftmaxCrossEntropy"
REFERENCE = SimpleNamespace(SoftmaxCrossEntropy=Composed(torch.nn.functional.cross_entropy))
LOGITS = tensor([0.3, -1.2, 2.1, 0.7], [1.4, 0.2, -0.6, -2.3], [-0.9, 0.8, 1.7, 0.1])
TARGET = torch.tensor([2, 0, 3])
HIGH = tensor([800.0, 790.0, 793.0], [803.0, 805.0, 801.0])
APART = tensor([4.0, 2.5, 3.0], [-800.0, -803.0, -801.0])
LARGE = tensor([800.0, -800.0, 3.0], [-805.0, -801.0, -803.0])
OTHERS = torch.tensor([1, 2])
G = torch.tensor(-2.6, dtype=torch.float64)
RULE = "the gradient is to be (p - one_hot) / N times grad_output, where p is the softmax of a row"


def one_large(facts: dict[str, Any]) -> str:
    """Allow one tensor of the logits' size, and any that are smaller."""
    if problem := plainly(facts):
        return problem
    size = facts["inputs"]["logits"].numel()
    kept = [*facts["saved"]]
    for held in facts["context"].values():
        kept += held if isinstance(held, list | tuple) else [held]
    large = [t for t in kept if isinstance(t, torch.Tensor) and t.numel() >= size]
    if not large:
        return f"no tensor of {size} elements"
    return "" if len(large) == 1 else f"{len(large)} tensors of {size} elements"


CHECKS = (
    function(NAME),
    value(
        "the value",
        NAME,
        logits=LOGITS,
        target=TARGET,
        why="the loss of a row is logsumexp(row) - row[target]; the output is the mean over rows",
    ),
    value("the value of a batch of one", NAME, logits=LOGITS[1:2], target=TARGET[1:2]),
    untouched(NAME, logits=LOGITS, target=TARGET),
    gradient("the gradient", NAME, logits=LOGITS, target=TARGET, g=G, why=RULE),
    gradient(
        "the gradient where a class comes twice",
        NAME,
        logits=LOGITS + tensor(1.1, 0.6, -0.7, 0.2),
        target=torch.tensor([1, 1, 3]),
        g=G,
        why=RULE,
    ),
    gradient(
        "the gradient where the last class is nobody's target",
        NAME,
        logits=LOGITS,
        target=torch.tensor([1, 0, 2]),
        g=G,
        why=RULE,
    ),
    returns(NAME, logits=LOGITS, target=TARGET),
    keeps(
        "one tensor of the logits' size is kept",
        NAME,
        one_large,
        logits=LOGITS,
        target=TARGET,
    ),
    interleaved(
        NAME,
        {"logits": LOGITS, "target": TARGET},
        {"logits": LOGITS[:2] * 0.4, "target": torch.tensor([3, 1])},
    ),
    twice(NAME, logits=LOGITS, target=TARGET),
    value("the value of large logits", NAME, logits=HIGH, target=OTHERS),
    value("the value of rows that are far apart", NAME, logits=APART, target=OTHERS),
    value(
        "the value where the target is very unlikely",
        NAME,
        logits=LARGE,
        target=OTHERS,
        why="the probability is 0 in floats there, and its logarithm is not",
    ),
    gradient(
        "the gradient at large logits",
        NAME,
        logits=LARGE,
        target=OTHERS,
        g=G,
        why="for large logits the gradient leaves the right one",
    ),
    gradient(
        "inside a larger graph",
        NAME,
        wrap=lambda apply, logits, target: apply(3 * logits, target) ** 2,
        wrapped="y = SoftmaxCrossEntropy.apply(3 * logits, target) ** 2, then backward(grad_output)",
        logits=LOGITS,
        target=TARGET,
    ),
    gradient(
        "the gradient of transposed logits",
        NAME,
        logits=LOGITS.T,
        target=torch.tensor([1, 0, 2, 2]),
        g=G,
    ),
    dtypes(NAME, ("float32", "float64"), logits=LOGITS, target=TARGET),
)
