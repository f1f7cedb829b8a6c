"""The Markdown extension: what a page's blocks say beyond their code, and that their text stays."""

import html
import re
from pathlib import Path

import markdown
import pytest
from material.plugins.search.plugin import Parser

from sitetools.markdown import SEAL, SEAL_LINK, differing, plain

ROOT = Path(__file__).parent.parent
FILE = """\
# --8<-- [start:imports]
import torch
# --8<-- [end:imports]


def demo():
    # --8<-- [start:demo]
    x = torch.ones(2) < 3  # "a" & 'b'
    print(x)
    # --8<-- [end:demo]
"""
COMMENT = "\n\n<!--pytest-codeblocks:expected-output-->\n\n"
OUTPUT = '```text title="Output"\n{}\n```\n'


@pytest.fixture(autouse=True)
def no_address(monkeypatch):
    monkeypatch.delenv("GITHUB_REPOSITORY", raising=False)
    monkeypatch.delenv("GITHUB_SHA", raising=False)


@pytest.fixture
def render(tmp_path):
    (tmp_path / "customgrad").mkdir()
    (tmp_path / "customgrad" / "a.py").write_text(FILE)
    (tmp_path / "b.py").write_text(FILE)

    def convert(text):
        md = markdown.Markdown(
            extensions=[
                "attr_list",
                "md_in_html",
                "tables",
                "pymdownx.superfences",
                "pymdownx.highlight",
                "pymdownx.snippets",
                "l2m4m:LaTeX2MathMLExtension",
                "sitetools.markdown",
            ],
            extension_configs={
                "pymdownx.highlight": {"pygments_lang_class": True, "anchor_linenums": False},
                "pymdownx.snippets": {
                    "base_path": [str(tmp_path)],
                    "check_paths": True,
                    "dedent_subsections": True,
                },
            },
        )
        return md.convert(text)

    return convert


def codes(page):
    """The text of each block, as a reader copies it."""
    found = re.findall(r"<pre>.*?<code>(.*?)</code></pre>", page, re.DOTALL)
    return [html.unescape(re.sub(r"<[^>]*>", "", code)) for code in found]


def sources(page):
    """The name of the file above each block; it may break after a slash or an underscore."""
    found = re.findall(r'<(?:span|a) class="source"[^>]*>(.*?)</(?:span|a)>', page)
    assert not any(re.search("[/_](?!<wbr>)", name) for name in found)
    return [name.replace("<wbr>", "") for name in found]


def marks(page):
    return re.findall(r'<mark class="(\w+)">(.*?)</mark>', page)


def fence(snippet, options=""):
    return f'```python{options}\n--8<-- "{snippet}"\n```\n'


def pair(wrong, right):
    def side(name, output):
        body = fence("customgrad/a.py:demo") + COMMENT + OUTPUT.format(output)
        return f'<div class="{name}" markdown>\n{body}</div>\n'

    return f'<div class="pair" markdown>\n{side("wrong", wrong)}{side("right", right)}</div>\n'


def test_source_is_named_and_the_code_stays(render):
    page = render(fence("customgrad/a.py:demo"))
    assert sources(page) == ["customgrad/a.py"]
    assert codes(page) == ["x = torch.ones(2) < 3  # \"a\" & 'b'\nprint(x)\n"]
    assert "data-source" not in page


def test_last_snippet_of_a_fence_names_the_source(render):
    page = render('```python\n--8<-- "customgrad/a.py:imports"\n\n--8<-- "b.py:demo"\n```\n')
    assert sources(page) == ["b.py"]
    assert codes(page)[0].startswith("import torch\n\nx = ")


def test_each_fence_has_its_own_source(render):
    page = render(
        fence("b.py:demo") + "\n```python\nx = 1\n```\n\n" + fence("customgrad/a.py:demo")
    )
    assert sources(page) == ["b.py", "customgrad/a.py"]
    assert len(codes(page)) == 3


@pytest.mark.parametrize(
    "options",
    [' title="A fact" hl_lines="1"', ' {title="A fact" hl_lines="1"}'],
)
def test_options_of_the_fence_survive(render, options):
    page = render(fence("b.py:demo", options))
    assert '<span class="title">A fact</span><span class="source"' in page
    assert sources(page) == ["b.py"]
    assert page.count('class="hll"') == 1


def test_class_in_braces_survives(render):
    page = render('```{.python .special}\n--8<-- "b.py:demo"\n```\n')
    assert '<div class="language-python special highlight">' in page
    assert sources(page) == ["b.py"]


@pytest.mark.parametrize(("sha", "at"), [("0123abc", "0123abc"), ("", "main")])
def test_source_is_linked_where_an_address_is_known(render, monkeypatch, sha, at):
    monkeypatch.setenv("GITHUB_REPOSITORY", "owner/name")
    monkeypatch.setenv("GITHUB_SHA", sha)
    page = render(fence("customgrad/a.py:demo"))
    address = f"https://github.com/owner/name/blob/{at}/customgrad/a.py"
    assert f'<a class="source" href="{address}"' in page
    assert sources(page) == ["customgrad/a.py"]


def test_snippet_outside_a_fence_and_fence_without_snippet_have_no_source(render, tmp_path):
    (tmp_path / "figure.svg").write_text("<svg></svg>")
    page = render('--8<-- "figure.svg"\n\n```python\nx = 1\n```\n')
    assert "<svg></svg>" in page
    assert "bar" not in page
    assert "source" not in page


@pytest.mark.parametrize("between", [COMMENT, "\n\n"])
def test_output_of_python_is_one_object_with_a_seal(render, between):
    page = render(fence("b.py:demo") + between + OUTPUT.format("tensor([True, True])"))
    assert page.count('<div class="run">') == 1
    assert page.count(SEAL) == 1
    assert ">output</span>" in page
    assert "expected-output" not in page
    assert page.count("<div") == page.count("</div>") == 3
    assert codes(page)[1] == "tensor([True, True])\n"
    assert page.index("language-python") < page.index(">output</span>")


@pytest.mark.parametrize(
    "text",
    [
        OUTPUT.format("1"),
        fence("b.py:demo") + "\nProse.\n\n" + OUTPUT.format("1"),
        fence("b.py:demo") + "\n```text\n1\n```\n",
        "```console\nls\n```\n\n" + OUTPUT.format("1"),
        fence("b.py:demo"),
    ],
    ids=["alone", "after prose", "no output", "after a command", "code only"],
)
def test_no_seal_without_python_right_before(render, text):
    page = render(text)
    assert "verified" not in page
    assert 'class="run"' not in page
    assert page.count("<div") == page.count("</div>")


def test_what_a_verified_command_printed_is_sealed(render):
    page = render("```console\nls\n```\n" + COMMENT + OUTPUT.format("1"))
    assert page.count(SEAL) == 1
    assert 'class="run"' not in page


def test_second_output_has_no_seal(render):
    text = fence("b.py:demo") + COMMENT + OUTPUT.format("1") + "\n" + OUTPUT.format("2")
    assert render(text).count(SEAL) == 1


def test_the_theme_fills_in_the_link_of_the_seal():
    template = (ROOT / "overrides" / "main.html").read_text("utf-8")
    assert f"replace('{SEAL_LINK}'" in template
    assert "('reference/checks/' | url) ~ '#what-verified-means" in template
    page = (ROOT / "docs" / "reference" / "checks.md").read_text("utf-8")
    assert '\n## What "verified" means\n' in page


def test_pair_is_named_marked_and_its_wrong_code_not_copied(render):
    page = render(pair("x.grad [ 0.0, 0.7]", "x.grad [ 0.0, 0.0]"))
    assert marks(page) == [("bad", "0.7"), ("ok", "0.0")]
    assert codes(page)[1::2] == ["x.grad [ 0.0, 0.7]\n", "x.grad [ 0.0, 0.0]\n"]
    assert page.count(SEAL) == 2
    assert page.index("✗ wrong") < page.index("0.7") < page.index("✓ right")
    blocks = re.findall(r'<div class="(language-[^"]*)"', page)
    assert ["no-copy" in block for block in blocks] == [True, True, False, True]


def test_right_side_first(render):
    sides = pair("1 2 3 4", "1 2 3 5")
    wrong, right = sides.index('<div class="wrong"'), sides.index('<div class="right"')
    swapped = sides[:wrong] + sides[right:-7] + sides[wrong:right] + "</div>\n"
    assert marks(render(swapped)) == [("ok", "5"), ("bad", "4")]


def test_outputs_after_a_pair_are_not_part_of_it(render):
    page = render(pair("1", "1") + "\n" + fence("b.py:demo") + COMMENT + OUTPUT.format("2"))
    assert marks(page) == []
    assert page.count("no-copy") == 4


def test_two_pairs_do_not_mix(render):
    page = render(pair("1", "2") + "\nProse.\n\n" + pair("3", "3"))
    assert marks(page) == [("bad", "1"), ("ok", "2")]


@pytest.mark.parametrize(
    ("wrong", "right", "bad", "ok"),
    [
        ("tensor([0., 2., 2.])", "tensor([1., 2., 2.])", ["0."], ["1."]),
        ("tensor([ 0.,  1.])", "tensor([20.,  1.])", ["0."], ["20."]),
        ("[-1.0, nan]", "[1.0, inf]", ["-1.0", "nan"], ["1.0", "inf"]),
        ("1.5e-07 same", "1.5e-03 same", ["1.5e-07"], ["1.5e-03"]),
        ("True", "False", ["True"], ["False"]),
        ("a <b> c", "a <d> c", ["b"], ["d"]),
        ("one two", "one two three", [], ["three"]),
        ("same\nx 1", "same\nx 2", ["1"], ["2"]),
        ("x 1\nmore", "x 1", ["more"], []),
        ("same", "same", [], []),
        ("[1, 2, 3]", "[0, 1, 2]", ["1", "2", "3"], ["0", "1", "2"]),
        ("RuntimeError: no gradient here", "tensor 1.0 is the result", [], []),
    ],
)
def test_marks_stand_on_the_differing_tokens(render, wrong, right, bad, ok):
    page = render(pair(wrong, right))
    assert [token for verdict, token in marks(page) if verdict == "bad"] == bad
    assert [token for verdict, token in marks(page) if verdict == "ok"] == ok
    assert codes(page)[1::2] == [f"{wrong}\n", f"{right}\n"]


def test_a_side_may_have_no_output_and_terminals_have_marks_of_their_own(render):
    sides = pair("1", "2")
    cut = sides.rindex(COMMENT)
    assert marks(render(sides[:cut] + "\n</div>\n</div>\n")) == []
    assert marks(render(sides.replace('title="Output"', '{.terminal title="Output"}'))) == []


def test_differing_gives_places_in_the_texts():
    assert differing("a 1 b", "a 22 b") == ([(2, 3)], [(2, 4)])


def test_commands_have_a_drawn_prompt_and_their_own_text(render):
    text = "# a note\nmake serve\npip install \\\n    -e '.[dev]'\n"
    page = render(f"```console\n{text}```\n")
    assert codes(page) == [text]
    assert re.findall(r'<span class="(\w+)">(.*?)</span>', page) == [
        ("note", "# a note"),
        ("cmd", "make serve"),
        ("cmd", "pip install \\"),
    ]
    assert "terminal" in page
    assert "no-copy" not in page
    assert "$" not in page


REPORT = """\
  ✓ forward is right
  ✗ wrong <here>    [1 2]  ✗
    expected  [0.0, 30.0]
    got       [9.0, 30.0]
  why   the mask
  next  make test
        and <look>
  whyever not"""


@pytest.mark.parametrize(
    "text",
    [
        "```console\nls\n```\n\n" + OUTPUT.format(REPORT),
        fence("b.py:demo")
        + COMMENT
        + OUTPUT.format(REPORT).replace("title", "{.terminal title", 1).replace('"\n', '"}\n', 1),
    ],
    ids=["after a command", "after python"],
)
def test_report_has_roles(render, text):
    page = render(text)
    assert codes(page)[1] == f"{REPORT}\n"
    assert '<span class="ok">✓</span> forward is right' in page
    assert '  <span class="bad">✗ wrong &lt;here&gt;</span>    [1 2]  ✗' in page
    assert marks(page) == [("ok", "0.0"), ("bad", "9.0")]
    assert re.findall(r'<span class="key">(\w+)</span>', page) == ["why", "next"]
    assert re.findall("<b>(.*?)</b>", page) == ["make test", "and &lt;look&gt;"]
    assert "<b>the mask</b>" not in page


@pytest.mark.parametrize(
    ("text", "old", "new"),
    [
        ("-[0, 1]\n+[<1>, 1]\nend", ["-[0, 1]"], ["+[&lt;1&gt;, 1]"]),
        ("- a page   + printed\n-1\n+2\n+3", ["- a page", "-1"], ["+ printed", "+2", "+3"]),
        ("-1\n+2\n\n-3\n+4", ["-1", "-3"], ["+2", "+4"]),
        ("-2.0  3.0\n-1.0  2.0", [], []),
        ("+2\n-1", [], []),
    ],
)
def test_a_difference_in_a_report_has_two_colours(render, text, old, new):
    page = render("```console\nls\n```\n\n" + OUTPUT.format(text))
    assert codes(page)[1] == f"{text}\n"
    assert re.findall('<span class="old">(.*?)</span>', page) == old
    assert re.findall('<span class="new">(.*?)</span>', page) == new


@pytest.mark.parametrize(
    ("code", "shown"),
    [
        ("input < 0", "<code>input &lt; 0</code>"),
        ("ctx.saved_tensors", "<code>ctx.saved_tensors</code>"),
        (". .venv/bin/activate", "<code>. .venv/bin/activate</code>"),
        ("tensor.register_hook", '<code class="dotted">tensor.<wbr>register_hook</code>'),
        ("torch.library.custom_op", '<code class="long">torch.<wbr>library.<wbr>custom_op</code>'),
        (
            "pip install -e '.[examples]'",
            "<code class=\"long\"><span>pip</span> <span>install</span> <span>-e</span> <span>'.[examples]'</span></code>",
        ),
        (
            ".venv\\Scripts\\Activate.ps1",
            '<code class="long">.venv\\<wbr>Scripts\\<wbr>Activate.<wbr>ps1</code>',
        ),
    ],
)
def test_code_in_a_sentence_says_where_a_line_may_end(render, code, shown):
    page = render(f"Text `{code}` text.")
    assert page == f"<p>Text {shown} text.</p>"
    assert plain(page) == f"Text {code} text."


def test_code_in_blocks_is_left_alone(render):
    page = render("```console\npython -m customgrad.lessons.relu.harness my_relu.py\n```\n")
    assert "wbr" not in page


def test_names_of_files_and_labels_stay_out_of_the_search(render):
    page = render(fence("customgrad/a.py:demo", ' title="A fact"') + COMMENT + OUTPUT.format("1"))
    parser = Parser()
    parser.feed(page)
    text = "".join("".join(section.text) for section in parser.data)
    assert "A fact" in text
    assert not re.search(r"customgrad|a\.py|output|verified", text)


def test_terminal_output_of_python_keeps_its_seal(render):
    page = render(fence("b.py:demo") + COMMENT + '```text {.terminal title="Output"}\n1\n```\n')
    assert page.count(SEAL) == 1
    assert re.search(r'class="[^"]* terminal [^"]* output', page)


def test_plain_output_has_no_roles_and_says_what_is_not_as_expected(render):
    page = render(fence("b.py:demo") + COMMENT + OUTPUT.format(REPORT))
    assert codes(page)[1] == f"{REPORT}\n"
    assert "key" not in page
    assert marks(page) == [("ok", "0.0"), ("bad", "9.0")]


@pytest.mark.parametrize(
    ("got", "expected", "marked"),
    [
        ("0 after backward", "-1.5, as before", [("bad", "0"), ("ok", "-1.5")]),
        ("no gradient", "a gradient", [("bad", "no"), ("ok", "a")]),
        ("1.5", "1.5", []),
    ],
)
def test_where_numbers_differ_words_are_not_marked(render, got, expected, marked):
    page = render("```console\nls\n```\n\n" + OUTPUT.format(f"got {got}\nexpected {expected}"))
    assert marks(page) == marked


@pytest.mark.parametrize(
    ("text", "kind"),
    [("× bug", "bad"), ("! hazard", "key"), ("~ missing", "key"), ("^ upstream", "key")],
)
def test_a_finding_says_how_bad_it_is(render, text, kind):
    page = render("```console\nls\n```\n\n" + OUTPUT.format(f"{text} · CG202 <a-name>\n  {text}"))
    assert f'<span class="{kind}">{text}</span> · CG202 &lt;a-name&gt;\n  {text}' in page


def test_bars_of_a_norm_do_not_grow_with_the_line(render):
    assert render("$\\lVert x \\rVert$").count('<mo stretchy="false">&#x02016;</mo>') == 2


def test_backticks_within_a_line_open_no_fence(render):
    page = render("```a``` and ```b``` stand here.\n\n" + fence("b.py:demo"))
    assert page.startswith("<p><code>a</code> and <code>b</code> stand here.</p>")
    assert sources(page) == ["b.py"]


def test_wide_things_scroll_and_can_be_reached(render):
    page = render("| a | b |\n| - | - |\n| 1 | 2 |\n\n$$x = 1$$\n\n$$y = 2$$\n\n$z$ inline\n")
    assert page.count('<div class="table" role="group" aria-label="Table" tabindex="0">') == 1
    assert page.count("</table></div>") == 1
    assert page.count('<div class="formulas" role="group" aria-label="Formula" tabindex="0">') == 1
    assert page.count("<div") == page.count("</div>") == 2
    assert page.count("<math") == 3


def test_code_that_looks_like_markup_is_left_alone(render, tmp_path):
    code = "print('<div class=\"wrong\"><table>')\n"
    (tmp_path / "b.py").write_text(f"# --8<-- [start:odd]\n{code}# --8<-- [end:odd]\n")
    page = render(fence("b.py:odd"))
    assert codes(page) == [code]
    assert "✗" not in page
    assert 'class="table"' not in page


def test_a_dollar_beside_formulas(render):
    page = render(r"It costs \$4, or $x$ times \$4.")
    assert "It costs $4, or <math" in page
    assert page.endswith("times $4.</p>")
