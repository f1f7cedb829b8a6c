"""The settings that decide what is tested, and what the repository's own pages promise: held word for word.

A test that is no longer collected, a rule that is no longer selected or a step that is no longer run fails nothing
by itself. So each such list stands here a second time.
"""

import hashlib
import re
import tomllib
from importlib import metadata

import pytest
import yaml

from sitetools import pages
from sitetools.pages import ROOT


def read(name):
    return (ROOT / name).read_text(encoding="utf-8")


FILE = tomllib.loads(read("pyproject.toml"))
TOOLS = FILE["tool"]

LESSON_RULES = ["D", "E402", "E731", "F401", "F811", "I001", "PLC0415"]
UNTYPED = [
    *("rich.*", "typer.*", "platformdirs.*", "watchfiles.*"),
    *("pytest_codeblocks.*", "mkdocs_jupyter.*", "jupytext.*", "nbconvert.*", "nbformat.*"),
    *("fontTools.*", "l2m4m.*", "pymdownx.*", "sklearn.*", "mkdocs.*", "ziamath.*"),
    *("markdown.*", "yaml.*", "pygments.*"),
]
SDIST = [
    *("/customgrad", "/docs", "/examples", "/overrides", "/sitetools", "/tests"),
    *("/conftest.py", "/mkdocs.yml", "/constraints.txt", "/Makefile"),
    *("/CHANGELOG.md", "/CITATION.cff", "/CONTRIBUTING.md"),
]
SETTINGS = {
    "build-system": {"requires": ["hatchling>=1.26"], "build-backend": "hatchling.build"},
    "tool.hatch": {
        "build": {
            "targets": {"wheel": {"packages": ["customgrad"]}, "sdist": {"include": SDIST}},
        }
    },
    "tool.pytest": {
        "ini_options": {
            "minversion": "9.0",
            "testpaths": ["docs", "README.md", "tests"],
            "pythonpath": ["."],
            "norecursedirs": [".*", "site", "build", "dist", "node_modules"],
            "addopts": ["-ra", "--strict-markers", "--strict-config", "--import-mode=importlib"],
            "xfail_strict": True,
            "filterwarnings": ["error"],
        }
    },
    "tool.ruff": {
        "line-length": 100,
        "extend-exclude": ["site", ".cache", "*.md", "customgrad/exercises/problems/*/starter.py"],
        "force-exclude": True,
        "format": {"exclude": ["customgrad/exercises/problems/*/solution.py"]},
        "lint": {
            "select": ["E", "W", "F", "I", "B", "C4", "UP", "D", "RUF", "SIM", "PT"],
            "ignore": ["D105", "D107", "D203", "D213", "D413", "RUF001", "RUF002", "RUF003"],
            "pycodestyle": {"max-line-length": 120},
            "pydocstyle": {"convention": "google"},
            "per-file-ignores": {
                "tests/**": ["D", "E501"],
                "examples/**": ["D", "E402", "B018"],
                "tests/exercises/right/*": ["ALL"],
                "customgrad/exercises/problems/*/solution.py": ["D101", "D102", "D103"],
                "customgrad/lessons/**": LESSON_RULES,
            },
        },
    },
    "tool.mypy": {
        "files": ["customgrad", "sitetools"],
        "python_version": "3.11",
        "strict": True,
        "disallow_untyped_calls": False,
        "disallow_subclassing_any": False,
        "disallow_any_generics": False,
        "overrides": [
            {"module": UNTYPED, "ignore_missing_imports": True},
            {
                "module": [
                    "customgrad.lessons.*",
                    "customgrad.zoo.*",
                    "customgrad.exercises.problems.*.solution",
                    "customgrad.exercises.problems.*.starter",
                ],
                "ignore_errors": True,
            },
            {"module": ["customgrad.lessons.relu.harness"], "ignore_errors": False},
        ],
    },
}


@pytest.mark.parametrize("table", SETTINGS)
def test_settings_are_what_they_were(table):
    found = FILE
    for key in table.split("."):
        found = found[key]
    assert found == SETTINGS[table]


def test_no_tool_is_set_elsewhere():
    assert {f"tool.{name}" for name in TOOLS} | {"build-system"} == set(SETTINGS)
    others = ["pytest.ini", ".pytest.ini", "tox.ini", "setup.cfg", "ruff.toml", ".ruff.toml"]
    assert not [n for n in [*others, "mypy.ini", ".mypy.ini"] if (ROOT / n).exists()]


# ---- The Makefile ----

RECIPES = {
    "serve": ["$(PY) -m sitetools.serve $(PORT)"],
    "test": ["$(PY) -m pytest -n 2"],
    "site": ["$(PY) -m sitetools.build"],
    "outputs": [
        "$(PY) -m sitetools.generate",
        "$(PY) -m pytest docs README.md --update-outputs -q",
    ],
    "bench": ["$(PY) -m tests.benchmarks.run $(ONLY)", "$(PY) -m sitetools.generate"],
    "check": ["$(PY) -m ruff check .", "$(PY) -m ruff format --check .", "$(PY) -m mypy"],
    "clean": ["rm -rf $(VENV) site .cache .pytest_cache .ruff_cache .mypy_cache .hypothesis"],
}
NEEDS = dict.fromkeys(RECIPES, "chosen $(ALL)") | {"serve": "chosen $(SITE)", "clean": ""}


def recipe(target):
    """Return what a target needs, and its commands."""
    found = re.search(rf"^{target}:(.*)\n((?:\t.*\n)+)", read("Makefile") + "\n", re.MULTILINE)
    return found[1].strip(), [line[1:].removeprefix("@") for line in found[2].splitlines()]


@pytest.mark.parametrize("target", RECIPES)
def test_make_runs_these_commands_and_no_others(target):
    assert recipe(target) == (NEEDS[target], RECIPES[target])


def test_make_targets_are_phony_and_explained():
    text = read("Makefile")
    assert re.findall(r"^(\w+ \?= .*)$", text, re.MULTILINE) == [
        "PYTHON ?= python3",
        "PORT ?= 8000",
    ]
    phony = re.search(r"^\.PHONY: (.*)$", text, re.MULTILINE)[1].split()
    assert phony == ["help", *RECIPES, "chosen"]
    explained = [line.split()[2] for line in recipe("help")[1]]
    assert explained == list(RECIPES)
    assert set(re.findall(r"^export (\w+) = 1$", text, re.MULTILINE)) == {
        "PYTHONUTF8",
        "NO_MKDOCS_2_WARNING",
    }


# ---- CI ----

CI = [
    'step "Chromium, for the browser tests"',
    'if ! command -v "${CHROMIUM:-chromium}" >/dev/null; then',
    'as_root=$([ "$(id -u)" -eq 0 ] || echo sudo)',
    "$as_root apt-get update -qq",
    "$as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends chromium >/dev/null",
    "fi",
    '"${CHROMIUM:-chromium}" --version',
    'step "a clean clone"',
    'git clone --quiet --no-local "$here" "$work/customgrad"',
    'cd "$work/customgrad"',
    "git log -1 --format='%h %s'",
    'step "make test: blocks, tests, browser tests"',
    "make test",
    'step "make site: the strict build"',
    "make site",
    'step "the same tests on torch\'s plain instruction set"',
    "ATEN_CPU_CAPABILITY=default .venv/bin/python -m pytest -q -n 2 --ignore tests/browser --ignore tests/checker",
    'step "lint, format, docstrings, types"',
    "make check",
    'if [ -n "${SITE_OUT:-}" ]; then',
    'mkdir -p "$SITE_OUT"',
    'cp -R site/. "$SITE_OUT/"',
    "fi",
    'step "all passed"',
]


def test_ci_runs_these_steps_in_this_order():
    lines = [line.strip() for line in read(".ci/run").splitlines()]
    lines = [line for line in lines if line and not line.startswith("#")]
    assert lines[: -len(CI)] == [
        "set -euo pipefail",
        'here=$(cd "$(dirname "$0")/.." && pwd)',
        "work=$(mktemp -d)",
        "trap 'rm -rf \"$work\"' EXIT",
        "export CI=true PYTHONUTF8=1 NO_MKDOCS_2_WARNING=1",
        "step() { printf '\\n=== %s\\n' \"$1\"; }",
    ]
    assert lines[-len(CI) :] == CI


def test_the_workflow_runs_on_every_change_and_deploys_what_passed():
    # YAML 1.1 reads the key `on` as true.
    workflow = yaml.safe_load(read(".github/workflows/site.yml"))
    assert workflow[True] == {"push": {"branches": ["main"]}, "pull_request": None}
    assert list(workflow["jobs"]) == ["check", "deploy"]
    check, deploy = workflow["jobs"].values()
    assert set(check) == {"runs-on", "timeout-minutes", "permissions", "steps"}
    steps = [
        (s.get("uses", "").partition("@")[0] or s["run"], s.get("if", "")) for s in check["steps"]
    ]
    assert steps == [
        ("actions/checkout", ""),
        ("actions/setup-python", ""),
        ("bash .ci/run", ""),
        ("actions/upload-pages-artifact", "github.event_name == 'push'"),
    ]
    assert not [s for s in check["steps"] if "continue-on-error" in s]
    assert check["steps"][1]["with"] == {"python-version": "3.11"}
    assert check["steps"][2]["env"] == {
        "SITE_OUT": "${{ runner.temp }}/site",
        "CHROMIUM": "google-chrome",
        "TORCH_INDEX": "https://download.pytorch.org/whl/cpu",
    }
    assert check["steps"][3]["with"] == {"path": "${{ runner.temp }}/site"}
    assert deploy["needs"] == "check"
    assert deploy["if"] == "github.event_name == 'push'"
    assert [s["uses"].partition("@")[0] for s in deploy["steps"]] == ["actions/deploy-pages"]


# ---- What is installed, and what is shipped ----


def test_what_is_installed_is_what_is_pinned():
    pins = re.findall(r"^([\w.-]+)==(\S+)$", read("constraints.txt"), re.MULTILINE)
    assert len(pins) == len({name.lower().replace("_", "-") for name, _ in pins}) > 100
    installed = {
        re.sub(r"[-_.]+", "-", d.name.lower()): d.version.partition("+")[0]
        for d in metadata.distributions()
    }
    for name, version in pins:
        name = re.sub(r"[-_.]+", "-", name.lower())
        # Some are for one system only, such as colorama for Windows.
        assert installed.get(name, version) == version, f"{name}: constraints.txt pins {version}"


def test_what_is_shipped_exists():
    for name in SDIST:
        assert (ROOT / name.lstrip("/")).exists(), name
    assert FILE["project"]["license-files"] == ["LICENSE"]
    assert FILE["project"]["readme"] == "README.md"


def test_the_licence_is_word_for_word_mit():
    digest = hashlib.sha256(read("LICENSE").encode("utf-8")).hexdigest()
    assert digest == "f8aa23ec4748e79f0b08cbe5256c1a083e939defadc554d450d4a823c1d68b8f"


def test_the_citation_has_what_cff_asks_for():
    citation = yaml.safe_load(read("CITATION.cff"))
    assert citation == {
        "cff-version": "1.2.0",
        "message": "If you use customgrad in published work, please cite it as below.",
        "title": "customgrad: an executable handbook of custom gradients in PyTorch",
        "type": "software",
        "version": FILE["project"]["version"],
        "license": "MIT",
        "authors": [{"name": "The customgrad contributors"}],
        "keywords": ["PyTorch", "automatic differentiation", "custom gradients"],
    }


# ---- What README and CONTRIBUTING name ----

DOCUMENTS = ["README.md", "CONTRIBUTING.md"]
# A page or file that is still to be written, and what a run leaves behind.
PLACEHOLDER = re.compile(r"NAME|cgNNN|\*|^\.venv$|^site/$|^docs/generated/(?:speed|support)-")


@pytest.mark.parametrize("document", DOCUMENTS)
def test_paths_that_are_named_exist(document):
    spans = re.findall(r"`([^`\n]+)`", read(document))
    path = re.compile(r"\.?[\w-]+(?:/[\w.-]*)+|[\w-]+\.(?:md|py|toml|txt|yml|cff)")
    named = [s for s in spans if path.fullmatch(s) and not PLACEHOLDER.search(s)]
    assert len(named) >= 5
    for name in named:
        places = [ROOT / name, pages.DOCS / name]
        assert any(p.exists() for p in places), f"{document} names {name}, which does not exist"


@pytest.mark.parametrize("document", DOCUMENTS)
def test_make_targets_and_variables_that_are_named_exist(document):
    text, makefile = read(document), read("Makefile")
    commands = re.findall(r"^ *make .*$", text, re.MULTILINE)
    commands += re.findall(r"`((?:\w+=\S+ )?make [^`]*)`", text)
    assert len(commands) >= 3
    for command in commands:
        target, *rest = command.split("make ", 1)[1].split()
        assert target == "help" or target in RECIPES, command
        for name in [word.partition("=")[0] for word in rest if "=" in word]:
            assert re.search(rf"^{name} \?=|\$\({name}\)|^ifdef {name}$", makefile, re.MULTILINE), (
                command
            )


def test_the_extras_that_the_readme_names_exist():
    named = re.findall(r"pip install .*-e ['\"]\.\[([\w,]+)\]['\"]", read("README.md"))
    assert named == ["cli", "dev", "dev"]
    extras = FILE["project"]["optional-dependencies"]
    assert set(extras) == {"cli", "examples", "docs", "test", "dev"}
    assert extras["dev"][0] == "customgrad[cli,docs,examples,test]"


def test_the_folders_that_the_readme_lists_are_the_repositorys():
    listed = re.findall(r"^\| `(\w+)/` \|", read("README.md"), re.MULTILINE)
    assert listed == ["customgrad", "docs", "examples", "sitetools", "tests"]


@pytest.mark.parametrize("page", ["relu/problem.md", "relu/solution.md"])
def test_headings_are_those_that_contributing_lists(page):
    row = re.search(rf"^\| \w+, `{page}` \| (.*) \|$", read("CONTRIBUTING.md"), re.MULTILINE)
    source = pages.DOCS / page
    lines = pages.outside(source, source.read_text(encoding="utf-8"))
    found = [line.strip()[3:] for _, line in lines if line.startswith("## ")]
    assert [re.sub(r" *\{.*\}$", "", heading) for heading in found] == re.findall(
        r"\*([^*]+)\*", row[1]
    )


def test_the_tests_that_console_toml_names_contain_the_command():
    table = tomllib.loads(read("tests/console.toml"))
    assert table
    for command, test in table.items():
        path, _, name = test.partition("::")
        body = re.search(
            rf"((?:^@.*\n(?:[ \])].*\n)*)*)^def {name}\(.*\n(?: .*\n|\n)*",
            read(path),
            re.MULTILINE,
        )
        assert body, f"{test} does not exist"
        target = command.removeprefix("make ")
        assert command in body[0] or f'("{target}", "' in body[0], f"{test} does not run {command}"
