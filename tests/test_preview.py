"""What a preview keeps between two builds, and what makes it render a page again."""

import json
import logging
from pathlib import Path

import pytest
from material.plugins.search.plugin import SearchIndex
from mkdocs.commands.build import build
from mkdocs.config import load_config
from mkdocs.structure.pages import Page

HOOK = Path(__file__).resolve().parent.parent / "sitetools" / "hooks.py"
FILES = {
    "mkdocs.yml": f"""\
site_name: small
theme: {{name: material, variant: classic, font: false}}
hooks: [{HOOK.as_posix()}]
plugins: [search]
markdown_extensions:
  - attr_list
  - pymdownx.superfences
  - pymdownx.snippets: {{base_path: [!relative $config_dir], check_paths: true}}
  - pymdownx.highlight: {{pygments_lang_class: true}}
  - sitetools.markdown
validation: {{links: {{not_found: warn, anchors: warn}}}}
nav: [index.md, one.md, two.md]
""",
    "docs/index.md": "# Home\n\n[There](one.md#there), [gone](gone.md).\n",
    "docs/one.md": "# One\n\n## There\n\nA [link](two.md#part).\n",
    "docs/two.md": '# Two\n\n## Part\n\n```python\n--8<-- "code.py"\n```\n',
    "code.py": "first = 1\n",
    "copy.py": "first = 1\n",
}


@pytest.fixture
def project(tmp_path):
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    return tmp_path


@pytest.fixture
def made(project, monkeypatch):
    """Return a call that builds the small site; it returns the pages that were rendered and parsed for search."""
    for name in ("GITHUB_REPOSITORY", "GITHUB_SHA", "SITE_URL"):
        monkeypatch.delenv(name, raising=False)
    (hook,) = load_config(str(project / "mkdocs.yml")).hooks.values()
    monkeypatch.setattr(hook, "preview", hook.Preview())
    rendered, parsed = [], []
    render = Page.render

    def counted(page, *arguments):
        rendered.append(page.file.src_uri)
        render(page, *arguments)

    def make(command="serve"):
        monkeypatch.setattr(hook.state, "command", command)
        rendered.clear()
        parsed.clear()
        build(load_config(str(project / "mkdocs.yml")))
        return list(rendered), list(parsed)

    add = SearchIndex.add_entry_from_context
    monkeypatch.setattr(Page, "render", counted)
    monkeypatch.setattr(
        SearchIndex,
        "add_entry_from_context",
        lambda index, page: (parsed.append(page.file.src_uri), add(index, page)),
    )
    return make


ALL = ["index.md", "one.md", "two.md"]
WARNS = "index.md"  # it has a link that leads nowhere


def contents(site):
    """Return every page and the search index, without the time of the build."""
    pages = {p.relative_to(site): p.read_text(encoding="utf-8") for p in site.rglob("*.html")}
    pages = {name: text.partition("<!--\nMkDocs version")[0] for name, text in pages.items()}
    return pages, json.loads((site / "search" / "search_index.json").read_text(encoding="utf-8"))


def test_what_did_not_change_is_not_made_again(made, project):
    assert made("build") == (ALL, ALL)
    built = contents(project / "site")
    assert made("build") == (ALL, ALL)
    assert made() == (ALL, ALL)
    assert contents(project / "site") == built
    assert made() == ([WARNS], [])
    assert contents(project / "site") == built
    assert made("build") == (ALL, ALL)


@pytest.mark.parametrize(
    ("file", "old", "new", "again"),
    [
        ("docs/one.md", "A [link]", "The [link]", ["one.md"]),
        ("code.py", "first", "second", ["two.md"]),
        ("docs/two.md", "code.py", "copy.py", ["two.md"]),  # the same code, from another file
        ("mkdocs.yml", "- attr_list", "- attr_list\n  - tables", ["one.md", "two.md"]),
        ("docs/three.md", "", "# Three\n", ["one.md", "two.md", "three.md"]),
    ],
)
def test_what_changed_is_made_again(made, project, file, old, new, again):
    made()
    path = project / file
    before = path.read_text(encoding="utf-8") if path.exists() else ""
    path.write_text(before.replace(old, new, 1) if old else new, encoding="utf-8")
    rendered, _ = made()
    assert sorted(rendered) == sorted([WARNS, *again])
    kept = contents(project / "site")
    made("build")
    assert contents(project / "site") == kept


def test_the_front_matter_changes_the_search(made, project):
    made()
    (project / "docs" / "one.md").write_text(
        "---\nsearch:\n  exclude: true\n---\n" + FILES["docs/one.md"], encoding="utf-8"
    )
    assert made() == ([WARNS], ["one.md"])
    _, index = contents(project / "site")
    assert not [entry for entry in index["docs"] if entry["location"].startswith("one/")]


def test_warnings_come_again(made, project, caplog):
    caplog.set_level(logging.WARNING, "mkdocs")

    def said():
        caplog.clear()
        made()
        return [r.getMessage().partition("contains a link ")[2][:25] for r in caplog.records]

    gone = "'gone.md', but the target"
    assert said() == said() == [gone]
    # An unchanged page links to an anchor that another page no longer has.
    two = project / "docs" / "two.md"
    two.write_text(FILES["docs/two.md"].replace("Part", "Whole"), encoding="utf-8")
    assert said() == said() == [gone, "'two.md#part', but the do"]
    two.write_text(FILES["docs/two.md"], encoding="utf-8")
    assert said() == [gone]
