"""The MkDocs hook: addresses, examples as pages, what is reused and what is refused, llms.txt."""

import contextlib
import json
import os
import re
import socket
import subprocess
import sys
import time
import urllib.request
from importlib import metadata
from pathlib import Path
from types import SimpleNamespace

import nbformat
import pytest
from mkdocs.config import load_config
from mkdocs.exceptions import PluginError

from sitetools import hooks, llms, notebooks

ROOT = Path(__file__).resolve().parent.parent

EXAMPLE = """\
# ---
# title: A title
# description: A description.
# ---

# %% [markdown]
# # Heading
#
# A lede with $x^2$, see [the page](../sub/page.md#there).
# {.lede}

# %%
print("value:", 7)

# %% alt="The line rises from 1 to 3 & stays < 4."
import matplotlib.pyplot as plt

fig, ax = plt.subplots()
ax.plot([1, 2, 3])
plt.show()
"""

SVG = """<?xml version="1.0"?><svg width="72pt" viewBox="0 0 72.5 36" version="1.1">
 <metadata><dc:date>2000</dc:date></metadata>
 <defs><style type="text/css">*{stroke-linecap: butt}</style></defs>
 <g id="figure_1"><defs><path id="m1" d="M 0 0.123456" style="stroke: #7f8c97"/></defs>
 <use xlink:href="#m1" style="fill: #0b5a78"/><g clip-path="url(#p1)"/><clipPath id="p1"/>
 <text style="font: 12px 'DejaVu Sans', sans-serif; fill: #17212b">t</text></g></svg>
"""


def figure_output(svg=SVG):
    data = {"image/svg+xml": svg, "text/plain": "<Figure>"}
    return {"output_type": "display_data", "data": data, "metadata": {}}


def printed(text="value: 7\n", name="stdout"):
    return {"output_type": "stream", "name": name, "text": text}


def make(tmp_path, source=EXAMPLE, outputs=()):
    """Write an example and read it; `outputs` maps a cell's index to what it gave."""
    path = tmp_path / "examples" / "some_example.py"
    path.parent.mkdir(exist_ok=True)
    path.write_text(source, encoding="utf-8")
    example = notebooks.read(path, tmp_path)
    for index, given in dict(outputs).items():
        example.cells[index]["outputs"] = given
    return example


def shown(tmp_path, *outputs, source=EXAMPLE):
    return notebooks.page(make(tmp_path, source, {2: list(outputs)}), "n.ipynb", "`x.py`")


# ---- Addresses ----


@pytest.mark.parametrize(
    ("explicit", "repository", "address"),
    [
        ("", "", None),
        ("", "owner/name", "https://owner.github.io/name/"),
        ("", "Owner/Name", "https://owner.github.io/Name/"),
        ("", "Owner/owner.github.io", "https://owner.github.io/"),
        ("https://docs.example.org/grad", "owner/name", "https://docs.example.org/grad/"),
        ("https://docs.example.org/", "", "https://docs.example.org/"),
    ],
)
def test_site_address(explicit, repository, address):
    assert hooks.site_address(explicit, hooks.repository_from(repository)) == address


@pytest.mark.parametrize(
    "value", ["owner", "a/b/c", "/b", "a/", "a b/c", "-a/b", "a/..", 'a/b"><script>', "a/b\nc"]
)
def test_a_malformed_repository_is_refused(value):
    with pytest.raises(PluginError, match=r"GITHUB_REPOSITORY is .* not owner/name"):
        hooks.repository_from(value)


@pytest.mark.parametrize("value", ["example.org", "ftp://example.org", "https://", "https://a b"])
def test_a_malformed_site_address_is_refused(value):
    with pytest.raises(PluginError, match=r"SITE_URL is .* not an http address"):
        hooks.site_address(value, "")


@pytest.fixture
def config(tmp_path, monkeypatch):
    """A small site's configuration, in an environment without addresses."""
    for name in ("GITHUB_REPOSITORY", "GITHUB_SHA", "SITE_URL"):
        monkeypatch.delenv(name, raising=False)
    (tmp_path / "docs").mkdir()
    (tmp_path / "mkdocs.yml").write_text("site_name: s\ntheme: {name: null, custom_dir: .}\n")
    return load_config(str(tmp_path / "mkdocs.yml"))


def test_without_an_environment_no_address_is_invented(config):
    hooks.on_config(config)
    assert not config.site_url
    assert not config.edit_uri_template
    assert config.repo_url is None
    assert config.extra["repository"] == ""
    assert config.extra["commit"] == ""
    assert re.fullmatch(r"\d+\.\d+\.\d+\w*", config.extra["torch_version"])
    assert config.extra["version"] == metadata.version("customgrad")


def test_the_environment_gives_the_addresses(config, monkeypatch):
    monkeypatch.setenv("GITHUB_REPOSITORY", "owner/name")
    monkeypatch.setenv("GITHUB_SHA", "abc123")
    hooks.on_config(config)
    assert config.site_url == "https://owner.github.io/name/"
    assert config.edit_uri_template == "https://github.com/owner/name/edit/main/docs/{path}"
    assert config.repo_url is None  # with it, the theme asks a third party
    assert config.extra["repository"] == "owner/name"
    assert config.extra["commit"] == "abc123"


def test_a_preview_stays_on_this_machine(config, monkeypatch):
    monkeypatch.setenv("GITHUB_REPOSITORY", "owner/name")
    monkeypatch.setenv("SITE_URL", "https://docs.example.org/")
    config.site_url = "http://127.0.0.1:8000/"  # as `mkdocs serve` leaves it
    hooks.on_config(config)
    assert config.site_url == "http://127.0.0.1:8000/"


def test_the_commit_is_found_where_there_is_one(tmp_path):
    def git(*arguments):
        names = ("-c", "user.name=n", "-c", "user.email=e", "-c", "commit.gpgsign=false")
        subprocess.run(["git", *names, *arguments], cwd=tmp_path, check=True, capture_output=True)

    assert hooks.commit_of(tmp_path) == ""
    git("init")
    assert hooks.commit_of(tmp_path) == ""
    git("commit", "--allow-empty", "-m", "m")
    assert re.fullmatch("[0-9a-f]{40}", hooks.commit_of(tmp_path))


def test_a_build_suffix_is_no_part_of_the_version(monkeypatch):
    monkeypatch.setattr(hooks.metadata, "version", lambda name: "2.13.0+cpu")
    assert hooks.installed("torch") == "2.13.0"


def test_a_missing_package_is_one_clear_line():
    with pytest.raises(PluginError, match=r"no_such_package is not installed; run: pip install"):
        hooks.installed("no_such_package")


# ---- When an example is executed again ----


def project(tmp_path):
    example = make(tmp_path)
    package = tmp_path / "customgrad"
    (package / "functions").mkdir(parents=True)
    (package / "functions" / "relu.py").write_text("a = 1\n")
    (package / "training.py").write_text("b = 2\n")
    return example, package


CHANGES = {
    "the example": (True, lambda e, p: e.write_text(EXAMPLE + "\n")),
    "a package file": (True, lambda e, p: (p / "functions" / "relu.py").write_text("a = 2\n")),
    "a new package file": (True, lambda e, p: (p / "new.py").write_text("")),
    "a removed package file": (True, lambda e, p: (p / "training.py").unlink()),
    "a renamed package file": (True, lambda e, p: (p / "training.py").rename(p / "t.py")),
    "compiled files": (False, lambda e, p: cached(p)),
    "times": (False, lambda e, p: [os.utime(f, (1, 1)) for f in (e, p / "training.py")]),
    "another example": (False, lambda e, p: (e.parent / "other.py").write_text("c = 3\n")),
}


def cached(package):
    (package / "__pycache__").mkdir()
    (package / "__pycache__" / "training.cpython-311.pyc").write_bytes(b"x")


@pytest.mark.parametrize("change", CHANGES)
def test_the_key_changes_with_what_the_output_depends_on(tmp_path, change):
    example, package = project(tmp_path)
    before = notebooks.key(example.path, package, "2.13.0")
    expected, act = CHANGES[change]
    act(example.path, package)
    assert (notebooks.key(example.path, package, "2.13.0") != before) is expected


def test_the_key_changes_with_torch(tmp_path):
    example, package = project(tmp_path)
    keys = {notebooks.key(example.path, package, version) for version in ("2.13.0", "2.13.1")}
    assert len(keys) == 2


@pytest.fixture
def runs(monkeypatch):
    """Count executions instead of executing."""
    seen = []

    def execute(example, options):
        seen.append(example.name)
        for cell in example.cells:
            if cell.cell_type == "code":
                cell["outputs"] = [printed(f"run {len(seen)}\n")]

    monkeypatch.setattr(notebooks, "execute", execute)
    return seen


def fill(example, tmp_path, command, monkeypatch):
    """Fill a freshly read example; return what its first code cell holds."""
    monkeypatch.setattr(hooks.state, "command", command)
    config = SimpleNamespace(plugins={"mkdocs-jupyter": SimpleNamespace(config={})})
    fresh = notebooks.read(example.path, tmp_path)
    try:
        hooks.fill(fresh, tmp_path, config)
    except hooks.Pending:
        assert command == "serve"
        hooks.jobs.run_next()
        fresh = notebooks.read(example.path, tmp_path)
        hooks.fill(fresh, tmp_path, config)
    return fresh.cells[1]["outputs"][0]["text"]


def test_serving_runs_an_example_once(tmp_path, runs, monkeypatch):
    example, package = project(tmp_path)
    assert fill(example, tmp_path, "serve", monkeypatch) == "run 1\n"
    assert fill(example, tmp_path, "serve", monkeypatch) == "run 1\n"
    (package / "training.py").write_text("b = 3\n")
    assert fill(example, tmp_path, "serve", monkeypatch) == "run 2\n"
    assert len(runs) == 2


def test_a_build_always_runs_it(tmp_path, runs, monkeypatch):
    example, _ = project(tmp_path)
    assert fill(example, tmp_path, "serve", monkeypatch) == "run 1\n"
    assert fill(example, tmp_path, "build", monkeypatch) == "run 2\n"
    assert fill(example, tmp_path, "build", monkeypatch) == "run 3\n"
    assert fill(example, tmp_path, "serve", monkeypatch) == "run 3\n"


@pytest.mark.parametrize(
    "damage",
    [
        lambda text: "",
        lambda text: text[: len(text) // 2],
        lambda text: "[]",
        lambda text: text.replace('"output_type"', '"type"'),
        lambda text: text.replace('"format": 1', '"format": 0'),
        lambda text: json.dumps(json.loads(text) | {"outputs": []}),
        lambda text: json.dumps(json.loads(text) | {"outputs": None}),
    ],
)
def test_damaged_output_is_made_again(tmp_path, runs, monkeypatch, damage):
    example, _ = project(tmp_path)
    fill(example, tmp_path, "serve", monkeypatch)
    kept = tmp_path / ".cache" / "examples" / "some_example.json"
    text = kept.read_text()
    assert damage(text) != text
    kept.write_text(damage(text))
    assert fill(example, tmp_path, "serve", monkeypatch) == "run 2\n"
    assert [p.name for p in kept.parent.iterdir()] == [kept.name]  # nothing half-written


@pytest.mark.parametrize(("command", "kept"), [("serve", True), ("build", False)])
def test_compiled_templates_are_kept_while_serving(config, monkeypatch, command, kept):
    monkeypatch.setattr(hooks.state, "command", command)
    env = hooks.on_env(config.theme.get_env(), config, None)
    assert (env.bytecode_cache is not None) is kept


@pytest.mark.parametrize(("command", "value"), [("serve", ".cache/pycache"), ("build", None)])
def test_an_example_writes_no_file_that_is_watched(tmp_path, monkeypatch, command, value):
    monkeypatch.setenv("PYTHONPYCACHEPREFIX", "")  # so that it is put back
    monkeypatch.delenv("PYTHONPYCACHEPREFIX")
    monkeypatch.setattr(hooks.state, "command", "build")
    monkeypatch.chdir(tmp_path)
    hooks.on_startup(command=command, dirty=False)
    assert os.environ.get("PYTHONPYCACHEPREFIX") == (value and str(tmp_path / value))
    assert hooks.state.command == command


# ---- Beside the preview server ----


@pytest.fixture
def serving(tmp_path, monkeypatch):
    """Return an example that is being served, and a call that builds its page's outputs once."""
    monkeypatch.setattr(hooks, "jobs", hooks.Background())
    monkeypatch.setattr(hooks.state, "command", "serve")
    example, package = project(tmp_path)
    config = SimpleNamespace(plugins={"mkdocs-jupyter": SimpleNamespace(config={})})

    def build_once():
        fresh = notebooks.read(example.path, tmp_path)
        hooks.fill(fresh, tmp_path, config)
        return fresh.cells[1]["outputs"][0]["text"]

    return build_once, package


def test_no_page_waits_for_an_example(serving, runs):
    build_once, _ = serving
    for _ in range(3):
        with pytest.raises(hooks.Pending):
            build_once()
    assert runs == []
    hooks.jobs.run_next()
    assert build_once() == "run 1\n"
    assert hooks.jobs.jobs.empty()  # asked for three times, queued once


def test_what_changed_while_an_example_ran_is_not_kept(serving, monkeypatch):
    build_once, package = serving
    monkeypatch.setattr(
        notebooks, "execute", lambda *_: (package / "training.py").write_text("b = 4\n")
    )
    with pytest.raises(hooks.Pending):
        build_once()
    hooks.jobs.run_next()
    with pytest.raises(hooks.Pending):
        build_once()
    assert not hooks.jobs.jobs.empty()


def test_a_failing_example_says_so_and_runs_again_when_changed(serving, runs, monkeypatch):
    build_once, package = serving

    def fail(*_):
        raise notebooks.ExampleError("cell 2 fails")

    with monkeypatch.context() as patched:
        patched.setattr(notebooks, "execute", fail)
        with pytest.raises(hooks.Pending):
            build_once()
        hooks.jobs.run_next()
    for _ in range(2):
        with pytest.raises(notebooks.ExampleError, match="cell 2 fails"):
            build_once()
    (package / "training.py").write_text("b = 5\n")
    with pytest.raises(hooks.Pending):
        build_once()
    hooks.jobs.run_next()
    assert build_once() == "run 1\n"


def test_the_server_builds_again_when_a_job_has_ended(tmp_path):
    import queue

    ended, watched = queue.SimpleQueue(), []
    jobs = hooks.Background()
    with pytest.raises(hooks.Pending):
        jobs.want("key", lambda: ended.put("ran"))
    with pytest.raises(hooks.Pending):
        jobs.want("bad", lambda: 1 / 0)
    with pytest.raises(hooks.Pending):
        jobs.want("last", lambda: ended.put((tmp_path / "signal").read_text()))
    jobs.start(tmp_path / "signal")
    assert ended.get(timeout=30) == "ran"
    assert ended.get(timeout=30) == "bad"  # the signal of the job before, which failed
    assert jobs.failed == {"bad": "division by zero"}
    config = SimpleNamespace(config_file_path=str(tmp_path / "mkdocs.yml"))
    hooks.on_serve(SimpleNamespace(watch=watched.append), config=config, builder=None)
    assert watched == [str(hooks.jobs.signal.parent)]
    assert hooks.jobs.signal.parent.is_dir()


# ---- From cells to a page ----


def test_cells_become_ordinary_blocks(tmp_path):
    example = make(tmp_path, outputs={1: [printed("one\n"), printed("two\n")]})
    example.cells.pop()
    text, figures = notebooks.page(example, "some_example.ipynb", "`examples/some_example.py`")
    assert figures == {}
    assert text == (
        "# Heading\n\nA lede with $x^2$, see [the page](../sub/page.md#there).\n{.lede}\n\n"
        '[Download notebook (.ipynb)](some_example.ipynb){download=""} · '
        "`examples/some_example.py`\n{.notebook-meta}\n\n"
        '```python {data-source="examples/some_example.py"}\nprint("value:", 7)\n```\n\n'
        '```text title="Output"\none\ntwo\n```\n'
    )


def test_a_fence_is_longer_than_any_inside():
    assert notebooks.fence("text", "```\na\n````\n") == "`````text\n```\na\n````\n`````"


def test_a_figure_is_fit_for_the_page(tmp_path):
    text, figures = shown(tmp_path, figure_output())
    [(marker, svg)] = figures.items()
    assert marker in text
    assert 'role="img" aria-labelledby="some-example-figure-1-title"' in svg
    title = "The line rises from 1 to 3 &amp; stays &lt; 4."
    assert f'<title id="some-example-figure-1-title">{title}</title>' in svg
    for gone in (
        "<style",
        "<?xml",
        "<metadata",
        "DejaVu",
        "figure_1",
        "#17212b",
        "#0b5a78",
        "xlink",
    ):
        assert gone not in svg
    assert "var(--notebook-ink)" in svg
    assert "var(--notebook-fwd)" in svg
    assert 'href="#some-example-figure-1-m1"' in svg
    assert 'id="some-example-figure-1-m1"' in svg
    assert "url(#some-example-figure-1-p1)" in svg
    assert "0.12" in svg
    assert "0.123" not in svg
    assert "\n" not in svg


def test_every_colour_of_the_figures_has_its_variable():
    rc = (ROOT / "examples" / "matplotlibrc").read_text(encoding="utf-8")
    style = (ROOT / "docs" / "assets" / "notebook.css").read_text(encoding="utf-8")
    assert {f"#{hex}" for hex in re.findall(r"\b[0-9a-f]{6}\b", rc)} <= set(notebooks.COLOURS)
    assert set(re.findall(r"--notebook-(\w+):", style)) == set(notebooks.COLOURS.values())


NO_ALT = EXAMPLE.replace(' alt="The line rises from 1 to 3 & stays < 4."', "")
TWO_ALTS = EXAMPLE.replace('alt="The', 'alt=["Second.", "The').replace('< 4."', '< 4."]')
VALUE = {"output_type": "execute_result", "data": {"text/plain": "1"}, "metadata": {}}
PICTURE = {"output_type": "display_data", "data": {"image/png": "AAAA"}, "metadata": {}}
ERROR = {"output_type": "error", "ename": "ValueError", "evalue": "no", "traceback": []}


@pytest.mark.parametrize(
    ("source", "outputs", "message"),
    [
        (
            NO_ALT,
            [figure_output()],
            "draws a figure without an alt text; begin the cell with # %% alt=",
        ),
        (
            EXAMPLE.replace("The line rises from 1 to 3 & stays < 4.", " "),
            [figure_output()],
            "draws a figure without an alt text",
        ),
        (EXAMPLE, [figure_output(), figure_output()], "draws a figure without an alt text"),
        (EXAMPLE, [], r"has 1 alt text\(s\) more than figures; remove them"),
        (TWO_ALTS, [figure_output()], r"has 1 alt text\(s\) more than figures; remove them"),
        (
            EXAMPLE,
            [figure_output(SVG.replace("0b5a78", "ff0000"))],
            "draws in #ff0000, which has no pendant",
        ),
        (EXAMPLE, [printed("w", "stderr")], "writes to stderr; a page shows none of it:\nw"),
        (EXAMPLE, [VALUE], "ends in a value; print it"),
        (EXAMPLE, [PICTURE], "shows image/png; a page takes printed text and figures"),
        (EXAMPLE, [ERROR], "fails: ValueError: no"),
    ],
)
def test_what_a_page_cannot_show_is_refused_by_file_and_cell(tmp_path, source, outputs, message):
    with pytest.raises(
        notebooks.ExampleError, match=r"^examples/some_example\.py:16: cell 3 " + message
    ):
        shown(tmp_path, *outputs, source=source)


@pytest.mark.parametrize("key", ["title", "description"])
def test_front_matter_is_asked_for(tmp_path, key):
    lacking = "".join(line for line in EXAMPLE.splitlines(True) if not line.startswith(f"# {key}:"))
    for source in (lacking, EXAMPLE.partition("# ---\n\n")[2] if key == "title" else lacking):
        with pytest.raises(
            notebooks.ExampleError, match=rf"some_example\.py:1: no '{key}' in the front"
        ):
            make(tmp_path, source)


def test_cells_that_begin_alike_are_told_apart(tmp_path):
    source = EXAMPLE + '\n# %%\nprint("value:", 7)\n\n# %%\nprint("value:", 7)\n'
    example = make(tmp_path, source)
    lines = source.splitlines()
    for index in (1, 3, 4):
        number = int(
            re.match(r"examples/some_example\.py:(\d+)", notebooks.place(example, index))[1]
        )
        assert lines[number - 1] == 'print("value:", 7)'
        assert lines[: number - 1].count('print("value:", 7)') == {1: 0, 3: 1, 4: 2}[index]


# ---- The notebook to download ----


def test_the_notebook_is_valid_empty_and_the_same_each_time(tmp_path):
    def link(target):
        return f"https://example.org/{target}"

    text = notebooks.notebook(make(tmp_path, outputs={1: [printed()]}), link)
    assert text == notebooks.notebook(make(tmp_path), link)
    parsed = nbformat.reads(text, as_version=4)
    nbformat.validate(parsed)
    assert [cell.id for cell in parsed.cells] == ["cell-01", "cell-02", "cell-03"]
    assert all(not cell.outputs for cell in parsed.cells if cell.cell_type == "code")
    assert parsed.metadata.kernelspec.name == "python3"
    assert parsed.cells[0].source == (
        "# Heading\n\nA lede with $x^2$, see [the page](https://example.org/../sub/page.md#there)."
    )
    # Addresses that do not exist are not linked.
    plain = nbformat.reads(notebooks.notebook(make(tmp_path), lambda target: None), as_version=4)
    assert plain.cells[0].source == "# Heading\n\nA lede with $x^2$, see the page."


# ---- A whole build, small ----

PROSE = EXAMPLE.partition("\n# %%\n")[0]
"""An example without code, which runs in no time."""

SITE = """\
site_name: small
site_description: A small site.
theme: {name: mkdocs, custom_dir: theme}
hooks: [HOOK]
plugins:
  - mkdocs-jupyter: {include: ["examples/*.py"], execute: true, allow_errors: false, cache: false}
markdown_extensions:
  - attr_list
  - md_in_html
  - pymdownx.superfences
  - pymdownx.snippets:
      {base_path: [!relative $config_dir], check_paths: true, dedent_subsections: true}
validation: {links: {not_found: warn, anchors: warn}}
nav:
  - Home: index.md
  - Part:
      - sub/page.md
      - examples/some_example.py
"""
PAGE = """\
---
title: A page
description: What it says.
---
# The page {#there}

See [home](../index.md), [it](../examples/some_example.py) and [there](https://example.org/a).
{.lede}

In a clone of the repository<!--clone-->, look.

<div class="wrong" markdown>

```python title="Mind [this](x.md) {.y}"
--8<-- "customgrad/code.py:part"
```

<!--pytest-codeblocks:expected-output-->

```text title="Output"
1
```
</div>

<svg><title>A
rising line</title><path d="M0 0"/></svg>
"""


def small(tmp_path, source=EXAMPLE):
    make(tmp_path, source)
    for name, text in {
        "mkdocs.yml": SITE.replace("HOOK", str(ROOT / "sitetools" / "hooks.py")),
        "docs/index.md": "# Start\n\n[Page](sub/page.md)\n",
        "docs/sub/page.md": PAGE,
        "customgrad/code.py": "# --8<-- [start:part]\nprint(1)  # [a](b.md)\n# --8<-- [end:part]\n",
        "theme/empty.html": "",
        "examples/matplotlibrc": (ROOT / "examples" / "matplotlibrc").read_text(encoding="utf-8"),
    }.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")


def build(tmp_path, repository=""):
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("GITHUB_", "SITE_URL"))}
    environment |= {
        "PYTHONPATH": str(ROOT),
        "NO_MKDOCS_2_WARNING": "1",
        "GITHUB_REPOSITORY": repository,
    }
    return subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict"],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=120,
        check=False,
    )


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """A small site, built with a repository's name in the environment."""
    folder = tmp_path_factory.mktemp("site")
    small(folder)
    done = build(folder, "owner/name")
    assert done.returncode == 0, done.stderr
    return folder / "site"


def test_the_example_is_a_page(site):
    html = (site / "examples" / "some_example" / "index.html").read_text(encoding="utf-8")
    assert '<a href="../../sub/page/#there">the page</a>' in html
    assert '<a download="" href="../some_example.ipynb">Download notebook (.ipynb)</a>' in html
    assert "value: 7" in html
    assert re.search(r'<svg [^>]*role="img"[^>]*><title id="[^"]+">The line rises', html)
    assert "No description has been provided" not in html
    assert "jp-Cell" not in html
    assert len(html) < 60_000
    assert "https://github.com/owner/name/edit/main/examples/some_example.py" in html
    page = (site / "sub" / "page" / "index.html").read_text(encoding="utf-8")
    assert "https://github.com/owner/name/edit/main/docs/sub/page.md" in page


def test_a_page_says_what_to_clone_where_that_is_known(site, config):
    page = (site / "sub" / "page" / "index.html").read_text(encoding="utf-8")
    assert "In a clone of the repository (" in page
    assert re.search(r"\(<code>git clone https://github.com/owner/name</code>\), look", page)
    hooks.on_config(config)
    sentence = "In a clone of the repository<!--clone-->, look."
    assert hooks.with_clone(sentence, config) == "In a clone of the repository, look."


def test_addresses_are_listed_where_they_are_known(site, tmp_path):
    assert "https://owner.github.io/name/sub/page/" in (site / "sitemap.xml").read_text()
    small(tmp_path, PROSE)
    assert build(tmp_path).returncode == 0
    assert (tmp_path / "site" / "index.html").is_file()
    assert not list((tmp_path / "site").glob("sitemap*"))


GONE = "Snippet section 'gone' could not be located; check the path and the section's name in the --8<-- line"
GONE = f"docs/sub/page.md:15: customgrad/code.py:gone: {GONE}"


def test_a_missing_section_fails_the_build_in_one_line(tmp_path):
    small(tmp_path, PROSE)
    page = tmp_path / "docs" / "sub" / "page.md"
    page.write_text(PAGE.replace("code.py:part", "code.py:gone"), encoding="utf-8")
    assert page.read_text().splitlines()[14] == '--8<-- "customgrad/code.py:gone"'
    done = build(tmp_path)
    assert done.returncode != 0
    assert GONE in done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "site").exists()


def test_a_missing_section_is_one_line_of_a_preview_that_lives_on(tmp_path):
    small(tmp_path, PROSE)
    page = tmp_path / "docs" / "sub" / "page.md"
    page.write_text(PAGE.replace("code.py:part", "code.py:gone"), encoding="utf-8")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{free.getsockname()[1]}"
    command = [sys.executable, "-m", "mkdocs", "serve", "--dev-addr", address]
    with (tmp_path / "log").open("w") as log:
        server = subprocess.Popen(
            command, cwd=tmp_path, env=os.environ | {"PYTHONPATH": str(ROOT)}, stdout=log, stderr=log
        )  # fmt: skip
    try:
        wait_for(f"http://{address}/sub/page/", "located", server)
        page.write_text(PAGE, encoding="utf-8")
        wait_for(f"http://{address}/sub/page/", "[a](b.md)", server)
        page.write_text(PAGE.replace("code.py:part", "code.py:gone"), encoding="utf-8")
        wait_for(f"http://{address}/sub/page/", "located", server)
        assert server.poll() is None
    finally:
        server.terminate()
        server.wait()
    said = (tmp_path / "log").read_text()
    assert len(re.findall(f"^ERROR .*{re.escape(GONE)}$", said, re.M)) == 2, said
    assert "Traceback" not in said


def wait_for(address, words, server):
    """Wait until a page holds the words, or the server has ended."""
    for _ in range(300):
        with contextlib.suppress(OSError), urllib.request.urlopen(address, timeout=5) as page:
            if words in page.read().decode("utf-8"):
                return
        assert server.poll() is None
        time.sleep(0.1)
    raise AssertionError(f"{address} does not show {words!r}")


def test_the_notebook_is_where_the_link_says(site):
    notebook = nbformat.read(site / "examples" / "some_example.ipynb", as_version=4)
    nbformat.validate(notebook)
    assert "(https://owner.github.io/name/sub/page/#there)" in notebook.cells[0].source


def test_llms_txt(site):
    base = "https://owner.github.io/name"
    assert (site / "llms.txt").read_text(encoding="utf-8") == (
        "# small\n\n> A small site.\n\n"
        f"## Start\n\n- [Home]({base}/index.md)\n\n"
        f"## Part\n\n- [A page]({base}/sub/page/index.md): What it says.\n"
        f"- [A title]({base}/examples/some_example/index.md): A description.\n"
    )


def test_a_pages_markdown_holds_its_code(site):
    base = "https://owner.github.io/name"
    assert (site / "sub" / "page" / "index.md").read_text(encoding="utf-8") == (
        "# The page\n\n"
        f"See [home]({base}/index.md), [it]({base}/examples/some_example/index.md) "
        "and [there](https://example.org/a).\n\n"
        "In a clone of the repository (`git clone https://github.com/owner/name`), look.\n\n"
        '**Wrong:**\n\n```python title="Mind [this](x.md) {.y}"\nprint(1)  # [a](b.md)\n```\n\n'
        '```text title="Output"\n1\n```\n\n*Figure: A rising line*\n'
    )


def test_an_examples_markdown_holds_what_it_printed_and_drew(site):
    text = (site / "examples" / "some_example" / "index.md").read_text(encoding="utf-8")
    assert 'print("value:", 7)\n```\n\n```text title="Output"\nvalue: 7\n```' in text
    assert "*Figure: The line rises from 1 to 3 & stays < 4.*" in text
    assert "<div" not in text


def test_without_an_address_links_are_relative():
    config = SimpleNamespace(site_url=None, site_name="s", site_description="d")
    page = SimpleNamespace(file=SimpleNamespace(src_uri="sub/page.md"))
    addresses = {"sub/page.md": "sub/page/index.md", "index.md": "index.md"}
    assert llms._address("../index.md#a", page, config, addresses) == "../../index.md#a"
    assert llms._address("mailto:a@example.org", page, config, addresses) == "mailto:a@example.org"
    nav = SimpleNamespace(items=[], pages=[])
    assert llms.index(config, nav, {}) == "# s\n\n> d\n"


def test_a_failing_cell_fails_the_build(tmp_path):
    small(tmp_path, EXAMPLE.replace('print("value:", 7)', 'a = 1\nraise ValueError("no")'))
    done = build(tmp_path)
    assert done.returncode != 0
    assert "examples/some_example.py:14: cell 2 fails: ValueError: no\n" in done.stderr
    assert not (tmp_path / "site").exists()


def test_broken_links_fail_the_build(tmp_path):
    prose = EXAMPLE.partition("\n# %% alt")[0]
    small(tmp_path, prose.replace("page.md#there", "gone.md) [b](../sub/page.md#gone"))
    done = build(tmp_path)
    assert done.returncode != 0
    where = "Doc file 'examples/some_example.py' contains a link"
    assert f"{where} '../sub/gone.md', but the target" in done.stderr
    assert f"{where} '../sub/page.md#gone', but the doc" in done.stderr
