"""Sessions: however time is cut, whoever goes back and tries again finds the same, to the bit."""

from __future__ import annotations

import pickle
import random
from collections.abc import Iterator
from dataclasses import fields
from typing import Any

import numpy as np
import pytest

from ndbplan.base.resources import resource_path
from ndbplan.base.units import MIB
from ndbplan.edits.growth import add_node_group
from ndbplan.edits.parameters import set_parameter
from ndbplan.estimate.estimation import Estimation
from ndbplan.plan.events import (
    Backup,
    Burst,
    DiskSlow,
    Event,
    HostFailure,
    NetworkCut,
    NodeFailure,
    NodesAdded,
    ParameterChange,
)
from ndbplan.plan.file import load
from ndbplan.plan.plan import Plan
from ndbplan.simulate.model.start import StartState
from ndbplan.simulate.model.workload import estimation_of
from ndbplan.simulate.run import Course, simulate, to_the_end
from ndbplan.simulate.session import MOST_SNAPSHOTS, Session
from ndbplan.simulate.simulation import Simulation
from ndbplan.simulate.world.indices import ERROR_CODES

from .test_laws import drawn


def _plain(value: Any) -> Any:
    """Arrays and rows as numbers: between the fields of a row there are bytes that mean nothing."""
    if isinstance(value, np.ndarray | np.record):
        return value.tolist()
    if isinstance(value, list | tuple):
        return [_plain(one) for one in value]
    return value


def known(sim: Simulation) -> Iterator[tuple[str, Any]]:
    """All that a run knows, by name."""
    for group in (sim.laws, sim.state, sim.history):
        for name, value in zip(group._fields, group, strict=True):
            yield name, _plain(value)
    for one in fields(sim):
        if one.name not in ("story", "scenario", "world", "history", "failing", "page_cache"):
            yield one.name, _plain(getattr(sim, one.name))
    for one in fields(sim.outage):
        if one.name != "failures":
            yield one.name, getattr(sim.outage, one.name)


def assert_same(one: Simulation, other: Simulation) -> None:
    for (name, mine), (_, theirs) in zip(known(one), known(other), strict=True):
        assert mine == theirs, name


def sample(name: str, workload: int = 0, *events: Event, step_s: float = 0.1) -> Course:
    plan = load(resource_path(f"samples/{name}.ndbplan"))
    chosen = plan.workloads[workload]
    return Course(Estimation(plan, chosen), (*chosen.events, *events), step_s, 3)


def full_log(overload: Plan) -> Course:
    """Small logs and slow checkpoints: error 410 comes and goes."""
    plan = set_parameter(overload, "data_node", "NoOfFragmentLogFiles", 3)
    plan = set_parameter(plan, "data_node", "FragmentLogFileSize", 16 * MIB)
    plan = set_parameter(plan, "data_node", "MaxDiskWriteSpeed", 2 * MIB)
    return Course(Estimation(plan, plan.workload("blobs-5k")), (), 0.1, 1)


def cut(course: Course, seconds: float, seed: int) -> Simulation:
    """The course in pieces of any length."""
    session, pick = Session(course.story(seconds)), random.Random(seed)
    while session.now_s < seconds - 1e-9:
        session.advance(pick.choice([0.1, 0.7, 1.0, 3.3, 17.0, 60.0]))
    return session.simulation


@pytest.mark.parametrize("seed", range(12))
def test_pieces_of_any_length_change_nothing(overload: Plan, seed: int) -> None:
    one = drawn(overload, seed)
    course = Course(Estimation(one.plan, one.plan.workload("w")), (), 0.1, seed)
    assert_same(to_the_end(course.story(one.seconds)), cut(course, one.seconds, seed))


def test_nor_do_they_when_the_log_is_full(overload: Plan) -> None:
    course = full_log(overload)
    whole = to_the_end(course.story(300.0))
    assert whole.state.errors[ERROR_CODES.index(410)] > 0
    for seed in range(3):
        assert_same(whole, cut(course, 300.0, seed))


@pytest.mark.parametrize(
    ("name", "workload", "seconds"),
    [
        ("disk-data", 0, 200.0),
        ("terabyte-load", 0, 100.0),
        ("tick-store", 0, 100.0),
        ("node-restart", 0, 600.0),
        ("add-nodes", 0, 600.0),
    ],
)
def test_nor_with_events_loaders_and_a_page_cache(name: str, workload: int, seconds: float) -> None:
    course = sample(name, workload)
    assert_same(to_the_end(course.story(seconds)), cut(course, seconds, 5))


def test_a_snapshot_is_a_copy() -> None:
    session = Session(_eventful().story(300.0))
    session.advance(100.0)
    copy = session.simulation.copy()
    before = [(name, repr(value)) for name, value in known(copy)]
    session.advance_to_end()
    assert [(name, repr(value)) for name, value in known(copy)] == before
    other = Session(_eventful().story(300.0))
    other.simulation = copy
    other.advance_to_end()
    assert_same(session.simulation, other.simulation)


def _eventful() -> Course:
    """Everything that can happen to two groups."""
    plan = add_node_group(load(resource_path("samples/node-restart.ndbplan")))
    nodes = [node.id for node in plan.data_nodes]
    disk = plan.hosts[1].disks[0].id
    events = (
        Burst(at_s=5, factor=3, duration_s=20),
        NodeFailure(at_s=20, object_id=nodes[0], back_after_s=10),
        DiskSlow(at_s=30, object_id=disk, factor=0.5, duration_s=40),
        Backup(at_s=40),
        HostFailure(at_s=70, object_id=plan.data_nodes[2].host_id or "", back_after_s=30),
        NetworkCut(at_s=150, object_ids=(plan.data_nodes[1].host_id or "",), back_after_s=20),
        ParameterChange(at_s=200, name="RedoBuffer", value=64 * MIB),
    )
    return Course(Estimation(plan, plan.workloads[0]), events, 0.1, 4)


def test_what_is_due_is_plain_values() -> None:
    session = Session(_eventful().story(400.0))
    met = set()
    while session.now_s < 399.0:
        for due in session.simulation.due:
            met.add(type(due.event).__name__)
            # A function, or what it remembers, cannot be pickled.
            assert pickle.loads(pickle.dumps(due)).at_s == due.at_s
        session.advance(0.5)
    assert len(met) >= 12, met


def test_back_and_again_is_the_same() -> None:
    session = Session(_eventful().story(300.0))
    for _ in range(60):
        session.advance(5.0)
    first = session.simulation.copy()
    for to_s in (290.0, 151.3, 20.0, 0.0):
        session.rewind(to_s)
        assert session.now_s == to_s
        session.advance(300.0 - to_s)
        assert_same(first, session.simulation)


def test_going_back_takes_what_was_done_since_with_it(overload: Plan) -> None:
    course = Course(Estimation(overload, overload.workload("blobs-1k")), (), 0.1, 1, every_node=True)
    session, quiet = Session(course.story(120.0)), Session(course.story(120.0))
    node = overload.data_nodes[0].id
    session.advance(30.0)
    assert session.act(Burst(at_s=0, factor=0.5, duration_s=50)) is None
    session.advance(20.0)
    assert session.act(NodeFailure(at_s=0, object_id=node)) is None
    assert [(one.at_s, one.event.kind) for one in session.history] == [(30, "burst"), (50, "node_failure")]
    session.advance(70.0)
    done = session.simulation.copy()
    session.rewind(50.0)
    assert [one.at_s for one in session.history] == [30]
    assert session.act(NodeFailure(at_s=0, object_id=node)) is None
    session.advance_to_end()
    assert_same(done, session.simulation)
    session.rewind(30.0)
    assert session.history == ()
    session.advance_to_end()
    quiet.advance_to_end()
    assert_same(quiet.simulation, session.simulation)


def test_who_acts_finds_what_a_plan_with_that_event_finds(overload: Plan) -> None:
    plan = add_node_group(overload)
    event = NodeFailure(at_s=40, object_id=plan.data_nodes[1].id, back_after_s=15)
    planned = simulate(estimation_of(plan, "blobs-1k"), duration_s=300, events=(event,))
    session = Session(
        Course(Estimation(plan, plan.workload("blobs-1k")), (), 0.1, 1, every_node=True).story(300.0)
    )
    session.advance(40.0)
    assert session.act(event.model_copy(update={"at_s": 7.0})) is None
    assert session.moment().accepted_per_s > 0
    session.advance_to_end()
    assert session.result().to_json(why=True) == planned.to_json(why=True)
    assert session.result().to_csv() == planned.to_csv()


def test_branches_go_on_apart(overload: Plan) -> None:
    course = Course(Estimation(overload, overload.workload("blobs-1k")), (), 0.1, 1, every_node=True)
    session = Session(course.story(100.0))
    session.advance(30.0)
    session.advance(20.0)
    other = session.branch()
    assert other.act(Burst(at_s=0, factor=4, duration_s=30)) is None
    other.advance_to_end()
    session.advance_to_end()
    quiet = to_the_end(course.story(100.0))
    assert_same(quiet, session.simulation)
    assert other.simulation.state.cluster.offered > session.simulation.state.cluster.offered
    assert (len(other.history), len(session.history)) == (1, 0)
    other.rewind(40.0)
    other.advance_to_end()
    assert_same(quiet, other.simulation)
    assert_same(quiet, session.simulation)


def test_what_cannot_be_is_refused_and_changes_nothing(overload: Plan) -> None:
    course = Course(Estimation(overload, overload.workload("blobs-1k")), (), 0.1, 1, every_node=True)
    session = Session(course.story(60.0))
    session.advance(20.0)
    before = session.simulation.copy()
    for event in (NodeFailure(at_s=0, object_id="nobody"), NodesAdded(at_s=0)):
        refusal = session.act(event)
        assert refusal is not None
        assert "\n" not in refusal.text
    assert session.history == ()
    assert_same(before, session.simulation)
    together = Session(course._replace(every_node=False).story(60.0))
    refusal = together.act(Backup(at_s=0))
    assert refusal is not None
    assert "every node apart" in refusal.text


def test_a_moment_is_what_the_run_looks_like_now() -> None:
    session = Session(_eventful().story(300.0))
    session.advance(25.0)
    moment = session.moment()
    assert moment.at_s == 25.0
    assert moment.down
    assert moment.accepted_per_s > 0
    session.rewind(0.0)
    assert session.moment().accepted_per_s == 0


def test_snapshots_lie_closer_where_much_is_done(overload: Plan) -> None:
    """Failures of many nodes take as long as minutes in which nothing happens."""
    course = Course(Estimation(overload, overload.workload("blobs-1k")), (), 0.1, 1)
    story = course.story(2000.0)
    kept = {}
    for dear_s in (0.0, 1e9):
        session = Session(story, StartState(redo_buffer_bytes=1e6))
        session._steps_apart, session._dear_s = 10**9, dear_s
        session.advance(400.0)
        kept[dear_s] = len(session._snapshots)
        assert len(session._work) == len(session._snapshots)
        session.rewind(201.3)
        assert len(session._work) == len(session._snapshots)
        session.advance(400.0 - 201.3)
        whole = Session(story, StartState(redo_buffer_bytes=1e6))
        whole.advance(400.0)
        assert_same(whole.simulation, session.simulation)
    assert kept[0.0] > 20
    assert kept[1e9] == 0


def test_a_session_ends_with_its_story_and_keeps_few_snapshots(overload: Plan) -> None:
    course = Course(Estimation(overload, overload.workload("blobs-1k")), (), 0.1, 1)
    session = Session(course.story(200.0), StartState(redo_buffer_bytes=1e6))
    for _ in range(150):
        session.advance(1.0)
    assert len(session._snapshots) <= MOST_SNAPSHOTS
    session.advance(1e6)
    assert session.now_s == 200.0
    session.advance(5.0)
    assert session.now_s == 200.0
    whole = to_the_end(course.story(200.0), StartState(redo_buffer_bytes=1e6))
    assert_same(whole, session.simulation)
