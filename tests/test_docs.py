"""Every page passes every check of sitetools.audit; the checks themselves are tested in test_audit.py."""

import ast
import re
import tomllib

import pytest

from sitetools import addresses, audit, pages, rendered

PAGES = pages.pages()
HANDBOOK = [p for p in PAGES if p.parent.name in {"background", "relu", "backprop"}]


def ids(page):
    return pages.name(page)


def report(problems):
    found = list(problems)
    assert not found, "\n" + "\n".join(found)


@pytest.mark.parametrize("check", audit.PAGE_CHECKS, ids=lambda check: check.__name__)
@pytest.mark.parametrize("page", PAGES, ids=ids)
def test_page(page, check):
    report(check(page, page.read_text(encoding="utf-8")))


@pytest.mark.parametrize(
    "check",
    [audit.lessons_and_pages, audit.lesson_sections, audit.navigation, audit.files],
    ids=lambda check: check.__name__,
)
def test_all_pages(check):
    report(check())


ROOT_PAGES = ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")


@pytest.mark.parametrize(
    "check",
    [
        audit.fence_languages, audit.other_code, *audit.TYPED_CHECKS, audit.wording,
        rendered.markup, rendered.inline, rendered.leftovers, rendered.links,
    ],
    ids=lambda check: check.__name__,
)  # fmt: skip
@pytest.mark.parametrize("name", ROOT_PAGES)
def test_what_the_repository_shows(name, check):
    page = pages.ROOT / name
    report(check(page, page.read_text(encoding="utf-8")))


@pytest.mark.parametrize("check", audit.EXAMPLE_CHECKS, ids=lambda check: check.__name__)
@pytest.mark.parametrize("example", sorted((pages.ROOT / "examples").glob("*.py")), ids=ids)
def test_the_prose_of_examples(example, check):
    report(check(example, rendered.example_prose(example)))


def test_the_site_has_its_pages():
    names = {p.relative_to(pages.DOCS).as_posix() for p in PAGES}
    assert {"index.md", "relu/problem.md", "backprop/broken.md", "reference/checks.md"} <= names
    assert names >= audit.NO_LESSON


def headings(page):
    text = page.read_text(encoding="utf-8")
    return [line.strip() for _, line in pages.outside(page, text) if line.startswith("## ")]


@pytest.mark.parametrize("page", HANDBOOK, ids=ids)
def test_handbook_pages_end_with_what_they_showed(page):
    found = headings(page)
    assert found[-1:] == ["## In short"], (
        f"{pages.name(page)}: the last section is 'In short', got {found[-1:]}"
    )
    bullets = page.read_text(encoding="utf-8").rpartition("## In short")[2]
    assert 3 <= bullets.count("\n- ") <= 6, (
        f"{pages.name(page)}: 'In short' has three to five bullets"
    )


NO_FUNCTION = {f"functions/{name}.md" for name in ("benchmarks", "index", "once", "twice")}
FUNCTIONS = [
    p for p in PAGES
    if p.parent.name == "functions" and p.relative_to(pages.DOCS).as_posix() not in NO_FUNCTION
]  # fmt: skip


@pytest.mark.parametrize("page", FUNCTIONS, ids=ids)
def test_pages_of_functions_have_the_headings_that_contributing_names(page):
    table = (pages.ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    row = next(line for line in table.splitlines() if line.startswith("| Function, "))
    assert [h.removeprefix("## ") for h in headings(page)] == re.findall(r"\*([^*]+)\*[,\s]", row)


@pytest.mark.parametrize("page", FUNCTIONS, ids=ids)
def test_pages_of_functions_embed_what_was_tried_and_measured(page):
    text = page.read_text(encoding="utf-8")
    for kind in ("support", "speed"):
        assert f'--8<-- "docs/generated/{kind}-{page.stem}.md"' in text, kind


@pytest.mark.parametrize("page", FUNCTIONS, ids=ids)
def test_pages_of_functions_come_after_the_handbook_in_searches(page):
    """Their code uses every name that the handbook explains."""
    front = page.read_text(encoding="utf-8").split("\n---\n")[0]
    assert front.endswith("\nsearch:\n  boost: 0.5")


def test_every_operation_that_has_a_page_is_listed():
    index = (pages.DOCS / "functions" / "index.md").read_text(encoding="utf-8")
    for page in FUNCTIONS:
        assert f"({page.name})" in index, page.name


@pytest.mark.parametrize("filename", addresses.LISTS)
def test_addresses_and_highlights_change_on_purpose(filename):
    """Readers link to headings, and a highlighted line moves when its code does."""
    now = addresses.LISTS[filename]()
    listed = (pages.ROOT / "tests" / filename).read_text(encoding="utf-8").splitlines()
    gone = [line for line in listed if line not in now]
    new = [line for line in now if line not in listed]
    assert now == listed, (
        f"\ngone: {gone}\nnew: {new}\nif intended, run `python -m sitetools.addresses` and review its diff"
    )


def test_console_commands_are_covered_by_tests_that_exist():
    table = tomllib.loads((pages.ROOT / "tests" / "console.toml").read_text(encoding="utf-8"))
    shown = set()
    for page in [*PAGES, pages.ROOT / "README.md"]:
        for fence in pages.fences(page):
            if fence.language == "console":
                shown |= {line.strip() for line in fence.body if line.strip()}
    for command, test in table.items():
        path, _, function = test.partition("::")
        tree = ast.parse((pages.ROOT / path).read_text(encoding="utf-8"))
        assert function in {n.name for n in ast.walk(tree) if isinstance(n, ast.FunctionDef)}, (
            f"{test} does not exist"
        )
        assert command in shown, f"console.toml lists `{command}`, which no page shows"


@pytest.mark.parametrize("name", ROOT_PAGES[1:])
def test_no_python_outside_pages_and_readme(name):
    found = [f for f in pages.fences(pages.ROOT / name) if f.language in {"python", "py", "pycon"}]
    assert not found, f"{name}:{found[0].line}: Python stands in a lesson, not here"


def test_readme_python_is_a_copy_of_its_section():
    """The one copy allowed: each python fence of the README names its section in the comment above."""
    readme = pages.ROOT / "README.md"
    lines = readme.read_text(encoding="utf-8").splitlines()
    found = [f for f in pages.fences(readme) if f.language == "python"]
    assert found
    for fence in found:
        above = next(line for line in reversed(lines[: fence.line - 1]) if line.strip())
        target = above.removeprefix("<!-- copy of ").removesuffix(" -->")
        code = pages.expand(f'--8<-- "{target}"', f"README.md:{fence.line}")
        assert "\n".join(fence.body) + "\n" == code, (
            f"README.md:{fence.line}: not what {target} says"
        )
        assert pages.output_fence(readme, fence.line) is not None
