"""A chain of reversible residual blocks that keeps its last output alone.

Contract: the values and the gradients of the same chain under plain autograd, up to rounding.

Formula of a block, in two steps of one kind, with its inverse::

    y1 = x1 + f(x2)        x2 = y2 - g(y1)
    y2 = x2 + g(y1)        x1 = y1 - f(x2)

Backward walks from the end: it runs a step again, takes its result away, and differentiates it.
"""

# ruff: noqa: D102
# mypy: allow-untyped-defs, allow-incomplete-defs
from typing import Any

# --8<-- [start:imports]
import torch

# --8<-- [end:imports]
from customgrad.functions import _checks as check
from customgrad.functions._callables import explicit, of_pairs
from customgrad.functions._direct import direct

__all__ = ["Reversible", "Step", "reversible"]


# --8<-- [start:Reversible]
class Step:
    """call(x, *tensors), which can run again as it ran first."""

    def __init__(self, call, count=0, preserve_rng_state=True):
        self.call, self.count = call, count
        self.preserve, self.drawn = preserve_rng_state, None

    def generators(self, x):
        if torch.compiler.is_compiling() and not self.preserve:
            return []
        more = map(torch.cuda.get_rng_state, [x.device] * x.is_cuda)
        return [torch.get_rng_state(), *more]

    def first(self, x, *tensors):
        blind = torch.compiler.is_compiling() or x.is_inference()
        before, version = self.generators(x), blind or x._version
        change = self.call(x, *tensors)
        if not blind and x._version != version:
            raise RuntimeError(
                "Reversible: a step must leave its input as it is, "
                "got one changed in place; leave out inplace=True"
            )
        if not all(map(torch.equal, before, self.generators(x))):
            self.drawn = before
            if not self.preserve:
                raise RuntimeError(
                    "Reversible: a step must not draw random numbers, "
                    "got one that does; use preserve_rng_state=True"
                )
        return change

    def again(self, x, *tensors):
        if self.drawn is None:  # it drew no random numbers
            return self.call(x, *tensors)
        cuda = [x.device] * x.is_cuda
        with torch.random.fork_rng(cuda):
            torch.set_rng_state(self.drawn[0])
            for device in cuda:
                torch.cuda.set_rng_state(self.drawn[1], device)
            return self.call(x, *tensors)

    def vjp(self, x, tensors, needed):
        wanted = [n for n, need in enumerate(needed) if need]

        def run(x, *some):
            own = dict(enumerate(tensors))
            own.update(zip(wanted, some, strict=True))
            return self.again(x, *own.values())

        return torch.func.vjp(run, x, *[tensors[n] for n in wanted])


class Reversible(torch.autograd.Function):
    """Each step adds to one half what it makes of the other one."""

    generate_vmap_rule = True

    @staticmethod
    def forward(steps, input, other, *tensors):
        if not input.is_floating_point():
            raise TypeError(
                "Reversible: input must be a float tensor, "
                f"got {input.dtype}; use one such as torch.float32"
            )
        a, b, rest = input, other, iter(tensors)
        for n, step in enumerate(steps):
            own = [next(rest).detach() for _ in range(step.count)]
            # Records nothing, unless it uses a tensor not given to it.
            with torch.enable_grad():
                change = step.first(b.detach(), *own)
            if change.requires_grad:
                raise RuntimeError(
                    f"Reversible: step {n} must be given each tensor "
                    "that needs a gradient, got a result that depends "
                    "on another one; pass (callable, tensors)"
                )
            dtype = torch.promote_types(a.dtype, change.dtype)
            if (change.shape, dtype) != (a.shape, a.dtype):
                raise ValueError(
                    f"Reversible: step {n} must return {a.dtype} of "
                    f"shape {tuple(a.shape)}, got {change.dtype} of "
                    f"{tuple(change.shape)}; it is added to that half"
                )
            a, b = b, a + change
        return a, b

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.steps, input, _, *tensors = inputs
        ctx.save_for_backward(*output, *tensors)
        device = input.device.type
        dtype = torch.get_autocast_dtype(device)
        ctx.autocast = device, dtype, torch.is_autocast_enabled(device)

    @staticmethod
    def backward(ctx, grad_a, grad_b):
        a, b, *tensors = ctx.saved_tensors
        _, input, other, *needs = ctx.needs_input_grad
        grads, end = [None] * len(tensors), len(tensors)
        keep = torch.is_grad_enabled()  # someone differentiates this
        for step in reversed(ctx.steps):
            if not (input or other or any(needs[:end])):
                break  # all that is before needs nothing
            own = slice(end - step.count, end)
            with torch.autocast(*ctx.autocast):
                change, vjp = step.vjp(a, tensors[own], needs[own])
            grad_x, *new = vjp(grad_b.to(change.dtype), keep)
            grads[own] = [new.pop(0) if n else None for n in needs[own]]
            a, b = b - change, a  # as they were before this step
            grad_a, grad_b = grad_b, grad_a + grad_x
            end = own.start
            del change, vjp  # the step's graph, before the next one
        return None, grad_a, grad_b, *grads


# --8<-- [end:Reversible]
direct(Reversible)


# --8<-- [start:reversible]
def reversible(
    input: torch.Tensor, other: torch.Tensor, blocks: Any, preserve_rng_state: bool = True
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return (y1, y2) of a chain of blocks y1 = x1 + f(x2), y2 = x2 + g(y1), through ``Reversible``.

    Args:
        input: x1, a float tensor (float16, bfloat16, float32 or float64) of any shape.
        other: x2, of the same dtype and device; ``f`` maps its shape to that of x1, ``g`` back.
        blocks: a sequence of pairs (f, g). Each is a module, whose parameters get gradients; a
            callable; or a pair (callable, tensors), called as ``callable(x, *tensors)``.
        preserve_rng_state: False promises that no f or g draws random numbers. torch.compile needs that, and trusts it.

    Saves for backward:
        y1 and y2 of the last block alone, 4 bytes per element in float32; the parameters, by
        reference; and a generator's state for each f or g that drew from it.

    Conventions:
        f and g run once more in backward, under the same autocast and with the same random
        numbers; the first run alone updates buffers. Inputs come back up to rounding. Backward can
        itself be differentiated. A custom Function inside f and g must have ``setup_context``.

    Returns:
        Two new tensors, of the shapes and the dtype of ``input`` and ``other``.

    Raises:
        TypeError: if an input is no float tensor, dtypes differ, a block is no pair, or
            preserve_rng_state no bool.
        ValueError: if there is no block, or a result cannot be added to its half.
        RuntimeError: if f or g uses a tensor that needs a gradient and that it was not given,
            changes its input in place, or draws random numbers against ``preserve_rng_state``.

    Source:
        Gomez, Ren, Urtasun and Grosse, "The reversible residual network: backpropagation without
        storing activations", 2017, https://arxiv.org/abs/1707.04585.
    """
    check.floats("reversible", "input", input, meta=False)
    check.floats("reversible", "other", other)
    check.flag("reversible", "preserve_rng_state", preserve_rng_state)
    check.same("reversible", "other", other, input)
    steps: list[Step] = []
    tensors: list[torch.Tensor] = []
    for name, function in of_pairs("reversible", "blocks", blocks):
        call, own = explicit(f"reversible: {name}", function)
        steps.append(Step(call, len(own), preserve_rng_state))
        tensors += own
    first, second = Reversible.apply(tuple(steps), input, other, *tensors)
    return first, second


# --8<-- [end:reversible]
