"""The package's metadata, its imports, and what the wheel would hold."""

import ast
import re
import subprocess
import sys
import tomllib

import pytest
import yaml
from packaging.requirements import Requirement

import customgrad
from sitetools.pages import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
PINS = dict(
    line.strip().lower().replace("_", "-").split("==")
    for line in (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    if line and not line.startswith("#")
)


def test_one_version():
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    newest = re.search(r"^## (\S+?),? ", changelog, re.MULTILINE).group(1)
    assert {PROJECT["version"], citation["version"], newest} == {customgrad.__version__}
    assert citation["license"] == PROJECT["license"] == "MIT"


def test_torch_is_the_only_hard_dependency():
    assert [Requirement(r).name for r in PROJECT["dependencies"]] == ["torch"]


@pytest.mark.parametrize("extra", ["docs", "test", "examples", "dev"])
def test_pins_satisfy_the_lower_bounds(extra):
    for text in [*PROJECT["dependencies"], *PROJECT["optional-dependencies"][extra]]:
        requirement = Requirement(text)
        if requirement.name != "customgrad":
            pin = PINS[requirement.name.lower()]
            assert requirement.specifier.contains(pin), f"{text}: constraints.txt pins {pin}"
            assert str(requirement.specifier), f"{text}: no bound"


def test_the_pins_drag_in_no_cuda_build():
    assert PINS["torch"] == "2.13.0"
    assert not [name for name in PINS if re.match(r"nvidia|cuda|triton", name)]


# Imports go one way: part → the parts of the project that it may import.
MAY_IMPORT = {
    "functions": {"functions"},
    "training.py": {"functions", "training"},
    "lessons": {"functions", "training", "lessons"},
}


@pytest.mark.parametrize(
    "source", sorted((ROOT / "customgrad").rglob("*.py")), ids=lambda p: p.name
)
def test_imports_go_one_way(source):
    part = source.relative_to(ROOT / "customgrad").parts[0]
    allowed = MAY_IMPORT.get(part, set())
    outside = {"torch"} | set(sys.stdlib_module_names)
    for node in ast.walk(ast.parse(source.read_text(encoding="utf-8"))):
        names = [a.name for a in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{source.name}: imports are absolute"
            names = (
                [f"{node.module}.{a.name}" for a in node.names]
                if node.module == "customgrad"
                else [node.module]
            )
        for name in names:
            top, _, rest = name.partition(".")
            if top == "customgrad":
                assert rest.split(".")[0] in allowed, (
                    f"{source}:{node.lineno}: {part} may not import {name}"
                )
            else:
                assert top in outside, (
                    f"{source}:{node.lineno}: customgrad imports torch alone, not {name}"
                )


def test_importing_the_package_imports_torch_alone():
    code = (
        "import sys, torch; before = set(sys.modules); import customgrad.functions, customgrad.training;"
        "print([m for m in set(sys.modules) - before if not m.startswith(('customgrad', 'torch')) "
        "and m.split('.')[0] not in sys.stdlib_module_names])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, encoding="utf-8", check=True
    )
    assert done.stdout.strip() == "[]"


def test_every_public_name_has_a_docstring_and_exists():
    import customgrad.functions

    assert customgrad.functions.__all__
    for name in customgrad.functions.__all__:
        assert getattr(customgrad.functions, name).__doc__, name


def test_typed_and_licensed():
    assert (ROOT / "customgrad" / "py.typed").exists()
    assert "The customgrad contributors" in (ROOT / "LICENSE").read_text(encoding="utf-8")
