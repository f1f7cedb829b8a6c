"""The loss of CustomLinear over training, beside nn.Linear's and beside half the gradient's."""

import math
from typing import Any

import torch
from torch import nn

from customgrad.functions import CustomLinear, Linear
from customgrad.training import regression_data, train_regression
from sitetools.figures import WIDTH, panel, path, text

HEIGHT = 226
LEFT, TOP, BOTTOM = 40.0, 14.0, 186.0
STEPS = 60
DECADES = range(-2, 2)
"""Powers of ten that are labelled."""
LOWEST, HIGHEST = math.log10(0.004), math.log10(15)


class Halved(Linear):
    """Half of each gradient."""

    @staticmethod
    def backward(ctx: Any, grad_output: torch.Tensor) -> Any:
        """Return the gradients for half the cotangent."""
        return Linear.backward(ctx, grad_output / 2)


class HalvedLinear(CustomLinear):
    """CustomLinear with half the gradient."""

    def forward(self, input: torch.Tensor) -> torch.Tensor:
        """Return input @ weight.T + bias."""
        output: torch.Tensor = Halved.apply(input, self.weight, self.bias)
        return output


def train(layer: type[nn.Module]) -> list[float]:
    """Return the losses of a run from one seed, the page's."""
    x, y = regression_data(generator=torch.Generator().manual_seed(0))
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        model = layer(3, 1)
    return train_regression(model, x, y, steps=STEPS)


def at(step: float, loss: float) -> tuple[float, float]:
    """Return the place of a loss in the drawing; its axis is logarithmic."""
    height = (math.log10(loss) - LOWEST) / (HIGHEST - LOWEST)
    return LEFT + (WIDTH - 8 - LEFT) * step / STEPS, BOTTOM - (BOTTOM - TOP) * height


def curve(losses: list[float], kind: str) -> str:
    """Return the losses as a line."""
    return path([at(step, loss) for step, loss in enumerate(losses)], kind)


def axes() -> list[str]:
    """Return grid, axes, ticks and what they mean."""
    low, right = 10**LOWEST, float(STEPS)
    parts = []
    for power in DECADES:
        value = 10.0**power
        parts.append(path([at(0, value), at(right, value)], "grid"))
        parts.append(text(LEFT - 9, at(0, value)[1] + 4.5, f"{value:g}", "tick", "end"))
    parts.append(path([at(0, 10**HIGHEST), at(0, low), at(right, low)], "axis"))
    for step in range(0, STEPS + 1, 20):
        parts.append(text(at(step, low)[0], BOTTOM + 17, str(step), "tick", "middle"))
    parts.append(text(at(right, low)[0], BOTTOM + 35, "step", "tick", "end"))
    parts.append(text(LEFT + 6, TOP + 2, "loss", "tick"))
    return parts


def render() -> str:
    """Return both panels."""
    custom, builtin, halved = train(CustomLinear), train(nn.Linear), train(HalvedLinear)
    dots = []
    for step in range(0, STEPS, 5):
        x, y = at(step, builtin[step])
        dots.append(f'<circle class="open" cx="{x:.1f}" cy="{y:.1f}" r="4.5"/>')
    right = at(17, custom[12])[0]
    same = [
        curve(custom, "bwd"),
        *dots,
        text(right, 42, "CustomLinear: the line", "label bwd"),
        text(right, 62, "nn.Linear: the points", "label bwd"),
    ]
    less = [
        curve(halved, "axis"),
        curve(custom, "bwd"),
        text(*at(25, halved[22]), "half the gradient", "label"),
        text(*at(2.5, 0.012), "the gradient", "label bwd"),
    ]
    return "\n".join(
        [
            panel(
                "loss-same",
                "The losses of nn.Linear lie on the falling loss curve of CustomLinear",
                HEIGHT,
                axes() + same,
            ),
            panel(
                "loss-halved",
                "With half the gradient the loss of the same layer falls more slowly",
                HEIGHT,
                axes() + less,
            ),
        ]
    )
