"""One entry of the catalogue: a Function, what it must equal, and what it is measured beside."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import torch

Draw = Callable[..., torch.Tensor]
Call = Callable[..., Any]


Make = Callable[[], tuple[torch.Tensor, ...]]


def elements(count: int, *numbers: float) -> Make:
    """Return what makes one input of that many elements, and a 0-d one for each number."""
    return lambda: (torch.randn(count), *map(torch.tensor, numbers))


def sizes(*numbers: float) -> dict[str, Make]:
    """Return the sizes at which elementwise operations are measured."""
    return {label: elements(int(float(label)), *numbers) for label in ("10", "1e5", "1e7")}


@dataclass(frozen=True)
class Bench:
    """What `make bench` runs."""

    sizes: Mapping[str, Make] = field(default_factory=sizes)
    """Label → makes float32 inputs; the sizes at which times are compared."""
    memory: Make = field(default_factory=lambda: elements(10**6))
    """Makes the inputs at which bytes are counted, per element of the first of them."""
    cases: Mapping[str, Call] = field(default_factory=dict)
    """Further ways to compute the same, by the words that the table shows."""
    composed: Call | None = None
    """What "composed" means in the tables, where one would write something else than the reference."""
    within: Callable[[Call], Call] = lambda call: call
    """Makes of one way to compute it the larger thing that is measured, such as a chain; takes the inputs."""
    beside_inputs: bool = False
    """Count what is kept beside the inputs, weights among them."""
    half: str = ""
    """The size that is measured in bfloat16, too."""

    @classmethod
    def of(cls, sizes: Mapping[str, Make], **more: Any) -> "Bench":
        """Return what counts bytes at the last of its sizes."""
        return cls(sizes, list(sizes.values())[-1], **more)


@dataclass(frozen=True)
class Operation:
    """One differentiable operation of the package, called in one way."""

    page: str
    """Its page is docs/functions/<page>.md."""
    function: type[torch.autograd.Function]
    wrapper: Call
    """The public function: checked arguments in, `function.apply` inside."""
    reference: Call
    """The same values and gradients, composed of torch's own differentiable operations; takes `inputs`."""
    builtin: Call | None = None
    """torch's own operation of the same name; takes `inputs`."""
    inputs: Callable[[Draw], tuple[torch.Tensor, ...]] = lambda draw: (draw(3, 3),)
    """Makes float inputs of about nine elements from `draw(*shape)`, which draws normal numbers."""
    options: Mapping[str, Any] = field(default_factory=dict)
    """The wrapper's keyword arguments in this entry; labels and other tensors without gradients among them."""
    apply: Call | None = None
    """How `function.apply` is told the same, if not by the inputs and then the options' values."""
    through: Call | None = None
    """Called with `wrapper` and the inputs, where the wrapper must not get the inputs themselves, one by one."""
    first: str = "input"
    """How its errors name the first input: a regular expression."""
    variant: str = ""
    """What is special about this entry, where an operation has several."""
    file: str = ""
    """Its source is customgrad/functions/<file>.py; the page's name if not given."""
    elementwise: bool = True
    """One input of any shape, and an output of that shape."""
    derivative: bool = True
    """Backward is the derivative of forward; not so where a gradient is rewritten on purpose."""
    computed: int = 0
    """How many tensors it keeps that are not its inputs."""
    forward_mode: type[torch.autograd.Function] | None = None
    """The subclass that has a `jvp`."""
    tolerance: float = 0.0
    """How far special values may be from the builtin's, relatively."""
    lacks: Mapping[str, str] = field(default_factory=dict)
    """Column of the table → why this refuses it, in words for the page."""
    bench: Bench = field(default_factory=Bench)

    @property
    def name(self) -> str:
        """The wrapper's name."""
        return self.wrapper.__name__

    @property
    def source(self) -> str:
        """Where it is written."""
        return f"customgrad/functions/{self.file or self.page}.py"

    @property
    def label(self) -> str:
        """Its name, with what is special."""
        return f"{self.name} {self.variant}".strip()

    def call(self, *inputs: Any) -> Any:
        """Call the wrapper with this entry's options."""
        if self.through is not None:
            return self.through(lambda *x: self.wrapper(*x, **self.options), *inputs)
        return self.wrapper(*inputs, **self.options)

    def direct(self, *inputs: Any, function: Any = None) -> Any:
        """Call `apply` as a reader who copied the Function would."""
        chosen = function or self.function
        if self.apply is not None:
            return self.apply(chosen.apply, *inputs)
        return chosen.apply(*inputs, *self.options.values())

    def sample(self, dtype: torch.dtype = torch.float64, seed: int = 0) -> tuple[torch.Tensor, ...]:
        """Return leaf inputs that require gradients."""
        generator = torch.Generator().manual_seed(seed)

        def draw(*shape: int) -> torch.Tensor:
            return torch.randn(shape, generator=generator, dtype=torch.float64).to(dtype)

        return tuple(x.requires_grad_() for x in self.inputs(draw))
