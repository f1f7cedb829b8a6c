"""The order in which the workers of a run take the tests: a hook of the root conftest.py."""

import importlib.util
from types import SimpleNamespace

from xdist.workermanage import parse_tx_spec_config

from sitetools.pages import ROOT

SPEC = importlib.util.spec_from_file_location("root_conftest", ROOT / "conftest.py")
ORDER = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(ORDER)


def test_what_is_begun_first_exists():
    for unit in ORDER.FIRST:
        assert (ROOT / unit).exists(), unit
        assert ORDER.scope(f"{unit}::test" if "." in unit else f"{unit}/test_use.py::test") == unit


def test_what_is_made_once_stays_on_one_worker():
    assert ORDER.scope("tests/browser/test_use.py::test_a[1]") == "tests/browser"
    assert ORDER.scope("tests/test_generated.py::test_a") == ORDER.scope(
        "tests/functions/test_catalogue.py::test_b[x::y]"
    )
    assert ORDER.scope("docs/relu/solution.md::line 3") == "docs/relu/solution.md"


class Worker:
    shutting_down = False
    gateway = SimpleNamespace(id="gw")

    def __init__(self):
        self.given = []

    def send_runtest_some(self, numbers):
        self.given += numbers

    def shutdown(self):
        self.shutting_down = True


def test_workers_take_what_runs_longest_first_and_each_test_once(pytestconfig, monkeypatch):
    monkeypatch.setattr(pytestconfig.option, "tx", ["2*popen"])
    monkeypatch.setattr(pytestconfig.option, "loadscopereorder", True)
    assert len(parse_tx_spec_config(pytestconfig)) == 2
    tests = [f"tests/test_many.py::test_{n}" for n in range(9)]
    tests += [f"{unit}/test_use.py::test" for unit in ["tests/browser"]]
    tests += [f"{unit}::test" for unit in reversed(ORDER.FIRST) if unit.endswith((".py", ".md"))]
    scheduler = ORDER.pytest_xdist_make_scheduler(pytestconfig, None)
    workers = [Worker(), Worker()]
    for worker in workers:
        scheduler.add_node(worker)
        scheduler.add_node_collection(worker, tests)
    scheduler.schedule()
    begun = dict.fromkeys(
        ORDER.scope(tests[worker.given[place]]) for place in range(2) for worker in workers
    )
    assert list(begun) == list(ORDER.FIRST[:4])
    done = set()
    while waiting := [(w, n) for w in workers for n in w.given if n not in done]:
        worker, number = waiting[0]
        scheduler.mark_test_complete(worker, number)
        done.add(number)
    assert done == set(range(len(tests)))
    assert sum(len(worker.given) for worker in workers) == len(tests)
