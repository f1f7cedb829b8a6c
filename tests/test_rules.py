"""The pages of the rules: one a rule, all of one form, and in agreement with what the rule says of itself."""

import re

import pytest

from customgrad.checker.rules import RULES
from sitetools import pages, rendered
from sitetools.tables import rules

CODES = {rule.code: rule for rule in RULES}
FOLDER = pages.DOCS / "check"
PAGES = sorted(FOLDER.glob("cg*.md"))
WITHOUT = (pages.ROOT / "tests" / "without_page.txt").read_text(encoding="utf-8").split()
on_pages = pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)


def rule_of(page):
    return CODES[page.stem.upper()]


def parts(page):
    """Return heading → text below it."""
    found = re.split(r"^## (.+)$", page.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return dict(zip(found[1::2], found[2::2], strict=True))


def test_every_rule_has_a_page_and_every_page_a_rule():
    assert sorted([*(page.stem.upper() for page in PAGES), *WITHOUT]) == sorted(CODES)


def test_every_code_belongs_to_one_group():
    for code in CODES:
        assert sum(code.startswith(prefix) for prefix in rules.GROUPS) == 1, code


@on_pages
def test_headings_are_those_that_contributing_names(page):
    table = (pages.ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    row = next(line for line in table.splitlines() if line.startswith("| rule, "))
    assert list(parts(page)) == re.findall(r"\*([^*]+)\*[,\s]", row)


@on_pages
def test_a_page_begins_with_what_the_rule_says(page):
    rule = rule_of(page)
    text = page.read_text(encoding="utf-8")
    assert f'\n# `{rule.code}` {rule.name}\n\n--8<-- "docs/generated/rule-{page.stem}.md"\n' in text
    assert text.split("\n---\n")[0].endswith("\nsearch:\n  boost: 0.5")
    lede = next(node for node in rendered.render(text).root.all() if node.has("lede"))
    assert " ".join(lede.text().split()).startswith(rule.summary)


@on_pages
def test_a_page_is_short(page):
    prose = " ".join(
        words for _, words in rendered.prose(rendered.render(page.read_text("utf-8")).root)
    )
    assert len(prose.split()) <= 350
    assert 3 <= parts(page)["Symptoms"].count("\n- ") <= 5


@on_pages
def test_the_command_finds_the_fault_and_nothing_after_the_fix(page):
    """What the commands print is compared with the page by the page's own tests."""
    rule = rule_of(page)
    told = {}
    for heading in ("Example", "Fix"):
        text = parts(page)[heading]
        fences = pages.fences(page, text)
        assert [f.language for f in fences] == ["python", "text", "console", "text"] * (
            len(fences) // 4
        )
        command, printed = fences[-2].body[-1], "\n".join(fences[-1].body)
        assert command.startswith("customgrad check ")
        assert f"--select {rule.code}" in command
        told[heading] = printed
        assert f"lessons/check/{page.stem}.py:" in text
        assert "hl_lines=" in fences[0].info
    assert f" · {rule.code} {rule.name}\n" in told["Example"]
    assert rule.code not in told["Fix"]
    assert "1 rule passed" in told["Fix"]


@on_pages
def test_related_rules_are_linked_by_their_pages(page):
    links = re.findall(r"\[(CG\d+)[^\]]*\]\(([^)]+)\)", page.read_text(encoding="utf-8"))
    for code, target in links:
        own = FOLDER / f"{code.lower()}.md"
        assert code in CODES
        assert target.partition("#")[0] == (own.name if own.is_file() else "rules.md"), code


def test_the_navigation_lists_the_pages_in_the_order_of_their_codes():
    config = (pages.ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    listed = re.findall(r"(CG\d+) [^:\n]+: check/(cg\d+)\.md", config)
    assert [stem for _, stem in listed] == [page.stem for page in PAGES]
    assert [code for code, _ in listed] == [stem.upper() for _, stem in listed]


def test_what_gradcheck_sees_is_tried(tmp_path):
    """A pass is "no", a complaint "yes", and so is whatever else it raises."""
    import torch

    one = torch.ones(2, dtype=torch.float64, requires_grad=True)

    class Double(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return 2 * x

        @staticmethod
        def backward(ctx, grad_output):
            return 3 * grad_output

    check = torch.autograd.gradcheck
    assert rules.objects(check, torch.sin, [one]) == "no"
    assert rules.objects(check, Double.apply, [one]) == "yes"
    assert rules.objects(check, lambda x: x.missing, [one]) == "yes"


def test_a_page_without_its_command_is_named(tmp_path):
    page = tmp_path / "cg000.md"
    page.write_text("```console\ncustomgrad check --list\n```\n")
    with pytest.raises(LookupError, match=r"cg000\.md: a rule's page shows `customgrad check FILE"):
        rules.subject(page, tmp_path)
