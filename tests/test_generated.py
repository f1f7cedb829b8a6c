"""What stands in docs/generated/ is what the figures' modules make from real values."""

import re

import pytest

from sitetools import catalogue, generate, pages


def remembering(answers, works):
    """Return `works` with what is known already: what test_catalogue.py has just tried is not tried again."""
    columns = {probe: column for column, probe in catalogue.PROBES.items()}

    def known(probe, operation):
        return answers.get((columns[probe], operation.label)) or works(probe, operation)

    return known


@pytest.fixture(scope="module")
def rendered(answers):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(catalogue, "works", remembering(answers, catalogue.works))
        return generate.render_all()


def test_an_answer_is_taken_for_its_own_probe_and_operation_alone():
    first, second = catalogue.OPERATIONS[:2]
    works = remembering({("jvp", first.label): "refused"}, lambda *_: "tried")
    probes = catalogue.PROBES
    assert works(probes["jvp"], first) == "refused"
    assert works(probes["vmap"], first) == works(probes["jvp"], second) == "tried"


def test_stored_figures_are_what_their_modules_render(rendered):
    stored = {p.name: p.read_text(encoding="utf-8") for p in pages.GENERATED.iterdir()}
    assert set(stored) == set(rendered), (
        "docs/generated and sitetools/figures name different files; run `make outputs`"
    )
    for name, text in rendered.items():
        found = generate.differs(stored[name], text)
        assert not found, (
            f"docs/generated/{name} is not what sitetools/figures makes: {found}; if intended, run `make outputs`"
        )


def test_figures_are_accessible_and_take_the_themes_colours(rendered):
    ids = []
    for name, text in rendered.items():
        if not name.endswith(".svg"):
            continue
        panels = re.findall(r"<svg\b[^>]*>", text)
        assert panels, name
        for panel in panels:
            assert 'role="img"' in panel, name
        assert len(re.findall(r"<title\b", text)) == len(panels), f"{name}: one title a panel"
        assert not re.search(
            r'#[0-9a-fA-F]{3,8}"|rgb\(|fill="(?!none|currentColor)\w|stroke="(?!none|currentColor)\w',
            text,
        ), f"{name}: colours come from classes"
        ids += re.findall(r'\bid="([^"]+)"', text)
    assert len(ids) == len(set(ids)), "ids are unique on a page that shows two figures"


@pytest.mark.parametrize(
    ("stored", "now", "same"),
    [
        ("M 1.0 2.0", "M 1.0 2.0", True),
        ("M 1.0 2.0", "M 1.1 1.9", True),
        ("M 1.0 2.0", "M 1.2 2.0", False),
        ("M 1.0 2.0", "M 1.0 2.0 3.0", False),
        ("<a>1</a>", "<b>1</b>", False),
        ("<text>1.0</text>", "<text>1.1</text>", False),
        ('<text x="1.0">a</text>', '<text x="1.1">a</text>', True),
        ("loss 0.5", "loss -0.5", False),
    ],
)
def test_coordinates_are_compared_with_a_tolerance(stored, now, same):
    assert (generate.differs(stored, now) == "") == same
