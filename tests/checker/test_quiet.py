"""Correct Functions that came near a rule: nothing may fire, and nothing stays behind."""

import json
import math

import pytest
import torch
from torch.autograd.function import once_differentiable

from customgrad.checker import check

X = torch.tensor([[0.5, -1.25, 2.0], [0.75, 1.5, -0.25]], dtype=torch.float64)
NET = torch.nn.Linear(3, 2).double()


class Remainder(torch.autograd.Function):
    """Jumps where the quotient is whole, a million times in some variants."""

    @staticmethod
    def forward(ctx, x, m):
        ctx.save_for_backward(x, m)
        return torch.fmod(x, m)

    @staticmethod
    def backward(ctx, grad):
        x, m = ctx.saved_tensors
        return grad, -grad * torch.div(x, m, rounding_mode="trunc")


class Gates(torch.autograd.Function):
    """Takes some other sizes by broadcasting, which it is not made for."""

    @staticmethod
    def forward(ctx, x, c, w):
        i, z = (x @ w).chunk(2, -1)
        ctx.save_for_backward(x, w, i, z)
        return c + i * z

    @staticmethod
    @once_differentiable
    def backward(ctx, grad):
        x, w, i, z = ctx.saved_tensors
        made = torch.cat([grad * z, grad * i], -1)
        return made @ w.t(), grad.clone(), x.t() @ made


class Picked(torch.autograd.Function):
    """A sum over the rows that labels belong to; labels alone have no batch."""

    @staticmethod
    def forward(ctx, x, labels):
        ctx.save_for_backward(x, labels)
        return x.log_softmax(-1).gather(1, labels.reshape(-1, 1)).sum()

    @staticmethod
    @once_differentiable
    def backward(ctx, grad):
        x, labels = ctx.saved_tensors
        hot = torch.nn.functional.one_hot(labels.reshape(-1), x.shape[1])
        return grad * (hot - x.softmax(-1)), None


class Permuted(torch.autograd.Function):
    """Undone by the inverse, which exists for permutations."""

    @staticmethod
    def forward(ctx, x, order):
        ctx.save_for_backward(order)
        return x[:, order]

    @staticmethod
    def backward(ctx, grad):
        (order,) = ctx.saved_tensors
        return grad[:, order.argsort()], None


class Quotient(torch.autograd.Function):
    """The square of what is above 255 overflows in narrow formats, which nobody speaks of."""

    @staticmethod
    def forward(ctx, a, b):
        ctx.save_for_backward(a, b)
        return a / b

    @staticmethod
    def backward(ctx, grad):
        a, b = ctx.saved_tensors
        return grad / b.conj(), -grad * (a / (b * b)).conj()


class WeightNorm(torch.autograd.Function):
    """Takes a g of v's shape by broadcasting."""

    @staticmethod
    def forward(ctx, v, g):
        norm = v.norm(2, 1, keepdim=True)
        if bool((norm == 0).any()):
            raise ValueError("a row of v is zero")
        ctx.save_for_backward(v, g, norm)
        return v * (g / norm)

    @staticmethod
    @once_differentiable
    def backward(ctx, grad):
        v, g, norm = ctx.saved_tensors
        along = (grad * v / norm).sum(1, keepdim=True)
        return g / norm * (grad - v / norm * along), along


class CubeBackward(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, slope, grad):
        ctx.save_for_backward(x, slope, grad)
        return slope * grad

    @staticmethod
    def backward(ctx, along):
        x, slope, grad = ctx.saved_tensors
        return 6 * x * grad * along, None, slope * along


class Cube(torch.autograd.Function):
    """The input is saved for the second derivative alone."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x, 3 * x * x)
        return x * x * x

    @staticmethod
    def backward(ctx, grad):
        return CubeBackward.apply(*ctx.saved_tensors, grad)


class Trained(torch.autograd.Function):
    """What evaluation needs is saved in training as well."""

    @staticmethod
    def forward(ctx, x, variance, training):
        inv = x.square().mean(0).add(1e-5).rsqrt()
        ctx.training = training
        ctx.save_for_backward(x * inv, inv, variance)
        return x * inv if training else x / variance.sqrt()

    @staticmethod
    @once_differentiable
    def backward(ctx, grad):
        out, inv, variance = ctx.saved_tensors
        if ctx.training:
            return inv * (grad - out * (grad * out).mean(0)), None, None
        return grad / variance.sqrt(), None, None


class Checkpoint(torch.autograd.Function):
    """Fills .grad of the module's parameters itself."""

    @staticmethod
    def forward(ctx, run, x):
        ctx.run = run
        ctx.save_for_backward(x)
        return run(x)

    @staticmethod
    @once_differentiable
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        with torch.enable_grad():
            x = x.detach().requires_grad_()
            out = ctx.run(x)
        torch.autograd.backward(out, grad)
        return None, x.grad


class OwnNoise(torch.autograd.Function):
    """Numbers of a generator that goes on from call to call."""

    @staticmethod
    def forward(ctx, x, generator):
        ctx.generator = generator
        return x.clone()

    @staticmethod
    def backward(ctx, grad):
        noise = torch.empty(grad.shape, dtype=grad.dtype).normal_(generator=ctx.generator)
        return grad + 0.1 * noise, None


class OwnSeed(torch.autograd.Function):
    """Numbers that follow the order of the input in memory."""

    @staticmethod
    def forward(ctx, x, seed):
        generator = torch.Generator().manual_seed(seed)
        noise = torch.empty_like(x).normal_(generator=generator)
        ctx.save_for_backward(noise)
        return x * noise

    @staticmethod
    def backward(ctx, grad):
        (noise,) = ctx.saved_tensors
        return grad * noise, None


class HardNoise(torch.autograd.Function):
    """The same output from many seeds, and numbers that follow the order in memory."""

    @staticmethod
    def forward(ctx, x):
        soft = (x - torch.empty_like(x).exponential_().log()).softmax(-1)
        ctx.save_for_backward(soft)
        return torch.zeros_like(x).scatter_(-1, x.argmax(-1, keepdim=True), 1.0)

    @staticmethod
    @once_differentiable
    def backward(ctx, grad):
        (soft,) = ctx.saved_tensors
        return soft * (grad - (grad * soft).sum(-1, keepdim=True))


class Signs(torch.autograd.Function):
    """Saves a scale that is made of the input; a surrogate has no second derivative."""

    @staticmethod
    def forward(ctx, w):
        scale = w.abs().mean()
        ctx.save_for_backward(w, scale)
        return w.sign() * scale

    @staticmethod
    def backward(ctx, grad):
        w, scale = ctx.saved_tensors
        return grad * scale * (w.abs() <= 1)


class Counts(torch.autograd.Function):
    """Counts in an argument what it takes."""

    @staticmethod
    def forward(ctx, table, ids, usage):
        usage.index_add_(0, ids, torch.ones_like(ids))
        ctx.save_for_backward(ids)
        ctx.shape = table.shape
        return table[ids]

    @staticmethod
    def backward(ctx, grad):
        (ids,) = ctx.saved_tensors
        return grad.new_zeros(ctx.shape).index_add(0, ids, grad), None, None


class Spikes(torch.autograd.Function):
    """With a state that is meant to carry no gradient."""

    @staticmethod
    def forward(ctx, v):
        ctx.save_for_backward(v)
        spikes = (v > 0).to(v.dtype)
        return spikes, v * (1 - spikes)

    @staticmethod
    def backward(ctx, grad, _):
        (v,) = ctx.saved_tensors
        return grad / (1 + v.abs()) ** 2


class Tolerance(torch.autograd.Function):
    """A square root by iterations, whose derivative is that of the limit."""

    @staticmethod
    def forward(ctx, x, iterations, eps):
        y = torch.ones_like(x)
        for _ in range(iterations):
            y = (y + x.abs() / y) / 2
        ctx.save_for_backward(x, y)
        return y + eps

    @staticmethod
    def backward(ctx, grad):
        x, y = ctx.saved_tensors
        return grad * x.sign() / (2 * y), None, None


class Statistics(torch.autograd.Function):
    """A dict of detached numbers beside the output."""

    @staticmethod
    def forward(ctx, x):
        return 2 * x, {"largest": x.max()}

    @staticmethod
    def backward(ctx, grad, _=None):
        return 2 * grad


class Freed(torch.autograd.Function):
    """Its graph can be gone through once."""

    @staticmethod
    def forward(ctx, x):
        ctx.parts = x.detach().numpy().copy()
        return x.square()

    @staticmethod
    @once_differentiable
    def backward(ctx, grad):
        parts = torch.from_numpy(ctx.parts)
        del ctx.parts
        return 2 * grad * parts


class LogCosh(torch.autograd.Function):
    """An offset cancels in the end: for tiny inputs the noise of forward is that of the offset."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.abs() + torch.nn.functional.softplus(-2 * x.abs()) - math.log(2)

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        return grad * x.tanh()


class Filter(torch.autograd.Function):
    """The sizes of state and kernel hang together, and forward does not ask."""

    @staticmethod
    def forward(ctx, x, kernel, state):
        padded = torch.cat([state, x], -1)
        ctx.save_for_backward(padded, kernel)
        return padded.unfold(-1, len(kernel), 1) @ kernel

    @staticmethod
    @once_differentiable
    def backward(ctx, grad):
        padded, kernel = ctx.saved_tensors
        made = torch.zeros_like(padded)
        for j in range(len(kernel)):
            made[..., j : j + grad.shape[-1]] += grad * kernel[j]
        cut = len(kernel) - 1
        by_kernel = (padded.unfold(-1, len(kernel), 1) * grad[..., None]).sum((0, 1))
        return made[..., cut:].contiguous(), by_kernel, made[..., :cut].contiguous()


FOUR = torch.arange(6, dtype=torch.float64).reshape(3, 2).sin()
CASES = [
    (Remainder, (X[0] + 3, X[0].abs() + 1), "CG206", {}),
    (Gates, (X, X[:, :2], torch.cat([X, X[:1]], 0).reshape(3, 3)[:, [0, 1, 2, 0]]), "CG207", {}),
    (Picked, (torch.cat([X, X + 1]), torch.tensor([[0, 1], [2, 1]])), "CG60", {}),
    (Permuted, (X, torch.tensor([2, 0, 1])), "CG204,CG207", {}),
    (Quotient, (X, X.abs() + 1), "CG8", {}),
    (WeightNorm, (X, X[:, :1].abs()), "CG204", {}),
    (Cube, (X,), "CG4", {}),
    (Trained, (X, X[0].abs(), True), "CG4", {}),
    (Checkpoint, (NET, X), "CG4", {}),
    (OwnNoise, (X, torch.Generator().manual_seed(1)), "CG8,CG90", {"surrogate": True}),
    (OwnSeed, (X, 3), "CG60,CG90", {}),
    (HardNoise, (X,), "CG602", {"surrogate": True}),
    (Signs, (X,), "CG30", {"surrogate": True}),
    (Counts, (FOUR, torch.tensor([1, 2, 1]), torch.zeros(3, dtype=torch.long)), "CG5", {}),
    (Spikes, (X,), "CG70", {"surrogate": True}),
    (Tolerance, (X, 12, 1e-8), "CG205", {}),
    (Statistics, (X,), "CG1", {}),
    (LogCosh, (X,), "CG206", {}),
    (Filter, (X, X[0], X[:, :2]), "CG207,CG604", {}),
    (Freed, (X,), "CG201,CG202,CG601", {}),
]


@pytest.mark.parametrize(
    ("subject", "inputs", "codes", "options"), CASES, ids=[c[0].__name__ for c in CASES]
)
def test_nothing_fires(subject, inputs, codes, options):
    report = check(subject, inputs, select=codes, **options)
    assert report, str(report)
    assert not report.facts.get("stopped"), report.text(not_run=True)


@pytest.mark.parametrize("before", [None, 2.0])
def test_gradients_of_a_held_module_are_put_back(before):
    NET.weight.grad = None if before is None else torch.full_like(NET.weight, before)
    check(Checkpoint, (NET, X), select="CG1,CG50")
    if before is None:
        assert NET.weight.grad is None
    else:
        assert torch.equal(NET.weight.grad, torch.full_like(NET.weight, before))
    NET.weight.grad = None


def test_facts_say_what_was_measured_and_nothing_else():
    facts = json.loads(check(Quotient, (X, X.abs() + 1), select="CG20,CG601,CG951").to_json())[
        "facts"
    ]
    assert set(facts) <= {"seconds"}


def test_a_script_writes_modules_functions_and_generators():
    from customgrad.checker.script import literal

    assert literal(NET) == "torch.nn.Linear(in_features=3, out_features=2, bias=True).double()"
    assert literal(torch.nn.Sequential(NET)) == "..."
    assert literal(torch.tanh) == "torch.tanh"
    assert literal(torch.nn.functional.gelu) == "torch.nn.functional.gelu"
    assert literal(torch.Generator().manual_seed(3)) == "torch.Generator().manual_seed(3)"
    assert literal(json.dumps) == "dumps"
