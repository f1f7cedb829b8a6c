"""Each argument that is a number, a flag or a word: what is none is refused in words that name it."""

import numpy as np
import pytest
import torch

from customgrad import functions as f

X = torch.arange(9.0).reshape(3, 3) - 4
ONES = torch.ones(3)
LABELS = torch.tensor([0, 1, 2])
CALLS = {
    "leaky_relu": lambda x, **k: f.leaky_relu(x, **k),
    "softplus": lambda x, **k: f.softplus(x, **k),
    "lsq": lambda x, **k: f.lsq(x, torch.tensor(0.5), **{"qmin": -2, "qmax": 1, **k}),
    "rms_norm": lambda x, **k: f.rms_norm(x, ONES, **k),
    "layer_norm": lambda x, **k: f.layer_norm(x, ONES, ONES, **k),
    "scale_gradient": lambda x, **k: f.scale_gradient(x, **k),
    "reverse_gradient": lambda x, **k: f.reverse_gradient(x, **k),
    "clip_gradient_value": lambda x, **k: f.clip_gradient_value(x, **k),
    "clip_gradient_norm": lambda x, **k: f.clip_gradient_norm(x, **k),
    "clamp_ste": lambda x, **k: f.clamp_ste(x, **{"min": -1, "max": 1, **k}),
    "spike": lambda x, **k: f.spike(x, **k),
    "gumbel_softmax_ste": lambda x, **k: f.gumbel_softmax_ste(x, **k),
    "activated_norm": lambda x, **k: f.activated_norm(x, ONES, **k),
    "cross_entropy": lambda x, **k: f.cross_entropy(x, LABELS, **k),
    "linear_cross_entropy": lambda x, **k: f.linear_cross_entropy(x, torch.eye(3), LABELS, **k),
    "sort": lambda x, **k: f.sort(x, **k)[0],
    "topk": lambda x, **k: f.topk(x, **{"k": 2, **k})[0],
    "gelu": lambda x, **k: f.gelu(x, **k),
    "gelu_linear": lambda x, **k: f.gelu_linear(x, torch.eye(3), **k),
    "relu": lambda x, **k: f.relu(x, **k),
    "checkpointed": lambda x, **k: f.checkpointed(torch.sin, x, **k),
    "reversible": lambda x, **k: f.reversible(x, x, [(torch.sin, torch.cos)], **k)[0],
}
FLOATS = [
    ("leaky_relu", "negative_slope"), ("softplus", "beta"), ("softplus", "threshold"), ("lsq", "gradient_scale"),
    ("rms_norm", "eps"), ("layer_norm", "eps"), ("scale_gradient", "scale"), ("reverse_gradient", "scale"),
    ("clip_gradient_value", "limit"), ("clip_gradient_norm", "max_norm"), ("clamp_ste", "min"), ("clamp_ste", "max"),
    ("spike", "slope"), ("gumbel_softmax_ste", "temperature"), ("activated_norm", "negative_slope"),
    ("activated_norm", "eps"), ("activated_norm", "momentum"),
]  # fmt: skip
INTS = [
    ("lsq", "qmin"), ("lsq", "qmax"), ("gumbel_softmax_ste", "dim"), ("sort", "dim"), ("topk", "dim"), ("topk", "k"),
    ("cross_entropy", "ignore_index"), ("linear_cross_entropy", "ignore_index"), ("linear_cross_entropy", "chunk"),
]  # fmt: skip
FLAGS = [
    ("clamp_ste", "gated"), ("sort", "descending"), ("sort", "stable"), ("topk", "largest"), ("topk", "sorted"),
    ("checkpointed", "preserve_rng_state"), ("reversible", "preserve_rng_state"),
]  # fmt: skip
WORDS = [
    ("gelu", "approximate"), ("gelu_linear", "approximate"), ("relu", "keep"), ("spike", "surrogate"),
    ("cross_entropy", "reduction"), ("linear_cross_entropy", "reduction"),
]  # fmt: skip
NO_NUMBER = [True, "1", [1], 1j, torch.tensor(1.0), torch.tensor(1), np.float32(1), np.bool_(True)]
HUGE = [10**400, -(10**400), 10**5000, -(10**5000)]
DEFAULT_NONE = {("rms_norm", "eps"), ("spike", "slope")}


def refused(name, argument, value, error):
    """Refused by the wrapper or the Function, in one line that is short enough to read."""
    with pytest.raises(error, match=rf"^(?i:{name.replace('_', '')}|{name}): .*; .+$") as caught:
        CALLS[name](X.clone().requires_grad_(), **{argument: value})
    assert argument in str(caught.value).split(";")[0]
    assert len(str(caught.value)) < 200


@pytest.mark.parametrize(("name", "argument"), FLOATS + INTS)
def test_what_is_no_number(name, argument):
    for value in NO_NUMBER:
        refused(name, argument, value, (TypeError, ValueError))
    if (name, argument) not in DEFAULT_NONE:
        refused(name, argument, None, (TypeError, ValueError))


@pytest.mark.parametrize(("name", "argument"), INTS)
def test_what_is_no_int(name, argument):
    for value in (1.0, np.int64(1), torch.nan, torch.inf):
        refused(name, argument, value, TypeError)


@pytest.mark.parametrize(("name", "argument"), FLOATS)
def test_nan_and_infinity(name, argument):
    refused(name, argument, torch.nan, ValueError)
    if argument == "threshold":  # inf means: never, and -inf: always the input
        return
    refused(name, argument, torch.inf, ValueError)
    refused(name, argument, -torch.inf, ValueError)


@pytest.mark.parametrize(("name", "argument"), FLOATS + INTS)
def test_numbers_that_no_float_holds(name, argument):
    """An int can be larger than any float, and than what Python prints."""
    for value in HUGE:
        if argument == "chunk" and value > 0:  # larger than the rows is one chunk
            continue
        refused(name, argument, value, ValueError)


FAR = [
    ("leaky_relu", "negative_slope"), ("softplus", "beta"), ("softplus", "threshold"), ("lsq", "gradient_scale"),
    ("lsq", "qmax"), ("scale_gradient", "scale"), ("reverse_gradient", "scale"), ("clamp_ste", "max"), ("spike", "slope"),
    ("gumbel_softmax_ste", "temperature"), ("activated_norm", "negative_slope"), ("activated_norm", "eps"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "argument"), FAR)
def test_numbers_beyond_the_dtype(name, argument):
    """1e300 is a float, and infinity in float32: torch raises an error of its own, or 0 * inf is NaN."""
    value = 10**300 if argument == "qmax" else 1e300
    refused(name, argument, value, ValueError)
    x = X.double().requires_grad_()
    if name != "lsq" and name != "activated_norm":
        call = CALLS[name](x, **{argument: value})
        (grad,) = torch.autograd.grad(call.sum(), x)
        assert not grad.isnan().any()


def test_a_bound_beyond_float16():
    wanted = r"^clamp_ste: max must be within the range of torch.float16, got 100000.0; torch.clamp takes one bound alone$"
    with pytest.raises(ValueError, match=wanted):
        f.clamp_ste(X.half(), min=0.0, max=1e5)
    # A scalar of half precision is float32 everywhere else.
    assert f.leaky_relu(X.half(), negative_slope=1e5).min() == -torch.inf


@pytest.mark.parametrize(
    ("name", "argument"),
    [("gumbel_softmax_ste", "temperature"), ("activated_norm", "negative_slope"), ("activated_norm", "eps")],
)  # fmt: skip
def test_divisors_that_are_0_in_the_dtype(name, argument):
    """NaN would come out."""
    refused(name, argument, 1e-320, ValueError)


@pytest.mark.parametrize(
    ("name", "argument"), [p for p in FLOATS if p[1] not in ("momentum", "min")]
)
def test_ints_that_a_float_holds(name, argument):
    """2**70 is too large for torch as an int, and none too large as a float."""
    value = 2**70
    results = []
    for number in (value, float(value)):
        torch.manual_seed(0)
        x = X.clone().requires_grad_()
        y = CALLS[name](x, **{argument: number})
        results.append((y, *torch.autograd.grad(y.sum(), x)))
    torch.testing.assert_close(*results, rtol=0, atol=0, equal_nan=True)


@pytest.mark.parametrize(("name", "argument"), FLAGS)
def test_what_is_no_bool(name, argument):
    for value in (None, 0, 1, 1.0, "True", torch.tensor(True), [True], *HUGE):
        refused(name, argument, value, TypeError)
    wanted = rf"^{name}: {argument} must be a bool, got numpy.bool; pass True or False$"
    with pytest.raises(TypeError, match=wanted):
        CALLS[name](X, **{argument: np.bool_(True)})


@pytest.mark.parametrize(("name", "argument"), WORDS)
def test_what_is_none_of_the_words(name, argument):
    for value in (None, 0, True, "", "other", ["none"], X[0, 0], *HUGE):
        refused(name, argument, value, ValueError)


@pytest.mark.parametrize("generator", [3, "cpu", True, np.random.default_rng(0)])
def test_what_is_no_generator(generator):
    wanted = rf"^gumbel_softmax_ste: generator must be a torch\.Generator, got {type(generator).__name__}; make one with "
    with pytest.raises(TypeError, match=wanted):
        f.gumbel_softmax_ste(X, generator=generator)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda v: f.leaky_relu(X, negative_slope=v), "leaky_relu: negative_slope must be within the range of torch.float32, got about 10**400; 0.01 is usual"),
        (lambda v: f.softplus(X, beta=v), "softplus: beta must be within the range of torch.float32, got about 10**400; 1.0 gives log(1 + exp(input))"),
        (lambda v: f.softplus(X, threshold=v), "softplus: threshold must be within the range of torch.float32, got about 10**400; use 20.0, or math.inf for no limit"),
        (lambda v: f.lsq(X, ONES, qmin=0, qmax=v), "lsq: qmax must be within the range of torch.float32, got about 10**400; 4 bits with a sign are -8 and 7"),
        (lambda v: f.lsq(X, ONES, qmin=v, qmax=0), "lsq: qmin must be below qmax, got about 10**400 and 0; 4 bits with a sign are -8 and 7"),
        (lambda v: f.rms_norm(X, eps=v), "rms_norm: eps must be finite and at least 0, got about 10**400; use one such as 1e-6"),
        (lambda v: f.layer_norm(X, eps=v), "layer_norm: eps must be finite and at least 0, got about 10**400; use one such as 1e-6"),
        (lambda v: f.cross_entropy(X, LABELS, ignore_index=v), "cross_entropy: ignore_index must be an integer of 64 bits, got about 10**400; use -100 if no label is to be ignored"),
        (lambda v: f.activated_norm(X, eps=v), "activated_norm: eps must be within the range of torch.float32, got about 10**400; backward divides by it"),
    ],
)  # fmt: skip
def test_the_words_for_a_number_that_is_too_large(call, words):
    with pytest.raises(ValueError) as caught:  # noqa: PT011
        call(10**400)
    assert str(caught.value) == words
