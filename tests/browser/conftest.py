"""The built site, unpacked from a zip and served under a sub-path, and a browser to open it."""

import functools
import http.server
import os
import shutil
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from sitetools.pages import ROOT

sys.path.insert(0, str(Path(__file__).parent))  # the helpers beside the tests
from built import Reader


class Quiet(http.server.SimpleHTTPRequestHandler):
    """Serves without a log."""

    def log_message(self, *arguments):
        pass


class Site:
    """A built site: the folder, and the address it is served at."""

    def __init__(self, folder, base):
        self.folder = folder
        self.base = base

    def files(self):
        return sorted(self.folder.rglob("*.html"))

    def pages(self):
        """Return the address of every page, from the built files."""
        found = [
            p.parent.relative_to(self.folder).as_posix() for p in self.folder.rglob("index.html")
        ]
        return sorted("" if p == "." else f"{p}/" for p in found)

    def read(self):
        """Return every page as a parser reads it: address → page."""
        return {
            a: Reader((self.folder / a / "index.html").read_text(encoding="utf-8"))
            for a in self.pages()
        }


@pytest.fixture(scope="session")
def executed(tmp_path_factory):
    """Return the folder in which the workers of one run keep what the examples have printed and drawn."""
    base = tmp_path_factory.getbasetemp()
    return (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "executed"


def build(target, environment, *command):
    """Build the site strictly, as `make site` does, or with another `mkdocs`."""
    command = [
        *(command or (sys.executable, "-m", "mkdocs")),
        "build",
        "--strict",
        "--site-dir",
        str(target),
    ]
    done = subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, encoding="utf-8", check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.fixture(scope="session")
def served():
    """Serve folders on localhost for as long as the tests run."""
    servers = []

    def serve(root):
        server = http.server.ThreadingHTTPServer(
            ("127.0.0.1", 0), functools.partial(Quiet, directory=str(root))
        )
        server.daemon_threads = True
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        servers.append((server, thread))
        return f"http://127.0.0.1:{server.server_port}/"

    yield serve
    for server, thread in servers:
        server.shutdown()
        server.server_close()
        thread.join()


def without_addresses():
    names = {"GITHUB_REPOSITORY", "GITHUB_SHA", "SITE_URL"}
    return {k: v for k, v in os.environ.items() if k not in names}


@pytest.fixture(scope="session")
def site(tmp_path_factory, served, executed):
    """Return the site as anybody builds it, zipped, unpacked and served under a sub-path.

    Where the published site was built before, its examples are not executed a second time.
    """
    folder = tmp_path_factory.mktemp("site")
    again = Path(__file__).with_name("again.py")
    build(folder / "built", without_addresses(), sys.executable, str(again), str(executed))
    archive = shutil.make_archive(str(folder / "site"), "zip", folder / "built")
    shutil.unpack_archive(archive, folder / "root" / "some" / "path")
    return Site(folder / "root" / "some" / "path", served(folder / "root") + "some/path/")


@pytest.fixture(scope="session")
def built(site):
    """Return every page of that site, read once: address → page."""
    return site.read()


@pytest.fixture(scope="session")
def published(tmp_path_factory, served, executed):
    """Return the site as the workflow builds it, with the address of a repository."""
    folder = tmp_path_factory.mktemp("published")
    build(
        folder / "name",
        without_addresses() | {"GITHUB_REPOSITORY": "owner/name", "GITHUB_SHA": "0123456789" * 4},
    )
    # A build executes the examples, and keeps what came out for a preview. In place at once, or not at all.
    (folder / "executed").mkdir()
    for path in (ROOT / "examples").glob("*.py"):
        shutil.copy(ROOT / ".cache" / "examples" / f"{path.stem}.json", folder / "executed")
    (folder / "executed").rename(executed)
    return Site(folder / "name", served(folder) + "name/")


@pytest.fixture(scope="session")
def browser():
    """Start the system's Chromium; without one the tests are skipped, and in CI they fail."""
    names = ["chromium", "chromium-browser", "google-chrome", "chrome", "msedge"]
    names = [os.environ["CHROMIUM"]] if os.environ.get("CHROMIUM") else names
    chromium = next(filter(None, map(shutil.which, names)), None)
    if chromium is None:
        reason = (
            "no Chromium: install it (Debian: apt-get install chromium), or name one in CHROMIUM"
        )
        if os.environ.get("CI"):
            pytest.fail(reason)
        pytest.skip(reason)
    from playwright.sync_api import sync_playwright

    arguments = [
        "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking",
        "--disable-component-update", "--disable-sync",
    ]  # fmt: skip
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=chromium, args=arguments)
        yield running
        running.close()
