"""Each check of sitetools.audit finds what it is there for, and lets a right page pass."""

import pytest
from projects import make_project, output, python, write

from sitetools import audit, pages, rendered

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


def fours():
    # --8<-- [start:fours]
    print("4 times")
    # --8<-- [end:fours]


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
    line = "this line is one column too long for the handbook, since it has 73."
    # --8<-- [end:wide]
'''
HEAD = """\
---
title: A page that is right
description: A page that every check lets pass, so that a finding on another page is that page's own.
---

# A page

What it is about.
{.lede}

"""
RIGHT = HEAD + python("page.py:shows") + output("4 bytes\n")
PAIR = (
    '<div class="pair" markdown>\n<div class="wrong" markdown>\n\n' + RIGHT.removeprefix(HEAD)
    + '</div>\n<div class="right" markdown>\n\n' + RIGHT.removeprefix(HEAD) + "</div>\n</div>\n"
)  # fmt: skip
DEFINES, USES = python("page.py:Thing"), python("page.py:uses") + output("<class>\n")


@pytest.fixture
def project(tmp_path, monkeypatch):
    folder = make_project(tmp_path, {"page.py": LESSON, "__init__.py": ""}, {"page.md": RIGHT})
    monkeypatch.setattr(pages, "ROOT", folder)
    monkeypatch.setattr(pages, "DOCS", folder / "docs")
    monkeypatch.setattr(pages, "GENERATED", folder / "docs" / "generated")
    caches = (pages.config, pages.snippet_options, rendered.render)
    for cache in caches:
        cache.cache_clear()
    yield folder
    for cache in caches:
        cache.cache_clear()


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
        RIGHT + "\nSee chapter 4, `x = 4`, torch 2.13, 2026-01-01 and [4 things](page.md).\n",
        RIGHT + "\n- item\n\n    continued, then\n\n        in the item's item\n".replace("        in", "    - sub\n\n        in"),
        RIGHT + "\n| a | b |\n|---|--:|\n| 1 | 2 |\n".replace("1", "4").replace("2", "4"),
        RIGHT + "\n[a](page.md), [b](page.md#a-page), [c](#a-page), [d](https://example.org/x), [e][f].\n\n[f]: https://example.org/\n",
        HEAD + PAIR,
        HEAD + "It is $4$ times $x^4$, and `[4](4)` too.\n\n" + RIGHT.removeprefix(HEAD).replace("page.py:shows", "page.py:fours").replace("4 bytes", "4 times"),
        RIGHT + "\n<details markdown>\n<summary>More</summary>\n\n" + RIGHT.removeprefix(HEAD) + "\n</details>\n",
        RIGHT + "\nA vector of ones, and inline <code>x = 4</code> in a caption.\n",
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
        ("py", HEAD + "```py\nx\n```\n", 11, "nothing runs a fence of 'py'"),
        ("pycon", HEAD + "```pycon\n>>> 1\n```\n", 11, "nothing runs a fence of 'pycon'"),
        ("bash", HEAD + "```bash\nls\n```\n", 11, "nothing runs a fence of 'bash'"),
        ("no language", HEAD + "```\nx\n```\n", 11, "nothing runs a fence of 'no language'"),
        ("Python, capital", HEAD + "```Python\nx\n```\n", 11, "nothing runs a fence of 'Python'"),
        ("braces", HEAD + "```{.py .annotate}\nx\n```\n", 11, "nothing runs"),
        ("unclosed", RIGHT + "\n```python\n", 21, "never closed"),
        ("tildes", RIGHT + "\n~~~python\nx\n~~~\n", 21, "~~~ fence is not run"),
        ("quoted", RIGHT + "\n> ```python\n> x\n> ```\n", 21, "inside a quotation"),
        ("pre", RIGHT + "\n<pre>x</pre>\n", 21, "raw HTML"),
        ("code element", RIGHT + "\n<code>\nx\n</code>\n", 21, "raw HTML"),
        ("script", RIGHT + "\n<script>x</script>\n", 21, "raw HTML"),
        ("four spaces", RIGHT + "\nText.\n\n    x = 1\n", 23, "no fence holds"),
        ("tab", RIGHT + "\nText.\n\n\tx = 1\n", 23, "no fence holds"),
        ("typed", HEAD + "```python\nprint(1)\n```\n" + output("1\n"), 12, "not typed: print(1)"),
        ("typed beside", HEAD + python("page.py:shows").replace("\n```\n", "\nx = 1\n```\n") + output("4 bytes\n"), 13, "not typed"),
        ("empty fence", HEAD + "```python\n```\n", 11, "embeds nothing"),
        ("yaml typed", HEAD + "```yaml\na: 1\n```\n", 11, "embedded from a file"),
        ("no file", HEAD + python("none.py:shows"), 12, "does not exist"),
        ("no section", HEAD + python("page.py:none"), 12, "has no section 'none'; it has Thing"),
        ("whole file", HEAD + python("page.py"), 12, "embedded whole"),
        ("lines", HEAD + python("page.py:3:5"), 12, "by lines"),
        ("old syntax", HEAD + "```python\n--8<--\npage.py\n--8<--\n```\n", 12, "one section a line"),
        ("text alone", RIGHT + "\n```text title=\"Output\"\n1\n```\n", 21, "nobody's output"),
        ("text, other title", HEAD + python("page.py:shows") + output("4 bytes\n").replace('"Output"', '"Result"'), 17, "got ```text"),
        ("text, no title", HEAD + python("page.py:shows") + output("4 bytes\n").replace(' title="Output"', ""), 17, "got ```text"),
        ("misspelt", RIGHT.replace("expected-output", "expected-ouput"), 15, "unknown comment"),
        ("spaced", RIGHT.replace("<!--pytest", "<!-- pytest"), 15, "unknown comment"),
        ("text between", RIGHT.replace("output-->", "output-->\n\nSo it prints:"), 19, "nobody's output"),
        ("alone", RIGHT + "\n<!--pytest-codeblocks:expected-output-->\n", 21, "stands alone"),
        ("skip", RIGHT.replace("```python", "<!--pytest.mark.skip-->\n```python"), 11, "unknown comment"),
        ("skipfile", "<!--pytest-codeblocks:skipfile-->\n" + RIGHT, 1, "unknown comment"),
        ("cont", RIGHT.replace("```python", "<!--pytest-codeblocks:cont-->\n```python"), 11, "unknown comment"),
        ("ticks", HEAD + python("page.py:ticks"), 11, "three backticks"),
        ("wide", HEAD + python("page.py:wide"), 11, "columns"),
        ("unverified", HEAD + DEFINES, 11, "no verified output"),
        ("unverified, then unused", HEAD + DEFINES + "\n" + RIGHT.removeprefix(HEAD), 11, "(Thing)"),
        ("used before", HEAD + USES + "\n" + DEFINES, 21, "no verified output"),
        ("bytes", RIGHT + "\nIt takes 8 bytes.\n", 21, "'8 bytes'"),
        ("hyphen", RIGHT + "\nAn 8-byte number.\n", 21, "'8-byte'"),
        ("word", RIGHT + "\nIt takes eight bytes.\n", 21, "'eight bytes'"),
        ("percent", RIGHT + "\nIt is 4% faster.\n", 21, "'4%'"),
        ("times", RIGHT + "\nIt is 4× faster.\n", 21, "'4×'"),
        ("milliseconds", RIGHT + "\n| a | 4 ms |\n", 21, "'4 ms'"),
        ("alt", RIGHT + '\n![It takes 3 MB](x.png)\n', 21, "'3 MB'"),
        ("no front matter", RIGHT.removeprefix("---\n"), 1, "starts with front matter"),
        ("short description", RIGHT.replace("every check lets pass, so that a finding on another page is", "is"), 1, "description has"),
        ("long title", RIGHT.replace("title: A", "title: " + "A" * 60), 1, "title has"),
        ("two heads", RIGHT + "\n# Another\n", 1, "2 first-level headings"),
        ("pip", RIGHT + "\nRun `pip install customgrad`.\n", 21, "installed from a clone"),
        # What only the rendered page shows.
        ("five spaces", RIGHT + "\nText.\n\n     x = 1\n", 23, "no fence holds"),
        ("space and tab", RIGHT + "\nText.\n\n \tx = 1\n", 23, "no fence holds"),
        ("in a list", RIGHT + "\n- item\n\n        x = 1\n", 23, "no fence holds"),
        ("in an admonition", RIGHT + '\n!!! note "A"\n\n        x = 1\n', 23, "no fence holds"),
        ("quoted twice", RIGHT + "\n> > ```python\n> > x\n> > ```\n", 21, "inside a quotation"),
        ("quoted four spaces", RIGHT + "\n>     x = 1\n", 21, "no fence holds"),
        ("no markdown attribute", RIGHT + "\n<div>\n\nIt is **this**.\n\n</div>\n", 23, "'**' is shown"),
        ("samp", RIGHT + "\n<samp>x</samp>\n", 21, "<samp> is not used"),
        ("video", RIGHT + "\n<video></video>\n", 21, "<video> is not used"),
        ("iframe", RIGHT + '\n<iframe src="x"></iframe>\n', 21, "raw HTML code"),
        ("onclick", RIGHT + '\n<div onclick="x">a</div>\n', 21, "attribute onclick"),
        ("hidden", RIGHT + "\n<div hidden>a</div>\n", 21, "attribute hidden"),
        ("style", RIGHT + '\n<p style="display: none;">a</p>\n', 21, "attribute style"),
        ("class", RIGHT + '\n<div class="md-hidden">a</div>\n', 21, "no style has the class 'md-hidden'"),
        ("class in braces", RIGHT + "\nText.\n{.leed}\n", 22, "no style has the class 'leed'"),
        ("unclosed div", HEAD + PAIR.removesuffix("</div>\n"), 24, "balance the tags"),
        ("raw heading", RIGHT + "\n<h2>Part</h2>\n", 21, "with # signs"),
        ("pair, right first", HEAD + PAIR.replace("wrong", "x").replace("right", "wrong").replace('"x"', '"right"'), 11, "a pair is one `wrong` and one `right`"),
        ("pair of one", HEAD + PAIR.partition('<div class="right"')[0] + "</div>\n", 11, "a pair is one"),
        ("right alone", RIGHT + '\n<div class="right" markdown>\nx\n</div>\n', 21, "stands in a `pair`"),
        ("formula", RIGHT + "\nThe \\frac{a}{b} of it.\n", 21, "'\\frac' is shown"),
        ("dollar", RIGHT + "\nFor $x of it.\n", 21, "'$' is shown"),
        ("round", RIGHT + "\nFor \\\\(x of it.\n", 21, "is shown"),
        ("bold", RIGHT + "\nFor **x of it.\n", 21, "'**' is shown"),
        ("template", RIGHT + "\nFor {{ x }} it.\n", 21, "'{{' is shown"),
        ("reference", RIGHT + "\nSee [this][that] page.\n", 21, "is shown"),
        ("footnote", RIGHT + "\nSee this.[^1]\n", 21, "is shown"),
        ("icon", RIGHT + "\nSmile :smile: at it.\n", 21, "':smile:' is shown"),
        ("admonition", RIGHT + "\ntext !!! note\n", 21, "'!!!' is shown"),
        ("table", RIGHT + "\n| a | b |\n| 4 | 4 |\n", 21, "is shown"),
        ("no lede", RIGHT.replace("{.lede}\n", ""), 6, "marked {.lede}"),
        ("nothing below the heading", RIGHT.replace("What it is about.\n{.lede}\n\n", ""), 6, "marked {.lede}"),
        ("bold number", RIGHT + "\nIt takes **8** bytes.\n", 21, "'8 bytes'"),
        ("code number", RIGHT + "\nIt takes `8` bytes.\n", 21, "'8 bytes'"),
        ("formula number", RIGHT + "\nIt takes $8$ bytes.\n", 21, "'8 bytes'"),
        ("no-break space", RIGHT + "\nIt takes 8&nbsp;bytes.\n", 21, "'8 bytes'"),
        ("line break", RIGHT + "\nIt takes 8\nbytes.\n", 21, "'8 bytes'"),
        ("capital", RIGHT + "\nEight Bytes.\n", 21, "'Eight Bytes'"),
        ("bits", RIGHT + "\nIt takes 4 bits.\n", 21, "'4 bits'"),
        ("large word", RIGHT + "\nIt takes thirteen bytes.\n", 21, "'thirteen bytes'"),
        ("nanoseconds", RIGHT + "\nIt takes 4 ns.\n", 21, "'4 ns'"),
        ("fold", RIGHT + "\nIt is 4-fold.\n", 21, "'4-fold'"),
        ("fence title", HEAD + python("page.py:shows", title="It takes 8 bytes") + output("4 bytes\n"), 11, "'8 bytes'"),
        ("number", RIGHT + "\nThere are 17 of them.\n", 21, "the number 17"),
        ("decimal", RIGHT + "\nThe loss is 0.4.\n", 21, "the number 0.4"),
        ("number in a table", RIGHT + "\n| a |\n|---|\n| 5 |\n", 23, "the number 5"),
        ("prose from a section", RIGHT + '\n--8<-- "customgrad/lessons/page.py:shows"\n', 21, "outside a fence, as prose"),
        ("other snippet mark", RIGHT + "\n-8<- \"page.py\"\n", 21, "one section a line"),
        ("other language", HEAD + python("page.py:shows").replace("```python", "```toml"), 12, "another language"),
        ("front matter", RIGHT.replace("title:", "titel: x\ntitle:"), 1, "says titel, which nothing reads"),
        ("link to nothing", RIGHT + "\n[a](other.md)\n", 21, "other.md leads nowhere"),
        ("link below", RIGHT + "\n[a](part/page.md#x)\n", 21, "leads nowhere"),
        ("link in single quotes", RIGHT + "\n<a href='gone.md'>a</a>\n", 21, "gone.md leads nowhere"),
        ("link by reference", RIGHT + "\n[a][b]\n\n[b]: gone.md\n", 23, "gone.md leads nowhere"),
        ("link to a folder", RIGHT + "\n[a](/page.md)\n", 21, "leads nowhere"),
        ("anchor", RIGHT + "\n[a](page.md#gone)\n", 21, "page.md has no anchor 'gone'; it has a-page"),
        ("own anchor", RIGHT + "\n[a](#gone)\n", 21, "this page has no anchor 'gone'"),
        ("plain http", RIGHT + "\n[a](http://example.org/)\n", 21, "links by https"),
        ("picture elsewhere", RIGHT + "\n![a](https://example.org/a.png)\n", 21, "on another host"),
        ("missing picture", RIGHT + "\n![a](gone.png)\n", 21, "gone.png leads nowhere"),
        ("picture without alt", RIGHT + "\n![](page.md)\n", 21, "no alt text"),
        ("soon", RIGHT + "\nMore is coming soon.\n", 21, "what exists"),
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
    assert [p.split("section ")[1] for p in found] == [
        "'Thing'", "'fours'", "'uses'", "'ticks'", "'wide'",
    ]  # fmt: skip


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
    ("name", "said"),
    [
        ("page.markdown", "not a page"), ("part/page.html", "not a page"), ("part/generated/page.md", "not a page"),
        ("assets/page.md", "pages load no such file"), ("notes.txt", "not a page"), ("assets/fonts/a.ttf", "pages load no such file"),
        ("assets/a.css", ""), ("generated/a.svg", ""), ("part/a.md", ""),
    ],
)  # fmt: skip
def test_stray_files_are_found(project, name, said):
    write(project / "docs" / name, "")
    found = list(audit.files(project / "docs"))
    assert len(found) == bool(said)
    assert all(f"docs/{name}:1: " in p and said in p for p in found)
