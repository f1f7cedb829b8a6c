"""What is checked in an answer to the frozen backbone exercise."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import torch
from torch import nn
from torch.nn import functional as F
from torch.optim.optimizer import register_optimizer_step_pre_hook

from customgrad.exercises.checking import Check, Seen

LR = 0.1
CALLED = f"train_head(model, batches, lr={LR})"
Batches = list[tuple[torch.Tensor, torch.Tensor]]


class Model(nn.Module):
    """A backbone with BatchNorm, and a head."""

    def __init__(self, deep: bool = False) -> None:
        """Make the layers, always with the same numbers; a deep head has two."""
        super().__init__()
        self.backbone = nn.Sequential(
            nn.Linear(4, 6),
            nn.Tanh(),
            nn.BatchNorm1d(6),
            nn.Sequential(nn.Linear(6, 5), nn.Tanh(), nn.BatchNorm1d(5)),
        )
        self.head: nn.Module = nn.Linear(5, 3)
        if deep:
            self.head = nn.Sequential(nn.Linear(5, 4), nn.Tanh(), nn.Linear(4, 3))
        with torch.no_grad():
            for k, (name, t) in enumerate(self.state_dict().items()):
                if t.is_floating_point():
                    values = torch.sin(torch.arange(t.numel()) * 1.7 + k).reshape(t.shape)
                    t.copy_(values * 0.5 + (1.0 if "var" in name else 0.0))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Return three numbers for each row of (N, 4)."""
        result: torch.Tensor = self.head(self.backbone(x))
        return result


def data() -> Batches:
    """Return twelve batches; each row of y is 1 in one of three places."""
    generator = torch.Generator().manual_seed(0)
    x = torch.randn(96, 4, generator=generator)
    scores = x @ torch.tensor(
        [[1.0, -1.0, 0.0], [0.5, 1.0, -1.5], [0.0, 0.7, -0.7], [1.0, 0.0, -1.0]]
    )
    y = F.one_hot(scores.argmax(1), 3).float()
    return list(zip(x.split(8), y.split(8), strict=True))


def listed(names: Iterable[str]) -> str:
    """Return names in one line."""
    return ", ".join(names) or "none"


def copied(module: nn.Module) -> dict[str, torch.Tensor]:
    """Return a copy of all that a module has."""
    return {name: t.detach().clone() for name, t in module.state_dict().items()}


def losses(model: nn.Module, batches: Batches) -> tuple[float, float]:
    """Return the mean squared error and the cross-entropy of all batches."""
    training = [m for m in model.modules() if m.training]
    model.eval()
    with torch.no_grad():
        x, y = (torch.cat(part) for part in zip(*batches, strict=True))
        result = float(F.mse_loss(model(x), y)), float(F.cross_entropy(model(x), y))
    for m in training:
        m.training = True
    return result


class Run:
    """One training, watched."""

    def __init__(self, answer: Any, lr: float = LR, deep: bool = False) -> None:
        """Train a fresh model, and note what happens."""
        self.model = Model(deep)
        self.batches = data()
        self.before = losses(self.model, self.batches)
        head, backbone = self.model.head, self.model.backbone
        kept = copied(backbone), copied(head)
        self.left: list[bool] = []
        self.rows: set[float] = set()
        self.modes: set[str] = set()
        self.steps: list[bool] = []
        handles: list[Any] = [backbone.register_forward_pre_hook(self.enters)]
        handles += [p.register_hook(self.arrives(p)) for p in head.parameters()]
        handles.append(register_optimizer_step_pre_hook(self.steps_now))
        self.model.train()
        try:
            answer.train_head(self.model, self.batches, lr)
        finally:
            for handle in handles:
                handle.remove()
        self.head = copied(head)
        self.given = [*head.parameters()]
        self.same_head = self.model.head is head
        moved = {
            n: not (t.shape == kept[0][n].shape and torch.equal(t, kept[0][n]))
            for n, t in self.model.backbone.state_dict().items()
        }
        weights = {n for n, _ in backbone.named_parameters()}
        self.weights = [n for n, changed in moved.items() if changed and n in weights]
        self.statistics = [n for n, changed in moved.items() if changed and n not in weights]
        self.still = [n for n, t in self.head.items() if torch.equal(t, kept[1][n])]

    def enters(self, module: nn.Module, inputs: Any) -> None:
        """Note which rows the backbone is given, and in which mode its BatchNorm is."""
        self.rows |= {round(float(v), 4) for v in inputs[0].detach().reshape(-1, 4)[:, 0]}
        norms = [m for m in module.modules() if isinstance(m, nn.BatchNorm1d)]
        self.modes |= {"training" if m.training else "eval" for m in norms}

    def arrives(self, p: torch.Tensor) -> Callable[[torch.Tensor], None]:
        """Note what is left in .grad when a new gradient arrives."""

        def hook(_: torch.Tensor) -> None:
            self.left.append(p.grad is not None and bool((p.grad != 0).any()))

        return hook

    def steps_now(self, optimizer: Any, *_: Any) -> None:
        """Note whether there are gradients when an optimizer steps."""
        held = [p for group in optimizer.param_groups for p in group["params"]]
        self.steps.append(any(p.grad is not None and bool((p.grad != 0).any()) for p in held))

    @property
    def story(self) -> dict[str, str]:
        """What tells one mistake from another."""
        ends = [p.grad is not None and bool((p.grad != 0).any()) for p in self.given]
        return {
            "backward passes": self.passes,
            "optimizer steps": _count(len(self.steps), len(self.batches)),
            "gradients when it steps": "some" if any(self.steps) else "none",
            "gradients at the end": "some" if any(ends) else "none",
            "model.head": "the same module" if self.same_head else "another module",
        }

    @property
    def passes(self) -> str:
        """How often backward ran."""
        return _count(len(self.left) // len(self.given), len(self.batches))


def _count(number: int, batches: int) -> str:
    return "none" if not number else "fewer than batches" if number < batches else "one a batch"


def look(pick: Callable[[Run], Mapping[str, Any]], deep: bool = False) -> Callable[[Any], Seen]:
    """Return what trains, and picks from what was noted."""

    def see(answer: Any) -> Seen:
        return Seen(CALLED, pick(Run(answer, deep=deep)))

    return see


def still(run: Run) -> dict[str, str]:
    """What of the head is as it was."""
    return {"parameters of the head that do not change": listed(run.still)}


def falls(run: Run) -> dict[str, str]:
    """Whether the mean squared error or the cross-entropy is lower than before."""
    after = losses(run.model, run.batches)
    lower = any(a < b for a, b in zip(after, run.before, strict=True))
    return {"the loss of all batches": "lower than before" if lower else "not lower than before"}


def rates(answer: Any) -> Seen:
    """Train with two learning rates."""
    runs = [Run(answer, lr) for lr in (LR, LR / 20)]
    same = all(torch.equal(runs[0].head[n], runs[1].head[n]) for n in runs[0].head)
    return Seen(
        f"train_head with lr={LR}, and again with lr={LR / 20}",
        {"the two heads": "are the same" if same else "differ"},
    )


def seen_rows(run: Run) -> dict[str, str]:
    """Which batches went through the backbone."""
    batches = [x for x, _ in run.batches]
    used = [all(round(float(v), 4) in run.rows for v in x[:, 0]) for x in batches]
    which = " (the first)" if used == [True] + [False] * 11 else ""
    return {"batches used": f"{sum(used)} of {len(used)}{which}", "backward passes": run.passes}


def wasted(answer: Any) -> Seen:
    """See whether the backbone got gradients, which nobody needs."""
    run = Run(answer)
    names = [n for n, p in run.model.backbone.named_parameters() if p.grad is not None]
    return Seen(CALLED, {"backbone parameters with a gradient": listed(names)})


CHECKS = (
    Check(
        "the head is trained",
        look(lambda run: {**still(run), **run.story}),
        {"parameters of the head that do not change": "none"},
        why="the parameters of model.head named here are the same after training",
    ),
    Check(
        "the backbone's weights stay bit-identical",
        look(lambda run: {"weights of the backbone that change": listed(run.weights)}),
        {"weights of the backbone that change": "none"},
        why="the weights of model.backbone named here are not what they were before",
    ),
    Check(
        "the statistics of BatchNorm stay bit-identical",
        look(lambda run: {"statistics of the backbone that change": listed(run.statistics)}),
        {"statistics of the backbone that change": "none"},
        why="the backbone's BatchNorm layers count and average what they see, so they are not in "
        "eval mode during training",
    ),
    Check(
        "the backbone's BatchNorm layers are in eval mode during training",
        look(lambda run: {"their mode": " and ".join(sorted(run.modes)) or "eval"}),
        {"their mode": "eval"},
        why="batches go through the backbone while its BatchNorm layers are in training mode",
    ),
    Check(
        "one step for each batch",
        look(seen_rows),
        {"batches used": "12 of 12", "backward passes": "one a batch"},
        why="there is to be one step for each batch, with its own gradients",
    ),
    Check(
        "the gradients of one batch do not get into the next",
        look(
            lambda run: {
                "head.grad before a backward": "left from the batch before"
                if any(run.left)
                else "empty"
            }
        ),
        {"head.grad before a backward": "empty"},
        why="when backward runs, the gradient of the batch before still stands in .grad, and the "
        "new one is added to it",
    ),
    Check(
        "the loss falls",
        look(falls),
        {"the loss of all batches": "lower than before"},
        why="neither the mean squared error nor the cross-entropy of all batches is lower than "
        "before training",
    ),
    Check(
        "the learning rate is used",
        rates,
        {"the two heads": "differ"},
        why="the head ends the same for two learning rates: lr has no effect",
    ),
    Check(
        "a head of two layers",
        look(still, True),
        {"parameters of the head that do not change": "none"},
        why="with a head of two layers, the parameters named here are not trained",
    ),
    Check(
        "gradients that nobody needs",
        wasted,
        {"backbone parameters with a gradient": "none"},
        note=True,
    ),
)
