"""The commands that the README names: what they run, what they say, and when they say no."""

import http.client
import os
import re
import shutil
import socket
import subprocess
import sys
import time

import pytest
import yaml

from sitetools import build, serve
from sitetools.pages import ROOT

README = (ROOT / "README.md").read_text(encoding="utf-8")
MAKE = shutil.which("make")
needs_make = pytest.mark.skipif(MAKE is None, reason="no make on this machine")


def dry_run(*arguments, folder=ROOT):
    """Return what make would run."""
    done = subprocess.run(
        [MAKE, "-n", *arguments], cwd=folder, capture_output=True, encoding="utf-8", check=True
    )
    return done.stdout


def empty_project(tmp_path):
    """Return a folder that has what the Makefile looks at, and no .venv."""
    for name in ("Makefile", "pyproject.toml", "constraints.txt"):
        shutil.copy(ROOT / name, tmp_path / name)
    return tmp_path


@needs_make
@pytest.mark.parametrize(
    ("target", "command"),
    [
        ("serve", "-m sitetools.serve 8000"),
        ("test", "-m pytest"),
        ("site", "-m sitetools.build"),
        ("outputs", "-m pytest docs README.md --update-outputs"),
        ("outputs", "-m sitetools.generate"),
        ("bench", "-m tests.benchmarks.run"),
        ("bench", "-m sitetools.generate"),
        ("check", "-m mypy"),
        ("check", "-m ruff check ."),
        ("check", "-m ruff format --check ."),
    ],
)
def test_make_runs_each_command(tmp_path, target, command):
    printed = dry_run(target, folder=empty_project(tmp_path))
    assert command in printed
    extra = "docs" if target == "serve" else "dev"
    assert f'--constraint constraints.txt --editable ".[{extra}]"' in printed


@needs_make
def test_nothing_is_installed_twice_and_a_changed_pin_installs_again(tmp_path):
    folder = empty_project(tmp_path)
    (folder / ".venv").mkdir()
    stamps = [folder / ".venv" / f"installed-{extra}" for extra in ("docs", "dev")]
    for stamp in stamps:
        stamp.touch()
    assert "pip install" not in dry_run("test", folder=folder)
    for name, later in (
        ("constraints.txt", time.time() + 10),
        ("pyproject.toml", time.time() + 30),
    ):
        os.utime(folder / name, (later, later))
        assert "pip install" in dry_run("test", folder=folder), name
        assert "pip install" in dry_run("serve", folder=folder), name
        for stamp in stamps:
            os.utime(stamp, (later + 10, later + 10))
        assert "pip install" not in dry_run("serve", folder=folder), name
        assert "pip install" not in dry_run("test", folder=folder), name


@needs_make
def test_the_cpu_index_is_asked_for_torch_alone(tmp_path):
    printed = dry_run("test", "TORCH_INDEX=https://example.org/cpu", folder=empty_project(tmp_path))
    assert "--constraint constraints.txt --index-url https://example.org/cpu torch" in printed


@needs_make
def test_a_python_that_is_too_old_is_named_in_one_line(tmp_path):
    folder = empty_project(tmp_path)
    old = folder / "old-python"
    # The check is run by the old interpreter itself: here, by this one with another version number.
    old.write_text(
        f'#!/bin/sh\nshift\nexec {sys.executable} -c "import sys; sys.version_info = (3, 9); $(printf %s "$1" | cut -d\\; -f2-)"\n'
    )
    old.chmod(0o755)
    done = subprocess.run(
        [MAKE, "test", f"PYTHON={old}"],
        cwd=folder,
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert done.returncode != 0
    said = [line for line in done.stderr.splitlines() if not line.startswith("make")]
    assert len(said) == 1, done.stderr
    assert "customgrad needs Python 3.11 or newer" in said[0]
    assert "is 3.9" in said[0]
    assert not (folder / ".venv").exists()


@needs_make
@pytest.mark.parametrize("target", ["serve", "test", "site", "outputs", "bench", "check"])
def test_another_python_than_that_of_the_environment_is_refused_in_one_line(tmp_path, target):
    folder = empty_project(tmp_path)
    (folder / ".venv" / "bin").mkdir(parents=True)
    for stamp in ("installed-docs", "installed-dev"):
        (folder / ".venv" / stamp).touch()
    for name, version in ((".venv/bin/python", "3.11"), ("same", "3.11"), ("other", "3.13")):
        (folder / name).write_text(f'#!/bin/sh\ntest "$1" = -m || echo {version}\n')
        (folder / name).chmod(0o755)

    def run(*arguments, **environment):
        return subprocess.run(
            [MAKE, target, *arguments], cwd=folder, env=os.environ | environment, capture_output=True, encoding="utf-8",
            check=False,
        )  # fmt: skip

    done = run("PYTHON=./other")
    assert done.returncode != 0
    said = [line for line in done.stderr.splitlines() if not line.startswith("make")]
    assert said == [".venv has Python 3.11 and ./other is 3.13: run `make clean` first"]
    assert run("PYTHON=./same").returncode == 0
    assert run(PYTHON="./other").returncode == 0, "a variable of the shell asks for nothing"


@needs_make
@pytest.mark.parametrize("target", ["serve", "test", "site", "outputs", "bench", "check"])
def test_what_is_imported_is_kept_compiled(tmp_path, target):
    """Nothing is compiled when it is installed, so that otherwise each process would compile torch."""
    folder = empty_project(tmp_path)
    (folder / ".venv" / "bin").mkdir(parents=True)
    for name in ("installed-docs", "installed-dev"):
        (folder / ".venv" / name).touch()
    python = folder / ".venv" / "bin" / "python"
    python.write_text('#!/bin/sh\necho "compiled: ${PYTHONDONTWRITEBYTECODE-kept}"\n')
    python.chmod(0o755)
    done = subprocess.run(
        [MAKE, "--no-print-directory", target], cwd=folder, env=os.environ | {"PYTHONDONTWRITEBYTECODE": "1"}, capture_output=True,
        encoding="utf-8", check=True,
    )  # fmt: skip
    assert set(done.stdout.splitlines()) == {"compiled: kept"}


def test_a_busy_port_is_one_clear_line():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        done = subprocess.run(
            [sys.executable, "-m", "sitetools.serve", str(port)],
            cwd=ROOT,
            capture_output=True,
            encoding="utf-8",
            check=False,
        )
    assert done.returncode == 2
    said = rf"serve: port {port} is busy; try another: make serve PORT=(\d+)\n"
    assert port < int(re.fullmatch(said, done.stderr)[1]) < port + 100
    assert done.stdout == ""


@pytest.mark.parametrize(
    ("busy", "port", "another"),
    [
        ({8000}, "8000", "PORT=8001"),
        ({8000, 8001, 8002}, "8000", "PORT=8003"),
        ({65535}, "65535", "PORT=..."),
        (range(65536), "8000", "PORT=..."),
    ],
)
def test_the_port_that_is_suggested_has_been_tried(busy, port, another, monkeypatch, capsys):
    monkeypatch.setattr(serve, "busy", busy.__contains__)
    assert serve.main([port]) == 2
    said = f"serve: port {port} is busy; try another: make serve {another}\n"
    assert capsys.readouterr().err == said


@pytest.mark.parametrize("port", ["0", "65536", "http", "-1", "8000.5"])
def test_a_port_that_is_none_is_refused(port, capsys):
    assert serve.main([port]) == 2
    assert capsys.readouterr().err.startswith(
        f"serve: PORT is a number from 1 to 65535, got {port}"
    )


def test_serve_shows_the_home_page():
    """The command that `make serve` runs, on a free port; the examples' outputs may be kept from an earlier run."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    environment = {
        k: v for k, v in os.environ.items() if k not in {"GITHUB_REPOSITORY", "SITE_URL"}
    }
    process = subprocess.Popen(
        [sys.executable, "-m", "sitetools.serve", str(port)],
        cwd=ROOT, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding="utf-8", start_new_session=True,
    )  # fmt: skip
    try:
        page = wait_for_page(process, port)
    finally:
        stop(process)
        printed = process.communicate()[0]
    assert "Write your own backward" in page, printed
    assert f"http://127.0.0.1:{port}/" in printed


def wait_for_page(process, port):
    """Return the home page as soon as it is served; nothing is measured here."""
    while process.poll() is None:
        try:
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
            connection.request("GET", "/")
            return connection.getresponse().read().decode("utf-8")
        except OSError:
            time.sleep(0.2)
        finally:
            connection.close()
    return ""


def stop(process):
    """End the server with what it has started."""
    import signal

    if os.name == "nt":
        process.terminate()
    else:
        os.killpg(process.pid, signal.SIGTERM)


def test_a_failed_build_leaves_the_last_site_in_place(tmp_path, monkeypatch):
    site, staged = tmp_path / "site", tmp_path / "staged"
    site.mkdir()
    (site / "index.html").write_text("the last good one")
    monkeypatch.setattr(build, "SITE", site)
    monkeypatch.setattr(build, "STAGED", staged)

    def run(code):
        def call(command, cwd):
            assert "--strict" in command
            assert command[-1] == str(staged)
            staged.mkdir()
            (staged / "index.html").write_text("new")
            return code

        return call

    monkeypatch.setattr(build.subprocess, "call", run(1))
    assert build.main() == 1
    assert (site / "index.html").read_text() == "the last good one"
    assert not staged.exists()
    monkeypatch.setattr(build.subprocess, "call", run(0))
    assert build.main() == 0
    assert (site / "index.html").read_text() == "new"


def test_the_readme_names_the_commands_that_make_runs():
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for target in re.findall(r"`?make (\w+)", README):
        assert re.search(rf"^{target}:", makefile, re.MULTILINE), target
    assert 'pip install -c constraints.txt -e ".[dev]"' in README
    assert re.search(
        r"pip install torch==2\.13\.0 --index-url https://download\.pytorch\.org/whl/cpu", README
    )
    assert "mkdocs serve" in README
    assert "Activate.ps1" in README


def test_the_workflow_runs_ci_and_deploys_with_least_privilege():
    workflow = yaml.safe_load(
        (ROOT / ".github" / "workflows" / "site.yml").read_text(encoding="utf-8")
    )
    assert workflow["permissions"] == {}
    check, deploy = workflow["jobs"]["check"], workflow["jobs"]["deploy"]
    assert check["permissions"] == {"contents": "read"}
    assert deploy["permissions"] == {"pages": "write", "id-token": "write"}
    assert any(step.get("run") == "bash .ci/run" for step in check["steps"])
    for step in [*check["steps"], *deploy["steps"]]:
        if "uses" in step:
            assert re.fullmatch(r"[\w/-]+@[0-9a-f]{40}", step["uses"]), (
                "actions are pinned by commit"
            )
