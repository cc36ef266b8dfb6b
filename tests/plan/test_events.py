"""Events of a workload: kept in the file, followed by edits, gone with what they name."""

from __future__ import annotations

import pytest

from ndbplan.base.resources import resource_path
from ndbplan.plan import edits
from ndbplan.plan.clipboard import copy, paste
from ndbplan.plan.edits import EditError
from ndbplan.plan.events import Backup, Burst, DiskSlow, NodeFailure, NodesAdded, ParameterChange, SqlNodeDown
from ndbplan.plan.file import dumps, load, loads
from ndbplan.plan.plan import Plan

EVENTS = (
    NodeFailure(at_s=10, object_id="ndb3", back_after_s=60),
    SqlNodeDown(at_s=20, object_id="sql49"),
    DiskSlow(at_s=30, object_id="data1-c0d1", factor=0.5),
    Backup(at_s=40),
    NodesAdded(at_s=50),
    Burst(at_s=60, factor=3),
    ParameterChange(at_s=70, name="RedoBuffer", value=67108864),
)


@pytest.fixture
def plan() -> Plan:
    sample = load(resource_path("samples/redo-overload.ndbplan"))
    return edits.update(sample, "blobs-5k", events=EVENTS)


def test_they_survive_the_file(plan: Plan) -> None:
    assert loads(dumps(plan)).workload("blobs-5k").events == EVENTS


def test_they_follow_a_renamed_object(plan: Plan) -> None:
    renamed = edits.update(plan, "ndb3", id="first")
    assert renamed.workload("blobs-5k").events[0].object_id == "first"


@pytest.mark.parametrize(("gone", "left"), [("ndb3", 6), ("sql49", 6), ("data1-c0d1", 6), ("data1", 5)])
def test_they_go_with_what_they_name(plan: Plan, gone: str, left: int) -> None:
    assert len(edits.remove(plan, {gone}).workload("blobs-5k").events) == left


@pytest.mark.parametrize(
    "event",
    [
        NodeFailure(at_s=1, object_id="sql49"),
        SqlNodeDown(at_s=1, object_id="ndb3"),
        DiskSlow(at_s=1, object_id="nothing"),
    ],
)
def test_what_they_name_must_exist(plan: Plan, event: NodeFailure | SqlNodeDown | DiskSlow) -> None:
    with pytest.raises(EditError, match=r"events\[0\]"):
        edits.update(plan, "blobs-5k", events=(event,))


def test_a_pasted_workload_keeps_events_of_what_is_there(plan: Plan) -> None:
    text = copy(plan, {"blobs-5k"})
    pasted, ids = paste(plan, text)
    assert pasted.workload(ids[0]).events == EVENTS
    bare = edits.remove(plan, {"ndb3"})
    pasted, ids = paste(bare, text)
    assert len(pasted.workload(ids[0]).events) == 6
