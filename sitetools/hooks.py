"""The site's one MkDocs hook: addresses from the environment, the examples, missing sections, and llms.txt.

`mkdocs build` executes every example. Under `mkdocs serve` an unchanged one keeps its output, and a changed
one runs beside the server, so that no page waits for it.
Nothing here checks the pages: the tests do.
"""

import functools
import os
import re
import subprocess
import time
from importlib import metadata
from pathlib import Path
from typing import Literal

from jinja2 import Environment, FileSystemBytecodeCache
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import PluginError
from mkdocs.livereload import LiveReloadServer
from mkdocs.plugins import event_priority, get_plugin_logger
from mkdocs.structure.files import File, Files
from mkdocs.structure.nav import Navigation
from mkdocs.structure.pages import Page

from sitetools import llms, notebooks
from sitetools.background import Background, Pending
from sitetools.pages import SNIPPET
from sitetools.preview import Preview

log = get_plugin_logger("site")

REPOSITORY = re.compile(r"[A-Za-z0-9][A-Za-z0-9-]{0,38}/(?!\.{1,2}\Z)[A-Za-z0-9._-]{1,100}")
BRANCH = "main"
CLONE = "<!--clone-->"
"""Stands in a sentence behind the words "the repository"; the command follows where the address is known."""
SEAL = re.compile(r'<a class="verified"[^>]*>.*?</a>')


class State:
    """What one event leaves for a later one."""

    command: Literal["build", "gh-deploy", "serve"] = "build"
    navigation: Navigation | None = None
    examples: dict[str, Path]
    figures: dict[str, dict[str, str]]


state = State()
state.examples, state.figures = {}, {}
jobs = Background()
preview = Preview()


def root_of(config: MkDocsConfig) -> Path:
    """Return the folder that mkdocs.yml stands in."""
    return Path(str(config.config_file_path)).resolve().parent


def on_startup(*, command: Literal["build", "gh-deploy", "serve"], dirty: bool) -> None:
    """Remember whether this is a build to publish or a preview."""
    state.command = command
    if command == "serve":
        # customgrad/ is watched: a compiled file that an example writes there would start a build.
        os.environ["PYTHONPYCACHEPREFIX"] = str(Path(".cache", "pycache").resolve())


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Take the site's addresses from the environment, where it has them; invent none."""
    root = root_of(config)
    repository = repository_from(os.environ.get("GITHUB_REPOSITORY", ""))
    if not config.site_url:  # `mkdocs serve` has set its own address by now
        config.site_url = site_address(os.environ.get("SITE_URL", ""), repository)
    if repository and not config.edit_uri_template:
        config.edit_uri_template = f"https://github.com/{repository}/edit/{BRANCH}/docs/{{path}}"
    config.extra["repository"] = repository
    config.extra["commit"] = os.environ.get("GITHUB_SHA", "").strip() or commit_of(root)
    config.extra["torch_version"] = installed("torch")
    config.extra["version"] = installed("customgrad")
    if state.command == "serve" and (search := config.plugins.get("material/search")):
        index = search.search_index
        index.add_entry_from_context = preview.indexed(index.add_entry_from_context, index.entries)
    return config


def repository_from(value: str) -> str:
    """Return `owner/name` as given, or "" where nothing is.

    Raises:
        PluginError: for anything that is not `owner/name`.
    """
    value = value.strip()
    if value and not REPOSITORY.fullmatch(value):
        raise PluginError(f"GITHUB_REPOSITORY is {value!r}, not owner/name; correct or unset it")
    return value


def site_address(explicit: str, repository: str) -> str | None:
    """Return the site's address: the explicit one, else the repository's GitHub Pages, else None.

    Raises:
        PluginError: for an explicit address that is not http or https.
    """
    explicit = explicit.strip()
    if explicit:
        if not re.fullmatch(r"https?://[^\s/]+(/\S*)?", explicit):
            raise PluginError(f"SITE_URL is {explicit!r}, not an http address; correct or unset it")
        return explicit.rstrip("/") + "/"
    if not repository:
        return None
    owner, name = repository.lower().split("/")[0], repository.split("/")[1]
    host = f"{owner}.github.io"
    return f"https://{host}/" if name.lower() == host else f"https://{host}/{name}/"


def commit_of(root: Path) -> str:
    """Return the checked-out commit, or "" where there is no git, no work tree or no commit."""
    if not (root / ".git").exists():
        return ""
    command = ["git", "-C", str(root), "rev-parse", "--verify", "--quiet", "HEAD"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=10, check=False)
    except (OSError, subprocess.SubprocessError):
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""


def installed(package: str) -> str:
    """Return the installed version, without a build's suffix such as `+cpu`; nothing is imported.

    Raises:
        PluginError: where the package is not installed.
    """
    try:
        return metadata.version(package).split("+")[0]
    except metadata.PackageNotFoundError:
        raise PluginError(f"{package} is not installed; run: pip install -e '.[dev]'") from None


@event_priority(100)
def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the examples, which stand beside `docs/`, and a notebook to download for each."""
    root = root_of(config)
    state.examples.clear()
    state.figures.clear()
    for path in sorted((root / "examples").glob("*.py")):
        uri = f"examples/{path.name}"
        state.examples[uri] = path
        files.append(File(uri, str(root), config.site_dir, config.use_directory_urls))
    for path in state.examples.values():
        example = read(path, root)
        content = notebooks.notebook(example, lambda target: absolute(target, files, config))
        content = with_clone(content, config)
        files.append(File.generated(config, f"examples/{path.stem}.ipynb", content=content))
    return files


def absolute(target: str, files: Files, config: MkDocsConfig) -> str | None:
    """Return the public address of what an example links to, or None where there is none."""
    path, mark, anchor = target.partition("#")
    file = files.get_file_from_path(os.path.normpath(f"examples/{path}").replace(os.sep, "/"))
    # A preview's address is of no use in a file that is downloaded.
    public = config.site_url if state.command != "serve" else None
    return f"{public}{file.url.removeprefix('./')}{mark}{anchor}" if file and public else None


def on_nav(nav: Navigation, config: MkDocsConfig, files: Files) -> Navigation:
    """Keep the navigation for llms.txt."""
    state.navigation = nav
    return nav


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Give an example its Markdown, look for sections that a page lacks, and say what to clone."""
    if page.file.src_uri in state.examples:
        markdown = expanded = example_markdown(page, config)
    else:
        markdown, expanded = without_missing_sections(markdown, page, config)
    if state.command == "serve":
        vars(page)["render"] = functools.partial(preview.render, page, expanded)
    return with_clone(markdown, config)


def with_clone(text: str, config: MkDocsConfig) -> str:
    """Return the text with the command that clones the repository, where its address is known."""
    repository = config.extra["repository"]
    return text.replace(
        CLONE, f" (`git clone https://github.com/{repository}`)" if repository else ""
    )


def without_missing_sections(markdown: str, page: Page, config: MkDocsConfig) -> tuple[str, str]:
    """Return the page as it is and with the sections that it embeds in place.

    For a section that is missing a preview shows the complaint.

    Raises:
        PluginError: in a build to publish, where a section is missing.
    """
    name = f"docs/{page.file.src_uri}"
    try:
        return markdown, llms.expanded(markdown, config, name)
    except LookupError as whole:
        lines = markdown.splitlines()
        source = Path(str(page.file.abs_src_path)).read_text(encoding="utf-8-sig")
        first = len(source.splitlines()) - len(lines) + 1  # below the front matter
        complaints = {}
        for i, line in enumerate(lines):
            if embedded := SNIPPET.match(line):
                try:
                    llms.expanded(line, config, f"{name}:{first + i}: {embedded['target']}")
                except LookupError as error:
                    complaints[i] = str(error)
                    lines[i] = f"{embedded['indent']}{error}"
        if not complaints:
            complaints[0], lines = str(whole), [str(whole)]
        if state.command != "serve":
            raise PluginError("\n".join(complaints.values())) from None
        for complaint in complaints.values():
            log.error(complaint)
        markdown = "\n".join(lines) + "\n"
        return markdown, llms.expanded(markdown, config, name)


def example_markdown(page: Page, config: MkDocsConfig) -> str:
    """Return an example's Markdown: run, or taken from the last run while serving.

    mkdocs-jupyter made a page of the file and holds the settings it is run with. Its own HTML, with
    half a megabyte of styles a page, is not used: an example is rendered as every other page is.
    """
    path = state.examples[page.file.src_uri]
    vars(page).pop("render", None)
    root = root_of(config)
    example = read(path, root)
    page.meta.update(example.meta)
    repository = config.extra["repository"]
    source, page.edit_url = f"`{example.name}`", None
    if repository:
        page.edit_url = f"https://github.com/{repository}/edit/{BRANCH}/{example.name}"
        at = config.extra["commit"] or BRANCH
        source = f"[{source}](https://github.com/{repository}/blob/{at}/{example.name})"
    try:
        fill(example, root, config)
        text, figures = notebooks.page(example, f"{path.stem}.ipynb", source)
    except notebooks.ExampleError as error:
        if state.command != "serve":
            raise PluginError(str(error)) from None
        # A preview lives on, and says so on the page.
        log.error(str(error))
        title = f"# {example.meta['title']}\n\nThis example cannot be shown.\n\n"
        return title + notebooks.fence("text", str(error))
    except Pending:
        return f"# {example.meta['title']}\n\nThis example is running. The page reloads when it has ended.\n"
    state.figures[page.file.src_uri] = figures
    return text


def fill(example: notebooks.Example, root: Path, config: MkDocsConfig) -> None:
    """Give the example's cells their outputs.

    Raises:
        ExampleError: where a cell fails.
        Pending: while serving, where the example has changed and runs.
    """
    kept = root / ".cache" / "examples" / f"{example.path.stem}.json"
    digest = notebooks.key(example.path, root / "customgrad", installed("torch"))

    def run() -> None:
        log.info("running %s", example.name)
        begin = time.monotonic()
        notebooks.execute(example, config.plugins["mkdocs-jupyter"].config)
        log.info("ran %s in %.1f s", example.name, time.monotonic() - begin)
        # What was saved while it ran may be half of another version.
        if digest == notebooks.key(example.path, root / "customgrad", installed("torch")):
            notebooks.store(kept, example, digest)

    if state.command != "serve":
        run()
    elif digest in jobs.failed:
        raise notebooks.ExampleError(jobs.failed[digest])
    elif not notebooks.reuse(kept, example, digest):
        jobs.want(digest, run)


def on_serve(
    server: LiveReloadServer, *, config: MkDocsConfig, builder: object
) -> LiveReloadServer:
    """Run the examples that have changed, and build again when one has ended."""
    signal = root_of(config) / ".cache" / "examples" / "ended" / "signal"
    signal.parent.mkdir(parents=True, exist_ok=True)
    server.watch(str(signal.parent))
    jobs.start(signal)
    return server


def read(path: Path, root: Path) -> notebooks.Example:
    """Read an example; a malformed one ends the build with one clear line."""
    try:
        return notebooks.read(path, root)
    except notebooks.ExampleError as error:
        raise PluginError(str(error)) from None


def on_page_content(html: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Put an example's figures where the Markdown has their places."""
    if page.file.src_uri not in state.examples:
        return html
    for marker, svg in state.figures.get(page.file.src_uri, {}).items():
        html = html.replace(marker, svg)
    # The seal is for outputs that stand in the page and are compared; these were just printed.
    return SEAL.sub('<span class="ran">ran at build</span>', html)


def on_env(env: Environment, config: MkDocsConfig, files: Files) -> Environment:
    """While serving, keep the compiled templates: it saves about a fifth of each rebuild."""
    if state.command == "serve":
        folder = root_of(config) / ".cache" / "templates"
        folder.mkdir(parents=True, exist_ok=True)
        env.bytecode_cache = FileSystemBytecodeCache(str(folder))
    return env


def on_post_build(config: MkDocsConfig) -> None:
    """Write llms.txt and each page's Markdown; where no address is known, a list of addresses is of no use."""
    if not config.site_url:
        for name in ("sitemap.xml", "sitemap.xml.gz"):
            (Path(config.site_dir) / name).unlink(missing_ok=True)
    if state.navigation is None:
        return
    drawn = [figure for figures in state.figures.values() for figure in figures.items()]
    words = {marker: llms.titled(svg) for marker, svg in drawn}
    try:
        llms.write(config, state.navigation, words)
    except LookupError as error:
        raise PluginError(str(error)) from None
