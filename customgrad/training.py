"""Small training loops for the handbook's pages and examples.

Whatever is random comes from an explicit ``torch.Generator``: equal generators give
equal numbers, and the global generator is left alone.
"""

from collections.abc import Callable, Sequence
from itertools import pairwise

# --8<-- [start:imports]
import torch
from torch import nn
from torch.nn import functional as F

from customgrad.functions import CustomLinear

# --8<-- [end:imports]

__all__ = [
    "MLP",
    "GradientRecord",
    "regression_data",
    "train_classifier",
    "train_linear",
    "train_regression",
]

OnStep = Callable[[nn.Module, torch.Tensor, torch.Tensor], object]


# --8<-- [start:regression_data]
def regression_data(
    n: int = 64, *, generator: torch.Generator, noise: float = 0.1
) -> tuple[torch.Tensor, torch.Tensor]:
    """Draw n noisy values of one linear function of three variables.

    Args:
        n: number of points.
        generator: where the numbers come from.
        noise: standard deviation of the noise on y.

    Returns:
        x, (n, 3), standard normal, and y = x @ [1.5, -2.0, 0.5] + 0.7
        + noise, (n, 1), both float32.
    """
    x = torch.randn(n, 3, generator=generator, dtype=torch.float32)
    weight = torch.tensor([[1.5], [-2.0], [0.5]], dtype=torch.float32)
    error = torch.randn(n, 1, generator=generator, dtype=torch.float32)
    return x, x @ weight + 0.7 + noise * error


# --8<-- [end:regression_data]


# --8<-- [start:train_regression]
def train_regression(
    model: nn.Module,
    x: torch.Tensor,
    y: torch.Tensor,
    *,
    steps: int = 60,
    lr: float = 0.1,
    on_step: OnStep | None = None,
) -> list[float]:
    """Fit a model by gradient descent on the mean squared error.

    Args:
        model: maps x to the shape of y; trained in place.
        x: all inputs, (n, ...); each step uses all of them.
        y: the targets, in the shape of ``model(x)``.
        steps: number of steps.
        lr: learning rate.
        on_step: called as ``on_step(model, x, y)`` in each step, when
            the gradients are computed and not yet used.

    Returns:
        The loss before each step: ``steps`` numbers.
    """
    optimizer = torch.optim.SGD(model.parameters(), lr=lr)
    losses = []
    for _ in range(steps):
        optimizer.zero_grad()
        loss = F.mse_loss(model(x), y)
        loss.backward()
        if on_step is not None:
            on_step(model, x, y)
        optimizer.step()
        losses.append(loss.item())
    return losses


# --8<-- [end:train_regression]


# --8<-- [start:train_linear]
def train_linear(
    *,
    generator: torch.Generator,
    steps: int = 60,
    lr: float = 0.1,
    on_step: OnStep | None = None,
) -> list[float]:
    """Train a CustomLinear on ``regression_data``.

    Args:
        generator: draws the data first, then the initial parameters.
        steps: number of steps.
        lr: learning rate.
        on_step: as in ``train_regression``.

    Returns:
        The loss before each step: ``steps`` numbers.
    """
    x, y = regression_data(generator=generator)
    # Built without its own draw, which would use the global generator.
    model = nn.utils.skip_init(CustomLinear, 3, 1)
    model.reset_parameters(generator)
    return train_regression(
        model,
        x,
        y,
        steps=steps,
        lr=lr,
        on_step=on_step,
    )


# --8<-- [end:train_linear]


# --8<-- [start:GradientRecord]
class GradientRecord:
    """Keeps each step's gradients beside autograd's; an ``on_step``.

    Args:
        reference: a module with the trained model's parameter names,
            made of torch's own operations. Its values are not used.

    Attributes:
        custom: for each step, name to gradient, as the model has it.
        autograd: the same for the reference, at the same parameters.
    """

    def __init__(self, reference: nn.Module):
        self.reference = reference
        self.custom: list[dict[str, torch.Tensor]] = []
        self.autograd: list[dict[str, torch.Tensor]] = []

    def __call__(self, model: nn.Module, x: torch.Tensor, y: torch.Tensor) -> None:
        """Record both gradients of the mean squared error."""
        custom, leaves = {}, {}
        for name, parameter in model.named_parameters():
            if parameter.grad is None:
                raise ValueError(
                    f"GradientRecord: {name} must have a gradient in .grad, "
                    "got None; call backward() before the record"
                )
            custom[name] = parameter.grad.clone()
            leaves[name] = parameter.detach().clone().requires_grad_()
        output = torch.func.functional_call(self.reference, leaves, x)
        loss = F.mse_loss(output, y)
        grads = torch.autograd.grad(loss, list(leaves.values()))
        self.custom.append(custom)
        self.autograd.append(dict(zip(leaves, grads, strict=True)))

    @property
    def gaps(self) -> list[float]:
        """Each step's largest difference, over its largest gradient."""
        gaps = []
        for ours, theirs in zip(self.custom, self.autograd, strict=True):
            gap = max(_largest(ours[name] - theirs[name]) for name in theirs)
            size = max(_largest(gradient) for gradient in theirs.values())
            gaps.append(gap / size if gap else 0.0)
        return gaps


def _largest(tensor: torch.Tensor) -> float:
    return tensor.abs().max().item()


# --8<-- [end:GradientRecord]


# --8<-- [start:MLP]
class MLP(nn.Module):
    """Linear layers with an activation between them.

    Args:
        sizes: features of the input, of each hidden layer, and of the output.
        activation: a function of one tensor, such as ``custom_relu``.
        generator: draws the parameters, uniform in ±1/√in as nn.Linear's are.
    """

    def __init__(
        self,
        sizes: Sequence[int],
        activation: Callable[[torch.Tensor], torch.Tensor],
        *,
        generator: torch.Generator,
    ):
        super().__init__()
        self.activation = activation
        self.layers = nn.ModuleList()
        for n_in, n_out in pairwise(sizes):
            layer = nn.utils.skip_init(nn.Linear, n_in, n_out)
            for parameter in layer.parameters():
                end = n_in**-0.5
                nn.init.uniform_(parameter, -end, end, generator=generator)
            self.layers.append(layer)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Return the logits: no activation after the last layer."""
        for layer in self.layers[:-1]:
            x = self.activation(layer(x))
        logits: torch.Tensor = self.layers[-1](x)
        return logits


# --8<-- [end:MLP]


# --8<-- [start:train_classifier]
def train_classifier(
    model: nn.Module,
    x: torch.Tensor,
    y: torch.Tensor,
    *,
    epochs: int = 5,
    batch_size: int = 64,
    lr: float = 0.1,
    generator: torch.Generator,
) -> list[float]:
    """Train a classifier with minibatch SGD on the cross entropy.

    Args:
        model: maps (n, ...) to logits (n, classes); trained in place.
        x: all inputs, (n, ...).
        y: class numbers, (n,), int64.
        epochs: how many times each example is used.
        batch_size: examples a step; an epoch's last step may have fewer.
        lr: learning rate.
        generator: shuffles the examples anew in each epoch.

    Returns:
        The loss of each step, before its update.
    """
    optimizer = torch.optim.SGD(model.parameters(), lr=lr)
    losses = []
    for _ in range(epochs):
        order = torch.randperm(len(x), generator=generator)
        for batch in order.split(batch_size):
            optimizer.zero_grad()
            loss = F.cross_entropy(model(x[batch]), y[batch])
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
    return losses


# --8<-- [end:train_classifier]
