"""What is checked in an answer to the momentum exercise."""

from types import SimpleNamespace
from typing import Any

import torch
from torch import nn

from customgrad.exercises.checking import Check, Seen, leaf, tensor

LR = 0.1
START = (tensor(1.0, -2.0, 0.5), tensor(-0.75, 3.0, 4.0))
GRADIENTS = (
    (tensor(0.5, -1.0, 3.0), tensor(-1.5, 0.25, 2.0)),
    (tensor(0.25, 3.0, -1.0), tensor(1.0, 0.75, -0.5)),
    (tensor(-2.0, 1.5, 0.75), tensor(0.5, -3.0, 1.25)),
)
NONE = (None, None)


def reference(params: Any, buffers: Any, lr: float, momentum: float, **options: Any) -> None:
    """Step with torch's own optimizer, its buffers put in and taken out."""
    optimizer = torch.optim.SGD(params, lr=lr, momentum=momentum, **options)
    for p, buffer in zip(params, buffers, strict=True):
        if buffer is not None:
            optimizer.state[p]["momentum_buffer"] = buffer
    optimizer.step()
    for k, p in enumerate(params):
        buffers[k] = optimizer.state[p].get("momentum_buffer")


REFERENCE = SimpleNamespace(momentum_step=reference)


def numbers(t: Any) -> Any:
    """Return a tensor as a list, without the last digits."""
    return t.detach().round(decimals=12).tolist() if isinstance(t, torch.Tensor) else t


def words(options: dict[str, Any]) -> str:
    """Return options as they are typed."""
    return "".join(f", {k}={v}" for k, v in options.items())


def steps(
    answer: Any,
    options: dict[str, Any],
    gradients: Any = GRADIENTS,
    *,
    number: int = 1,
    reuse: bool = False,
) -> Seen:
    """Step one parameter, or two, with these gradients, and note them after each.

    Args:
        answer: what the file defines.
        options: those of the step, after lr.
        gradients: for each step a pair; None for no gradient.
        number: of parameters.
        reuse: write each gradient into the tensor of the one before.
    """
    params = [leaf(p) for p in START[:number]]
    buffers: list[Any] = [None] * number
    values: dict[str, Any] = {}
    for k, pair in enumerate(gradients):
        for p, g in zip(params, pair, strict=False):
            if reuse and isinstance(p.grad, torch.Tensor):
                p.grad.copy_(g)
            else:
                p.grad = None if g is None else g.clone()
        answer.momentum_step(params, buffers, LR, **options)
        for name, p in zip("wb", params, strict=False):
            values[f"{name} after step {k + 1}"] = numbers(p)
    of = "[w]" if number == 1 else "[w, b]"
    given = {"w": START[0], "w.grad": [numbers(pair[0]) for pair in gradients]}
    return Seen(f"momentum_step({of}, buffers, {LR}{words(options)})", values, given)


def stays(answer: Any) -> Seen:
    """See what a step leaves alone."""
    values: dict[str, Any] = {}
    for nesterov in (False, True):
        w, buffers = leaf(START[0]), [None]
        for pair in GRADIENTS[:2]:
            w.grad = pair[0].clone()
            answer.momentum_step([w], buffers, LR, momentum=0.9, nesterov=nesterov)
        name = " with Nesterov" if nesterov else ""
        values[f"w.grad after the step{name}"] = numbers(w.grad)
        values[f"w needs a gradient{name}"] = w.requires_grad and w.is_leaf
        buffer: Any = buffers[0]
        values[f"the buffer{name}"] = numbers(buffer)
        values[f"the buffer needs a gradient{name}"] = bool(getattr(buffer, "requires_grad", False))
    return Seen(f"momentum_step([w], buffers, {LR}, momentum=0.9), twice", values, {"w": START[0]})


def model(answer: Any) -> Seen:
    """Train a small model."""
    net = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2)).double()
    with torch.no_grad():
        for k, p in enumerate(net.parameters()):
            p.copy_(torch.linspace(-0.8, 0.7 + 0.1 * k, p.numel()).reshape(p.shape))
    x = torch.linspace(-1.0, 1.5, 15, dtype=torch.float64).reshape(5, 3).sin()
    y = torch.linspace(2.0, -1.0, 10, dtype=torch.float64).reshape(5, 2)
    params = list(net.parameters())
    buffers: list[Any] = [None] * len(params)
    losses = []
    for _ in range(5):
        net.zero_grad()
        loss = nn.functional.mse_loss(net(x), y)
        loss.backward()
        answer.momentum_step(params, buffers, LR, momentum=0.8, nesterov=True)
        losses.append(float(loss.detach()))
    called = f"momentum_step(params, buffers, {LR}, momentum=0.8, nesterov=True), five steps"
    return Seen(called, {"the losses": losses})


def trajectory(name: str, why: str, gradients: Any = GRADIENTS, **options: Any) -> Check:
    """Compare the parameters after each step."""
    how = {k: options.pop(k) for k in ("number", "reuse") if k in options}
    return Check(name, lambda answer: steps(answer, options, gradients, **how), why=why)


CHECKS = (
    trajectory(
        "the first step",
        "at the first step w is to become w - lr * w.grad",
        GRADIENTS[:1],
        momentum=0.9,
    ),
    trajectory(
        "three steps with momentum",
        "the buffer is to be momentum * buffer + w.grad, and w loses lr times the buffer",
        momentum=0.9,
    ),
    Check(
        "the gradient stays as it was",
        stays,
        why="a step changes parameters and buffers alone, and their gradients stay as they were",
    ),
    trajectory(
        "two parameters",
        "each parameter is to have a buffer of its own, at its place in the list",
        momentum=0.9,
        number=2,
    ),
    trajectory(
        "the gradients written into one tensor",
        "the steps change if each gradient is written into the tensor of the one before",
        momentum=0.9,
        reuse=True,
    ),
    trajectory(
        "a parameter without a gradient",
        "a parameter whose .grad is None is to be passed over: its buffer begins with its first "
        "gradient",
        ((None, GRADIENTS[0][1]), *GRADIENTS[1:]),
        momentum=0.9,
        dampening=0.25,
        number=2,
    ),
    trajectory(
        "dampening",
        "from the second step on the buffer is to be momentum * buffer + (1 - dampening) * w.grad",
        momentum=0.9,
        dampening=0.25,
    ),
    trajectory(
        "Nesterov",
        "with nesterov=True the step is to be lr * (w.grad + momentum * buffer)",
        momentum=0.9,
        nesterov=True,
    ),
    Check(
        "a small model",
        model,
        why="the losses of a model of two layers differ from those with torch.optim.SGD",
    ),
)
