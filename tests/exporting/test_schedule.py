from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta, timezone
from itertools import pairwise
from xml.etree import ElementTree

import pytest

from ndbplan.base.resources import resource_path
from ndbplan.edits import parts as edits
from ndbplan.estimate.estimation import Estimation
from ndbplan.exporting.gantt import gantt_svg
from ndbplan.exporting.schedule import ScheduleError, to_ics
from ndbplan.operations.add_nodes import add_nodes
from ndbplan.plan.file import load

PLAN = load(resource_path("samples/add-nodes.ndbplan"))
OPERATION = add_nodes(Estimation(PLAN))
MADE = datetime(2026, 5, 1, 12, tzinfo=UTC)
START = datetime(2026, 5, 9, 2, 0)


def unfolded(text: str) -> list[str]:
    return re.sub("\r\n ", "", text).split("\r\n")


def events(text: str) -> list[dict[str, str]]:
    found: list[dict[str, str]] = []
    for line in unfolded(text):
        if line == "BEGIN:VEVENT":
            found.append({})
        elif found and ":" in line:
            name, value = line.split(":", 1)
            found[-1][name] = value
    return found


def test_calendar_has_the_window_and_every_step() -> None:
    found = events(to_ics(OPERATION, START, PLAN.name, MADE))
    assert len(found) == 1 + len(OPERATION.timeline)
    window, *steps = found
    length = datetime.strptime(window["DTEND"], "%Y%m%dT%H%M%S") - START
    assert 0 <= length.total_seconds() - OPERATION.duration_s.high <= 1
    starts = [event["DTSTART"] for event in steps]
    assert starts == sorted(starts)
    assert starts[0] == "20260509T020000"
    assert len({event["UID"] for event in found}) == len(found)
    assert "no way back" in next(e for e in steps if e["SUMMARY"].startswith("REORGANIZE"))["DESCRIPTION"]


def test_calendar_lines_are_short_and_end_as_the_format_asks() -> None:
    text = to_ics(OPERATION, START, "Ärger, Straße; \\ und\nmehr 日本語" * 3, MADE)
    assert text.endswith("END:VCALENDAR\r\n")
    assert all(len(line.encode()) <= 75 for line in text.split("\r\n"))
    assert "\n" not in text.replace("\r\n", "")
    summary = events(text)[0]["SUMMARY"]
    assert "Ärger\\, Straße\\; \\\\ und\\nmehr 日本語" in summary


def test_a_time_with_a_zone_is_written_in_utc() -> None:
    east = START.replace(tzinfo=timezone(timedelta(hours=2)))
    assert events(to_ics(OPERATION, east, stamp=MADE))[0]["DTSTART"] == "20260509T000000Z"


def test_same_input_gives_the_same_calendar() -> None:
    assert to_ics(OPERATION, START, stamp=MADE) == to_ics(OPERATION, START, stamp=MADE)


def test_gantt_is_an_svg_with_a_bar_for_each_step() -> None:
    root = ElementTree.fromstring(gantt_svg(OPERATION))
    space = "{http://www.w3.org/2000/svg}"
    titles = [title.text or "" for title in root.iter(f"{space}title")]
    assert [t.split(":")[0] for t in titles] == [interval.step.name for interval in OPERATION.timeline]
    texts = [text.text for text in root.iter(f"{space}text")]
    assert "no way back" in texts
    width = float(root.attrib["width"])
    for rect in root.iter(f"{space}rect"):
        assert float(rect.attrib.get("x", 0)) + float(rect.attrib["width"]) <= width


@pytest.mark.parametrize("name", ["<&>", "x" * 64])
def test_gantt_of_odd_table_names_is_well_formed(name: str) -> None:
    plan = edits.update(PLAN, "t1", name=name)
    ElementTree.fromstring(gantt_svg(add_nodes(Estimation(plan))))


@pytest.mark.parametrize("start", ["9999-12-31T23:59", "0001-01-01T00:00+14:00"])
def test_what_no_calendar_holds_is_refused(start: str) -> None:
    with pytest.raises(ScheduleError, match="where calendars end"):
        to_ics(OPERATION, datetime.fromisoformat(start))


def test_the_picture_of_an_operation_of_ages_is_small() -> None:
    """10^15 rows move for thousands of years; a tick for each day of them once took 125 MB."""
    plan = edits.update(PLAN, "t1", rows=10**15)
    operation = add_nodes(Estimation(plan))
    assert operation.duration_s.value > 1e9
    assert len(gantt_svg(operation)) < 100_000


def test_bars_stand_in_the_middle_of_equal_rows_between_the_ends_of_the_lines() -> None:
    root = ElementTree.fromstring(gantt_svg(OPERATION))
    space = "{http://www.w3.org/2000/svg}"
    bars = [rect for rect in root.iter(f"{space}rect") if rect.find(f"{space}title") is not None]
    middles = [float(bar.attrib["y"]) + float(bar.attrib["height"]) / 2 for bar in bars]
    (row,) = {round(below - above, 3) for above, below in pairwise(middles)}
    line = next(root.iter(f"{space}line")).attrib
    assert middles[0] - float(line["y1"]) == float(line["y2"]) - middles[-1] == row / 2 + 6
