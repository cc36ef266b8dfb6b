"""Events during a run: what dies, slows, starts or grows shows in the series, and nothing is lost."""

from __future__ import annotations

import numpy as np
import pytest

from ndbplan.base.resources import resource_path
from ndbplan.base.units import MIB
from ndbplan.configuration.difference import diff
from ndbplan.configuration.stated import OF_PLAN
from ndbplan.edits import parts as edits
from ndbplan.edits.arrays import put_level
from ndbplan.edits.growth import add_node_group
from ndbplan.edits.parameters import set_parameter
from ndbplan.estimate.estimation import Estimation
from ndbplan.estimate.grown import reorganise
from ndbplan.estimate.stored import memory
from ndbplan.ndb.parameters import parameters
from ndbplan.ndb.values import refusal
from ndbplan.plan.events import (
    Backup,
    Burst,
    DeviceFailure,
    DiskFull,
    DiskSlow,
    NodeFailure,
    NodesAdded,
    ParameterChange,
    SqlNodeDown,
)
from ndbplan.plan.file import load
from ndbplan.plan.plan import Plan
from ndbplan.plan.samples import sample_plan
from ndbplan.plan.workloads import OpenLoad, RatePoint
from ndbplan.simulate.events.handlers import Asked, dues_of
from ndbplan.simulate.events.nodes import die
from ndbplan.simulate.model.node_rows import SimulationError
from ndbplan.simulate.model.workload import estimation_of
from ndbplan.simulate.result import SimulationResult
from ndbplan.simulate.run import Course, simulate
from ndbplan.simulate.session import Session
from ndbplan.simulate.world.indices import Error

EASY = "blobs-1k"


@pytest.fixture(scope="module")
def calm(overload: Plan) -> Plan:
    """Two groups with a load that one disk takes easily."""
    plan = add_node_group(overload)
    plan = set_parameter(plan, "data_node", "DataMemory", 2**40)
    points = (RatePoint(at_s=0, rate_per_s=2000),)
    return edits.update(plan, EASY, load=OpenLoad(points=points))


def redo_rate(result: SimulationResult, node_id: int) -> np.ndarray:
    """Log bytes per second that a node's disk writes."""
    made = sum(part.log_used for part in result.parts if part.node_id == node_id)
    return np.diff(made)


def disk_of(result: SimulationResult, disk_id: str) -> np.ndarray:
    return next(d for d in result.disks if d.disk_id == disk_id).bytes_per_s["redo"]


def test_a_dead_node_writes_nothing_and_its_group_goes_on(calm: Plan) -> None:
    result = simulate(
        estimation_of(calm, EASY), duration_s=60, events=[NodeFailure(at_s=20, object_id="ndb3")]
    )
    dead = disk_of(result, "data1-c0d1")
    assert dead[5:19].min() > 1e6
    assert dead[21:].max() == 0
    assert disk_of(result, "data2-c0d1")[30:].min() > 1e6
    assert result.accepted[30:].min() == pytest.approx(2000)
    assert {error.code for error in result.errors} == {4010}
    assert result.errors[0].count < 450
    assert result.happened == ((20.0, "node 3 dies"),)


@pytest.mark.parametrize("clients", [1, 3, 8, 100_000])
def test_a_node_that_dies_ends_one_transaction_of_each_client(calm: Plan, clients: int) -> None:
    """Real clusters: one statement of each of three sessions, and all eight of eight open transactions."""
    workload = calm.workload(EASY)
    plan = edits.update(calm, EASY, load=workload.load.model_copy(update={"clients": clients}), through="api")
    course = Course(Estimation(plan, plan.workload(EASY)), (), 0.1, 1, every_node=True)
    sim = Session(course.story(60)).simulation
    assert sim.state.first[Error.NODE].tolist() == [-1.0, -1.0]
    second, third = (sim.scenario.node_classes[n].nodes[0] for n in (1, 2))
    die(sim, [third], 20.0)
    # 2000 a second, open for a moment, until 0.19 s later the loss is noticed.
    lost = sim.state.errors[Error.NODE]
    assert lost == clients if clients < 100 else 380 < lost < 450
    assert sim.state.first[Error.NODE].tolist() == [20.0, 2.0]
    die(sim, [second], 30.0)
    assert sim.state.errors[Error.NODE] == 2 * lost
    assert sim.state.first[Error.NODE].tolist() == [20.0, 2.0]


def test_a_start_that_ends_with_another_node_costs_no_more_transactions(calm: Plan) -> None:
    load = calm.workload(EASY).load.model_copy(update={"clients": 8})
    plan = set_parameter(edits.update(calm, EASY, load=load, through="api"), "data_node", "DataMemory", 2**33)
    mates = ("ndb3", "ndb4")
    elsewhere = next(node.id for node in plan.data_nodes if node.id not in mates)
    other = NodeFailure(at_s=24, object_id=elsewhere)
    first = NodeFailure(at_s=10, object_id="ndb3", back_after_s=4)
    found = simulate(estimation_of(plan, EASY), duration_s=40, events=[first, other])
    assert "2308" in str(found.happened)
    assert {error.code: error.count for error in found.errors} == {4010: 16.0}


@pytest.mark.parametrize(("version", "codes"), [("7.4.10", [4010]), ("8.4.8", [])])
def test_a_restart_by_command_ends_transactions_in_old_versions_alone(
    calm: Plan, version: str, codes: list[int]
) -> None:
    event = ParameterChange(at_s=10, name="RedoBuffer", value=2**26)
    found = simulate(estimation_of(calm.replace(ndb_version=version), EASY), duration_s=15, events=[event])
    assert "stops for" in str(found.happened)
    assert [error.code for error in found.errors] == codes


def test_the_last_node_of_a_group_takes_the_cluster_down(calm: Plan) -> None:
    events = [NodeFailure(at_s=20, object_id="ndb3"), NodeFailure(at_s=30, object_id="ndb4")]
    result = simulate(estimation_of(calm, EASY), duration_s=60, events=events)
    assert result.accepted[32:].max() == 0
    down = next(error for error in result.errors if error.code == 4009)
    assert down.first_at_s.value == pytest.approx(30, abs=0.11)
    assert result.bottleneck.resource == "nodes"


def test_a_node_comes_back_and_gets_what_it_missed(calm: Plan) -> None:
    event = NodeFailure(at_s=20, object_id="ndb3", back_after_s=30)
    result = simulate(estimation_of(calm, EASY), duration_s=1100, events=[event])
    texts = [text for _, text in result.happened]
    assert texts[1:3] == ["node 3 starts", "node 3 takes part again, its rows are copied"]
    back_at = result.happened[2][0]
    assert back_at > 50
    own, mate = (disk_of(result, f"data{i}-c0d1") for i in (1, 2))
    assert own[21 : int(back_at)].max() == 0
    # Afterwards it has written as much as its mate: what it missed was copied to it.
    missing = 1.0 - own.sum() / mate.sum()
    assert missing < 0.02
    assert result.accepted[-20:].min() == pytest.approx(2000)


def test_checkpoints_are_as_quick_as_is_set_while_another_node_restarts(calm: Plan) -> None:
    plan = edits.set_plan(calm, ndb_version="7.6")
    speeds = {"MinDiskWriteSpeed": 1, "MaxDiskWriteSpeed": 2, "MaxDiskWriteSpeedOtherNodeRestart": 8}
    for name, mib in speeds.items():
        plan = set_parameter(plan, "data_node", name, mib * MIB)
    event = NodeFailure(at_s=20, object_id="ndb3", back_after_s=1)
    result = simulate(estimation_of(plan, EASY), duration_s=2000, events=[event])
    starts_s, durable_s = result.happened[1][0], result.happened[-1][0]
    lcp = next(d for d in result.disks if d.disk_id == "data2-c0d1").bytes_per_s["lcp"]
    spells = ((0.0, starts_s - 2), (starts_s + 5, durable_s - 20), (durable_s + 30, 2000.0))
    times_s = result.times_s
    most = [lcp[(times_s > from_s) & (times_s < to_s)].max() / MIB for from_s, to_s in spells]
    assert most == pytest.approx([2, 8, 2], rel=0.01)


def test_a_slow_disk_overflows_and_a_well_one_recovers(calm: Plan) -> None:
    event = DiskSlow(at_s=20, object_id="data1-c0d1", factor=0.05, duration_s=60)
    result = simulate(estimation_of(calm, EASY), duration_s=200, events=[event])
    assert result.errors
    assert result.errors[0].first_at_s.value > 20
    assert result.accepted[60:79].mean() < 1900
    assert result.accepted[-20:].min() == pytest.approx(2000)
    assert result.bottleneck.object_ids == ("data1-c0d1",)


def test_a_failed_disk_takes_its_node_with_it(calm: Plan) -> None:
    result = simulate(
        estimation_of(calm, EASY), duration_s=60, events=[DiskSlow(at_s=20, object_id="data1-c0d1", factor=0)]
    )
    assert disk_of(result, "data1-c0d1")[22:].max() == 0
    assert result.accepted[30:].min() == pytest.approx(2000)


def test_a_full_disk_takes_the_node_with_it_that_writes_a_checkpoint(calm: Plan) -> None:
    event = DiskFull(at_s=20, object_id="data1-c0d1", duration_s=10)
    result = simulate(estimation_of(calm, EASY), duration_s=60, events=[event])
    assert [spell.object_id for spell in result.down] == ["ndb3"]
    assert 20 <= result.down[0].from_s < 30
    assert (result.full_disks[0].from_s, result.full_disks[0].to_s) == (20, 30)
    assert result.accepted[30:].min() == pytest.approx(2000)


def test_a_backup_writes_once_and_ends(calm: Plan) -> None:
    result = simulate(estimation_of(calm, EASY), duration_s=900, events=[Backup(at_s=10)])
    written = [d.bytes_per_s["backup"] for d in result.disks]
    assert sum(series.any() for series in written) == 4
    for series in written:
        if series.any():
            assert series[:9].max() == 0
            assert series[-10:].max() == 0


def test_a_burst_ends(overload: Plan) -> None:
    result = simulate(
        estimation_of(overload, EASY), duration_s=60, events=[Burst(at_s=20, factor=1.5, duration_s=10)]
    )
    assert result.offered[10] == pytest.approx(6960)
    assert result.offered[25] == pytest.approx(1.5 * 6960)
    assert result.offered[40] == pytest.approx(6960)


def test_without_its_sql_node_nothing_is_offered(overload: Plan) -> None:
    result = simulate(
        estimation_of(overload, EASY),
        duration_s=60,
        events=[SqlNodeDown(at_s=20, object_id="sql49", duration_s=10)],
    )
    assert result.offered[25] == 0
    assert result.offered[40] == pytest.approx(6960)


def test_a_parameter_changes_node_by_node(calm: Plan) -> None:
    event = ParameterChange(at_s=10, name="DiskCheckpointSpeed", value=10 * MIB)
    result = simulate(estimation_of(calm, EASY), duration_s=3600, events=[event])
    texts = [text for _, text in result.happened]
    assert sum("has DiskCheckpointSpeed set" in text for text in texts) == 4
    assert result.accepted[-50:].min() == pytest.approx(2000)
    for disk in result.disks:
        lcp = disk.bytes_per_s["lcp"]
        if lcp.any():
            assert lcp[-300:].max() < 1.01 * 10 * MIB
            assert lcp.max() > 5 * 10 * MIB


@pytest.mark.parametrize(
    ("name", "value", "says"),
    [
        ("NoOfReplicas", 1, "all data nodes have stopped"),
        ("Diskless", 1, "all data nodes have stopped"),
        ("RedoBufer", 2**26, "no parameter"),
        ("HostName", "elsewhere", "no parameter"),
        ("RedoBuffer", 2**50, "RedoBuffer .* is outside the range"),
    ],
)
def test_what_no_rolling_restart_can_change_is_refused(
    calm: Plan, name: str, value: int | str, says: str
) -> None:
    event = ParameterChange(at_s=10, name=name, value=value)
    with pytest.raises(SimulationError, match=says):
        simulate(estimation_of(calm, EASY), duration_s=60, events=[event])


def test_a_node_that_cannot_start_with_a_value_is_no_rolling_restart() -> None:
    plan = sample_plan("disk-data-8.4")

    def said(name: str, value: int, limit: int | None = None) -> str:
        contained = edits.update(plan, plan.data_nodes[0].id, container_memory_bytes=limit)
        event = ParameterChange(at_s=10, name=name, value=value)
        try:
            dues_of(event, Asked(contained, contained.workloads[0], 0))
        except SimulationError as error:
            return error.what
        return ""

    needed = max(node.data_memory_bytes.value for node in memory(plan).nodes)
    assert "cannot restore rows of" in said("DataMemory", int(needed * 0.8))
    assert said("DataMemory", int(needed * 1.2)) == ""
    host = plan.host(plan.data_nodes[0].host_id).memory_bytes
    assert "kills it" in said("DataMemory", host)
    assert "kills it" in said("DiskPageBufferMemory", host)
    assert said("DataMemory", host // 2) == ""
    most = int(memory(plan).nodes[0].ram_bytes.value * 1.1)
    assert "kills it" in said("DataMemory", host // 2, most)


def test_every_parameter_changes_in_turns_or_with_all_nodes_down_as_the_runbook_has_it(calm: Plan) -> None:
    """The run of an event and the steps of the same change say the same of whether the cluster serves."""
    seen = set()
    for entry in parameters("DB", calm.version):
        value = next(
            (v for v in (0, 1, 2, 3, 65536) if v != entry.default and not refusal(entry, v, calm.version)),
            None,
        )
        if value is None or entry.name.lower() in OF_PLAN or entry.status == "internal":
            continue
        needed = diff(calm, set_parameter(calm, "data_node", entry.name, value)).restart
        if needed:
            event = ParameterChange(at_s=10, name=entry.name, value=value)
            down = "system" in needed
            seen.add(down)
            try:
                dues_of(event, Asked(calm, calm.workloads[0], 0))
                refused = False
            except SimulationError:
                refused = True
            assert refused == down, entry.name
    assert seen == {True, False}


def test_nodes_are_added_under_load() -> None:
    plan = load(resource_path("samples/add-nodes.ndbplan"))
    result = simulate(estimation_of(plan, None), duration_s=600, events=[NodesAdded(at_s=30)])
    begun, ended = (at for at, _ in result.happened)
    assert ended - begun == pytest.approx(reorganise(plan, 1, plan.workloads[0]).duration_s.value, rel=0.01)
    old = {node.node_id for node in plan.data_nodes}
    used = {p.node_id: p.log_used for p in result.parts if p.made_bytes > 0}
    new = set(used) - old
    assert len(new) == 2
    for node_id in new:
        assert used[node_id][: int(begun) - 1].max() == 0
        assert used[node_id][-1] > 0
    disks = {d.host: d.bytes_per_s["redo"] for d in result.disks}
    hosts = [plan.host(n.host_id).hostname for n in plan.data_nodes]
    before = np.mean([disks[h][5:25].mean() for h in hosts])
    after = np.mean([disks[h][int(ended) + 10 :].mean() for h in hosts])
    assert after == pytest.approx(before / 2, rel=0.1)
    grown = reorganise(plan, 1, plan.workloads[0]).plan_after
    share = {node.node_id: node.data_memory_bytes.value for node in memory(grown).nodes}
    for series in result.nodes:
        expected = share[series.node_id]
        if series.node_id in new:
            assert series.memory[-1] == pytest.approx(expected, rel=0.05), "it holds its share of the rows"
        else:
            assert series.memory[-1] > 1.5 * expected, "memory is given back by OPTIMIZE TABLE only"


def test_added_nodes_write_their_share_of_checkpoints() -> None:
    plan = load(resource_path("samples/add-nodes.ndbplan"))
    result = simulate(estimation_of(plan, None), duration_s=2000, events=[NodesAdded(at_s=30)])
    written = [series.lcp_bytes_per_s[-1000:].mean() for series in result.nodes]
    assert min(written) > 0.7 * max(written)


def test_events_of_the_workload_happen_too(calm: Plan) -> None:
    plan = edits.update(calm, EASY, events=(NodeFailure(at_s=5, object_id="ndb3"),))
    result = simulate(estimation_of(plan, EASY), duration_s=20, events=[Burst(at_s=10)])
    assert [at for at, _ in result.happened] == [5.0, 10.0]


def test_late_and_impossible_events(calm: Plan) -> None:
    assert simulate(estimation_of(calm, EASY), duration_s=20, events=[Burst(at_s=100)]).happened == ()
    with pytest.raises(SimulationError, match="not a data node"):
        simulate(estimation_of(calm, EASY), duration_s=20, events=[NodeFailure(at_s=1, object_id="sql49")])
    with pytest.raises(SimulationError, match="no disk"):
        simulate(estimation_of(calm, EASY), duration_s=20, events=[DiskSlow(at_s=1, object_id="ndb3")])
    with pytest.raises(SimulationError, match="one such event"):
        simulate(estimation_of(calm, EASY), duration_s=20, events=[NodesAdded(at_s=1), NodesAdded(at_s=2)])


def test_a_redo_buffer_made_larger_is_the_measure_of_its_fill(overload: Plan) -> None:
    plan = set_parameter(overload, "data_node", "DataMemory", 2**40)
    plan = edits.update(plan, "blobs-5k", load=OpenLoad(points=(RatePoint(at_s=0, rate_per_s=8000),)))
    change = ParameterChange(at_s=30, name="RedoBuffer", value=128 * MIB)
    result = simulate(estimation_of(plan, "blobs-5k"), duration_s=600, events=[change])
    changed = [part for part in result.parts if part.node_id == 3]
    assert {part.buffer_bytes for part in changed} == {128 * MIB}
    assert 0.5 < max(part.fill_max for part in changed) <= 1


def test_a_mirror_goes_on_without_one_device_and_not_without_two(calm: Plan) -> None:
    plan = put_level(calm, "data1-c0d1", "1")
    lost = DeviceFailure(at_s=20, object_id="data1-c0d1")
    result = simulate(
        estimation_of(plan, EASY), duration_s=60, events=[lost, lost.model_copy(update={"at_s": 40})]
    )
    written = disk_of(result, "data1-c0d1")
    assert written[22:39].min() > 1e6
    assert written[41:].max() == 0
    assert [(slow.from_s, slow.factor) for slow in result.slowed] == [(20, 0.5), (40, 0.0)]
    assert "device 2 of 2 of data1 c0d1 fails: all of it is gone" in [text for _at, text in result.happened]


def test_a_device_that_is_replaced_is_filled_and_the_disk_whole_again(calm: Plan) -> None:
    plan = put_level(calm, "data1-c0d1", "1")
    disk = plan.by_id["data1-c0d1"]
    five_s = round(0.3 * 5 * disk.sequential_write_bytes_per_s)
    plan = edits.update(plan, disk.id, capacity_bytes=five_s)
    event = DeviceFailure(at_s=20, object_id=disk.id, back_after_s=10)
    session = Session(Course(estimation_of(plan, EASY), (event,), 0.1, 1).story(60.0))
    speeds = []
    for at_s in (10, 25, 32, 40):
        session.advance(at_s - session.now_s)
        law = session.simulation.laws.disks[session.simulation.disk(disk.id)]
        speeds.append((law.write_bytes_per_s, law.read_iops))
    whole_write, whole_read = speeds[0]
    assert [(w / whole_write, r / whole_read) for w, r in speeds] == [
        pytest.approx(pair) for pair in ((1, 1), (1, 0.5), (0.7, 0.35), (1, 1))
    ]
