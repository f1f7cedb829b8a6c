"""CG705: a trainable tensor that forward uses, and that is no argument."""

import contextlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import torch
from torch.overrides import TorchFunctionMode, resolve_name

from customgrad.checker import numeric, sandbox
from customgrad.checker.exam import Exam, Run
from customgrad.checker.layouts import ALL_OUTPUTS, different
from customgrad.checker.report import Finding
from customgrad.checker.rule import Rule
from customgrad.checker.samples import flat

CAPTURED = Rule(
    code="CG705",
    name="captured-tensor",
    severity="bug",
    summary="forward uses a trainable tensor that is no argument, which silently gets no gradient.",
    explanation="""\
apply records its tensor arguments alone. A parameter that forward reaches through a module, a
closure, a class attribute or a global is used for the output, and its .grad stays None: it is never
trained. Pass it as an argument, and return its gradient.
""",
)

LOOKS = (
    "detach",
    "data",
    "shape",
    "size",
    "dim",
    "dtype",
    "device",
    "requires_grad",
    "grad",
    "is_leaf",
)
"""Uses that are no computation, or say on purpose that there is no gradient."""


class Watch(TorchFunctionMode):
    """Collects the leaves that require gradients and are computed with."""

    def __init__(self) -> None:
        """Start with none."""
        super().__init__()
        self.seen: dict[int, torch.Tensor] = {}

    def __torch_function__(
        self, func: Callable[..., Any], types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        """Note the leaves among the arguments, and call the function."""
        kwargs = kwargs or {}
        name = (resolve_name(func) or getattr(func, "__name__", "")).removesuffix(".__get__")
        if name.rsplit(".", 1)[-1] not in LOOKS:
            for t in flat([list(args), kwargs]):
                if id(t) not in self.seen and _trainable(t):
                    self.seen[id(t)] = t
        return func(*args, **kwargs)


def _trainable(t: torch.Tensor) -> bool:
    return t.requires_grad and t.is_leaf and t.layout == torch.strided


@CAPTURED.finder
def captured(exam: Exam) -> Iterator[Finding]:
    """Yield a leaf that the output depends on, and that gets no gradient."""
    sample = exam.base
    watch = Watch()

    def call(*args: Any) -> Any:
        with watch:
            return exam.subject.call(*args)

    run = exam.run(sample, call=call)
    mine = {t.untyped_storage().data_ptr() for v in run.args for t in flat(v) if t.numel()}
    suspects = [
        t for t in watch.seen.values() if t.numel() and t.untyped_storage().data_ptr() not in mine
    ]
    if not suspects:
        return
    value = numeric.real(run.outputs)
    for tensor in suspects:
        if not _neglected(exam, run, tensor, suspects):
            run = exam.run(sample)
            continue
        if not _matters(exam, tensor, value):
            continue
        name, code = _name(exam, tensor)
        line = exam.subject.find(rf"\b{name.split('.')[-1]}\b", "forward")
        yield exam.finding(
            CAPTURED,
            f"{name} is used in forward, requires a gradient, and gets none: its .grad stays None",
            did=f"{exam.subject.called}, then backward; and again with other values in {name}",
            got=f"{name}.grad is None, although the output depends on it",
            expected=f"a gradient of shape {tuple(tensor.shape)}",
            where=name,
            cause=f"forward captures {name}{line}, a parameter that is no tensor argument of apply, so autograd does "
            "not see it",
            fix=f"pass {name} to apply as an argument of its own, and return its gradient in backward",
            method="forward",
            body=ALL_OUTPUTS
            + "torch.autograd.backward(outs, [torch.ones_like(t) for t in outs])\n"
            + code,
        )
        return


def _neglected(
    exam: Exam, run: Run, tensor: torch.Tensor, suspects: Sequence[torch.Tensor]
) -> bool:
    """Whether backward leaves the tensor's .grad as None; .grad is put back."""
    kept = tensor.grad
    leaves = [
        (t, t.grad) for t in (*suspects, *_others(run)) if t is not tensor
    ]  # backward may fill these as well
    tensor.grad = None
    try:
        seeds = exam.cotangents(run)
        outcome = sandbox.attempt(
            lambda: torch.autograd.backward(run.live, seeds, retain_graph=True)
        )
        return outcome.ok and tensor.grad is None
    finally:
        tensor.grad = kept
        for leaf, grad in leaves:
            leaf.grad = grad


def _others(run: Run) -> list[torch.Tensor]:
    """Return the leaves of the graph, and the parameters of modules among the arguments."""
    found: list[torch.Tensor] = []
    found += [p for v in run.args if isinstance(v, torch.nn.Module) for p in v.parameters()]
    ahead, seen = [t.grad_fn for t in run.live], set()
    while ahead:
        node: Any = ahead.pop()
        if node is None or node in seen:
            continue
        seen.add(node)
        if (leaf := getattr(node, "variable", None)) is not None:
            found.append(leaf)
        ahead += [n for n, _ in node.next_functions]
    return found


def _matters(exam: Exam, tensor: torch.Tensor, value: torch.Tensor) -> bool:
    """Whether the output changes with the tensor's values, which are put back."""
    kept = tensor.detach().clone()
    # Through .data the caller's version counter stays as it was.
    try:
        tensor.data.mul_(0.75).add_(0.125)
        outcome = sandbox.attempt(lambda: exam.run(exam.base).outputs)
    finally:
        with contextlib.suppress(RuntimeError):
            tensor.data.copy_(kept)
    if not outcome.ok:
        return False
    again = exam.run(exam.base).outputs  # that forward has no memory of its own
    same = different(exam, numeric.real(again), value) is None
    return same and different(exam, numeric.real(outcome.value), value) is not None


def _name(exam: Exam, tensor: torch.Tensor) -> tuple[str, str]:
    """Return what the checked code calls the tensor, and code that prints its gradient."""
    for i, arg in enumerate(exam.base.values):
        if isinstance(arg, torch.nn.Module):
            for name, p in arg.named_parameters():
                if p is tensor:
                    whole = f"{exam.names[i]}.{name}"
                    return whole, f"print('{whole}.grad:', {whole}.grad)"
    method = exam.subject.method("forward")
    function = exam.subject.function
    for owner in function.__mro__ if function else ():
        for name, value in vars(owner).items():
            if any(t is tensor for t in flat(value)):
                whole = f"{owner.__name__}.{name}"
                return whole, f"print('{whole}.grad:', {whole}.grad)"
    if method is None:
        return "a tensor", ""
    closure = dict(zip(method.__code__.co_freevars, method.__closure__ or (), strict=False))
    for name, cell in closure.items():
        if any(t is tensor for t in flat(cell.cell_contents)):
            return name, f"print('{name}.grad:', {name}.grad)"
    spaces = [(n, v) for n, v in method.__globals__.items() if not n.startswith("__")]
    for name, value in spaces:
        if any(t is tensor for t in flat(value)):
            module = method.__module__
            return name, f"from {module} import {name}\nprint('{name}.grad:', {name}.grad)"
        if isinstance(value, torch.nn.Module):
            for inner, p in value.named_parameters():
                if p is tensor:
                    return (
                        f"{name}.{inner}",
                        f"from {method.__module__} import {name}\nprint({name}.{inner}.grad)",
                    )
    return f"a tensor of shape {tuple(tensor.shape)}", ""
