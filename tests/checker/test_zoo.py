"""The zoo: what must be found in each broken Function, and nothing in its repaired form."""

import importlib
import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
ZOO = ROOT / "customgrad" / "zoo"
EXPECTED = {
    path.stem: tomllib.loads(path.read_text(encoding="utf-8"))
    for path in sorted((ROOT / "tests" / "zoo").glob("*.toml"))
}
MEMBERS = [(family, name) for family, members in EXPECTED.items() for name in members]


# What torch.compile makes of them takes seconds, and is the subject of test_transforms.
WITHOUT = "CG96"


def member(family, name):
    return importlib.import_module(f"customgrad.zoo.{family}.{name}")


def test_each_module_has_its_entry_and_each_entry_its_module():
    modules = {(p.parent.name, p.stem) for p in ZOO.glob("*/*.py") if p.stem != "__init__"}
    assert modules == set(MEMBERS)


@pytest.mark.parametrize(
    ("family", "name"), [m for m in MEMBERS if "codes" in EXPECTED[m[0]][m[1]]]
)
def test_broken_is_found_with_its_cause(family, name):
    from customgrad.checker import check

    module, expected = member(family, name), EXPECTED[family][name]
    report = check(
        module.Broken, module.sample_inputs, ignore=WITHOUT, **getattr(module, "OPTIONS", {})
    )
    if report.failures:
        assert sorted({f.code for f in report.failures}) == expected["codes"]
    else:  # what is merely missing is quiet, and there may be more of it
        assert set(expected["codes"]) <= {f.code for f in report.findings}
    said = " ".join(f"{f.message} {f.cause} {f.got} {f.fix}" for f in report.findings)
    assert re.search(expected["cause"], said, re.IGNORECASE), said


@pytest.mark.parametrize(("family", "name"), MEMBERS)
def test_nothing_fires_on_repaired(family, name):
    from customgrad.checker import check

    module = member(family, name)
    inputs = getattr(module, "repaired_inputs", module.sample_inputs)
    report = check(module.Repaired, inputs, ignore=WITHOUT, **getattr(module, "OPTIONS", {}))
    assert not report.failures, str(report)
