"""check leaves everything as it was, says the same twice, and survives whatever the checked code does."""

import json
import random
import threading
import time
import warnings

import numpy as np
import pytest
import torch

from customgrad.checker import CheckFailed, assert_ok, check, sandbox
from customgrad.checker.rules import RULES

FEW = ("CG101", "CG103", "CG201", "CG202")
X = torch.tensor([0.5, -1.25, 2.0], dtype=torch.float64)


def make(forward=None, backward=None):
    """Return a Function, x², with a step of its own in forward or backward."""

    class Square(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            if forward is not None:
                forward()
            return x * x

        @staticmethod
        def backward(ctx, grad_output):
            (x,) = ctx.saved_tensors
            if backward is not None:
                backward()
            return 2 * x * grad_output

    return Square


class Wrong(torch.autograd.Function):
    """A gradient with the wrong sign, and noise from every generator."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        torch.rand(1), random.random(), np.random.rand()
        return x * x

    @staticmethod
    def backward(ctx, grad_output):
        return -2 * ctx.saved_tensors[0] * grad_output


@pytest.fixture
def quick(monkeypatch):
    """Give each step and each rule little time."""
    monkeypatch.setattr(sandbox.attempt, "__kwdefaults__", {"seconds": 0.3})
    for rule in RULES:
        monkeypatch.setattr(rule, "seconds", min(rule.seconds, 3.0))


def state():
    """Return what check must leave alone."""
    return {
        "torch": torch.get_rng_state().tolist(),
        "random": random.getstate(),
        "numpy": str(np.random.get_state()),
        "dtype": torch.get_default_dtype(),
        "grad": torch.is_grad_enabled(),
        "inference": torch.is_inference_mode_enabled(),
        "threads": torch.get_num_threads(),
        "deterministic": torch.are_deterministic_algorithms_enabled(),
        "filters": list(warnings.filters),
        "names": {k: id(v) for k, v in vars(torch).items() if callable(v)},
    }


def same(before, after):
    changed = [k for k in before if k != "names" and before[k] != after[k]]
    lost = [k for k, v in before["names"].items() if after["names"].get(k) != v]
    assert not changed
    assert not lost


# ---- State ----


def disturb():
    torch.manual_seed(99)
    random.seed(99)
    np.random.seed(99)
    torch.set_default_dtype(torch.float16)
    torch.set_num_threads(2)
    torch.use_deterministic_algorithms(True)
    torch.set_grad_enabled(False)
    warnings.simplefilter("always")
    torch.relu = None
    del torch.tanh


@pytest.mark.parametrize("where", ["forward", "backward"])
def test_state_is_left_as_it_was(where):
    torch.manual_seed(5)
    before = state()
    check(make(**{where: disturb}), (X,), fast=True)
    same(before, state())


def test_state_is_left_as_it_was_in_no_grad():
    with torch.no_grad():
        report = check(Wrong, (X,), select=FEW)
        assert not torch.is_grad_enabled()
    assert "CG201" in {f.code for f in report.findings}


def test_the_callers_tensors_are_left_alone():
    x = X.clone().requires_grad_()
    plain = torch.arange(3.0)
    x.grad = torch.full_like(x, 7.0)
    kept = (x.detach().clone(), plain.clone())
    versions = (x._version, plain._version)

    class InPlace(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, y):
            y.mul_(3)
            return x * 2

        @staticmethod
        def backward(ctx, grad_output):
            return grad_output.mul_(2), None

    check(InPlace, (x, plain), fast=True)
    assert torch.equal(x.detach(), kept[0])
    assert torch.equal(plain, kept[1])
    assert torch.equal(x.grad, torch.full_like(x, 7.0))
    assert (x.requires_grad, plain.requires_grad) == (True, False)
    assert (x._version, plain._version) == versions


def test_a_modules_parameters_and_buffers_are_left_alone():
    module = torch.nn.BatchNorm1d(3).double()
    kept = {k: v.clone() for k, v in module.state_dict().items()}
    check(module, (torch.randn(4, 3, dtype=torch.float64),), select=FEW)
    assert all(torch.equal(v, kept[k]) for k, v in module.state_dict().items())
    assert all(p.grad is None for p in module.parameters())


@pytest.mark.parametrize("subject", [Wrong, make()])
def test_the_same_report_twice(subject):
    def told():
        report = json.loads(check(subject, (X,), fast=True).to_json())
        report["facts"].pop("seconds")
        return report

    torch.manual_seed(1)
    first = told()
    torch.manual_seed(2)
    torch.rand(3)
    assert told() == first


# ---- What the checked code may do ----


def forever():
    while True:
        time.sleep(0.01)


def fail():
    raise RuntimeError("no such thing")


def leave():
    raise SystemExit(3)


@pytest.mark.parametrize(
    ("step", "words"),
    [(fail, "RuntimeError: no such thing"), (leave, "SystemExit(3)"), (forever, "TimeUp")],
)
@pytest.mark.parametrize(("where", "code"), [("forward", "CG101"), ("backward", "CG103")])
def test_what_it_raises_is_a_finding(quick, where, code, step, words):
    report = check(make(**{where: step}), (X,), select=FEW)
    assert [f.code for f in report.failures] == [code]
    assert words in report.failures[0].message


class Once:
    """Act at the n-th call alone."""

    def __init__(self, n, step):
        self.left, self.step = n, step

    def __call__(self):
        self.left -= 1
        if self.left == 0:
            self.step()


@pytest.mark.parametrize("step", [fail, leave, forever])
def test_a_rule_that_is_stopped_stops_no_other(quick, monkeypatch, step):
    rule = next(r for r in RULES if r.code == "CG202")
    monkeypatch.setattr(rule, "seconds", 0.3)
    monkeypatch.setattr(rule, "find", lambda exam: iter([step()]))
    monkeypatch.setattr(rule, "after", ())
    report = check(Wrong, (X,), select=FEW)
    stopped = {n.code: n.reason for n in report.not_run}
    assert stopped["CG202"].startswith("stopped by ")
    assert "CG201" in {f.code for f in report.failures}
    assert {"CG101", "CG103"} == set(report.passed)


def test_code_that_swallows_the_interrupt_is_stopped_all_the_same(quick):
    def stubborn():
        for _ in range(3):
            try:
                forever()
            except BaseException:
                continue

    began = time.monotonic()
    check(make(backward=stubborn), (X,), select="CG103")
    assert time.monotonic() - began < 20


def test_control_c_passes_and_state_is_restored():
    def interrupt():
        torch.set_default_dtype(torch.float16)
        raise KeyboardInterrupt

    before = state()
    with pytest.raises(KeyboardInterrupt):
        check(make(backward=interrupt), (X,), select=FEW)
    same(before, state())


def test_a_printed_megabyte_is_not_seen(capfd):
    assert check(make(forward=lambda: print("x" * 2**20)), (X,), select=FEW)
    assert capfd.readouterr() == ("", "")


def test_a_changed_default_dtype_does_not_reach_the_next_rule(monkeypatch):
    seen = {}
    for rule in RULES[:4]:

        def find(exam, code=rule.code):
            seen[code] = (torch.get_default_dtype(), hasattr(torch, "tanh"))
            disturb()
            return iter(())

        monkeypatch.setattr(rule, "find", find)
    check(make(), (X,), select=[rule.code for rule in RULES[:4]])
    assert set(seen.values()) == {(torch.float32, True)}
    assert len(seen) == 4


def test_it_works_off_the_main_thread(quick):
    found = []

    def work():
        found.append(check(Wrong, (X,), select=FEW))
        found.append(check(make(backward=forever), (X,), select="CG103"))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join(60)
    assert not thread.is_alive()
    assert found[0].failures[0].code == "CG201"
    assert "TimeUp" in found[1].failures[0].message


# ---- Calls ----

ERRORS = {
    "no tensor": (lambda: check(make(), (1, "a")), ValueError, "must hold a floating or complex tensor, got int, str"),
    "integers": (lambda: check(make(), (torch.arange(3),)), ValueError, "give one to differentiate by"),
    "nothing": (lambda: check(make(), ()), ValueError, "got nothing"),
    "no tuple": (lambda: check(make(), "abc"), TypeError, r"got str; write \(x,\) for a single argument"),
    "no Function": (lambda: check(3, (X,)), TypeError, "subject must be a torch.autograd.Function.*got 3"),
    "an instance's class": (lambda: check(torch.nn.ReLU, (X,)), TypeError, "pass the class itself"),
    "a code": (lambda: check(make(), (X,), select="CG999"), ValueError, "no rule has the code or severity 'CG999'; the codes are CG101, "),
    "ignored": (lambda: check(make(), (X,), ignore=["XY"]), ValueError, "'XY'"),
}  # fmt: skip


@pytest.mark.parametrize("case", ERRORS)
def test_a_wrong_call_says_what_is_wrong(case):
    call, kind, words = ERRORS[case]
    with pytest.raises(kind, match=words):
        call()


def test_a_tensor_alone_is_one_argument():
    assert not check(Wrong, X, select=FEW)


def test_assert_ok_raises_with_the_report_as_its_text():
    with pytest.raises(CheckFailed, match=r"(?s)customgrad check Wrong: .*CG201 wrong-gradient"):
        assert_ok(Wrong, (X,), select=FEW)
    assert assert_ok(make(), (X,), select=FEW)
