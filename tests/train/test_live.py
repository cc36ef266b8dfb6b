"""The live cluster: who survives, what its processes know, and that going back and trying again agrees."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterable
from itertools import chain, combinations

import pytest

from ndbplan.configuration.directories import disk_for
from ndbplan.configuration.settings import no_of_replicas, node_settings
from ndbplan.edits.assign import assign
from ndbplan.edits.parameters import set_parameter
from ndbplan.estimate.loaded import node_loads
from ndbplan.ndb.ndbinfo import restart_told
from ndbplan.ndb.survival import fail
from ndbplan.plan.events import (
    Burst,
    DiskFull,
    DiskSlow,
    HostFailure,
    NetworkCut,
    NetworkSlow,
    ParameterChange,
)
from ndbplan.plan.plan import Plan
from ndbplan.plan.processes import DiskRole
from ndbplan.plan.samples import sample_plan
from ndbplan.simulate.events.full_disks import FreeDisk
from ndbplan.simulate.events.handlers import Order
from ndbplan.simulate.events.orders import Kill, Restore, Resume, SetLoad
from ndbplan.simulate.world.indices import Part
from ndbplan.train import world
from ndbplan.train.backups import AskBackup, AskNoBackup
from ndbplan.train.consoles import Consoles
from ndbplan.train.live import LiveCluster
from ndbplan.train.orders import CreateGroup, EnterSingleUser, ExitSingleUser, SetLevel
from ndbplan.train.quantities import value
from ndbplan.train.quiet_memory import QuietMemory
from ndbplan.train.schema import Wrote
from ndbplan.train.starts import StartNode, StartProcess
from ndbplan.train.state import NodeState, Status
from ndbplan.train.stops import StopCluster, StopNodes, StopServer

from .conftest import two_by_two

NODES = (3, 4, 5, 6)
SERVER = 1


def statuses(cluster: LiveCluster) -> dict[int, str]:
    return {i: node.status.value for i, node in cluster.state.nodes.items()}


def process_id(cluster: LiveCluster, node_id: int) -> str:
    process = cluster.state.process(node_id)
    assert process is not None
    return process.id


def kill(cluster: LiveCluster, node_ids: Iterable[int], *, hangs: bool = False) -> None:
    for node_id in node_ids:
        assert cluster.act(Kill(process_id(cluster, node_id), hangs=hangs)) is None


def subsets(ids: tuple[int, ...]) -> list[tuple[int, ...]]:
    return list(chain.from_iterable(combinations(ids, size) for size in range(1, len(ids) + 1)))


def follow(cluster: LiveCluster, seconds: float) -> set[int]:
    cluster.advance(seconds)
    return set(cluster.state.alive())


@pytest.mark.parametrize("version", ["7.4.10", "8.4.8"])
@pytest.mark.parametrize("hangs", [False, True])
def test_whoever_is_lost_the_rest_does_as_the_survival_function_says(
    begun: Callable[[str], LiveCluster], version: str, hangs: bool
) -> None:
    base = begun(version)
    outage = base.session.simulation.outage
    for dead in subsets((SERVER, *NODES)):
        cluster = base.branch()
        kill(cluster, dead, hangs=hangs)
        sides = fail(outage.failures.cluster, outage.running, dead)
        expected = set().union(*(side.up for side in sides))
        # Silent nodes are noticed one after the other.
        assert follow(cluster, 30.0 * len(dead) + 10.0 if hangs else 10.0) == expected, dead


@pytest.mark.parametrize("side", [one for one in subsets((SERVER, *NODES)) if len(one) < 5])
def test_and_so_it_does_when_the_network_is_cut(
    begun: Callable[[str], LiveCluster], side: tuple[int, ...]
) -> None:
    cluster = begun("8.4.8")
    outage = cluster.session.simulation.outage
    sides = fail(
        outage.failures.cluster, outage.running, sides=(side, [i for i in (SERVER, *NODES) if i not in side])
    )
    expected = set().union(*(one.up for one in sides))
    hosts = tuple(cluster.state.process(i).host_id for i in side)  # type: ignore[union-attr]
    assert cluster.act(NetworkCut(at_s=0, object_ids=hosts)) is None
    assert follow(cluster, 120.0) == expected


def test_a_rolling_restart_waits_until_it_is_known_who_is_lost_and_is_refused_where_it_would_stop(
    begun: Callable[[str], LiveCluster],
) -> None:
    cluster = LiveCluster.begin(sample_plan("redo-overload-8.4"), hours=0.5)
    cluster.advance(10.0)
    Consoles(cluster).answer("app1$ ndb_mgm -e '145 restart'")
    assert cluster.act(ParameterChange(at_s=0, name="RedoBuffer", value="96M")) is None
    world.do("until rolling < 1 within 20min", cluster)
    assert node_settings(cluster.plan).number("RedoBuffer") == 96 * 2**20
    for lost in NODES:
        half = begun("8.4.8")
        kill(half, [lost])
        half.advance(10.0)
        refused = half.act(ParameterChange(at_s=0, name="RedoBuffer", value="64M"))
        assert refused is not None
        assert "not stopped for RedoBuffer, the cluster would not survive it" in refused.text
    kill(half, half.state.alive())
    half.advance(10.0)
    refused = half.act(ParameterChange(at_s=0, name="RedoBuffer", value="64M"))
    assert refused is not None
    assert "the cluster has stopped" in refused.text


def restarted(cluster: LiveCluster, node_id: int) -> list[tuple[str, int]]:
    """What STATUS shows until a node is started, each once."""
    seen: list[tuple[str, int]] = []
    assert cluster.advance_until(lambda c: _seen(c.state.nodes[node_id], seen), 600.0, 0.5)
    return seen


def _seen(node: NodeState, seen: list[tuple[str, int]]) -> bool:
    if seen[-1:] != [(node.status.value, node.phase)]:
        seen.append((node.status.value, node.phase))
    return node.status is Status.STARTED


def test_a_killed_node_is_started_through_its_phases(cluster: LiveCluster) -> None:
    kill(cluster, [6])
    cluster.advance(2.0)
    assert statuses(cluster)[6] == "not connected"
    cluster.act(StartProcess(6))
    seen = restarted(cluster, 6)
    assert [phase for status, phase in seen if status == "starting"] == [0, 4, 8, 100]
    assert cluster.state.joined == {3: 1, 4: 2, 5: 3, 6: 4}
    text = cluster.log_text()
    assert "INFO     -- Node 6: Started (mysql-8.4.8 ndb-8.4.8)" in text
    assert "ALERT    -- Node 3: Arbitration check won - node group majority" in text
    assert "NR Status: node=6,OLD=Node failure handling complete,NEW=Allocated node id" in text


def test_a_stop_takes_a_while_and_a_restart_brings_the_node_back(cluster: LiveCluster) -> None:
    cluster.act(StopNodes((4,)))
    cluster.advance(1.0)
    assert statuses(cluster)[4] == "shutting down"
    cluster.advance(30.0)
    assert statuses(cluster)[4] == "not connected"
    other = cluster.branch()
    cluster.act(StopNodes((5,), then="wait"))
    cluster.advance(30.0)
    assert statuses(cluster)[5] == "not started"
    cluster.act(StartNode(5))
    assert restarted(cluster, 5)[-1] == ("started", 0)
    other.act(StopNodes((5,), then="start", abort=True))
    other.advance(0.5)
    assert statuses(other)[5] == "not connected"
    assert restarted(other, 5)[-1] == ("started", 0)
    # A stop in order costs no transaction; a node that is aborted may.
    assert not [error for error in cluster.result().errors if error.code == 4010]


def test_the_last_node_of_a_group_that_stops_takes_the_cluster_with_it(cluster: LiveCluster) -> None:
    cluster.act(StopNodes((3,), abort=True))
    cluster.advance(1.0)
    cluster.act(StopNodes((4,)))
    cluster.advance(30.0)
    assert set(statuses(cluster).values()) == {"not connected"}
    assert cluster.log_text().count("Caused by error 2305") == 2
    assert cluster.moment().stopped


def test_a_cluster_that_is_down_starts_when_all_are_there_or_one_is_waited_for_long_enough(
    cluster: LiveCluster,
) -> None:
    cluster.act(StopCluster())
    cluster.advance(20.0)
    assert set(statuses(cluster).values()) == {"not connected"}
    assert cluster.moment().accepted_per_s == 0
    for node_id in (3, 4, 5):
        cluster.act(StartProcess(node_id))
    cluster.advance(20.0)
    assert {statuses(cluster)[i] for i in (3, 4, 5)} == {"starting"}
    all_there = cluster.branch()
    all_there.act(StartProcess(6))
    for one, up in ((cluster, {3, 4, 5}), (all_there, {3, 4, 5, 6})):
        one.advance(120.0)
        assert set(one.state.alive()) == up
        assert one.moment().accepted_per_s > 0
    assert "[ missing: 6 no-wait:  ]" in cluster.log_text()
    cluster.act(StartProcess(6))
    assert restarted(cluster, 6)[-1] == ("started", 0)


def test_a_node_that_wakes_up_in_time_goes_on_and_one_too_late_ends(cluster: LiveCluster) -> None:
    late = cluster.branch()
    for one, seconds in ((cluster, 5.0), (late, 40.0)):
        kill(one, [6], hangs=True)
        one.advance(seconds)
        one.act(Resume(process_id(one, 6)))
        one.advance(2.0)
    assert set(cluster.state.alive()) == set(NODES)
    assert cluster.moment().accepted_per_s > 0
    assert set(late.state.alive()) == {3, 4, 5}
    assert "Node 6: Forced node shutdown completed. Caused by error 2315" in late.log_text()


def test_while_a_node_is_silent_the_server_drops_it_before_the_cluster_does(cluster: LiveCluster) -> None:
    kill(cluster, [6], hangs=True)
    cluster.advance(7.0)
    assert statuses(cluster)[6] == "not connected"
    assert cluster.moment().stands_still
    cluster.advance(30.0)
    text = cluster.log_text()
    beats = [line for line in text.splitlines() if "missed heartbeat" in line and "Node 6" in line]
    assert [line[-1] for line in beats[:3]] == ["2", "3", "4"]
    assert "Node 1 disconnecting node 6 due to missed heartbeat" in text
    assert "GCP Monitor: GCP_COMMIT lag 10 sec (no max lag)" in text


def test_single_user_mode_is_entered_after_a_while_and_shuts_the_others_out(cluster: LiveCluster) -> None:
    before = cluster.moment().accepted_per_s
    cluster.act(EnterSingleUser(50))
    cluster.advance(1.0)
    assert set(statuses(cluster).values()) == {"shutting down"}
    cluster.advance(10.0)
    assert set(statuses(cluster).values()) == {"single user mode"}
    assert cluster.moment().accepted_per_s < 0.01 * before
    cluster.act(ExitSingleUser())
    cluster.advance(5.0)
    assert set(statuses(cluster).values()) == {"started"}
    assert cluster.moment().accepted_per_s > 0.5 * before


def test_a_backup_ends_by_itself_or_with_a_node(cluster: LiveCluster) -> None:
    other, third = cluster.branch(), cluster.branch()
    for one in (cluster, other, third):
        one.act(AskBackup())
    assert cluster.advance_until(lambda c: bool(c.state.backups), 600.0, 1.0)
    assert "Backup 1 started from node 1 completed. StartGCP: " in cluster.log_text()
    other.advance(1.0)
    kill(other, [4])
    other.advance(2.0)
    assert "Backup 1 started from 1 has been aborted. Error: 1326" in other.log_text()
    third.act(AskNoBackup(1))
    assert "has been aborted. Error: 1321" in third.log_text()
    cluster.act(AskBackup(1))
    assert "has been aborted. Error: 1350" in cluster.log_text()


def test_a_backup_logs_each_change_made_meanwhile_once(cluster: LiveCluster) -> None:
    quiet = cluster.branch()
    quiet.act(SetLoad(0.0))
    quiet.advance(5.0)
    counted = []
    for one in (cluster, quiet):
        began_s = one.now_s
        one.act(AskBackup())
        assert one.advance_until(lambda c: bool(c.state.backups), 600.0, 1.0)
        lasted_s = one.now_s - began_s
        found = re.search(r"#LogRecords: ([0-9]+) Data: [0-9]+ bytes Log: ([0-9]+) bytes", one.log_text())
        assert found is not None, one.log_text()[-400:]
        counted.append((int(found[1]) / lasted_s, int(found[2])))
    plan = cluster.plan
    loads = node_loads(plan, plan.workloads[0])
    per_s = sum(load.writes_per_s for load in loads) / no_of_replicas(plan)
    assert counted[0][0] == pytest.approx(per_s, rel=0.3)
    assert counted[0][1] > 0
    assert counted[1] == (0, 0)


def drawn(rng: random.Random, cluster: LiveCluster) -> object:
    node_id = rng.choice(NODES)
    host = cluster.state.process(node_id).host_id  # type: ignore[union-attr]
    disk = cluster.plan.host(host).disks[0].id
    acts: list[object] = [
        Kill(process_id(cluster, node_id)),
        Kill(process_id(cluster, node_id), hangs=True),
        Resume(process_id(cluster, node_id)),
        StartProcess(node_id, initial=rng.random() < 0.2, waits=rng.random() < 0.3),
        StartNode(node_id),
        StopNodes((node_id,), abort=rng.random() < 0.5, then=rng.choice(["", "start", "wait"])),
        StopCluster(then=rng.choice(["", "start", "wait"])),
        StopServer(SERVER, then=rng.choice(["", "start"])),
        AskBackup(),
        AskNoBackup(1),
        EnterSingleUser(49),
        ExitSingleUser(),
        SetLevel(0, "CHECKPOINT", 15),
        CreateGroup(()),
        HostFailure(at_s=0, object_id=host, back_after_s=rng.choice([None, 30.0])),
        NetworkCut(at_s=0, object_ids=(host,), back_after_s=rng.choice([None, 20.0])),
        NetworkSlow(at_s=0, object_ids=(host,), factor=1e-4, duration_s=rng.choice([0.0, 20.0])),
        Restore(host),
        Restore(),
        DiskSlow(at_s=0, object_id=disk, factor=0.3, duration_s=20),
        DiskFull(at_s=0, object_id=disk, duration_s=rng.choice([0.0, 15.0])),
        FreeDisk(disk),
        Wrote("blobs_5k", rng.choice([-3, 40]), 50_000.0),
        Burst(at_s=0, factor=2, duration_s=10),
    ]
    return rng.choice(acts)


def known(cluster: LiveCluster) -> tuple[object, ...]:
    state, result = cluster.state, cluster.result()
    return (
        cluster.log_text(), state.node_logs, state.nodes, state.groups, state.joined, state.backup,
        state.gci, state.servers, state.clients, result.to_csv(), result.events,
    )  # fmt: skip


@pytest.mark.parametrize("seed", range(6))
def test_going_back_and_doing_the_same_again_gives_the_same_to_the_byte(
    begun: Callable[[str], LiveCluster], seed: int
) -> None:
    rng = random.Random(seed)
    cluster = begun("8.4.8")
    for _ in range(14):
        cluster.act(drawn(rng, cluster))  # type: ignore[arg-type]
        cluster.advance(rng.choice([0.1, 1.0, 3.7, 12.0, 40.0]))
    story, end_s, whole = cluster.history, cluster.now_s, known(cluster)
    back_s = rng.uniform(0.0, end_s)
    again = cluster.branch()
    again.rewind(back_s)
    for act in story:
        if act.at_s >= again.now_s - 1e-9 and act.at_s >= round(back_s, 1) - 1e-9:
            again.advance(act.at_s - again.now_s)
            again.act(act.event)
    again.advance(end_s - again.now_s)
    assert known(again) == whole
    assert known(cluster) == whole, "what goes on apart leaves this one alone"
    assert any(isinstance(act.event, Order) for act in story)


def test_files_move_to_another_disk_with_initial_restarts_and_what_was_set_before_stays(
    cluster: LiveCluster,
) -> None:
    world.do("load x0.1", cluster)
    world.do("set RedoBuffer=64M", cluster)
    # Those whose turn it is were told to stop: their processes are gone until they start again.
    told = [i for i in NODES if cluster.state.nodes[i].status is Status.NOT_CONNECTED]
    assert told
    assert [i for i in NODES if not cluster.state.nodes[i].runs] == told
    world.do("until rolling < 1 within 20min", cluster)
    world.do("move lcp to c0d0", cluster)
    refused = cluster.act(ParameterChange(at_s=0, name="RedoBuffer", value="32M"))
    assert refused is not None
    assert "a rolling restart is under way" in refused.text
    world.do("until rolling < 1 within 30min", cluster)
    sim = cluster.session.simulation
    names = [one.disks[0].name for one in sim.scenario.disk_classes]
    for place in sim.laws.places:
        assert (names[place.redo_disk], names[place.lcp_disk]) == ("c0d1", "c0d0")
    assert value("setting:RedoBuffer", sim) == 64 * 2**20
    limits = {float(node.buffer_limit_bytes) for node in sim.laws.nodes}
    assert all(60e6 < limit < 68e6 for limit in limits)
    assert "initial node restart" in cluster.log_text()
    begin = sim.step // int(sim.laws.run.steps_per_bucket) + 1
    cluster.advance(60)
    written = sim.history.disk[begin:].sum(axis=0)
    for d, name in enumerate(names):
        assert (written[d] > 0).tolist() == [name == "c0d1", name == "c0d0", False, False, False]
    assert {
        disk.id for node in cluster.plan.data_nodes for disk in [disk_for(cluster.plan, node, DiskRole.LCP)]
        if disk is not None
    } == {host.disks[0].id for host in cluster.plan.hosts if host.hostname.startswith("data")}  # fmt: skip


def test_a_checkpoint_ends_when_the_last_node_that_writes_it_dies(cluster: LiveCluster) -> None:
    """Else the redo log is never freed again."""
    for node_id in NODES:
        state = cluster.branch()
        one = state.session.simulation
        one.state.cluster.lcp_writes = True
        n = one.node(process_id(state, node_id))
        for m in range(len(one.laws.nodes)):
            one.state.node_state[m].lcp_left_bytes = 5e8 if m == n else 0.0
            one.state.node_state[m].lcp_fragments_left = 0.0
        number = int(one.state.cluster.lcp_number)
        kill(state, [node_id])
        state.advance(60)
        assert int(one.state.cluster.lcp_number) > number, node_id


def test_a_stalled_disk_is_told_of_and_the_node_that_it_stopped_can_be_started(
    begun: Callable[[str], LiveCluster],
) -> None:
    """With TimeBetweenEpochsTimeout; without it all wait, and the log says that there is no limit."""
    limited = begun("8.4.8").branch()
    world.do("set TimeBetweenEpochsTimeout=4000", limited)
    world.do("until rolling < 1 within 20min", limited)
    unlimited = begun("8.4.8")
    for one, words in ((limited, "(max lag "), (unlimited, "(no max lag)")):
        world.do("slow disk:data2/redo 0.1% for 5min", one)
        gci = one.state.gci
        one.advance(40)
        assert words in one.log_text()
        assert "GCP Monitor: GCP_SAVE lag 20 sec" in one.log_text()
        assert one.state.gci - gci < 10
        one.advance(400)
    assert set(unlimited.state.alive()) == set(NODES)
    assert set(limited.state.alive()) == {3, 5, 6}
    assert "Caused by error 2303" in limited.log_text()
    limited.act(StartProcess(4))
    assert restarted(limited, 4)[-1] == ("started", 0)


def full(cluster: LiveCluster, role: str, seconds: float = 40.0) -> LiveCluster:
    """A branch, so long after the disk of a role on data1 was filled up."""
    branch = cluster.branch()
    world.do(f"fill disk:data1/{role}", branch)
    branch.advance(seconds)
    return branch


def test_on_a_full_disk_what_needs_room_ends_and_what_has_its_room_goes_on(cluster: LiveCluster) -> None:
    """A log that was written once has its room; one with holes needs more, and so does a backup."""
    assert set(full(cluster, "redo").state.alive()) == {4, 5, 6}
    node = cluster.plan.data_nodes[0]
    plan = assign(cluster.plan, f"processes[{node.id}].disk_roles.lcp=data1-c0d0")[0]
    holes, whole = (
        LiveCluster.begin(assign(plan, f"parameters.data_node.InitFragmentLogFiles={stated}")[0], hours=0.1)
        for stated in ("SPARSE", "FULL")
    )
    assert set(full(holes, "redo", 2.0).state.alive()) == {4, 5, 6}
    assert any("no room for redo log" in text for _, text in full(holes, "redo", 2.0).result().happened)
    whole.act(AskBackup())
    whole = full(whole, "backup")
    assert set(whole.state.alive()) == set(NODES)
    assert "Backup 1 started from 1 has been aborted. Error: 2810" in whole.log_text()


def test_a_node_that_ended_on_a_full_disk_starts_only_when_there_is_room(cluster: LiveCluster) -> None:
    ended = full(cluster, "lcp", 60.0)
    assert set(ended.state.alive()) == {4, 5, 6}
    told = "Caused by error 2810: 'The file system is full(File system full). Permanent error"
    assert told in ended.log_text()
    ended.act(StartProcess(3))
    freed = ended.branch()
    for one, up in ((ended, {4, 5, 6}), (freed, set(NODES))):
        if one is freed:
            world.do("free disk:data1/lcp", one)
        one.advance(300)
        assert set(one.state.alive()) == up


def test_a_server_whose_disk_is_full_has_no_line_of_that_time_in_its_log(cluster: LiveCluster) -> None:
    plan = cluster.plan
    server = plan.management_nodes[0]
    host = plan.host(server.host_id)
    moved = LiveCluster.begin(
        assign(plan, f"processes[{server.id}].parameters.DataDir={host.disks[0].mount_point}/mgm")[0],
        hours=0.1,
    )
    world.do(f"fill disk:{host.hostname}/{host.disks[0].name} for 20s", moved)
    kill(moved, [6])
    moved.advance(19)
    words = "Communication to Node 6 closed"
    assert any(line.text == words for line in moved.state.log)
    assert words not in moved.log_text()
    moved.advance(2)
    moved.act(StartProcess(6))
    moved.advance(5)
    assert "Node 6: Start phase 0" in moved.log_text()


def test_a_hot_key_fills_one_log_part_until_it_is_taken_apart() -> None:
    """Its thread is the limit; what is taken apart is the load of the same plan with even keys."""
    hot, even = (_keys(sample_plan("redo-overload-8.4"), choice) for choice in ("power_law", "evenly"))
    cluster, other = (LiveCluster.begin(plan, hours=0.2) for plan in (hot, even))
    cluster.advance(120)
    fill = cluster.session.simulation.state.parts[Part.MADE]
    assert float(fill[0].max()) > 3 * float(fill[0].min())
    assert cluster.moment().accepted_per_s < 0.95 * cluster.plan.workloads[0].load.points[0].rate_per_s  # type: ignore[union-attr]
    world.do("spread", cluster)
    ours, theirs = (one.session.simulation.laws for one in (cluster, other))
    assert ours.load == pytest.approx(theirs.load)
    assert ours.share == pytest.approx(theirs.share)
    assert ours.run.service_per_s == pytest.approx(theirs.run.service_per_s)
    cluster.advance(60)
    assert cluster.moment().accepted_per_s == pytest.approx(4320, rel=0.01)


def _keys(plan: Plan, choice: str) -> Plan:
    address = "workloads[blobs-5k].transactions[insert one row].operations[0]"
    for field in ("kind=update", f"key_choice={choice}", "key_exponent=1.3"):
        plan = assign(plan, f"{address}.{field}")[0]
    return plan


def test_a_value_of_the_file_reaches_nodes_that_start_after_a_server_has_read_it(
    cluster: LiveCluster,
) -> None:
    world.do("load x0.1", cluster)
    world.do("edit RedoBuffer=64M", cluster)
    sim = cluster.session.simulation

    def limits() -> list[int]:
        return [round(float(node.buffer_limit_bytes) / 2**20) for node in sim.laws.nodes]

    before = limits()
    cluster.act(StopNodes((3,), then="start"))
    world.do("wait 5s", cluster)
    world.do("until nodes_started 4 within 10min", cluster)
    assert limits() == before, "nobody has read the file"
    consoles = Consoles(cluster)
    consoles.answer("ndb_mgm> 1 STOP")
    assert "ndb-8.4.8" in consoles.answer("app1$ ndb_mgmd -f config.ini")
    assert value("config_read", sim) == 0, "started without --reload it has what it had"
    consoles.answer("ndb_mgm> 1 STOP")
    consoles.answer("app1$ ndb_mgmd -f config.ini --reload")
    for count, node_id in enumerate(NODES, start=1):
        cluster.act(StopNodes((node_id,), then="start"))
        world.do("wait 5s", cluster)
        world.do("until nodes_started 4 within 10min", cluster)
        assert value("configured", sim) == count
        assert sum(one != old for one, old in zip(limits(), before, strict=True)) == count
    assert value("setting:RedoBuffer", sim) == 64 * 2**20


def test_files_that_are_made_once_stay_until_an_initial_restart() -> None:
    """Restart type of NoOfFragmentLogFiles: initial node restart (manual)."""
    cluster = LiveCluster.begin(sample_plan("redo-overload-8.4"), hours=1.0)
    consoles, sim = Consoles(cluster), cluster.session.simulation
    for line in ("! load x0.1", "! edit NoOfFragmentLogFiles=12", "ndb_mgm> 145 STOP",
                 "app1$ ndb_mgmd -f config.ini --reload", "! wait 5s"):  # fmt: skip
        consoles.answer(line)
    for count, (node_id, how) in enumerate(((1, ""), (1, " -i"), (2, " -i"))):
        consoles.answer(f"ndb_mgm> {node_id} RESTART{how}")
        world.do("until nodes_started < 2 within 1min", cluster)
        world.do("until nodes_started 2 within 20min", cluster)
        assert value("configured", sim) == count
    assert value("setting:NoOfFragmentLogFiles", sim) == 12


def test_reserved_nodes_get_a_group_and_their_rows_while_clients_are_served() -> None:
    """The article of March 2009: 247.97 s, and 187,000 rows in each partition."""
    cluster = LiveCluster.begin(sample_plan("add-nodes"), hours=0.5, reserved=1)
    consoles = Consoles(cluster)
    alter = "mysql> ALTER ONLINE TABLE test.t1 REORGANIZE PARTITION;"
    assert "(0.00 sec)" in consoles.answer(alter), "nothing is to be moved yet"
    for line in ("computer5$ ndbmtd --initial", "computer6$ ndbmtd --initial"):
        consoles.answer(line)
    world.do("until nodes_started 4 within 20min", cluster)
    assert "(0.00 sec)" in consoles.answer(alter), "they have no group"
    early = cluster.branch()
    assert "\nVersion: 1\n" in consoles.answer("computer5$ ndb_desc -d test t1")
    consoles.answer("ndb_mgm> CREATE NODEGROUP 5,6")
    begin_s = cluster.now_s
    assert "Query OK, 0 rows affected (4 min " in consoles.answer(alter)
    assert cluster.now_s - begin_s == pytest.approx(247.97, rel=0.02)
    desc = consoles.answer("computer5$ ndb_desc -d test t1 -p")
    assert "\nVersion: 16777217\n" in desc, "it was altered online [8.4.8]"
    lines = desc.partition("Per partition info")[2].splitlines()[2:]
    rows = [int(line.split()[1]) for line in lines if "\t" in line]
    assert (len(rows), min(rows) > 185_000, max(rows) < 190_000) == (16, True, True)
    assert cluster.moment().refused_per_s == 0
    kill(cluster, [3, 5])
    cluster.advance(5)
    assert set(cluster.state.alive()) == {4, 6}, "one of each group is enough"
    # Without a group the new ones are no help when both old ones are lost.
    kill(early, [3, 4])
    early.advance(5)
    assert early.moment().stopped
    again = cluster.branch()
    again.rewind(begin_s - 1.0)
    assert value("reorganised", again.session.simulation) == 0.0


def test_who_goes_on_is_settled_before_the_failure_is_handled(begun: Callable[[str], LiveCluster]) -> None:
    """The order of a recorded log: closed, arbitration, then the steps of failure handling; a new master
    takes over in between [8.4.8, 7.4.10]."""
    for version, takes_over in (("8.4.8", False), ("7.4.10", True)):
        cluster = begun(version)
        leader = cluster.state.president
        world.do(f"kill node:{leader}", cluster)
        cluster.advance(1.0)
        lines = [line.split(" -- ", 1)[1] for line in cluster.log_lines() if " -- " in line]
        places = [
            next(at for at, line in enumerate(lines) if words in line)
            for words in ("Communication to Node", "Arbitration check won", "NEW=Node failed, fail handling",
                          "NEW=Node failure handling complete")
        ]  # fmt: skip
        assert places == sorted(places)
        over = [at for at, line in enumerate(lines) if "taking over as DICT master" in line]
        assert bool(over) is takes_over
        assert all(places[2] < at < places[3] for at in over)


@pytest.mark.parametrize("version", ["8.4.8", "7.4.10"])
def test_a_node_restart_is_told_step_by_step_by_all(
    version: str, begun: Callable[[str], LiveCluster]
) -> None:
    """The steps of a recorded log: those of the master without a gap, and those that the others see."""
    cluster = begun(version)
    world.do("kill node:6", cluster)
    cluster.advance(5.0)
    cluster.act(StartProcess(6))
    restarted(cluster, 6)
    told = re.findall(
        r"Node (\d): NR Status: node=6,OLD=([^,]+(?:, [^,]+)?),NEW=([^\n]+)", cluster.log_text()
    )
    master, others = restart_told()
    for node, steps in (("3", master), ("4", others[1:]), ("5", others[1:])):
        own = [(old, new) for teller, old, new in told if teller == node]
        begin = next(at for at, (_, new) in enumerate(own) if new == steps[0])
        assert [new for _, new in own[begin:]] == list(steps)
        # What is new of one is old of the next.
        assert [old for old, _ in own[begin + 1 :]] == [new for _, new in own[begin:-1]]


def test_a_plan_without_a_workload_is_a_cluster_to_which_nobody_sends_anything() -> None:
    plan = two_by_two().replace(workloads=(), tables=())
    cluster = LiveCluster.begin(
        plan.replace(processes=tuple(p for p in plan.processes if p not in plan.sql_nodes))
    )
    cluster.advance(60.0)
    assert value("accepted", cluster.session.simulation) == 0.0
    assert cluster.clients == frozenset(), "no program holds an API slot"
    assert LiveCluster.begin(plan).clients == {node.node_id for node in plan.sql_nodes}


_MEMORY_STORY = (
    "! wait 3min", "mysql> create table test.z (id int primary key) engine=ndb", "! wait 1min",
    "mysql> truncate table test.blobs_5k", "! kill node:4", "! wait 30s", "! start node:4", "! wait 4min",
)  # fmt: skip


def test_thresholds_of_memory_are_told_as_if_each_second_was_worked_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    plan = set_parameter(two_by_two("8.4.8"), "data_node", "DataMemory", 1800 * 2**20)

    def told() -> list[str]:
        consoles = Consoles(LiveCluster.begin(plan, hours=0.5))
        for line in _MEMORY_STORY:
            consoles.answer(line)
        lines = consoles.answer("app1$ tail -n 4000 ndb_1_cluster.log").splitlines()
        return [line for line in lines if "Data usage" in line]

    quick = told()
    assert sum("increased to 90%" in line for line in quick) >= 4
    monkeypatch.setattr(QuietMemory, "holds", lambda *_: False)
    assert told() == quick
