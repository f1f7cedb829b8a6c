"""What is checked in an answer to the SGD exercise."""

import copy
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

import torch
from torch import nn

from customgrad.exercises.checking import Check, Seen, leaf, tensor

REFERENCE = SimpleNamespace(SGD=torch.optim.SGD)
LR = 0.1
ALL = "param_groups, state and defaults are there"
START = tensor(1.0, -2.0, 0.5)
OTHER = tensor(-0.75, 3.0, 4.0)
GRADIENTS = (tensor(0.5, -1.0, 3.0), tensor(0.25, 3.0, -1.0), tensor(-2.0, 1.5, 0.75))
LATER = (tensor(-1.5, 0.25, 2.0), tensor(1.0, 0.75, -0.5), tensor(0.5, -3.0, 1.25))


def numbers(t: Any) -> Any:
    """Return a tensor as a list, without the last digits."""
    return t.detach().round(decimals=12).tolist() if isinstance(t, torch.Tensor) else t


def words(options: dict[str, Any]) -> str:
    """Return options as they are typed."""
    return "".join(f", {k}={v}" for k, v in options.items())


def kind(answer: Any) -> Seen:
    """See what SGD is."""
    base = torch.optim.Optimizer
    learned = answer.SGD
    if not isinstance(learned, type):
        what = "a function" if callable(learned) else f"a {type(learned).__name__}"
    elif torch.optim.SGD in learned.__mro__:
        what = "torch.optim.SGD itself"
    else:
        what = "a subclass" if issubclass(learned, base) else "no subclass"
    values = {"of torch.optim.Optimizer": what}
    if what == "a subclass":
        optimizer = learned([leaf(START)], lr=LR)
        lacks = [n for n in ("param_groups", "state", "defaults") if not hasattr(optimizer, n)]
        values["after __init__"] = f"no {', no '.join(lacks)}" if lacks else ALL
    return Seen(f"SGD([w], lr={LR})", values)


def steps(
    answer: Any,
    options: dict[str, Any],
    gradients: tuple[Any, ...] = GRADIENTS,
    *,
    reuse: bool = False,
    gamma: float = 0.0,
) -> Seen:
    """Step with these gradients, and note the parameter after each.

    Args:
        answer: what the file defines.
        options: those of SGD, after lr.
        gradients: one for each step; None for a step without.
        reuse: write each gradient into the tensor of the one before.
        gamma: multiply lr by it after each step, with a scheduler of torch's.
    """
    w = leaf(START)
    optimizer = answer.SGD([w], lr=LR, **options)
    schedule = torch.optim.lr_scheduler.ExponentialLR(optimizer, gamma) if gamma else None
    values = {}
    for k, g in enumerate(gradients):
        if reuse and isinstance(w.grad, torch.Tensor):
            w.grad.copy_(g)
        else:
            w.grad = None if g is None else g.clone()
        optimizer.step()
        if schedule is not None:
            schedule.step()
        values[f"w after step {k + 1}"] = numbers(w)
    called = f"SGD([w], lr={LR}{words(options)}), then step()"
    if gamma:
        called += f", lr times {gamma} after each step (ExponentialLR)"
    shown = {"w": START, "w.grad": [numbers(g) for g in gradients]}
    return Seen(called, values, shown)


def stays(answer: Any) -> Seen:
    """See what a step leaves alone."""
    values: dict[str, Any] = {}
    for options in ({}, {"momentum": 0.9}, {"momentum": 0.9, "nesterov": True}):
        w = leaf(START)
        optimizer = answer.SGD([w], lr=LR, **options)
        for g in GRADIENTS[:2]:
            w.grad = g.clone()
            optimizer.step()
        name = " with Nesterov" if len(options) > 1 else " with momentum" if options else ""
        values[f"w.grad after the step{name}"] = numbers(w.grad)
        values[f"w{name}"] = (
            "a leaf that needs a gradient"
            if w.is_leaf and w.requires_grad
            else f"changed: is_leaf {w.is_leaf}, requires_grad {w.requires_grad}"
        )
        held = [p for group in optimizer.param_groups for p in group["params"]]
        values[f"the group's parameter{name}"] = (
            "w itself" if len(held) == 1 and held[0] is w else "another tensor than w"
        )
    called = f"SGD([w], lr={LR}), two steps"
    return Seen(called, values, {"w": START, "w.grad": GRADIENTS[1]})


def without(answer: Any) -> Seen:
    """Step where some parameters have no gradient."""
    a, b, c, frozen = leaf(START), leaf(OTHER), leaf(START), leaf(OTHER, False)
    optimizer = answer.SGD([a, b, c, frozen], lr=LR)
    a.grad, c.grad = GRADIENTS[0].clone(), GRADIENTS[1].clone()
    optimizer.step()
    return Seen(
        f"SGD([a, b, c, frozen], lr={LR}).step() where a.grad and c.grad alone are there",
        {
            "a": numbers(a),
            "b, without a gradient": numbers(b),
            "c": numbers(c),
            "frozen": numbers(frozen),
        },
        {"a": START, "a.grad": GRADIENTS[0], "c": START, "c.grad": GRADIENTS[1]},
    )


def groups(answer: Any) -> Seen:
    """Step with two groups, the second with a rate of its own."""
    a, b = leaf(START), leaf(OTHER)
    optimizer = answer.SGD([{"params": [a]}, {"params": [b], "lr": 0.02}], lr=LR)
    a.grad, b.grad = GRADIENTS[0].clone(), GRADIENTS[1].clone()
    optimizer.step()
    return Seen(
        f'SGD([{{"params": [a]}}, {{"params": [b], "lr": 0.02}}], lr={LR}).step()',
        {"a": numbers(a), "b": numbers(b)},
        {"a": START, "a.grad": GRADIENTS[0], "b": OTHER, "b.grad": GRADIENTS[1]},
    )


def both(answer: Any) -> Seen:
    """Step two parameters of one group with momentum."""
    a, b = leaf(START), leaf(OTHER)
    optimizer = answer.SGD([a, b], lr=LR, momentum=0.9)
    values: dict[str, Any] = {}
    for k, (g, h) in enumerate(zip(GRADIENTS, LATER, strict=True)):
        a.grad, b.grad = g.clone(), h.clone()
        optimizer.step()
        values |= {f"a after step {k + 1}": numbers(a), f"b after step {k + 1}": numbers(b)}
    return Seen(f"SGD([a, b], lr={LR}, momentum=0.9), then step()", values, {"a": START})


def own(answer: Any) -> Seen:
    """Step with two groups, the second with options of its own."""
    a, b = leaf(START), leaf(OTHER)
    second = {"params": [b], "momentum": 0.5, "dampening": 0.25, "nesterov": False}
    optimizer = answer.SGD([{"params": [a]}, second], lr=LR, momentum=0.9, nesterov=True)
    for g, h in zip(GRADIENTS, LATER, strict=True):
        a.grad, b.grad = g.clone(), h.clone()
        optimizer.step()
    return Seen(
        f'three steps of SGD([{{"params": [a]}}, {{"params": [b], "momentum": 0.5, "dampening": '
        f'0.25, "nesterov": False}}], lr={LR}, momentum=0.9, nesterov=True)',
        {"a": numbers(a), "b": numbers(b)},
        {"a": START, "b": OTHER},
    )


def order(answer: Any) -> Seen:
    """Give the arguments by place."""
    w = leaf(START)
    optimizer = answer.SGD([w], LR, 0.9, 0.25)
    for g in GRADIENTS:
        w.grad = g.clone()
        optimizer.step()
    return Seen(f"three steps of SGD([w], {LR}, 0.9, 0.25)", {"w": numbers(w)}, {"w": START})


def closure(answer: Any) -> Seen:
    """Step with a closure."""
    w = leaf(START)
    optimizer = answer.SGD([w], lr=LR)
    seen: list[bool] = []

    def evaluate() -> torch.Tensor:
        seen.append(torch.is_grad_enabled())
        optimizer.zero_grad()
        loss: torch.Tensor = (w**2).sum()
        if loss.requires_grad:
            loss.backward()
        return loss.detach()

    result = optimizer.step(evaluate)
    values = {
        "calls of the closure": len(seen),
        "gradients enabled in it": seen[0] if seen else "it was not called",
        "what step returned": numbers(result),
        "w after the step": numbers(w),
    }
    return Seen("step(closure); the closure computes (w ** 2).sum()", values, {"w": START})


def resumed(answer: Any) -> Seen:
    """Stop after two steps, and go on with a new optimizer that has loaded the state."""
    options = {"momentum": 0.9, "dampening": 0.25}
    w = leaf(START)
    optimizer = answer.SGD([w], lr=LR, **options)
    for g in GRADIENTS[:2]:
        w.grad = g.clone()
        optimizer.step()
    saved = copy.deepcopy(optimizer.state_dict())
    w = leaf(w)
    optimizer = answer.SGD([w], lr=0.5, **options)
    optimizer.load_state_dict(saved)
    kept = [v for state in saved["state"].values() for v in state.values()]
    values = {
        "tensors in state_dict()": sum(isinstance(v, torch.Tensor) for v in kept),
        "lr after load_state_dict": optimizer.param_groups[0].get("lr"),
    }
    for k, g in enumerate(LATER[:2]):
        w.grad = g.clone()
        optimizer.step()
        values[f"w after step {k + 3}"] = numbers(w)
    return Seen(
        "two steps with momentum=0.9, dampening=0.25, state_dict(), a new SGD, "
        "load_state_dict(), two steps more",
        values,
        {"w": START},
    )


def model(answer: Any) -> Seen:
    """Train a small model."""
    net = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2)).double()
    with torch.no_grad():
        for k, p in enumerate(net.parameters()):
            p.copy_(torch.linspace(-0.8, 0.7 + 0.1 * k, p.numel()).reshape(p.shape))
    x = torch.linspace(-1.0, 1.5, 15, dtype=torch.float64).reshape(5, 3).sin()
    y = torch.linspace(2.0, -1.0, 10, dtype=torch.float64).reshape(5, 2)
    optimizer = answer.SGD(net.parameters(), lr=LR, momentum=0.8, nesterov=True)
    losses = []
    for _ in range(5):
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(net(x), y)
        loss.backward()
        optimizer.step()
        losses.append(float(loss.detach()))
    return Seen(
        f"SGD(model.parameters(), lr={LR}, momentum=0.8, nesterov=True), five steps",
        {"the losses": losses},
    )


@contextmanager
def watched() -> Iterator[set[str]]:
    """Yield a set that fills with what of torch's SGD runs meanwhile."""
    ran: set[str] = set()
    functions = ("sgd", "_single_tensor_sgd", "_multi_tensor_sgd", "_fused_sgd")
    module = sys.modules["torch.optim.sgd"]
    patches = [patch.object(torch.optim.SGD, "step", _noted(torch.optim.SGD.step, ran))]
    patches += [patch.object(module, f, _noted(getattr(module, f), ran)) for f in functions]
    for p in patches:
        p.start()
    try:
        yield ran
    finally:
        for p in patches:
            p.stop()


def _noted(function: Any, ran: set[str]) -> Any:
    def call(*args: Any, **kwargs: Any) -> Any:
        ran.add("torch's own SGD")
        return function(*args, **kwargs)

    return call


def itself(answer: Any) -> Seen:
    """See whether torch's own SGD does the step."""
    with watched() as ran:
        w = leaf(START)
        optimizer = answer.SGD([w], lr=LR, momentum=0.9)
        w.grad = GRADIENTS[0].clone()
        optimizer.step()
    return Seen(
        "SGD([w], lr=0.1, momentum=0.9).step()", {"the step is of": "; ".join(ran) or "yours"}
    )


def trajectory(name: str, why: str, *, late: bool = False, **options: Any) -> Check:
    """Compare the parameter after each step."""
    how = {k: options.pop(k) for k in ("reuse", "gamma") if k in options}
    gradients = (None, *GRADIENTS) if late else GRADIENTS
    return Check(name, lambda answer: steps(answer, options, gradients, **how), why=why)


CHECKS = (
    Check(
        "SGD is a torch.optim.Optimizer",
        kind,
        {"of torch.optim.Optimizer": "a subclass", "after __init__": ALL},
        why="SGD is to be a class that inherits from torch.optim.Optimizer, whose __init__ it calls",
    ),
    trajectory("plain steps", "without momentum, w is to become w - lr * w.grad at each step"),
    Check(
        "a step changes the values of w, and nothing else",
        stays,
        why="a step may change the values of w alone, not its gradient, nor what w is",
    ),
    Check(
        "a parameter without a gradient",
        without,
        why="a parameter whose .grad is None is to be passed over: it stays as it is, the others move",
    ),
    Check(
        "a group with a learning rate of its own",
        groups,
        why='the step of each parameter is to use the "lr" of its own group',
    ),
    trajectory(
        "a scheduler that changes lr",
        'the step does not use the "lr" that stands in the group when step is called',
        gamma=0.5,
    ),
    trajectory(
        "momentum",
        "with momentum, w is not what torch.optim.SGD gives: buffer = momentum * buffer + grad",
        momentum=0.9,
    ),
    Check(
        "momentum for two parameters",
        both,
        why="with one parameter the steps are right, with two they are not",
    ),
    trajectory(
        "momentum, the gradients written into one tensor",
        "the steps change if each gradient is written into the tensor of the one before",
        momentum=0.9,
        reuse=True,
    ),
    trajectory(
        "momentum under a scheduler",
        "the steps are right with a constant lr, and wrong when lr changes",
        momentum=0.9,
        gamma=0.5,
    ),
    trajectory(
        "dampening",
        "with dampening, w is not what torch.optim.SGD gives: from the second step on, "
        "buffer = momentum * buffer + (1 - dampening) * grad",
        momentum=0.9,
        dampening=0.25,
    ),
    trajectory(
        "Nesterov",
        "with nesterov=True, w is not what torch.optim.SGD gives: the direction is "
        "grad + momentum * buffer, with the new buffer",
        momentum=0.9,
        nesterov=True,
    ),
    trajectory(
        "a first gradient in the second step",
        "a parameter whose gradient comes late begins wrongly: its buffer is to be its own first "
        "gradient, undamped",
        late=True,
        momentum=0.9,
        dampening=0.25,
    ),
    Check(
        "a group with options of its own",
        own,
        why="each parameter is to use momentum, dampening and nesterov of its own group",
    ),
    Check(
        "the order of the arguments",
        order,
        why="the arguments by place are params, lr, momentum, dampening",
    ),
    Check(
        "a closure",
        closure,
        {
            "calls of the closure": 1,
            "gradients enabled in it": True,
            "what step returned": 5.25,
            "w after the step": [0.8, -1.6, 0.4],
        },
        why="step(closure) is to call the closure once, with gradients enabled, and return its loss",
    ),
    Check(
        "state_dict and load_state_dict",
        resumed,
        {k: v for k, v in resumed(REFERENCE).values.items() if not k.startswith("tensors")},
        why="training does not go on as it would have without the stop: what step remembers, or "
        "an option, is not in state_dict()",
    ),
    Check(
        "a small model",
        model,
        why="the losses of a model of two layers differ from those with torch.optim.SGD",
    ),
    Check(
        "the step is written by you",
        itself,
        {"the step is of": "yours"},
        why="torch's own SGD does the step, and the task is to write it",
    ),
    Check(
        "momentum=0 with dampening, which torch ignores then",
        lambda answer: steps(answer, {"momentum": 0, "dampening": 0.25}),
        note=True,
    ),
)
