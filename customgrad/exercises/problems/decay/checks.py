"""What is checked in an answer to the weight decay exercise."""

import warnings
from collections.abc import Callable, Iterable
from typing import Any

import torch
from torch import nn

from customgrad.exercises.checking import Check, Seen

LR = 0.05
DECAY = 0.3


class Block(nn.Module):
    """A layer, its normalisation, and a number of its own."""

    def __init__(self, norm: nn.Module) -> None:
        """Take the normalisation."""
        super().__init__()
        self.linear = nn.Linear(6, 6)
        self.norm = norm
        self.gain = nn.Parameter(torch.tensor(0.5))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Add the layer to its input."""
        return x + self.gain * torch.relu(self.norm(self.linear(x)))


class Model(nn.Module):
    """A small model with the usual layers: a convolution, blocks and a head."""

    def __init__(self) -> None:
        """Make the layers."""
        super().__init__()
        self.conv = nn.Conv1d(2, 3, 2)
        self.norm = nn.BatchNorm1d(3)
        self.blocks = nn.ModuleList([Block(nn.LayerNorm(6)), Block(nn.GroupNorm(2, 6))])
        self.head = nn.Linear(6, 2)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Compute two numbers for each row of (N, 2, 3)."""
        x = self.norm(self.conv(x)).flatten(1)
        for block in self.blocks:
            x = block(x)
        result: torch.Tensor = self.head(x)
        return result


class Tied(nn.Module):
    """Two layers that share their weight, behind a frozen one."""

    def __init__(self) -> None:
        """Make the layers."""
        super().__init__()
        self.frozen = nn.Linear(3, 3).requires_grad_(False)
        self.first = nn.Linear(3, 3)
        self.second = nn.Linear(3, 3, bias=False)
        self.second.weight = self.first.weight

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Apply all three."""
        result: torch.Tensor = self.second(torch.tanh(self.first(self.frozen(x))))
        return result


def sequential() -> nn.Module:
    """Return a model whose layers have numbers for names."""
    return nn.Sequential(
        nn.Linear(3, 4),
        nn.BatchNorm1d(4),
        nn.Tanh(),
        nn.Sequential(nn.Linear(4, 4), nn.LayerNorm(4)),
        nn.GroupNorm(2, 4),
        nn.Linear(4, 2),
    )


def listed(names: Iterable[str]) -> str:
    """Return names in one line."""
    return ", ".join(names) or "none"


def made(answer: Any, model: nn.Module) -> tuple[Any, list[Any]]:
    """Return the optimizer, and all tensors of its groups."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        optimizer = answer.make_optimizer(model, LR, DECAY)
    groups = getattr(optimizer, "param_groups", [])
    return optimizer, [p for group in groups for p in group["params"]]


def decayed(answer: Any, model: nn.Module) -> tuple[set[str], Any]:
    """Return the names of the parameters that shrink although their gradient is zero."""
    optimizer, _held = made(answer, model)
    with torch.no_grad():
        for k, p in enumerate(model.parameters()):
            p.fill_(0.5 + 0.125 * k)
            p.grad = torch.zeros_like(p) if p.requires_grad else None
    before = {name: p.detach().clone() for name, p in model.named_parameters()}
    optimizer.step()
    changed = {n for n, p in model.named_parameters() if not torch.equal(p.detach(), before[n])}
    return changed, optimizer


def kind(answer: Any) -> Seen:
    """See what is returned."""
    optimizer, _ = made(answer, Model())
    is_one = isinstance(optimizer, torch.optim.Optimizer)
    what = "an optimizer" if is_one else f"{type(optimizer).__name__}"
    return Seen(f"make_optimizer(model, {LR}, {DECAY})", {"returned": what})


def complete(answer: Any) -> Seen:
    """See that every parameter is in a group."""
    model = Model()
    _, held = made(answer, model)
    ids = [id(p) for p in held]
    missing = [n for n, p in model.named_parameters() if id(p) not in ids]
    values = {
        "parameters in no group": listed(missing),
        "parameters that are there twice": listed(
            n for n, p in model.named_parameters() if ids.count(id(p)) > 1
        ),
    }
    return Seen(f"make_optimizer(model, {LR}, {DECAY})", values)


def once(answer: Any) -> Seen:
    """See that a parameter which two layers share is in one group, once."""
    model = Tied()
    _, held = made(answer, model)
    ids = [id(p) for p in held]
    trained = [(n, p) for n, p in model.named_parameters() if p.requires_grad]
    values = {
        "parameters that are there twice": listed(n for n, p in trained if ids.count(id(p)) > 1),
        "parameters in no group": listed(n for n, p in trained if id(p) not in ids),
    }
    return Seen("make_optimizer(model, ...); model.second.weight is model.first.weight", values)


def rates(answer: Any) -> Seen:
    """See the learning rates."""
    optimizer, _ = made(answer, Model())
    found = sorted({float(group["lr"]) for group in optimizer.param_groups if group["params"]})
    return Seen(f"make_optimizer(model, {LR}, {DECAY})", {"lr of the groups": found})


def amount(answer: Any) -> Seen:
    """See the weight decay of the groups that have one."""
    optimizer, _ = made(answer, Model())
    found = {float(g.get("weight_decay", DECAY)) for g in optimizer.param_groups if g["params"]}
    return Seen(
        f"make_optimizer(model, {LR}, {DECAY})",
        {"weight_decay of the groups that decay": sorted(found - {0.0})},
    )


def unchanged(answer: Any) -> Seen:
    """See that the model itself stays as it was."""
    model = Model()
    before = {name: p.detach().clone() for name, p in model.named_parameters()}
    made(answer, model)
    now = dict(model.named_parameters())
    frozen = [n for n, p in now.items() if not p.requires_grad]
    other = [n for n in before if n not in now or not torch.equal(now[n].detach(), before[n])]
    values = {"frozen parameters": listed(frozen), "changed parameters": listed(other)}
    return Seen(f"make_optimizer(model, {LR}, {DECAY})", values)


def among(
    words: str,
    inside: Callable[[str, nn.Module], bool],
    decays: bool,
    model: Callable[[], nn.Module],
) -> Callable[[Any], Seen]:
    """Return what sees which of some parameters are treated wrongly."""

    def see(answer: Any) -> Seen:
        net = model()
        changed, optimizer = decayed(answer, net)
        which = [
            f"{prefix}.{name}" if prefix else name
            for prefix, module in net.named_modules()
            for name, _ in module.named_parameters(recurse=False)
            if inside(name, module)
        ]
        wrong = [n for n in which if (n in changed) is not decays]
        called = f"make_optimizer(model, {LR}, {DECAY}).step() where every gradient is 0"
        values = {
            f"{words} that {'do not decay' if decays else 'decay'}": listed(wrong),
            "weight_decay of the groups": sorted(
                {float(group.get("weight_decay", 0)) for group in optimizer.param_groups}
            ),
        }
        return Seen(called, values)

    return see


NORMS = (nn.BatchNorm1d, nn.LayerNorm, nn.GroupNorm)
LAYERS = (nn.Linear, nn.Conv1d)


def a_weight(name: str, module: nn.Module) -> bool:
    """Whether it is a layer's weight."""
    return name == "weight" and isinstance(module, LAYERS)


def a_bias(name: str, module: nn.Module) -> bool:
    """Whether it is a layer's bias."""
    return name == "bias" and isinstance(module, LAYERS)


def of_a_norm(name: str, module: nn.Module) -> bool:
    """Whether it is a normalisation's weight."""
    return name == "weight" and isinstance(module, NORMS)


def bias_of_a_norm(name: str, module: nn.Module) -> bool:
    """Whether it is a normalisation's bias."""
    return name == "bias" and isinstance(module, NORMS)


CHECKS = (
    Check(
        "an optimizer is returned",
        kind,
        {"returned": "an optimizer"},
        why="make_optimizer is to return an optimizer of torch.optim, ready to step",
    ),
    Check(
        "every parameter is in a group, once",
        complete,
        {"parameters in no group": "none", "parameters that are there twice": "none"},
        why="each parameter is to be in one group, once: in none it is never trained",
    ),
    Check(
        "the model stays as it was",
        unchanged,
        {"frozen parameters": "none", "changed parameters": "none"},
        why="make_optimizer changes the model: the parameters named here are not what they were",
    ),
    Check(
        "weights decay",
        among("weights", a_weight, True, Model),
        {"weights that do not decay": "none"},
        why="the weights named here keep their values where the gradient is 0: they do not decay",
    ),
    Check(
        "biases do not decay",
        among("biases", a_bias, False, Model),
        {"biases that decay": "none"},
        why="the biases named here shrink although their gradient is 0: they decay",
    ),
    Check(
        "weights of normalisation layers do not decay",
        among("weights of normalisation layers", of_a_norm, False, Model),
        {"weights of normalisation layers that decay": "none"},
        why="the weights named here belong to normalisation layers, and they decay",
    ),
    Check(
        "biases of normalisation layers do not decay",
        among("biases of normalisation layers", bias_of_a_norm, False, Model),
        {"biases of normalisation layers that decay": "none"},
        why="the biases named here belong to normalisation layers, and they decay",
    ),
    Check(
        "weights decay in a Sequential, whose layers have numbers for names",
        among("weights", a_weight, True, sequential),
        {"weights that do not decay": "none"},
        why="in a Sequential the names of layers are numbers, and weights are missed there",
    ),
    Check(
        "biases and norms do not decay in a Sequential, whose layers have numbers for names",
        among("biases and norms", lambda n, m: not a_weight(n, m), False, sequential),
        {"biases and norms that decay": "none"},
        why="in a Sequential the names of layers are numbers, and those named here decay",
    ),
    Check(
        "the learning rate",
        rates,
        {"lr of the groups": [LR]},
        why="the learning rate of the groups is not the lr that make_optimizer was given",
    ),
    Check(
        "the amount of weight decay",
        amount,
        {"weight_decay of the groups that decay": [DECAY]},
        why="the weight_decay of the groups is not the one that make_optimizer was given",
    ),
    Check(
        "a shared parameter is there once, a frozen one may be left out",
        once,
        {"parameters that are there twice": "none", "parameters in no group": "none"},
        why="a weight that two layers share is to be in one group, once, and all others are there",
    ),
)
