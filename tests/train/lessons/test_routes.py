"""Every lesson of the product tells right from nearly right."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from ndbplan.base.kept import keeping
from ndbplan.train.lessons.files import LESSONS, Read, checked
from ndbplan.train.lessons.model import FULL
from ndbplan.train.lessons.play import Play, lines_of_route, route
from ndbplan.train.lessons.result import outcome
from ndbplan.train.lessons.trial import MISSES, ROUTES, trial

NAMES = sorted(path.stem for path in LESSONS.folder.glob("*.yaml"))


@pytest.fixture(scope="module", params=NAMES)
def lesson(request: pytest.FixtureRequest) -> Iterator[Read]:
    with keeping():
        yield LESSONS.find(request.param)


def test_nothing_is_wrong_with_it(lesson: Read) -> None:
    assert checked(lesson) == []


def test_three_routes_reach_all_points_and_ten_near_misses_do_not(lesson: Read) -> None:
    """On the last of its plans, which is the quickest."""
    tried = list(trial(lesson.value, lesson.value.starts[-1]))
    assert [one for one in tried if not one.is_right] == []
    routes = [one for one in tried if one.is_route]
    assert len({one.lines for one in routes}) == len(routes) == 2 * ROUTES
    misses = [one.lines for one in tried if not one.is_route]
    assert len(set(misses)) == len(misses) == MISSES


def test_its_route_reaches_all_points_on_its_other_plans(lesson: Read) -> None:
    for start in lesson.value.starts[:-1]:
        assert route(lesson.value, start, 0).score() == FULL, start.name


def test_who_takes_some_seconds_to_type_each_line_reaches_all_points_too(lesson: Read) -> None:
    """A data node that was said to stay away started itself again within a second of its loss, and a log
    buffer that was full as a checkpoint wrote was empty five, or seven, seconds later."""
    for start in lesson.value.starts:
        begin = Play(lesson.value, start)
        # The trial types the last plan at eight seconds.
        pauses = ("4.7s", "6s") if start is lesson.value.starts[-1] else ("4.7s", "6s", "8s")
        for number, pause in ((number, pause) for number in range(ROUTES) for pause in pauses):
            play = begin.branch()
            for line in lines_of_route(begin, number):
                if not play.finished:
                    play.answer(f"! wait {pause}")
                    play.answer(line)
            assert play.score() == FULL, (start.name, number, pause)


def test_who_looks_where_it_shows_has_noticed(lesson: Read) -> None:
    """Trouble begins no later than the first evidence of it shows."""
    if not lesson.value.trouble:
        return
    for number in range(ROUTES):
        played = route(lesson.value, lesson.value.starts[-1], number)
        assert outcome(played, lesson.source)["times"]["noticed_s"] is not None, number


@pytest.mark.parametrize(("rows", "disk"), [(235_000, 121), (285_000, 109)])
def test_the_hot_key_is_told_from_the_disks_beside_its_own_plan_too(rows: int, disk: int) -> None:
    """With 290,000 rows on disks of 125 MB/s, chance decided whether all clients were served in the end."""
    lesson = LESSONS.find("hot-key").value
    (start,) = lesson.starts
    speeds = (
        f"hosts[{host}].disks[vol0].sequential_write_bytes_per_s={disk}MB" for host in ("data1", "data2")
    )
    changes = (*start.changes, f"tables[test.blobs_5k].rows={rows}", *speeds)
    start = start.model_copy(update={"changes": changes})
    with keeping():
        tried = list(trial(lesson.model_copy(update={"starts": (start,)}), start))
    assert [one for one in tried if not one.is_right] == []
