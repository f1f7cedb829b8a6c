"""Each check of sitetools.audit finds what it is there for, and lets a right page pass."""

import pytest
from projects import make_project, output, python, write

from sitetools import audit, pages

LESSON = '''\
"""Sections for the pages below."""

# --8<-- [start:Thing]
class Thing:
    pass
# --8<-- [end:Thing]


def shows():
    # --8<-- [start:shows]
    print("4 bytes")
    # --8<-- [end:shows]


def uses():
    # --8<-- [start:uses]
    from customgrad.lessons.page import Thing

    print(Thing)
    # --8<-- [end:uses]


def ticks():
    # --8<-- [start:ticks]
    text = """
    ```
    """
    # --8<-- [end:ticks]


def wide():
    # --8<-- [start:wide]
    line = "this line is far too long for a page of the handbook, which shows 88 columns at the very most"
    # --8<-- [end:wide]
'''
HEAD = """\
---
title: A page that is right
description: A page that every check lets pass, so that a finding on another page is that page's own.
---

# A page

"""
RIGHT = HEAD + python("page.py:shows") + output("4 bytes\n")
DEFINES, USES = python("page.py:Thing"), python("page.py:uses") + output("<class>\n")


@pytest.fixture
def project(tmp_path, monkeypatch):
    folder = make_project(tmp_path, {"page.py": LESSON, "__init__.py": ""}, {"page.md": RIGHT})
    monkeypatch.setattr(pages, "ROOT", folder)
    monkeypatch.setattr(pages, "DOCS", folder / "docs")
    monkeypatch.setattr(pages, "GENERATED", folder / "docs" / "generated")
    pages.snippet_options.cache_clear()
    yield folder
    pages.snippet_options.cache_clear()


def problems(project, text):
    page = project / "docs" / "page.md"
    write(page, text)
    return [p for check in audit.PAGE_CHECKS for p in check(page, text)]


@pytest.mark.parametrize(
    "text",
    [
        RIGHT,
        HEAD + DEFINES + "\n" + USES,
        RIGHT + "\nIt takes 4 bytes, four bytes, an element.\n",
        RIGHT + "\nSee chapter 7, `x = 3`, torch 2.13, 2026-01-01 and [3 things](page.md).\n",
        RIGHT + "\nA vector of ones, and inline <code>x = 1</code> in a caption.\n",
        RIGHT + "\n- item\n\n    continued in the item\n",
        RIGHT + '\n!!! warning "A fact"\n\n    Its text.\n',
        HEAD + python("page.py:shows", title="A sentence") + output("4 bytes\n"),
        HEAD + '<!--console: a.py = customgrad/lessons/page.py:shows-->\n\n```console\npython a.py\n```\n' + output("4 bytes\n"),
    ],
)  # fmt: skip
def test_a_right_page_passes(project, text):
    assert problems(project, text) == []


BLOCK = '```\n--8<-- "customgrad/lessons/page.py:shows"\n```\n'


@pytest.mark.parametrize(
    ("name", "text", "line", "said"),
    [
        ("py", HEAD + "```py\nx\n```\n", 8, "nothing runs a fence of 'py'"),
        ("pycon", HEAD + "```pycon\n>>> 1\n```\n", 8, "nothing runs a fence of 'pycon'"),
        ("bash", HEAD + "```bash\nls\n```\n", 8, "nothing runs a fence of 'bash'"),
        ("no language", HEAD + "```\nx\n```\n", 8, "nothing runs a fence of 'no language'"),
        ("Python, capital", HEAD + "```Python\nx\n```\n", 8, "nothing runs a fence of 'Python'"),
        ("braces", HEAD + "```{.py .annotate}\nx\n```\n", 8, "nothing runs"),
        ("unclosed", RIGHT + "\n```python\n", 18, "never closed"),
        ("tildes", RIGHT + "\n~~~python\nx\n~~~\n", 18, "~~~ fence is not run"),
        ("quoted", RIGHT + "\n> ```python\n> x\n> ```\n", 18, "inside a quotation"),
        ("pre", RIGHT + "\n<pre>x</pre>\n", 18, "raw HTML"),
        ("code element", RIGHT + "\n<code>\nx\n</code>\n", 18, "raw HTML"),
        ("script", RIGHT + "\n<script>x</script>\n", 18, "raw HTML"),
        ("four spaces", RIGHT + "\nText.\n\n    x = 1\n", 20, "four spaces"),
        ("tab", RIGHT + "\nText.\n\n\tx = 1\n", 20, "four spaces"),
        ("typed", HEAD + "```python\nprint(1)\n```\n" + output("1\n"), 9, "not typed: print(1)"),
        ("typed beside", HEAD + python("page.py:shows").replace("\n```\n", "\nx = 1\n```\n") + output("4 bytes\n"), 10, "not typed"),
        ("empty fence", HEAD + "```python\n```\n", 8, "embeds nothing"),
        ("yaml typed", HEAD + "```yaml\na: 1\n```\n", 8, "embedded from a file"),
        ("no file", HEAD + python("none.py:shows"), 9, "does not exist"),
        ("no section", HEAD + python("page.py:none"), 9, "has no section 'none'; it has Thing"),
        ("whole file", HEAD + python("page.py"), 9, "embedded whole"),
        ("lines", HEAD + python("page.py:3:5"), 9, "by lines"),
        ("old syntax", HEAD + "```python\n--8<--\npage.py\n--8<--\n```\n", 9, "one section a line"),
        ("text alone", RIGHT + "\n```text title=\"Output\"\n1\n```\n", 18, "nobody's output"),
        ("text, other title", HEAD + python("page.py:shows") + output("4 bytes\n").replace('"Output"', '"Result"'), 14, "got ```text"),
        ("text, no title", HEAD + python("page.py:shows") + output("4 bytes\n").replace(' title="Output"', ""), 14, "got ```text"),
        ("misspelt", RIGHT.replace("expected-output", "expected-ouput"), 12, "unknown comment"),
        ("spaced", RIGHT.replace("<!--pytest", "<!-- pytest"), 12, "unknown comment"),
        ("text between", RIGHT.replace("output-->", "output-->\n\nSo it prints:"), 16, "nobody's output"),
        ("alone", RIGHT + "\n<!--pytest-codeblocks:expected-output-->\n", 18, "stands alone"),
        ("skip", RIGHT.replace("```python", "<!--pytest.mark.skip-->\n```python"), 8, "unknown comment"),
        ("skipfile", "<!--pytest-codeblocks:skipfile-->\n" + RIGHT, 1, "unknown comment"),
        ("cont", RIGHT.replace("```python", "<!--pytest-codeblocks:cont-->\n```python"), 8, "unknown comment"),
        ("ticks", HEAD + python("page.py:ticks"), 8, "three backticks"),
        ("wide", HEAD + python("page.py:wide"), 8, "columns"),
        ("unverified", HEAD + DEFINES, 8, "no verified output"),
        ("unverified, then unused", HEAD + DEFINES + "\n" + RIGHT.removeprefix(HEAD), 8, "(Thing)"),
        ("used before", HEAD + USES + "\n" + DEFINES, 18, "no verified output"),
        ("bytes", RIGHT + "\nIt takes 8 bytes.\n", 18, "'8 bytes'"),
        ("hyphen", RIGHT + "\nAn 8-byte number.\n", 18, "'8-byte'"),
        ("word", RIGHT + "\nIt takes eight bytes.\n", 18, "'eight bytes'"),
        ("percent", RIGHT + "\nIt is 4% faster.\n", 18, "'4%'"),
        ("times", RIGHT + "\nIt is 4× faster.\n", 18, "'4×'"),
        ("milliseconds", RIGHT + "\n| a | 4 ms |\n", 18, "'4 ms'"),
        ("alt", RIGHT + '\n![It takes 3 MB](x.png)\n', 18, "'3 MB'"),
        ("no front matter", RIGHT.removeprefix("---\n"), 1, "starts with front matter"),
        ("short description", RIGHT.replace("every check lets pass, so that a finding on another page is", "is"), 1, "description has"),
        ("long title", RIGHT.replace("title: A", "title: " + "A" * 60), 1, "title has"),
        ("two heads", RIGHT + "\n# Another\n", 1, "2 first-level headings"),
        ("pip", RIGHT + "\nRun `pip install customgrad`.\n", 18, "installed from a clone"),
        ("soon", RIGHT + "\nMore is coming soon.\n", 18, "what exists"),
    ],
)  # fmt: skip
def test_a_wrong_page_is_found(project, name, text, line, said):
    found = problems(project, text)
    assert any(p.startswith(f"docs/page.md:{line}: ") and said in p for p in found), (
        "\n".join(found) or "nothing found"
    )


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        ("# --8<-- [start:a]\n# --8<-- [start:a]\n# --8<-- [end:a]\n", 2, "started twice"),
        (
            "# --8<-- [start:a]\n# --8<-- [end:a]\n# --8<-- [start:a]\n# --8<-- [end:a]\n",
            3,
            "started twice",
        ),
        ("# --8<-- [start:a]\n", 1, "never ended"),
        ("# --8<-- [end:a]\n", 1, "not started"),
        ("# --8<-- [start:a]\n# --8<-- [end:b]\n", 2, "not started"),
    ],
)
def test_sections_that_are_not_well_formed_are_found(project, text, line, said):
    write(project / "customgrad" / "lessons" / "page.py", text)
    found = list(
        audit.lesson_sections(project / "docs", project / "customgrad" / "lessons", project)
    )
    assert any(p.startswith(f"customgrad/lessons/page.py:{line}: ") and said in p for p in found), (
        found
    )


def test_sections_that_no_page_shows_are_found(project):
    found = list(
        audit.lesson_sections(project / "docs", project / "customgrad" / "lessons", project)
    )
    assert [p.split("section ")[1] for p in found] == ["'Thing'", "'uses'", "'ticks'", "'wide'"]


def test_pages_and_lessons_come_in_pairs(project):
    docs, lessons = project / "docs", project / "customgrad" / "lessons"
    assert list(audit.lessons_and_pages(docs, lessons)) == []
    write(docs / "part" / "other.md", RIGHT)
    assert "docs/part/other.md:1: the page has no lesson" in next(
        audit.lessons_and_pages(docs, lessons)
    )
    write(lessons / "part" / "other.py", "")
    assert list(audit.lessons_and_pages(docs, lessons)) == []
    (docs / "page.md").unlink()
    assert "customgrad/lessons/page.py:1: the lesson has no page" in next(
        audit.lessons_and_pages(docs, lessons)
    )


def test_pages_that_navigation_lacks_are_found(project):
    config = project / "mkdocs.yml"
    assert list(audit.navigation(config, project / "docs")) == []
    write(project / "docs" / "other.md", RIGHT)
    assert "docs/other.md:1: the navigation in mkdocs.yml lacks the page" in next(
        audit.navigation(config, project / "docs")
    )
    write(config, config.read_text() + "  - other.md\n  - gone.md\n")
    assert [p.split(": ")[1] for p in audit.navigation(config, project / "docs")] == [
        "the navigation names gone.md, which does not exist"
    ]


@pytest.mark.parametrize(
    ("text", "bad"),
    [
        ("[a](page.md)", False), ("[a](page.md#x)", False), ("[a](#x)", False), ("[a](https://example.org/x)", False),
        ("[a](other.md)", True), ("[a](part/page.md)", True), ('<a href="gone.md">a</a>', True), ("[a](other.md#x)", True),
    ],
)  # fmt: skip
def test_links_that_lead_nowhere_are_found(project, text, bad):
    write(project / "docs" / "page.md", RIGHT + "\n" + text + "\n")
    found = list(audit.links(project / "docs"))
    assert [p.startswith("docs/page.md:18: ") for p in found] == [True] * bad
