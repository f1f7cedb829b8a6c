"""Reports: what makes one true, how it is told, and the formats for machines."""

import io
import json
import os
import pickle
import re
from email.message import Message

import pytest
import torch

from customgrad import cli
from customgrad.checker import CheckFailed, Finding, NotRun, Report, check, formats, links
from customgrad.checker.rules import RULES

LONG = (
    "the gradient of weight is 1/3 times what it should be: a factor or a mean/sum is wrong; " * 2
)


def finding(severity="bug", code="CG201", **more):
    given = {
        "rule": "wrong-gradient",
        "message": "got 3, expected 9",
        "variant": "the inputs as given",
    }
    given |= {
        "did": "F.apply, then backward",
        "got": "3",
        "expected": "9",
        "cause": LONG,
        "fix": "divide by 3",
    }
    given |= {
        "file": os.path.abspath("a folder/my_op.py"),
        "line": 12,
        "reproduction": "import torch\n\nprint(1)\n",
    }
    return Finding(code=code, severity=severity, **(given | more))


def report(*findings, **more):
    return Report(
        "F",
        findings,
        ["CG101"],
        [NotRun("CG202", "nonlinear-cotangent", "the gradient is a surrogate")],
        **more,
    )


@pytest.mark.parametrize(
    ("severity", "true"), [("bug", False), ("hazard", False), ("missing", True), ("upstream", True)]
)
def test_bugs_and_hazards_fail(severity, true):
    told = report(finding(severity))
    assert bool(told) is true
    assert len(told.failures) + len(told.quiet) == 1
    if true:
        told.raise_if_failed()
    else:
        with pytest.raises(CheckFailed) as error:
            told.raise_if_failed()
        assert str(error.value) == str(told)
        assert isinstance(error.value, AssertionError)
        again = pickle.loads(pickle.dumps(error.value))
        assert (str(again), again.report) == (str(told), told)


def test_the_text_says_everything_once():
    text = str(
        report(
            finding(),
            finding("hazard", "CG310", rule="shared", message="shared storage"),
            finding("missing", "CG601", rule="no-vmap"),
        )
    )
    assert text.startswith("customgrad check F: 2 findings (1 rule passed, 1 not run)\n\n")
    assert "\n  CG201  × bug     wrong-gradient\n  CG310  ! hazard  shared\n" in text
    assert (
        "\n\n× bug · CG201 wrong-gradient\n  got 3, expected 9\n  did      F.apply, then backward\n"
        in text
    )
    assert "\n\n! hazard · CG310 shared\n  shared storage\n" in text
    assert text.endswith("\n\nmissing: CG601 no-vmap")
    assert "\n  at       my_op.py:12\n" in text
    assert "no-vmap\n  got" not in text
    assert "import torch" not in text


def test_one_finding_needs_no_table():
    text = str(report(finding()))
    assert "CG201  " not in text
    assert text.count("CG201") == 1


def test_a_place_that_the_cause_names_is_not_said_again():
    assert "at  " not in str(report(finding(cause="probably this (my_op.py:14: `x`)")))
    assert str(report(finding(cause="see backward (my_op.py:12)"))).count("my_op.py:12") == 1


@pytest.mark.parametrize("width", [88, 60])
def test_lines_are_wrapped_and_aligned(width):
    lines = report(finding()).text(width=width).splitlines()
    assert max(map(len, lines)) <= width
    start = next(k for k, line in enumerate(lines) if line.startswith("  why "))
    assert re.match(r" {11}\S", lines[start + 1])


def test_nothing_found():
    assert str(report()) == "customgrad check F: nothing found (1 rule passed, 1 not run)"


def test_more_on_demand():
    told = report(
        finding(), finding("missing", "CG601", rule="no-vmap"), facts={"silenced": ["CG310"]}
    )
    text = told.text(quiet=True, not_run=True, script=True)
    assert "~ missing · CG601 no-vmap" in text
    assert "\n  CG202 nonlinear-cotangent: the gradient is a surrogate" in text
    assert "\n  Without customgrad:\n\n    import torch\n\n    print(1)" in text
    assert "silenced by a comment: CG310" in text


def test_a_terminal_gets_the_same_words():
    from rich.console import Console

    told = report(finding(), finding("hazard", "CG310", rule="shared"))
    plain, colour = io.StringIO(), io.StringIO()
    Console(file=plain, width=80).print(told)
    Console(
        file=colour, width=80, force_terminal=True, color_system="standard", no_color=False
    ).print(told)
    assert [line.rstrip() for line in plain.getvalue().splitlines()] == told.text(
        width=80
    ).splitlines()
    assert "\x1b[" in colour.getvalue()
    assert re.sub(r"\x1b\[[\d;]*m", "", colour.getvalue()) == plain.getvalue()


def test_json_says_all_and_reads_back():
    told = report(finding(), facts={"dtype": "float64"})
    back = json.loads(told.to_json())
    assert set(back) == {"name", "ok", "findings", "passed", "not_run", "facts"}
    again = Report(
        back["name"],
        [Finding(**f) for f in back["findings"]],
        back["passed"],
        [NotRun(**n) for n in back["not_run"]],
        back["facts"],
    )
    assert again == Report(told.name, list(told.findings), told.passed, told.not_run, told.facts)
    assert back["ok"] is False
    several = json.loads(formats.to_json([told, report()], errors=["none"]))
    assert (several["ok"], [r["ok"] for r in several["reports"]], several["errors"]) == (
        False,
        [False, True],
        ["none"],
    )


def test_github_annotations_are_escaped():
    bad = finding(message="50% off\nor: more, or less", cause="", fix="")
    lines = formats.github([report(bad, finding("hazard"), finding("missing"))]).splitlines()
    assert len(lines) == 2
    assert lines[0] == (
        "::error file=a folder/my_op.py,line=12,title=CG201 wrong-gradient::"
        "F: 50%25 off%0Aor: more, or less%0AWith: the inputs as given%0AGot: 3%0AExpected: 9"
    )
    assert lines[1].startswith("::warning file=")
    odd = finding(file="", line=0, rule="a:b,c%")
    assert formats.github([report(odd)]).startswith("::error title=CG201 a%3Ab%2Cc%25::")
    assert formats.github([report(finding("missing"))], quiet=True).startswith("::notice ")
    assert formats.github([report()]) == ""


def test_sarif_has_what_the_standard_asks_for():
    found = [
        finding(),
        finding("hazard", file="/elsewhere/x y.py"),
        finding("missing", code="CG000", file=""),
    ]
    log = json.loads(formats.sarif([report(*found)]))
    assert log["version"] == "2.1.0"
    assert log["$schema"].endswith("sarif-2.1.0.json")
    (run,) = log["runs"]
    driver = run["tool"]["driver"]
    assert driver["name"] == "customgrad"
    assert [r["id"] for r in driver["rules"]] == [r.code for r in RULES]
    for rule in driver["rules"]:
        assert rule["shortDescription"]["text"]
        assert rule["fullDescription"]["text"]
        assert rule["defaultConfiguration"]["level"] in {"error", "warning", "note"}
    assert [r["level"] for r in run["results"]] == ["error", "warning", "note"]
    for result in run["results"]:
        assert result["message"]["text"].startswith("F: ")
        if "ruleIndex" in result:
            assert driver["rules"][result["ruleIndex"]]["id"] == result["ruleId"]
    near, far = (r["locations"][0]["physicalLocation"] for r in run["results"][:2])
    assert near == {"artifactLocation": {"uri": "a%20folder/my_op.py"}, "region": {"startLine": 12}}
    assert far["artifactLocation"]["uri"].startswith("file:///")
    assert far["artifactLocation"]["uri"].endswith("/elsewhere/x%20y.py")
    assert "ruleIndex" not in run["results"][2]
    assert "locations" not in run["results"][2]


@pytest.mark.parametrize(
    ("given", "page"),
    [
        ([], ""),
        (["Source, https://example.org/source"], ""),
        (["Source, https://example.org/source", "Documentation, https://example.org/docs"], "https://example.org/docs/check/cg201/"),
        (["documentation, https://example.org/docs/"], "https://example.org/docs/check/cg201/"),
    ],
)  # fmt: skip
def test_a_finding_names_its_page_if_the_package_says_where_it_is(monkeypatch, given, page):
    told = Message()
    for url in given:
        told["Project-URL"] = url
    monkeypatch.setattr(links.metadata, "metadata", lambda _: told)
    links.documentation.cache_clear()
    try:
        x = torch.ones(2, dtype=torch.float64)
        (found,) = check(Thrice, (x,), select="CG201").findings
        assert found.page == (page or "customgrad check --explain CG201")
        (rule,) = [
            r
            for r in json.loads(formats.sarif([]))["runs"][0]["tool"]["driver"]["rules"]
            if r["id"] == "CG201"
        ]
        assert rule.get("helpUri", "") == page
    finally:
        links.documentation.cache_clear()


class Thrice(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return 2 * x

    @staticmethod
    def backward(ctx, grad_output):
        return 3 * grad_output


def test_a_package_that_is_not_installed_names_no_page(monkeypatch):
    def missing(_):
        raise links.metadata.PackageNotFoundError

    monkeypatch.setattr(links.metadata, "metadata", missing)
    links.documentation.cache_clear()
    assert links.page("CG201") == ""
    links.documentation.cache_clear()


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.code)
def test_every_rule_can_be_listed_and_explained(rule):
    assert re.fullmatch(r"CG\d{3}", rule.code)
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", rule.name)
    assert rule.severity in {"bug", "hazard", "missing", "upstream"}
    assert rule.summary.endswith(".")
    assert rule.explanation.strip()
    told = [cli._filled(part) for part in rule.explanation.strip().split("\n\n")]
    assert max(map(len, "\n".join(told).splitlines())) <= 88
