"""Checkpointing: a call that keeps its inputs alone, and runs again in backward as it ran first.

Contract: the values and the gradients of the function itself, dropout included.

Formula, with y = f(x, θ) and the cotangent g = grad_output::

    keep x, θ and the state of the random generators; forget all else
    grad_x, grad_θ = the vector–Jacobian product of a second run, in that state, with g
"""

# ruff: noqa: D102
# mypy: allow-untyped-defs, allow-incomplete-defs, disable-error-code="misc"
from typing import Any

# --8<-- [start:imports]
import torch

# --8<-- [end:imports]
from customgrad.functions import _checks as check
from customgrad.functions._callables import explicit
from customgrad.functions._direct import direct

__all__ = ["Again", "Checkpoint", "checkpointed"]


# --8<-- [start:Checkpoint]
class Again:
    """call(*tensors), which can run again as it ran first."""

    def __init__(self, call, preserve_rng_state=True):
        self.call, self.state = call, None
        self.preserve = preserve_rng_state

    def generators(self, x):
        if torch.compiler.is_compiling() and not self.preserve:
            return []
        more = map(torch.cuda.get_rng_state, [x.device] * x.is_cuda)
        return [torch.get_rng_state(), *more]

    def versions(self, tensors):
        if torch.compiler.is_compiling():
            return []
        return [t._version for t in tensors if not t.is_inference()]

    def first(self, *tensors):
        versions = self.versions(tensors)
        before = self.generators(tensors[0])
        output = self.call(*tensors)
        if versions != self.versions(tensors):
            raise RuntimeError(
                "Checkpoint: the function must leave its inputs as "
                "they are, got one changed in place; leave out "
                "inplace=True"
            )
        after = self.generators(tensors[0])
        if not all(map(torch.equal, before, after)):
            self.state = before
            if not self.preserve:
                raise RuntimeError(
                    "Checkpoint: the function must not draw random "
                    "numbers, got one that does; use "
                    "preserve_rng_state=True"
                )
        return output

    def again(self, *tensors):
        if self.state is None:  # it drew no random numbers
            return self.call(*tensors)
        cuda = [tensors[0].device] * tensors[0].is_cuda
        with torch.random.fork_rng(cuda):  # and put back afterwards
            torch.set_rng_state(self.state[0])
            for device in cuda:
                torch.cuda.set_rng_state(self.state[1], device)
            return self.call(*tensors)


class Checkpoint(torch.autograd.Function):
    """again.call(input, *others); its inputs are kept, no more."""

    generate_vmap_rule = True

    @staticmethod
    def forward(again, input, *others):
        if not input.is_floating_point():
            raise TypeError(
                "Checkpoint: input must be a float tensor, "
                f"got {input.dtype}; use one such as torch.float32"
            )
        # Nothing here needs a gradient, so nothing is recorded:
        # unless the call uses a tensor that it was not given.
        alone = [t.detach() for t in (input, *others)]
        with torch.enable_grad():
            output = again.first(*alone)
        several = output if isinstance(output, tuple) else (output,)
        for y in several:
            dtype = getattr(y, "dtype", type(y).__name__)
            if not getattr(dtype, "is_floating_point", False):
                raise TypeError(
                    "Checkpoint: the function must return a float "
                    f"tensor or a tuple of them, got {dtype}; "
                    "compute anything else outside"
                )
            if y.requires_grad:
                raise RuntimeError(
                    "Checkpoint: the function must be given each "
                    "tensor that needs a gradient, got a result that "
                    "depends on another one; pass it as an argument"
                )
        return output

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.again, input, *others = inputs
        ctx.save_for_backward(input, *others)
        device = input.device.type
        dtype = torch.get_autocast_dtype(device)
        ctx.autocast = device, dtype, torch.is_autocast_enabled(device)

    @staticmethod
    def backward(ctx, *grad_outputs):
        tensors = ctx.saved_tensors
        needs = ctx.needs_input_grad[1:]
        wanted = [n for n, need in enumerate(needs) if need]

        def run(*some):
            given = dict(enumerate(tensors))
            given.update(zip(wanted, some, strict=True))
            return ctx.again.again(*given.values())

        with torch.autocast(*ctx.autocast):
            y, vjp = torch.func.vjp(run, *[tensors[n] for n in wanted])
        several = isinstance(y, tuple)
        g = grad_outputs if several else grad_outputs[0]
        # The graph of the second run is used once, unless someone
        # differentiates this.
        found = vjp(g, retain_graph=torch.is_grad_enabled())
        grads = dict(zip(wanted, found, strict=True))
        return None, *[grads.get(n) for n in range(len(tensors))]


# --8<-- [end:Checkpoint]
direct(Checkpoint)


# --8<-- [start:checkpointed]
def checkpointed(
    function: Any, input: torch.Tensor, *others: Any, preserve_rng_state: bool = True
) -> Any:
    """Return ``function(input, *others)``, which is run again in backward, through ``Checkpoint``.

    Args:
        function: a module, whose parameters get gradients; a callable; or a pair (callable,
            tensors), called as ``callable(input, *others, *tensors)``. It returns a float
            tensor or a tuple of float tensors.
        input: float tensor (float16, bfloat16, float32 or float64) of any shape and any strides.
        others: further tensors, of any dtype: masks, indices, what else needs a gradient.
        preserve_rng_state: False promises that the function draws no random numbers; torch.compile
            needs that, and cannot check it.

    Saves for backward:
        The inputs and the parameters, by reference: 4 bytes per element of the input in float32,
        however much the function keeps by itself; and the state of the random generators, if the
        function draws from them.

    Conventions:
        The function runs once in forward and once more in backward, under the same autocast and
        with the same random numbers; a module's buffers are updated by the first run. Backward
        can itself be differentiated. A custom Function inside must have ``setup_context``.

    Returns:
        What the function returns.

    Raises:
        TypeError: if the input is no float tensor, one of the others is no tensor,
            preserve_rng_state is no bool, or the function is none or returns something else.
        RuntimeError: if it uses a tensor that needs a gradient and that it was not given,
            changes an input in place, or draws random numbers against ``preserve_rng_state``.

    Source:
        Chen, Xu, Zhang and Guestrin, "Training deep nets with sublinear memory cost", 2016,
        https://arxiv.org/abs/1604.06174.
    """
    check.floats("checkpointed", "input", input, meta=False, plain=False)
    check.flag("checkpointed", "preserve_rng_state", preserve_rng_state)
    for n, other in enumerate(others):
        if not isinstance(other, torch.Tensor):
            raise TypeError(
                f"checkpointed: others[{n}] must be a tensor, got {type(other).__name__}; "
                "let the function close over what is none"
            )
    call, tensors = explicit("checkpointed: function", function)
    return Checkpoint.apply(Again(call, preserve_rng_state), input, *others, *tensors)


# --8<-- [end:checkpointed]
