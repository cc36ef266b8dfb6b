"""Aligning and distributing: exact lines, equal gaps, nothing covered, one step."""

from __future__ import annotations

import itertools
from typing import get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ndbplan.desktop.layout.align import Edge, aligned, distributed, movable
from ndbplan.desktop.layout.collision import overlap, settled, standing
from ndbplan.desktop.layout.layout import HOST_GAP, Layouter
from ndbplan.desktop.look import theme
from ndbplan.edits import offers
from ndbplan.edits import parts as edits
from ndbplan.plan.fields import Point
from ndbplan.plan.plan import EMPTY_PLAN, Plan
from ndbplan.plan.samples import sample_plan


@pytest.fixture(autouse=True, scope="module")
def _fonts(qapp: object) -> None:
    theme.load_fonts()


def _free_hosts(*places: tuple[float, float]) -> Plan:
    plan = EMPTY_PLAN
    for x, y in places:
        plan = edits.add(plan, offers.make_host(plan, "host-small", None, Point(x=x, y=y)))
    return plan


def _ids(plan: Plan) -> list[str]:
    return [host.id for host in plan.hosts]


def _rects(plan: Plan) -> dict:
    return standing(Layouter().layout(plan))


@pytest.mark.parametrize(
    ("edge", "line"),
    [
        ("left", lambda r: r.x),
        ("right", lambda r: r.right),
        ("centre", lambda r: r.x + r.width / 2),
        ("top", lambda r: r.y),
        ("bottom", lambda r: r.bottom),
        ("middle", lambda r: r.y + r.height / 2),
    ],
)
def test_aligned_objects_stand_in_one_line(edge, line) -> None:
    plan = _free_hosts((0, 0), (520, 300), (90, 700))
    after = aligned(plan, _ids(plan), edge)
    assert len({line(rect) for rect in _rects(after).values()}) == 1
    assert aligned(after, _ids(plan), edge) is after


def test_the_line_is_where_the_outermost_stood() -> None:
    plan = _free_hosts((40, 0), (520, 300))
    assert {r.x for r in _rects(aligned(plan, _ids(plan), "left")).values()} == {40}
    assert {r.right for r in _rects(aligned(plan, _ids(plan), "right")).values()} == {960}


def test_hosts_side_by_side_go_one_below_the_other_instead_of_covering() -> None:
    plan = _free_hosts((0, 0), (500, 0))
    first, second = (_rects(aligned(plan, _ids(plan), "left"))[i] for i in _ids(plan))
    assert (first.x, first.y) == (0, 0)
    assert (second.x, second.y) == (0, first.bottom + HOST_GAP)


def test_gaps_are_equal_and_the_outer_ones_stay() -> None:
    plan = _free_hosts((0, 0), (700, 40), (2000, 10), (1300, 80))
    rects = sorted(_rects(distributed(plan, _ids(plan), "across")).values())
    gaps = [after.x - before.right for before, after in itertools.pairwise(rects)]
    assert max(gaps) - min(gaps) <= 1, "whole pixels"
    assert (rects[0].x, rects[-1].x) == (0, 2000)
    assert sorted(r.y for r in rects) == [0, 10, 40, 80]


def test_without_room_there_is_at_least_a_gap() -> None:
    plan = _free_hosts((0, 0), (0, 130), (0, 260))
    rects = sorted(_rects(distributed(plan, _ids(plan), "down")).values(), key=lambda r: r.y)
    assert all(b.y - a.bottom >= HOST_GAP for a, b in itertools.pairwise(rects))


def test_hosts_in_a_rack_have_slots_and_racks_can_be_aligned() -> None:
    plan = sample_plan("starter")
    inside = [host.id for host in plan.hosts]
    racks = [place.id for place in plan.locations]
    assert movable(plan, [*inside, *racks]) == tuple(racks)
    assert aligned(plan, inside, "left") is plan
    boxes = [r for i, r in _rects(aligned(plan, racks, "left")).items() if i in racks]
    assert len({r.x for r in boxes}) == 1


_PLACES = st.lists(st.tuples(st.integers(0, 1500), st.integers(0, 900)), min_size=3, max_size=6, unique=True)


@settings(max_examples=15, deadline=None)
@given(places=_PLACES, what=st.sampled_from([*get_args(Edge), "across", "down"]), count=st.integers(2, 6))
def test_nothing_ever_covers_anything(places, what, count) -> None:
    plan = _free_hosts(*places)
    plan = settled(plan, _ids(plan))
    chosen = _ids(plan)[:count]
    after = distributed(plan, chosen, what) if what in ("across", "down") else aligned(plan, chosen, what)
    rects = list(_rects(after).values())
    assert not any(overlap(a, b, 0.0) for i, a in enumerate(rects) for b in rects[i + 1 :])
    assert [h.position for h in after.hosts[count:]] == [h.position for h in plan.hosts[count:]]


def test_it_is_one_step_of_the_selection(hands_on) -> None:
    hands = hands_on(_free_hosts((0, 0), (520, 300), (90, 700)))
    before = hands.plan
    hands.selection.set(_ids(before))
    assert hands.view.editor.align("left")
    assert hands.document.undo_stack.undoText() == "Align left: 3 hosts"
    assert hands.view.editor.distribute("down")
    hands.document.undo_stack.undo()
    hands.document.undo_stack.undo()
    assert hands.plan is before


def test_too_few_or_hosts_in_a_rack_are_refused_in_one_line(hands) -> None:
    hands.selection.set([host.id for host in hands.plan.hosts])
    assert not hands.view.editor.align("top")
    assert "slots" in hands.errors[-1]
    hands.selection.set([place.id for place in hands.plan.locations[:2]])
    assert not hands.view.editor.distribute("down")
    assert "three" in hands.errors[-1]
