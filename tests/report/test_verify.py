"""A changed figure is found, wherever it stands; a report that is as written verifies."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from random import Random

import pytest

from ndbplan.plan.project import Project
from ndbplan.plan.samples import sample_plan
from ndbplan.report.compose import Options, asked
from ndbplan.report.evidence import CLOSING, OPENING, EvidenceError, loads, project_of
from ndbplan.report.sources import Answers
from ndbplan.report.verify import differing, verify
from ndbplan.report.visible import evidence_in, pieces_of
from ndbplan.report.write import make, write
from report.conftest import Example, without


def test_a_report_verifies(example: Example) -> None:
    found = verify(example.html.encode(), "report.html")
    assert found.differ == ()
    assert found.figures > 1000
    assert found.made_by == found.checked_by


def _visible_digits(html: str) -> list[int]:
    """Places of digits that a reader sees."""
    hidden = re.compile(
        rf"{re.escape(OPENING)}.*?{re.escape(CLOSING)}|<(style|script)\b.*?</\1>|<[^>]*>|&[^;]*;", re.S
    )
    places: list[int] = []
    end = 0
    for tag in (*hidden.finditer(html), None):
        start = tag.start() if tag else len(html)
        places += [place for place in range(end, start) if html[place].isdigit()]
        end = tag.end() if tag else end
    return places


def test_one_altered_digit_is_found_every_time(example: Example) -> None:
    """Any digit that is seen, or that a chart shows under the pointer."""
    random, computed = Random(7), pieces_of(example.html)
    places = random.sample(_visible_digits(example.html), 60)
    values = [m.start() + 13 + n for m in re.finditer(r'data-values="', example.html) for n in (2, 9)]
    places += [place for place in values if example.html[place].isdigit()]
    assert len(places) > 60
    for place in places:
        other = random.choice([sign for sign in "0123456789" if sign != example.html[place]])
        altered = f"{example.html[:place]}{other}{example.html[place + 1 :]}"
        found = list(differing(pieces_of(altered), computed, everything=True))
        assert len(found) == 1, altered[place - 60 : place + 20]
        assert other in found[0].written


def test_an_altered_figure_is_named_with_its_source(example: Example) -> None:
    headline = example.made.document.headlines[0]
    altered = example.html.replace(f">{headline.value.text}<", ">12 345 tx/s<", 1)
    found = verify(altered.encode(), "report.html")
    assert [(one.written, one.computed) for one in found.differ] == [("12 345 tx/s", headline.value.text)]
    assert found.differ[0].where == f"front, {headline.value.at}"


def test_another_plan_inside_changes_what_comes_out(example: Example) -> None:
    """Nobody can put a smaller plan into the file and keep its figures."""
    altered = example.html.replace('"memory_bytes":68719476736', '"memory_bytes":34359738368')
    assert altered != example.html
    found = verify(altered.encode(), "report.html")
    assert any("memory_bytes" in one.where for one in found.differ)
    assert any(one.where == "answer of estimate" for one in found.differ)


def test_answers_that_travel_are_worked_out_all_the_same() -> None:
    """Nobody can put a shorter backup among the answers: only sums of prices that stayed out are taken."""
    options = Options(sections=("operations",))
    honest = asked(Project.of(sample_plan("starter").replace(workloads=())), options)
    backup = json.loads(json.dumps(Answers(honest).json("backup")))
    backup["backup"]["duration_s"]["value"] = 1.0
    forged = make(replace(honest, given={"backup": backup}), options)
    found = verify(write(forged, ".html"), "report.html")
    assert any(one.written == "1 s" and "backup" in one.where for one in found.differ)


def test_what_stands_nowhere_is_found_too(example: Example) -> None:
    found = verify(example.html.replace("</footer>", "</footer><!-- -->").encode(), "report.html")
    assert [one.where for one in found.differ] == ["file"]


def test_another_version_compares_figures_only(example: Example) -> None:
    older = example.html.replace('"program":"0.', '"program":"99.0.', 1).replace("Most", "Mostly")
    found = verify(older.encode(), "report.html")
    assert found.made_by.startswith("99.")
    assert found.notes
    assert found.differ == ()
    assert "words" in found.not_checked[0]


def test_without_prices_the_sums_are_compared_only(example: Example) -> None:
    content = without(example, "prices")
    assert b"purchase_price" not in content
    assert "36\u2009600 EUR" in content.decode()
    found = verify(content, "report.html")
    assert found.differ == ()
    assert "prices" in found.not_checked[0]
    again = verify(content.replace("36\u2009600 EUR".encode(), "16\u2009600 EUR".encode(), 1), "report.html")
    assert len(again.differ) == 1


def test_without_the_plan_only_the_whole_is_compared(example: Example) -> None:
    content = without(example, "plan")
    inside = loads(evidence_in(content.decode()) or "", "report.html")
    with pytest.raises(EvidenceError, match="stayed out"):
        project_of(inside, "report.html")
    found = verify(content, "report.html")
    assert (found.figures, found.differ) == (0, ())
    assert "plan stayed out" in found.not_checked[0]
    assert verify(content.replace(b"Example &amp; Sons", b"Example &amp; Suns", 1), "report.html").differ
    # How high a bar is, or its colour, is a figure to who looks at it.
    for drawn in (b'height="', b"fill:#"):
        place = content.index(drawn) + len(drawn)
        other = b"8" if content[place : place + 1] != b"8" else b"7"
        assert verify(content[:place] + other + content[place + 1 :], "report.html").differ


def test_the_plan_comes_out_as_it_went_in(example: Example) -> None:
    inside = loads(evidence_in(example.html) or "", "report.html")
    assert project_of(inside, "report.html") == Project(variants=example.project.variants[:1])
    assert inside["digests"].keys() >= {"plan", "estimate", "simulate"}


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04", b"<!doctype html><p>Hello</p>"])
def test_what_is_no_report_is_refused(content: bytes) -> None:
    with pytest.raises(EvidenceError, match="no plan travels"):
        verify(content, "letter.html")


@pytest.mark.parametrize("inside", ["", "[]", "{}", '{"options": 3, "plan": null}', "[" * 9999])
def test_damaged_evidence_is_refused_in_a_line(inside: str) -> None:
    with pytest.raises(EvidenceError):
        verify(f"<!doctype html>{OPENING}{inside}{CLOSING}".encode(), "report.html")


def test_evidence_ends_no_element() -> None:
    """Names with signs of HTML, in the plan and in the notes."""
    from ndbplan.report.write import report

    plan = sample_plan("starter").replace(name="</script><b>&")
    options = Options(sections=("hardware",), notes="</script> <i>1</i>")
    page = report(Project.of(plan), options, ".html").decode()
    assert json.loads(evidence_in(page) or "")["plan"]["name"] == "</script><b>&"
    assert "<b>" not in page
    assert verify(page.encode(), "report.html").differ == ()
