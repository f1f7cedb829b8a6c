"""The package's metadata, its imports, and what the wheel would hold."""

import ast
import inspect
import logging
import re
import subprocess
import sys
import tomllib

import pytest
import torch
import yaml
from packaging.requirements import Requirement

import customgrad
from sitetools import pages
from sitetools.pages import ROOT

FILE = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
PROJECT, TOOLS = FILE["project"], FILE["tool"]
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
    assert PROJECT["dependencies"] == ["torch>=2.13"]


@pytest.mark.parametrize("extra", ["cli", "docs", "test", "examples", "dev"])
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
    "__init__.py": {"checker", "once"},
    "__main__.py": {"cli"},
    "checker": {"__version__", "checker"},
    "cli.py": {"__version__", "checker", "exercises"},
    "exercises": {"exercises"},
    "functions": {"functions"},
    "training.py": {"functions", "training"},
    "lessons": {
        "",
        "check",
        "checker",
        "exercises",
        "functions",
        "training",
        "lessons",
        "once_differentiable",
    },
}
# The command line and what is printed on a terminal may use what the extra brings.
# Some broken Functions are broken by NumPy.
EXTRA = {
    "cli.py": {"rich", "typer"},
    "checker": {"rich"},
    "exercises": {"platformdirs", "rich", "typer", "watchfiles"},
    "zoo": {"numpy"},
}


@pytest.mark.parametrize(
    "source", sorted((ROOT / "customgrad").rglob("*.py")), ids=lambda p: p.name
)
def test_imports_go_one_way(source):
    part = source.relative_to(ROOT / "customgrad").parts[0]
    allowed = MAY_IMPORT.get(part, set())
    outside = {"torch"} | EXTRA.get(part, set()) | set(sys.stdlib_module_names)
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
    licence = (ROOT / "LICENSE").read_text(encoding="utf-8")
    assert licence.startswith("MIT License\n\nCopyright (c) 2026 The customgrad contributors\n")
    for sentence in (
        "to deal in the Software without restriction",
        "shall be included in all copies or substantial portions of the Software",
        'THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND',
    ):
        assert sentence in " ".join(licence.split())


def test_the_python_that_is_asked_for_is_one_number():
    asked = PROJECT["requires-python"]
    assert asked == ">=3.11"
    assert "Programming Language :: Python :: 3.11" in PROJECT["classifiers"]
    assert TOOLS["mypy"]["python_version"] == "3.11"
    assert "v >= (3, 11)" in (ROOT / "Makefile").read_text(encoding="utf-8")
    assert "Python 3.11 or newer" in (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_tools_are_set_to_be_strict():
    """A setting that is gone would let everything below it pass."""
    options = TOOLS["pytest"]["ini_options"]
    assert options["testpaths"] == ["docs", "README.md", "tests"]
    assert options["filterwarnings"] == ["error"]
    assert options["xfail_strict"] is True
    assert {"--strict-markers", "--strict-config"} <= set(options["addopts"])
    assert TOOLS["mypy"]["strict"] is True
    config = pages.config()
    assert config.mdx_configs["pymdownx.snippets"]["check_paths"] is True
    assert config.mdx_configs["pymdownx.snippets"]["dedent_subsections"] is True
    warn = {"omitted_files", "not_found", "absolute_links", "anchors", "unrecognized_links"}
    levels = {**config.validation.nav, **config.validation.links}
    assert {name: levels[name] for name in warn} == dict.fromkeys(warn, logging.WARNING)
    notebooks = config.plugins["mkdocs-jupyter"].config
    assert [notebooks[n] for n in ("execute", "allow_errors", "cache")] == [True, False, False]
    assert not config.repo_url, "with it the theme calls a third party"


DEFAULTS = {
    "Affine": {},
    "Cube": {},
    "CubeForwardMode": {},
    "CustomLinear": {"bias": True, "device": None, "dtype": None},
    "CustomReLU": {},
    "Exp": {},
    "ExpForwardMode": {},
    "ClampSTE": {},
    "ClipGradientNorm": {},
    "ClipGradientValue": {},
    "ReverseGradient": {},
    "ScaleGradient": {},
    "clamp_ste": {"gated": False},
    "clip_gradient_norm": {},
    "clip_gradient_value": {},
    "reverse_gradient": {"scale": 1.0},
    "scale_gradient": {},
    "GumbelSoftmaxSTE": {},
    "LSQ": {},
    "GELU": {},
    "GELUForwardMode": {},
    "LeakyReLU": {},
    "Linear": {},
    "Mish": {},
    "ReLUFromInput": {},
    "ReLUFromMask": {},
    "ReLUFromOutput": {},
    "ReLUInPlace": {},
    "ReLUPacked": {},
    "CrossEntropy": {},
    "LayerNorm": {},
    "LinearCrossEntropy": {},
    "RMSNorm": {},
    "ActivatedNorm": {},
    "Checkpoint": {},
    "GELULinear": {},
    "Reversible": {},
    "RoundSTE": {},
    "RoundSTEForwardMode": {},
    "SignSTE": {},
    "SiLU": {},
    "SiLUForwardMode": {},
    "SinCos": {},
    "Sinh": {},
    "Sort": {},
    "TopK": {},
    "TreeNorm": {},
    "affine": {"weight": None, "bias": None},
    "cube": {},
    "custom_relu": {},
    "custom_relu_demo": {"values": None},
    "exp": {},
    "Spike": {},
    "gumbel_softmax_ste": {"noise": None, "temperature": 1.0, "dim": -1, "generator": None},
    "linear": {"bias": None},
    "lsq": {"gradient_scale": 1.0},
    "Softplus": {},
    "SoftplusForwardMode": {},
    "gelu": {"approximate": "none"},
    "leaky_relu": {"negative_slope": 0.01},
    "log1pexp": {},
    "mish": {},
    "relu": {"keep": "output"},
    "relu_": {},
    "cross_entropy": {"ignore_index": -100, "reduction": "mean"},
    "layer_norm": {"weight": None, "bias": None, "eps": 1e-5},
    "linear_cross_entropy": {"bias": None, "ignore_index": -100, "reduction": "mean", "chunk": 128},
    "rms_norm": {"weight": None, "eps": None},
    "Swish": {},
    "activated_norm": {
        "weight": None,
        "bias": None,
        "running_mean": None,
        "running_var": None,
        "negative_slope": 0.01,
        "momentum": 0.1,
        "eps": 1e-5,
    },
    "checkpointed": {"preserve_rng_state": True},
    "gelu_linear": {"bias": None, "approximate": "none"},
    "reversible": {"preserve_rng_state": True},
    "round_ste": {},
    "sign_ste": {},
    "silu": {},
    "sincos": {},
    "sinh": {},
    "sort": {"dim": -1, "descending": False, "stable": False},
    "topk": {"dim": -1, "largest": True, "sorted": True},
    "tree_apply": {},
    "tree_norm": {},
    "spike": {"surrogate": "fast_sigmoid", "slope": None},
    "softplus": {"beta": 1.0, "threshold": 20.0},
    "swish": {},
    "MLP": {},
    "GradientRecord": {},
    "regression_data": {"n": 64, "noise": 0.1},
    "train_classifier": {"epochs": 5, "batch_size": 64, "lr": 0.1},
    "train_linear": {"steps": 60, "lr": 0.1, "on_step": None},
    "train_regression": {"steps": 60, "lr": 0.1, "on_step": None},
}


def test_default_arguments_are_what_they_were():
    import customgrad.functions
    import customgrad.training

    found = {}
    for module in (customgrad.functions, customgrad.training):
        for name in module.__all__:
            public = getattr(module, name)
            is_function = isinstance(public, type) and issubclass(public, torch.autograd.Function)
            given = {} if is_function else inspect.signature(public).parameters
            found[name] = {n: p.default for n, p in dict(given).items() if p.default is not p.empty}
    assert found == DEFAULTS


@pytest.mark.parametrize("sheet", sorted((ROOT / "docs" / "assets").glob("*.css")), ids=str)
def test_style_sheets_load_only_what_is_shipped(sheet):
    text = sheet.read_text(encoding="utf-8")
    assert "@import" not in text
    for target in re.findall(r"url\(\s*[\"']?([^\"')]+)", text):
        assert target.startswith("data:image/svg+xml") or (sheet.parent / target).is_file(), target
