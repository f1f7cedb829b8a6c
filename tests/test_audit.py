"""Each check of sitetools.audit finds what it is there for, and lets a right page pass."""

import pytest
from projects import make_project, output, python, write

from sitetools import audit, numbers, pages, rendered

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


def shown(text):
    """Return a page whose block prints the text."""
    return HEAD + python("page.py:shows") + output(f"{text}\n")


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
        HEAD + "It is $4$ times $x^2$, and `[4](4)` too.\n\n" + RIGHT.removeprefix(HEAD).replace("page.py:shows", "page.py:fours").replace("4 bytes", "4 times"),
        RIGHT + "\n<details markdown>\n<summary>More</summary>\n\n" + RIGHT.removeprefix(HEAD) + "\n</details>\n",
        RIGHT + "\nA vector of ones, and inline <code>x = 4</code> in a caption.\n",
        RIGHT + "\n- item\n\n    continued in the item\n",
        RIGHT + '\n!!! warning "A fact"\n\n    Its text.\n',
        HEAD + python("page.py:shows", title="A sentence") + output("4 bytes\n"),
        HEAD + '<!--console: a.py = customgrad/lessons/page.py:shows-->\n\n```console\npython a.py\n```\n' + output("4 bytes\n"),
        # Numbers by their value, and what looks like a quantity and is none.
        shown("50.0 -3.5 10000 1e7 1000.0") + "\nOf 50, 50.00, 3.5, −3.5, 10k, $10^7$, 10⁷, 1_000 and 1,000.\n",
        shown("25 bytes, 100 GB/s") + "\nIt takes twenty-five bytes, at a hundred GB/s.\n".replace("a hundred", "100"),
        RIGHT + "\nOne second derivative, three times, a 4-bit number, 4 × 4, 4 times 4, a 4 x 4 matrix, a day in the 1990s, one minimum.\n",
        RIGHT + "\nSee arXiv:1412.6980, doi:10.77/a77, issue #77, https://example.org/77s, ResNet-77, float77, section 7.7 and (Somebody et al. 2015).\n",
        RIGHT.replace("description: A", "description: 4 bytes on a"),
        RIGHT + "\n<!-- the output is long; nothing is expected of it -->\n",
        # Markup that is meant as it stands, and boxes, footnotes and pairs that are right.
        RIGHT + "\nA raw `<pre>` or `<svg>`, `**`, ``a`b`` and `{.x}` cost \\$4; x[4] (the fifth), [4, 4], 4*4 and x_4.\n",
        RIGHT + "\nA formula, $6 x \\frac{a}{2}$, and\n\n$$\n\\{x \\mid x < a\\}\n$$\n\n- a list\n- of two\n",
        RIGHT + '\n??? tip "A fact"\n\n    Its text.\n\nA note.[^1]\n\n[^1]: Its text.\n',
        RIGHT + "\n|a|b|\n|-|-|\n|`x|y`|4|\n|a \\| b||\n",
        RIGHT + "\nIt needs torch ≥ 2.13 and Python >= 3.11, and torch 1.8 will not do; twelve things, CUDA 12.4.\n",
        RIGHT + "\nLike `torch.utils.checkpoint.checkpoint(f)`, `nn.Linear.forward`, `F.relu`, `torch.Tensor.relu_` and `my.nn.thing`.\n",
        RIGHT + "\nIn a clone, `pip install -e .` installs `customgrad`, and `pip install -r customgrad/a.txt` more.\n",
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
        ("front matter that is no YAML", RIGHT.replace("title: A", "title: More: A"), 1, "front matter cannot be read"),
        # Numbers.
        ("sign", RIGHT + "\nIt is -4.\n", 21, "the number -4"),
        ("minus sign", RIGHT + "\nIt is −4.\n", 21, "the number −4"),
        ("no zero", RIGHT + "\nIt is .77 of it.\n", 21, "the number .77"),
        ("exponent", RIGHT + "\nAll 4e6 of them.\n", 21, "the number 4e6"),
        ("thousands", RIGHT + "\nAll 4k of them.\n", 21, "the number 4k"),
        ("comma", RIGHT + "\nAll 4,000 of them.\n", 21, "the number 4,000"),
        ("ordinal", RIGHT + "\nThe 77th of them.\n", 21, "the number 77"),
        ("dimension", RIGHT + "\nA 77-dimensional space.\n", 21, "the number 77"),
        ("superscript", RIGHT + "\nAll 4⁷ of them.\n", 21, "the number 4⁷"),
        ("fraction", RIGHT + "\nIt is 77/4 of them.\n", 21, "the number 77"),
        ("number in code", RIGHT + "\nThe number `77`.\n", 21, "the number 77"),
        ("number in an expression", RIGHT + "\nWith `x.view(77)`.\n", 21, "the number 77"),
        ("number in a formula", RIGHT + "\nThe number $77$.\n", 21, "the number 77"),
        ("number inside a formula", RIGHT + "\nWith $x + 77 = y$.\n", 21, "the number 77"),
        ("power in a formula", RIGHT + "\nWith $x < 4^{4}$.\n", 21, "the number 4^4"),
        ("number in the facts", RIGHT + "\n77 rounds.\n{.meta}\n", 21, "the number 77"),
        ("year that is none", RIGHT + "\nThere are 2048 of them.\n", 21, "the number 2048"),
        ("number in the description", RIGHT.replace("description: A", "description: All 77 of a"), 3, "the number 77"),
        ("number in the title", RIGHT.replace("title: A", "title: All 77 of a"), 2, "the number 77"),
        ("quantity in the description", RIGHT.replace("description: A", "description: Eight bytes of a"), 3, "'Eight bytes'"),
        ("number in a fence's title", HEAD + python("page.py:shows", title="All 5 of them") + output("4 bytes\n") + shown("5").removeprefix(HEAD), 11, "neither the block nor its output holds the number 5"),
        ("spelt", RIGHT + "\nOf nineteen tests.\n", 21, "the number nineteen"),
        ("bound", RIGHT + "\nIt needs torch ≥ 2.12.\n", 21, "pyproject.toml does not ask for 2.12"),
        ("part of a bound", RIGHT + "\nIt needs Python >= 3.1.\n", 21, "pyproject.toml does not ask for 3.1"),
        ("compound", shown("20 bytes, 5 bytes") + "\nIt takes twenty-five bytes.\n", 21, "'twenty-five bytes'"),
        ("dozen", RIGHT + "\nIt takes a dozen bytes.\n", 21, "'dozen bytes'"),
        ("two hundred", shown("100 bytes") + "\nIt takes two hundred bytes.\n", 21, "'two hundred bytes'"),
        ("two thousand and one", shown("2000 bytes") + "\nIt takes two thousand and one bytes.\n", 21, "and one bytes'"),
        ("x is no unit", shown("x  3") + "\nIt is three times faster.\n", 21, "'three times'"),
        ("three times as fast", RIGHT + "\nIt is three times as fast.\n", 21, "'three times'"),
        ("tenfold", RIGHT + "\nA tenfold gain.\n", 21, "'tenfold'"),
        ("years of bytes", RIGHT + "\nIn 2000 bytes.\n", 21, "'2000 bytes'"),
        ("negative quantity", RIGHT + "\nIt takes -8 bytes.\n", 21, "'-8 bytes'"),
        ("small quantity", RIGHT + "\nIt takes .5 bytes.\n", 21, "'.5 bytes'"),
        ("other unit", RIGHT + "\nIt takes 4 MB.\n", 21, "'4 MB'"),
        ("unit a unit", RIGHT + "\nIt takes 8 B/element.\n", 21, "'8 B'"),
        # Markup.
        ("command in a formula", RIGHT + "\nWith $\\foo x$.\n", 21, "'\\foo' is shown in a formula"),
        ("brace left open", RIGHT + "\nWith $\\frac{a}{b$.\n", 21, "braces of this formula"),
        ("brace too many", RIGHT + "\n$$\na}\n$$\n", 21, "braces of this formula"),
        ("display left open", RIGHT + "\n$$\na = b\n", 21, "has no other one"),
        ("display never begun", RIGHT + "\na = b\n$$\n", 22, "has no other one"),
        ("one dollar of money", RIGHT + "\nWith $4 of it.\n", 21, "a dollar is written \\$"),
        ("environment left open", RIGHT + "\n$$\n\\begin{aligned} a\n$$\n", 1, "cannot be rendered: MissingEndError"),
        ("environment never begun", RIGHT + "\n$$\na \\end{aligned}\n$$\n", 22, "is shown in a formula"),
        ("typed svg", RIGHT + "\n<svg><path></path></svg>\n", 21, "<svg> is not used"),
        ("typed math", RIGHT + "\n<math><mi>x</mi></math>\n", 21, "<math> is not used"),
        ("capital tag", RIGHT + "\n<SVG></SVG>\n", 21, "<svg> is not used"),
        ("plain div", RIGHT + "\n<div>\n\nText.\n\n</div>\n", 21, "<div> says `markdown`"),
        ("plain details", RIGHT + "\n<details>\n<summary>More</summary>\nText.\n</details>\n", 21, "<details> says `markdown`"),
        ("row too long", RIGHT + "\n|a|b|\n|-|-|\n|a|b|c|\n", 23, "the row has 3 columns, its table has 2"),
        ("row too short", RIGHT + "\n|a|b|\n|-|-|\n|a|b|\n|a|\n", 24, "the row has 1 columns, its table has 2"),
        ("unknown box", RIGHT + "\n!!! warn\n\n    Text.\n", 21, "there is no box 'warn'"),
        ("unknown box that opens", RIGHT + "\n??? warn\n\n    Text.\n", 21, "there is no box 'warn'"),
        ("empty box", RIGHT + '\n!!! note "Of this"\n\nText.\n', 21, "the box has no text"),
        ("empty details", RIGHT + "\n<details markdown>\n<summary>More of it</summary>\n</details>\n", 22, "the box has no text"),
        ("ids", RIGHT + "\n## One {#x}\n\n## Other {#x}\n", 21, "the id 'x' is on this page twice"),
        ("seal", RIGHT + '\n<a class="verified" href="page.md">verified</a>\n', 21, "no style has the class 'verified'"),
        ("capital class", RIGHT + '\n<span CLASS="verified">a</span>\n', 21, "no style has the class 'verified'"),
        ("class behind an id", RIGHT + "\nText.\n{#x .verified}\n", 22, "no style has the class 'verified'"),
        ("side without code", HEAD + PAIR.partition('<div class="right"')[0] + '<div class="right" markdown>\n\nLike this one.\n\n</div>\n</div>\n', 26, "a wrong or right example has code"),
        ("wrong without code", RIGHT + '\n<div class="wrong" markdown>\n\nNever do this.\n\n</div>\n', 23, "a wrong or right example has code"),
        ("two statements", RIGHT + "\nWrite `a = b; c` there.\n", 21, "inline code holds ';'"),
        ("two lines", RIGHT + "\nWrite `a =\nb` there.\n", 21, "inline code holds '\\n'"),
        ("import", RIGHT + "\nWrite `import torch` there.\n", 21, "inline code holds 'import t'"),
        ("print", RIGHT + "\nWrite `print(x)` there.\n", 21, "inline code holds 'print('"),
        ("code element with a statement", RIGHT + "\nWrite <code>def f(): pass</code> there.\n", 21, "inline code holds 'def f'"),
        ("name in torch", RIGHT + "\nLike `torch.func.vpj(f, x)` there.\n", 21, "torch has no `torch.func.vpj`"),
        ("name in torch.nn", RIGHT + "\nLike `nn.Liner` there.\n", 21, "torch has no `torch.nn.Liner`"),
        ("link without its bracket", RIGHT + "\nSee [this(page.md) one.\n", 21, "'(page.md' is shown"),
        ("item without its space", RIGHT + "\n- one\n-two `x`\n", 22, "'-' is shown"),
        ("link without text", RIGHT + "\nSee [](page.md).\n", 21, "the link has no text"),
        ("never closed", RIGHT + "\n<p>Some text.\n", 21, "<p> is never closed"),
        ("not closed", RIGHT + "\nSome <span>words.\n", 21, "<span> is not closed before </p>"),
        ("not closed in order", RIGHT + "\nSome *<span>words*.</span>\n", 21, "<span> is not closed before </em>"),
        ("escaped brace", RIGHT + "\nOf $\\{x\\}$.\n", 21, "takes the \\ of \\{"),
        ("closed too early", RIGHT + '\n<figure class="figure">\n<p><span>wording</p>\n</figure>\n', 22, "<span> is not closed before </p>"),
        ("closes nothing", RIGHT + "\nSome text.</span>\n", 21, "</span> closes nothing"),
        ("fence not shown", HEAD + "<!--\n" + DEFINES + "-->\n", 12, "the fence is not shown"),
        *[
            (f"install {n}", RIGHT + f"\nRun `{command}`.\n", 21, "installed from a clone")
            for n, command in enumerate((
                "pip3 install customgrad", "pip install -U customgrad", 'pip install "customgrad[dev]"', "uv add customgrad",
                "uv pip install customgrad", "python -m pip  install customgrad==1", "conda install -c x customgrad",
            ))
        ],
        ("install as a command", RIGHT + "\n```console\npip install customgrad\n```\n", 22, "installed from a clone"),
        *[(f"unfinished {n}", RIGHT + f"\n{word}: this.\n", 21, "what exists") for n, word in enumerate(("TODO", "TBD", "WIP", "FIXME", "Work in progress", "<!-- todo -->"))],
        ("soon", RIGHT + "\nMore is coming soon.\n", 21, "what exists"),
    ],
)  # fmt: skip
def test_a_wrong_page_is_found(project, name, text, line, said):
    found = problems(project, text)
    assert any(p.startswith(f"docs/page.md:{line}: ") and said in p for p in found), (
        "\n".join(found) or "nothing found"
    )


LEFT = {
    "command": "Then \\\\foo of it.", "dollar": "A \\$ of it.", "bold": "Some __x of it.", "emphasis": "Some *x of it.",
    "backtick": "A ` of it.", "strike": "Some ~~x~~ of it.", "template": "Some {% x of it.", "link": "See [The solution].",
    "footnote": "See this.[^x]", "attribute": "Some text. {#x} More.", "admonition": "Then ??? it.",
    "snippet": "A --8<-- of it.", "icon": "A :smile: of it.", "table": "| a | b |", "entity": "An &amp;nbsp; of it.",
    "tag": "An &lt;b> of it.", "list": "It has:\n- one\n- two", "heading": "<p>\n## Text\n</p>",
}  # fmt: skip


@pytest.mark.parametrize("name", rendered.LEFTOVERS)
def test_each_leftover_is_found(project, monkeypatch, name):
    monkeypatch.setattr(rendered, "LEFTOVERS", {name: rendered.LEFTOVERS[name]})
    page, text = project / "docs" / "page.md", f"{RIGHT}\n{LEFT[name]}\n"
    found = list(rendered.leftovers(page, text))
    assert len(found) == 1, found
    assert found[0].startswith(("docs/page.md:21: ", "docs/page.md:22: ")), found


QUANTITIES = {
    "rate": "77 GB/s, 77 bytes per second, seventy-seven gigabytes a second", "bit": "77 bits, 77 bit, seventy-seven bits",
    "byte": "77 bytes, 77-byte, 77B, seventy-seven bytes", "kilobyte": "77 kB, 77 KiB, 77 kilobytes",
    "megabyte": "77 MB, 77-MiB, 77 mebibytes", "gigabyte": "77 GB, 77 GiB, 77-gigabyte", "terabyte": "77 TB, 77 TiB, 77 terabytes",
    "nanosecond": "77 ns, 77 nanoseconds", "microsecond": "77 µs, 77 μs, 77 us, 77 microseconds",
    "millisecond": "77 ms, 77ms, 77 milliseconds", "second": "77 s, 77s, 77 second, seventy-seven seconds",
    "minute": "77 min, 77 minutes, seventy-seven minutes", "hour": "77 h, 77 hours", "day": "77 days, 77 day, seventy-seven days",
    "percent": "77%, 77 %, 77 per cent, 77 percent, 77 percentage points", "per mille": "77‰, 77 per mille",
    "pixel": "77 px, 77px", "operation": "77 FLOPs, 77 GFLOP/s, 77 TFLOPs",
    "times": "77×, 77 × as much, 77x, 77 times, 77-fold, seventy-sevenfold",
}  # fmt: skip


@pytest.mark.parametrize("unit", numbers.UNITS)
def test_each_unit_wants_its_number_beside_it(project, unit):
    page, phrases = project / "docs" / "page.md", QUANTITIES[unit].split(", ")
    digits = [phrase.replace("seventy-seven", "77 ").replace("  ", " ") for phrase in phrases]
    others = [phrase.replace("77", "4") for phrase in digits]
    said = "".join(f"\nIt is {phrase} of it.\n" for phrase in phrases)
    for held in (["of", "it", "77 things", *others], ["77"]):
        found = list(numbers.quantities(page, shown("\n".join(held)) + said))
        assert len(found) == len(phrases), "\n".join(found)
    assert list(numbers.quantities(page, shown("\n".join(digits)) + said)) == []


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
    for name in audit.NO_LESSON:
        write(docs / name, RIGHT)
    assert list(audit.lessons_and_pages(docs, lessons)) == []
    write(lessons / "reference" / "checks.py", "")
    assert [p.partition(", ")[0] for p in audit.lessons_and_pages(docs, lessons)] == [
        "docs/reference/checks.md:1: the page has a lesson"
    ]
    (lessons / "reference" / "checks.py").unlink()
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
