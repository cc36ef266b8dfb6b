"""Events that a person puts into a workload: about the right part, at the right moment, one at a time."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ndbplan.base.errors import UserError
from ndbplan.describe.titles import event_line
from ndbplan.edits import events
from ndbplan.edits.validated import EditError
from ndbplan.plan.events import NodesAdded, kinds
from ndbplan.plan.plan import EMPTY_PLAN
from ndbplan.plan.samples import sample_plan

PLAN = sample_plan("starter")
LOAD = PLAN.workloads[0].id
DISK = PLAN.hosts[0].disks[0].id


def _events(plan):
    return plan.by_id[LOAD].events


@pytest.mark.parametrize("kind", kinds())
def test_each_kind_is_added_with_a_line_of_its_own(kind: str) -> None:
    plan = events.added(PLAN, LOAD, kind, 30.0)
    (event,) = _events(plan)[len(_events(PLAN)) :]
    assert (event.kind, event.at_s) == (kind, 30.0)
    assert event_line(plan, event)


def test_what_is_selected_is_what_fails() -> None:
    last = PLAN.data_nodes[-1].id
    assert _events(events.added(PLAN, LOAD, "node_failure", 1.0, (DISK, last)))[-1].object_id == last
    assert _events(events.added(PLAN, LOAD, "disk_slow", 1.0, (DISK, last)))[-1].object_id == DISK


@pytest.mark.parametrize(
    ("object_id", "line"),
    [
        ("ndb1", "ndbmtd 1 fails"),
        ("host-a1", "host-a1 fails"),
        ("rack-a", "Rack A fails"),
        (DISK, "host-a1 / nvme0 fails"),
        (PLAN.sql_nodes[0].id, "mysqld 147 stops"),
        (PLAN.management_nodes[0].id, "ndb_mgmd 145 stops"),
    ],
)
def test_each_part_fails_in_its_way(object_id: str, line: str) -> None:
    plan = events.killed(PLAN, LOAD, [object_id], 90.0)
    assert event_line(plan, _events(plan)[-1]) == line
    assert _events(plan)[-1].at_s == 90.0


@pytest.mark.parametrize(
    ("object_id", "line"),
    [
        ("ndb1", "ndbmtd 1 restarts"),
        ("host-a1", "host-a1 restarts"),
        ("rack-a", "Rack A restarts"),
        (PLAN.sql_nodes[0].id, "mysqld 147 restarts"),
        (PLAN.management_nodes[0].id, "ndb_mgmd 145 restarts"),
    ],
)
def test_what_is_restarted_is_not_said_to_fail(object_id: str, line: str) -> None:
    plan = events.started_again(PLAN, LOAD, [object_id], 90.0)
    assert event_line(plan, _events(plan)[-1]) == line


def test_an_api_slot_cannot_be_killed() -> None:
    slot = PLAN.api_slots[0]
    assert not events.can_be_killed(slot)
    with pytest.raises(UserError, match="no event"):
        events.killed(PLAN, LOAD, [slot.id], 1.0)


@given(at_s=st.floats(1, 500), later_s=st.floats(1, 100))
def test_a_restart_ends_what_keeps_a_part_down(at_s: float, later_s: float) -> None:
    for object_id in ("ndb1", "host-a1", "rack-a", PLAN.sql_nodes[0].id):
        down = events.killed(PLAN, LOAD, [object_id], at_s)
        assert events.keeps_down(down, LOAD, object_id, at_s + later_s) is not None
        assert events.keeps_down(down, LOAD, object_id, at_s) is None
        up = events.started_again(down, LOAD, [object_id], at_s + later_s)
        assert len(_events(up)) == len(_events(down))
        assert events.keeps_down(up, LOAD, object_id, at_s + later_s + 0.001) is None


def test_a_restart_of_what_runs_stops_it_and_starts_it_at_once() -> None:
    (event,) = _events(events.started_again(PLAN, LOAD, ["ndb1"], 50.0))
    assert (event.kind, event.at_s, event.back_after_s) == ("node_failure", 50.0, 0.0)
    (event,) = _events(events.started_again(PLAN, LOAD, [PLAN.sql_nodes[0].id], 50.0))
    assert event.duration_s > 0, "0 would mean for the rest of the run"


def test_a_slow_disk_gets_its_speed_back() -> None:
    slow = events.slowed(PLAN, LOAD, [DISK], 0.25, 100.0)
    assert event_line(slow, _events(slow)[-1]) == "host-a1 / nvme0 at 25 %"
    assert _events(events.started_again(slow, LOAD, [DISK], 160.0))[-1].duration_s == 60.0
    for factor in (0.0, 1.0, 2.0):
        with pytest.raises(UserError, match="not slower"):
            events.slowed(PLAN, LOAD, [DISK], factor, 1.0)


def test_a_cut_has_one_side_or_two() -> None:
    alone = events.cut_off(PLAN, LOAD, ["rack-a"], 5.0)
    assert event_line(alone, _events(alone)[-1]) == "Rack A cut off"
    two = events.cut_off(PLAN, LOAD, ["host-a1"], 5.0, ["host-b1", "app-b1"])
    assert event_line(two, _events(two)[-1]) == "host-a1 cut from host-b1 and 1 more"


@given(at_s=st.floats(0, 600))
def test_a_moved_event_is_otherwise_the_same(at_s: float) -> None:
    plan = events.slowed(events.killed(PLAN, LOAD, ["ndb1"], 10.0, 60.0), LOAD, [DISK], 0.5, 20.0, 30.0)
    moved = events.moved_event(plan, LOAD, 0, at_s)
    before, after = _events(plan), _events(moved)
    assert after[0] == before[0].model_copy(update={"at_s": at_s})
    assert after[1] is before[1]
    assert events.moved_event(moved, LOAD, 0, at_s) is moved


def test_a_moment_before_the_run_is_refused() -> None:
    plan = events.killed(PLAN, LOAD, ["ndb1"], 10.0)
    with pytest.raises(EditError):
        events.moved_event(plan, LOAD, 0, -1.0)
    assert _events(events.without_event(plan, LOAD, 0)) == ()


def test_a_plan_without_the_part_says_what_is_missing() -> None:
    bare = PLAN.replace(locations=(), hosts=(), processes=(), links=())
    with pytest.raises(UserError, match="needs a data node"):
        events.added(bare, LOAD, "node_failure")
    assert EMPTY_PLAN.workloads == ()


@pytest.mark.parametrize(("groups", "line"), [(1, "1 node group added"), (2, "2 node groups added")])
def test_groups_that_are_added_are_counted(groups: int, line: str) -> None:
    assert event_line(PLAN, NodesAdded(at_s=1.0, groups=groups)) == line
