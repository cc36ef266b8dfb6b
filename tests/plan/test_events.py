"""Events of a workload: kept in the file, followed by edits, gone with what they name."""

from __future__ import annotations

import pytest

from ndbplan.base.resources import resource_path
from ndbplan.edits import parts as edits
from ndbplan.edits.clipboard import copy, paste
from ndbplan.edits.validated import EditError
from ndbplan.plan.events import (
    Backup,
    Burst,
    DiskSlow,
    Event,
    HostFailure,
    LocationFailure,
    ManagementNodeDown,
    NetworkCut,
    NodeFailure,
    NodesAdded,
    ParameterChange,
    SqlNodeDown,
)
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


FAILURES = (
    HostFailure(at_s=1, object_id="host-a1", back_after_s=60),
    LocationFailure(at_s=2, object_id="rack-a"),
    ManagementNodeDown(at_s=3, object_id="mgm145"),
    NetworkCut(at_s=4, object_ids=("rack-a", "host-b1"), other_ids=("app-b1",), back_after_s=5),
    NetworkCut(at_s=5, object_ids=("rack-b",)),
)


@pytest.fixture
def racks() -> Plan:
    sample = load(resource_path("samples/starter.ndbplan"))
    return edits.update(sample, sample.workloads[0].id, events=FAILURES)


def test_failures_of_hosts_racks_and_links_survive_the_file(racks: Plan) -> None:
    assert loads(dumps(racks)).workloads[0].events == FAILURES


def test_failures_of_hosts_racks_and_links_follow_what_they_name(racks: Plan) -> None:
    new = {"host-a1": "h", "rack-a": "r", "mgm145": "m", "app-b1": "b"}
    for old, name in new.items():
        racks = edits.update(racks, old, id=name)
    events = racks.workloads[0].events
    assert [e.object_id for e in events[:3]] == ["h", "r", "m"]
    assert (events[3].object_ids, events[3].other_ids) == (("r", "host-b1"), ("b",))


def test_a_cut_goes_with_the_last_of_a_side(racks: Plan) -> None:
    def cuts(*gone: str) -> list[Event]:
        left = edits.remove(racks, set(gone)).workloads[0].events
        return [event for event in left if isinstance(event, NetworkCut)]

    assert cuts("host-b1")[0].object_ids == ("rack-a",)
    assert len(cuts("app-b1")) == 1
    assert len(cuts("rack-a", "host-b1")) == 1
    assert cuts("rack-a", "rack-b")[0].object_ids == ("host-b1",)


def test_a_pasted_workload_keeps_the_sides_that_are_there(racks: Plan) -> None:
    text = copy(racks, {racks.workloads[0].id})
    pasted, ids = paste(racks, text)
    assert pasted.workload(ids[0]).events == FAILURES
    pasted, ids = paste(edits.remove(racks, {"host-b1", "mgm145"}), text)
    kept = pasted.workload(ids[0]).events
    assert [event.kind for event in kept] == [
        "host_failure",
        "location_failure",
        "network_cut",
        "network_cut",
    ]
    assert kept[2].object_ids == ("rack-a",)


@pytest.mark.parametrize(
    "event",
    [
        HostFailure(at_s=1, object_id="rack-a"),
        LocationFailure(at_s=1, object_id="host-a1"),
        ManagementNodeDown(at_s=1, object_id="ndb1"),
        NetworkCut(at_s=1, object_ids=("rack-z",)),
        NetworkCut(at_s=1, object_ids=("rack-a",), other_ids=("nothing",)),
        NetworkCut(at_s=1, object_ids=("rack-a",), other_ids=("rack-b", "rack-a")),
    ],
)
def test_what_fails_must_be_of_its_kind(racks: Plan, event: Event) -> None:
    with pytest.raises(EditError, match=r"events\[0\]"):
        edits.update(racks, racks.workloads[0].id, events=(event,))
