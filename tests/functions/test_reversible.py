"""Reversible: random numbers, buffers, hidden tensors, memory, and what it refuses."""

import pytest
import torch
from torch import nn

from customgrad.functions import reversible
from customgrad.functions.reversible import Reversible, Step

DTYPE = torch.float64


def normal(*shape, seed=0):
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed), dtype=DTYPE)


def half(width=4, dropout=0.5):
    layers = [nn.Linear(width, 2 * width), nn.GELU(), nn.Linear(2 * width, width)]
    return nn.Sequential(*layers, nn.Dropout(dropout)).to(DTYPE)


def plain(x1, x2, blocks):
    for f, g in blocks:
        x1 = x1 + f(x2)
        x2 = x2 + g(x1)
    return x1, x2


def gradients(call, blocks, x1, x2):
    """Values and gradients by inputs and parameters, and the generator's state afterwards."""
    parameters = [p for pair in blocks for f in pair for p in f.parameters()]
    leaves = [x1, x2, *dict.fromkeys(parameters)]
    torch.manual_seed(3)
    y1, y2 = call(x1, x2, blocks)
    state = torch.get_rng_state()
    return [y1, y2, *torch.autograd.grad(y1.sin().sum() * y2.cos().sum(), leaves)], state


def chain(make=half, count=3, width=4):
    torch.manual_seed(0)
    blocks = [(make(width), make(width)) for _ in range(count)]
    return blocks, normal(5, width).requires_grad_(), normal(5, width, seed=1).requires_grad_()


def agree(got, expected):
    torch.testing.assert_close(got, expected, rtol=1e-10, atol=1e-10)


def test_a_chain_with_dropout_has_the_masks_of_forward():
    found, expected = (gradients(call, *chain()) for call in (reversible, plain))
    agree(found[0], expected[0])
    assert torch.equal(found[1], expected[1]), "the stream of random numbers is the plain one's"


def test_backward_leaves_the_generator_alone():
    blocks, x1, x2 = chain()
    y1, y2 = reversible(x1, x2, blocks)
    state = torch.get_rng_state()
    (y1 + y2).sum().backward()
    assert torch.equal(torch.get_rng_state(), state)


def refuse(*_):
    raise AssertionError("the long way")


@pytest.mark.parametrize("blocks", [1, 3])
def test_apply_takes_the_short_way_with_any_number_of_tensors(monkeypatch, blocks):
    monkeypatch.setattr(torch.autograd.Function, "apply", classmethod(refuse))
    pairs, x1, x2 = chain(count=blocks)
    reversible(x1, x2, pairs)
    with pytest.raises(AssertionError, match="the long way"):
        Reversible.apply((), x1)


@pytest.mark.parametrize("mode", [torch.no_grad, torch.inference_mode])
def test_without_gradients(mode):
    with mode():
        x = torch.ones(3)
        assert not reversible(x, x, [(torch.sin, torch.nn.Dropout(0.0))])[0].requires_grad


def test_random_numbers_are_refused_where_none_were_announced():
    with pytest.raises(RuntimeError) as caught:
        reversible(ONE, ONE, [(torch.sin, nn.Dropout())], preserve_rng_state=False)
    assert str(caught.value) == (
        "Reversible: a step must not draw random numbers, got one that does; use preserve_rng_state=True"
    )


def test_a_state_is_kept_only_for_a_step_that_draws():
    steps = Step(torch.sin), Step(torch.nn.Dropout())
    Reversible.apply(steps, normal(3), normal(3))
    assert [step.drawn is None for step in steps] == [True, False]


def test_a_module_used_twice_gets_both_gradients():
    blocks, x1, x2 = chain()
    shared = [*blocks, blocks[0]]
    agree(*[gradients(call, shared, x1, x2)[0] for call in (reversible, plain)])


def test_buffers_are_updated_by_the_first_run_alone():
    blocks, x1, x2 = chain(lambda n: nn.Sequential(nn.Linear(n, n), nn.BatchNorm1d(n)).to(DTYPE))
    norm = blocks[0][0][1]
    gradients(reversible, blocks, x1, x2)
    once, count = norm.running_mean.clone(), norm.num_batches_tracked.item()
    assert count == 1
    norm.reset_running_stats()
    agree(*[gradients(call, blocks, x1, x2)[0] for call in (reversible, plain)])
    norm.reset_running_stats()
    plain(x1, x2, blocks)
    agree(norm.running_mean, once)


@pytest.mark.parametrize("trained", [{0}, {1}, {0, 1}, set()])
def test_frozen_parameters_and_inputs_get_no_gradient(trained):
    """By parameter of the first f: weight and bias."""
    blocks, x1, x2 = chain(count=2)
    for f in (m for pair in blocks for m in pair):
        f.requires_grad_(False)
    parameters = list(blocks[0][0].parameters())[:2]
    for n in trained:
        parameters[n].requires_grad_()
    leaves = [x1, *[parameters[n] for n in sorted(trained)]]
    results = []
    for call in (reversible, plain):
        torch.manual_seed(3)
        y1, y2 = call(x1, x2.detach(), blocks)
        results.append(torch.autograd.grad((y1 * y2).sum(), leaves))
    agree(*results)


def test_backward_stops_where_nothing_before_needs_a_gradient():
    runs = []

    def f(x, *weight):
        runs.append(len(weight))
        return x * weight[0] if weight else x.sin()

    weight = normal(3).requires_grad_()
    steps = [Step(f), Step(f), Step(f, 1), Step(f)]
    y1, y2 = Reversible.apply(steps, normal(3), normal(3), weight)
    assert runs == [0, 0, 1, 0]
    (y1 + y2).sum().backward()
    assert runs[4:] == [0, 1], "the last step, and the one with the weight"
    assert weight.grad is not None


def test_what_is_kept_does_not_grow_with_the_chain():
    def kept(count):
        blocks, x1, x2 = chain(lambda n: half(n, 0.0), count)
        own = {t.data_ptr() for t in (x1, x2)}
        own |= {p.data_ptr() for pair in blocks for f in pair for p in f.parameters()}
        found = {}
        with torch.autograd.graph.saved_tensors_hooks(
            lambda t: found.setdefault(t.data_ptr(), t), lambda t: t
        ):
            reversible(x1, x2, blocks)
        return sum(t.numel() for p, t in found.items() if p not in own)

    assert [kept(n) for n in (1, 4)] == [40, 40]


def test_changed_weights_are_an_error():
    blocks, x1, x2 = chain()
    y1, _ = reversible(x1, x2, blocks)
    with torch.no_grad():
        blocks[0][0][0].weight.mul_(2)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y1.sum().backward()


def test_the_second_run_is_under_the_autocast_of_the_first():
    dtypes = []

    def f(x, w):
        y = x @ w
        dtypes.append(y.dtype)
        return y

    x, w = torch.ones(2, 2), torch.ones(2, 2, requires_grad=True)
    with torch.autocast("cpu", torch.bfloat16):
        y, _ = reversible(x, x, [((f, (w,)), torch.sin)])
    assert y.dtype == torch.float32
    y.sum().backward()
    assert dtypes == [torch.bfloat16, torch.bfloat16]
    assert w.grad.dtype == torch.float32


def test_halves_of_two_shapes():
    down, up = nn.Linear(4, 2, dtype=DTYPE), nn.Linear(2, 4, dtype=DTYPE)
    x1, x2 = normal(3, 2).requires_grad_(), normal(3, 4).requires_grad_()
    agree(*[gradients(call, [(down, up)], x1, x2)[0] for call in (reversible, plain)])


@pytest.mark.parametrize("pair", [(torch.sin, torch.cos), [torch.sin, torch.cos]])
def test_inputs_come_back(pair):
    """The inverse itself, seen from the gradient: it is taken at the input."""
    x1, x2 = normal(4).requires_grad_(), normal(4, seed=1).requires_grad_()
    blocks = [pair] * 8
    agree(*[
        torch.autograd.grad(sum(call(x1, x2, blocks)).sum(), (x1, x2)) for call in (reversible, plain)
    ])  # fmt: skip


ONE = torch.ones(2)
WEIGHT = torch.ones(2, requires_grad=True)
OK = [(torch.sin, torch.sin)]
GIVEN = "a callable's tensors are passed to it after its input"


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ((ONE, [1.0], OK), TypeError,
         "reversible: other must be a float tensor, got list; make one with torch.tensor(...)"),
        ((ONE, torch.ones(2, dtype=torch.int64), OK), TypeError,
         "reversible: other must be a float tensor, got torch.int64; use one such as torch.float32"),
        ((ONE, ONE.double(), OK), TypeError,
         "reversible: other must have the dtype of input, got torch.float64 and torch.float32; "
         "convert one with .to(dtype)"),
        ((ONE, ONE, []), ValueError,
         "reversible: blocks must hold at least one pair (f, g), got none; add one"),
        ((ONE, ONE, [torch.sin]), TypeError,
         "reversible: blocks[0] must be a pair (f, g), got builtin_function_or_method; pass both"),
        ((ONE, ONE, [*OK, (torch.sin, None)]), TypeError,
         "reversible: g of blocks[1] must be a module, a callable or a pair (callable, tensors), "
         f"got NoneType; {GIVEN}"),
        ((ONE, ONE, [((torch.mul, WEIGHT), torch.sin)]), TypeError,
         "reversible: f of blocks[0] must be a module, a callable or a pair (callable, tensors), "
         f"got builtin_function_or_method with Parameter; {GIVEN}".replace("Parameter", "Tensor")),
        ((ONE, ONE, [(lambda x: x * WEIGHT, torch.sin)]), RuntimeError,
         "Reversible: step 0 must be given each tensor that needs a gradient, got a result that "
         "depends on another one; pass (callable, tensors)"),
        ((ONE, ONE, [(torch.sin, lambda x: x.relu_())]), RuntimeError,
         "Reversible: a step must leave its input as it is, got one changed in place; "
         "leave out inplace=True"),
        ((ONE, ONE, [(torch.sin, lambda x: x[:1])]), ValueError,
         "Reversible: step 1 must return torch.float32 of shape (2,), got torch.float32 of (1,); "
         "it is added to that half"),
        ((ONE, ONE, [(lambda x: x.double(), torch.sin)]), ValueError,
         "Reversible: step 0 must return torch.float32 of shape (2,), got torch.float64 of (2,); "
         "it is added to that half"),
    ],
    ids=lambda v: v if isinstance(v, str) else "",
)  # fmt: skip
def test_messages(arguments, error, message):
    with pytest.raises(error) as caught:
        reversible(*arguments)
    assert str(caught.value) == message


def test_in_place_is_refused_without_random_numbers_too():
    with pytest.raises(RuntimeError, match="changed in place"):
        reversible(ONE, ONE, [(lambda x: x.relu_(), torch.sin)], preserve_rng_state=False)
