"""What is stored of benchmarks is complete, and its bytes are those of a run now; times are not asserted."""

import pytest
import torch

from sitetools import catalogue
from sitetools.tables import bars, speed
from tests.benchmarks import run

REPORTS = speed.reports()
OPERATIONS = {o.name: o for o in reversed(catalogue.OPERATIONS)}
BYTES = [bar for bar in bars.bars() if bar["quantity"] != "time"]


@pytest.fixture(autouse=True, scope="module")
def one_thread():
    """Bytes do not depend on threads; several, beside another worker, spend most of their time waiting."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


def test_every_operation_was_measured_in_every_case():
    assert list(REPORTS) == list(dict.fromkeys(o.name for o in catalogue.OPERATIONS))
    assert {p.stem for p in run.RESULTS.iterdir()} == set(REPORTS)
    for name, report in REPORTS.items():
        cases = set(run.cases_of(OPERATIONS[name]))
        assert set(report["saved"]) == set(report["peak"]) == cases, name
        assert all(set(found) == cases for found in report["time"].values()), name
        labels = [label for label in report["time"] if "bfloat16" not in label]
        assert labels == list(OPERATIONS[name].bench.sizes), name


@pytest.mark.parametrize("name", OPERATIONS)
def test_bytes_are_what_is_stored(name):
    operation = OPERATIONS[name]
    inputs = run.leaves(operation.bench.memory)
    for case, call in run.cases_of(operation).items():
        given = run.cotangents(call, inputs)
        saved = run.saved_bytes(call, inputs, operation.bench.beside_inputs) / inputs[0].numel()
        assert saved == pytest.approx(REPORTS[name]["saved"][case], rel=2e-3, abs=1e-3), case
        runs = run.step(call, inputs, given)
        runs()
        peak = run.peak_bytes(runs) / inputs[0].numel()
        assert peak == pytest.approx(REPORTS[name]["peak"][case], rel=0.02, abs=0.01), case


@pytest.mark.parametrize("bar", BYTES, ids=lambda bar: f"{bar['says']}: {bar['quantity']}")
def test_bars_on_bytes_are_met(bar):
    assert bar["found"] <= bar["most"] + 5e-3


def test_bytes_are_counted():
    x = torch.ones(1000, requires_grad=True)
    assert run.saved_bytes(lambda x: x.exp(), (x,)) == 4000
    assert run.saved_bytes(lambda x: x * torch.sigmoid(x), (x,)) == 8000
    assert run.saved_bytes(lambda x: x + 1, (x,)) == 0
    two = run.peak_bytes(lambda: torch.ones(1000).exp())
    assert run.peak_bytes(lambda: torch.ones(1000)) == 4000
    assert two == 8000


def test_a_ratio_is_of_the_same_round(monkeypatch):
    """A machine that gets slower from round to round changes no ratio."""
    rounds = iter(range(1, 1000))
    slower = {"round": 1}

    def repeated(case, _):
        slower["round"] = next(rounds)
        return case()

    def base():
        return 2.0 * slow()

    def other():
        return 6.0 * slow()

    def slow():
        return (slower["round"] + 1) // 2

    monkeypatch.setattr(run, "repeated", repeated)
    assert run.ratios({"base": base, "other": other}, "base") == {
        "base": [1.0, 1.0, 1.0],
        "other": [3.0, 3.0, 3.0],
    }
