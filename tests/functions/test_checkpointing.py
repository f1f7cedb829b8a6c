"""Checkpoint: random numbers, buffers, hidden tensors, several results, and what it refuses."""

import pytest
import torch
from torch import nn

from customgrad.functions import checkpointed
from customgrad.functions.checkpointing import Again, Checkpoint

DTYPE = torch.float64


def normal(*shape, seed=0):
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed), dtype=DTYPE)


def block(dropout=0.5):
    torch.manual_seed(0)
    layers = nn.Linear(4, 8), nn.GELU(), nn.Dropout(dropout), nn.Linear(8, 4)
    return nn.Sequential(*layers).to(DTYPE)


def gradients(call, module, x):
    torch.manual_seed(3)
    y = call(module, x)
    state = torch.get_rng_state()
    return [y, *torch.autograd.grad(y.sin().sum(), [x, *module.parameters()])], state


def plain(module, *inputs):
    return module(*inputs)


def agree(got, expected):
    torch.testing.assert_close(got, expected, rtol=1e-12, atol=1e-12)


def test_dropout_has_the_mask_of_forward():
    x = normal(5, 4).requires_grad_()
    found, expected = (gradients(call, block(), x) for call in (checkpointed, plain))
    agree(found[0], expected[0])
    assert torch.equal(found[1], expected[1]), "the stream of random numbers is the plain one's"


@pytest.mark.parametrize("mode", [torch.no_grad, torch.inference_mode])
def test_without_gradients(mode):
    with mode():
        x = torch.ones(3)
        assert not checkpointed(torch.sin, x).requires_grad


@pytest.mark.filterwarnings("ignore")
def test_compiled_without_fullgraph_dropout_is_right():
    traced = torch.compile(lambda x: checkpointed(nn.functional.dropout, x), backend="aot_eager")
    x = torch.ones(64, requires_grad=True)
    y = traced(x)
    y.sum().backward()
    assert torch.equal(x.grad, y.detach())


def test_random_numbers_are_refused_where_none_were_announced():
    with pytest.raises(RuntimeError) as caught:
        checkpointed(nn.Dropout(), ONE, preserve_rng_state=False)
    assert str(caught.value) == (
        "Checkpoint: the function must not draw random numbers, got one that does; use preserve_rng_state=True"
    )


def test_backward_leaves_the_generator_alone():
    y = checkpointed(nn.Dropout(), normal(3).requires_grad_())
    torch.rand(1)
    state = torch.get_rng_state()
    y.sum().backward()
    assert torch.equal(torch.get_rng_state(), state)


def test_the_state_is_kept_only_where_something_is_drawn():
    for module, drawn in ((nn.Dropout(), True), (nn.GELU(), False)):
        again = Again(module)
        Checkpoint.apply(again, normal(3))
        assert (again.state is not None) is drawn


def test_buffers_are_updated_by_the_first_run_alone():
    module = nn.Sequential(nn.Linear(4, 4), nn.BatchNorm1d(4)).to(DTYPE)
    x = normal(5, 4).requires_grad_()
    found = gradients(checkpointed, module, x)[0]
    moved = module[1].running_mean.clone()
    assert module[1].num_batches_tracked == 1
    module[1].reset_running_stats()
    agree(found, gradients(plain, module, x)[0])
    agree(module[1].running_mean, moved)


def test_one_parameter_in_blocks_that_follow_each_other():
    """A gradient taken through an input that depends on the same parameter would count it twice."""
    w = normal(3).requires_grad_()

    def loss(call):
        x = call(call(w * 2))
        (g,) = torch.autograd.grad(x.sum(), w, create_graph=True)
        return [x, g, *torch.autograd.grad((g * g).sum(), w)]

    agree(
        loss(lambda x: checkpointed((lambda x, w: torch.sin(x) * w, (w,)), x)),
        loss(lambda x: torch.sin(x) * w),
    )


@pytest.mark.parametrize("trained", [(0,), (1,), (2,), (1, 2), (0, 2)])
def test_only_what_needs_a_gradient_is_differentiated(trained):
    seen = []

    def call(x, w, b):
        seen.append([torch._C._functorch.is_gradtrackingtensor(t) for t in (x, w, b)])
        return x * w + b

    tensors = [normal(3, seed=n).requires_grad_(n in trained) for n in range(3)]
    leaves = [tensors[n] for n in trained]
    found = torch.autograd.grad(checkpointed(call, *tensors).sum(), leaves)
    agree(found, torch.autograd.grad((tensors[0] * tensors[1] + tensors[2]).sum(), leaves))
    assert seen == [[False] * 3, [n in trained for n in range(3)]]


def test_several_results_masks_and_indices():
    def call(x, index, mask):
        return x[index].sin(), torch.where(mask, x, 0.0), x.sum()

    x = normal(4).requires_grad_()
    rest = torch.tensor([0, 0, 3]), torch.tensor([True, False, True, False])
    results = []
    for run in (plain, checkpointed):
        a, b, c = run(call, x, *rest)
        results.append(torch.autograd.grad(a.sum() * b.sum() * c, x))
    agree(*results)
    only = checkpointed(lambda x: (x.sin(),), x)
    assert isinstance(only, tuple)
    agree(torch.autograd.grad(only[0].sum(), x), (x.cos(),))


def test_what_is_returned_may_be_the_input():
    x = normal(3).requires_grad_()
    y = checkpointed(lambda x: x, x)
    agree(torch.autograd.grad((y * y).sum(), x), (2 * x,))


def test_the_second_run_is_under_the_autocast_of_the_first():
    dtypes = []

    def call(x, w):
        y = x @ w
        dtypes.append(y.dtype)
        return y

    x, w = torch.ones(2, 2), torch.ones(2, 2, requires_grad=True)
    with torch.autocast("cpu", torch.bfloat16):
        y = checkpointed(call, x, w)
    y.float().sum().backward()
    assert dtypes == [torch.bfloat16, torch.bfloat16]
    assert w.grad.dtype == torch.float32


def test_a_weight_changed_in_between_is_an_error():
    module = block()
    y = checkpointed(module, normal(5, 4))
    with torch.no_grad():
        module[0].weight.mul_(2)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()


ONE = torch.ones(2)
WEIGHT = torch.ones(2, requires_grad=True)


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ((torch.mul, ONE, 2.0), TypeError,
         "checkpointed: others[0] must be a tensor, got float; let the function close over what is none"),
        (("sin", ONE), TypeError,
         "checkpointed: function must be a module, a callable or a pair (callable, tensors), got str; "
         "a callable's tensors are passed to it after its input"),
        ((lambda x: x > 0, ONE), TypeError,
         "Checkpoint: the function must return a float tensor or a tuple of them, got torch.bool; "
         "compute anything else outside"),
        ((lambda x: (x, None), ONE), TypeError,
         "Checkpoint: the function must return a float tensor or a tuple of them, got NoneType; "
         "compute anything else outside"),
        ((lambda x: x * WEIGHT, ONE), RuntimeError,
         "Checkpoint: the function must be given each tensor that needs a gradient, got a result "
         "that depends on another one; pass it as an argument"),
        ((lambda x: x.relu_(), ONE), RuntimeError,
         "Checkpoint: the function must leave its inputs as they are, got one changed in place; "
         "leave out inplace=True"),
        ((lambda x, w: x * w.abs_(), ONE, ONE.clone()), RuntimeError,
         "Checkpoint: the function must leave its inputs as they are, got one changed in place; "
         "leave out inplace=True"),
    ],
)  # fmt: skip
def test_messages(arguments, error, message):
    with pytest.raises(error) as caught:
        checkpointed(*arguments)
    assert str(caught.value) == message
