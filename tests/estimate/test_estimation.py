from __future__ import annotations

import re
from pathlib import Path

import pytest

import ndbplan.estimate
from ndbplan.base.errors import Cancelled
from ndbplan.base.kept import Kept, keeping
from ndbplan.base.resources import resource_path
from ndbplan.configuration.settings import node_settings
from ndbplan.edits import parts as edits
from ndbplan.edits import validated
from ndbplan.edits.assign import assign
from ndbplan.edits.parameters import set_parameter
from ndbplan.estimate.constants import Constants
from ndbplan.estimate.estimation import Estimation, chosen_workload, parts
from ndbplan.estimate.load.node_settings import NODE_SETTINGS
from ndbplan.estimate.load.transaction_size import size_of
from ndbplan.estimate.loaded import cpu, disk_demand, network, redo
from ndbplan.estimate.narrowed import narrowed
from ndbplan.estimate.space.disk_space import disk_space
from ndbplan.estimate.stored import machines_of, node_data
from ndbplan.estimate.timed import backup
from ndbplan.estimate.times.restart import IDLE
from ndbplan.plan.fields import Point
from ndbplan.plan.file import load
from ndbplan.plan.plan import EMPTY_PLAN, Calibration, Plan
from ndbplan.plan.processes import DiskRole
from ndbplan.plan.samples import sample_names, sample_plan

STARTER = load(resource_path("samples/starter.ndbplan"))
TELECOM = load(resource_path("samples/telecom-144.ndbplan"))


def of_first(plan: Plan) -> Estimation:
    return Estimation(plan, chosen_workload(plan))


def test_all_parts_are_there_and_can_be_asked_for_one_by_one() -> None:
    found = of_first(STARTER)
    shape = found.to_json()
    assert set(shape) == {"workload", *parts()}
    assert shape["workload"] == STARTER.workloads[0].name
    assert set(found.to_json(only=("redo",))) == {"workload", "redo"}
    with pytest.raises(KeyError):
        found.to_json(only=("weather",))


def test_only_what_is_asked_for_is_worked_out() -> None:
    kept = Kept()
    now = Estimation(STARTER, chosen_workload(STARTER), kept=kept)
    assert not len(kept)
    now.to_json(only=("memory",))
    assert set(parts()) & vars(now).keys() == {"memory"}
    assert now.memory is now.memory is Estimation(STARTER, kept=kept).memory


def test_the_chosen_workload_counts() -> None:
    calm = of_first(STARTER)
    busy = calm.under(chosen_workload(STARTER, STARTER.workloads[1].id))
    assert busy.redo.nodes[0].device_bytes_per_s.value > calm.redo.nodes[0].device_bytes_per_s.value
    assert busy.memory is calm.memory
    assert not calm.under(None).redo.nodes
    with pytest.raises(KeyError):
        chosen_workload(STARTER, "nobody")


def test_work_on_the_cluster_is_done_while_the_workload_goes_on() -> None:
    busy = Estimation(STARTER, STARTER.workloads[1])
    idle = busy.under(None)
    assert busy.restart("node").duration_s.value > idle.restart("node").duration_s.value
    assert busy.restart("node", conditions=IDLE).duration_s == idle.restart("node").duration_s
    assert busy.backup().nodes[0].log_bytes.value > idle.backup().nodes[0].log_bytes.value
    assert busy.reorganise().duration_s.value > idle.reorganise().duration_s.value
    assert busy.restore() is idle.restore()


def test_another_plan_is_estimated_under_the_same_workload() -> None:
    now = of_first(STARTER)
    larger = edits.update(STARTER, STARTER.tables[0].id, rows=2 * STARTER.tables[0].rows)
    then = now.of(larger)
    assert then.workload is now.workload
    assert then.memory.cluster_bytes.value > now.memory.cluster_bytes.value
    assert now.of(STARTER).memory is now.memory


def test_constants_can_be_others() -> None:
    """Of calibration and of a drawn world: whatever an estimate takes from them follows."""
    now = of_first(STARTER)
    name = "network_usable"
    half = Constants((Calibration(constant=name, value=now.constants[name].value / 2, source="test"),))
    slower = Estimation(STARTER, now.workload, kept=now.kept, constants=half)
    busy, calm = (max(h.utilisation.value for h in one.network.hosts) for one in (slower, now))
    assert busy == pytest.approx(2 * calm)
    assert slower.plan is Estimation(STARTER, kept=now.kept, constants=half).plan


def test_an_empty_plan_has_empty_estimates() -> None:
    found = of_first(EMPTY_PLAN)
    assert found.workload is None
    assert not found.distribution
    assert not found.settings
    assert not found.disks.disks
    assert found.redo.time_to_full_s is None


def test_it_stops_when_told_to() -> None:
    asked = 0

    def cancelled() -> bool:
        nonlocal asked
        asked += 1
        return asked > 3

    with pytest.raises(Cancelled):
        of_first(STARTER).work_out(cancelled)
    assert asked == 4


def test_dragging_a_host_keeps_the_figures_of_the_nodes() -> None:
    before = of_first(TELECOM)
    after = before.of(edits.move(TELECOM, {TELECOM.hosts[7].id: Point(x=5, y=7)}))
    assert all(a is b for a, b in zip(before.redo.nodes, after.redo.nodes, strict=True))
    assert all(a is b for a, b in zip(before.checkpoint.nodes, after.checkpoint.nodes, strict=True))
    assert all(a is b for a, b in zip(before.disks.disks, after.disks.disks, strict=True))


def test_more_memory_in_hosts_keeps_what_does_not_read_it() -> None:
    plan = sample_plan("disk-data-8.4")
    with keeping():
        now = Estimation(plan, plan.workloads[0])
        more = now.of(assign(plan, "hosts[*].memory=1TiB")[0])
        assert more.machines.nodes[0].host.memory_bytes == 2**40
        for part in ("redo", "checkpoint", "disks", "disk_space", "network"):
            assert getattr(more, part) is getattr(now, part), part
        assert more.cpu.nodes is now.cpu.nodes
        with pytest.raises(AttributeError):
            _ = narrowed(now.machines).nodes[0].host.memory_bytes


def test_figures_follow_a_parameter_that_they_read() -> None:
    faster = set_parameter(TELECOM, "data_node", "NoOfFragmentLogFiles", 32)
    assert of_first(faster).redo.log_bytes_per_part == 2 * of_first(TELECOM).redo.log_bytes_per_part
    other = set_parameter(TELECOM, "data_node", "RedoBuffer", 2**27)
    used, same, changed = (node_settings(plan).only(NODE_SETTINGS) for plan in (TELECOM, other, faster))
    assert used is same
    assert used is not changed


def test_settings_hold_every_parameter_that_figures_of_nodes_read() -> None:
    folder = Path(ndbplan.estimate.__file__).parent
    read = set()
    for name in (
        "redo",
        "checkpoint",
        "checkpoint_speed",
        "partial_checkpoint",
        "turns",
        "disk_data",
        "disks",
        "cpu",
        "processors",
        "backup",
        "backup_sites",
    ):
        code = next(folder.rglob(f"{name}.py")).read_text(encoding="utf-8")
        read |= set(re.findall(r'\.number\(\s*"(\w+)"', code))
        read |= {"Diskless"} if "is_diskless(" in code else set()
    # Of a backup log that is too small is told for the plan itself.
    # replicas_of reads NoOfReplicas.
    assert read - {"BackupLogBufferSize"} | {"NoOfReplicas"} == NODE_SETTINGS


def test_processors_of_a_published_run() -> None:
    plan = load(resource_path("samples/redo-overload.ndbplan"))
    node = cpu(plan, plan.workloads[0]).nodes[0]
    assert node.ldm_utilisation.value == pytest.approx(0.239, rel=0.15)
    assert node.receive_utilisation.value == pytest.approx(0.444, rel=0.15)
    assert node.cores.value == pytest.approx(1.726, rel=0.15)


def test_a_table_without_logging_keeps_threads_busy_all_the_same() -> None:
    plan = sample_plan("redo-overload")
    plain = plan
    for table in plan.tables:
        plain = edits.update(plain, table.id, logging=False)
    for workload in plan.workloads:
        logged, unlogged = (cpu(one, workload).nodes[0] for one in (plan, plain))
        assert redo(plain, workload).time_to_full_s is None
        # Only copying into the log is saved.
        assert 0.5 * logged.ldm_utilisation.value < unlogged.ldm_utilisation.value
        assert unlogged.ldm_utilisation.value < logged.ldm_utilisation.value
        assert unlogged.receive_utilisation.value == logged.receive_utilisation.value


def test_a_blob_that_is_read_is_a_read_of_each_of_its_parts() -> None:
    """Parts lie in a hidden table, and are read by their keys: also those of rows that a scan finds."""
    plan = sample_plan("redo-overload")
    workload = plan.workload("blobs-5k")
    transaction = workload.transactions[0]
    work = {}
    for kind in ("read", "scan"):
        operation = validated.changed(transaction.operations[0], kind=kind)
        asked = edits.update(
            plan, workload.id, transactions=(validated.changed(transaction, operations=(operation,)),)
        )
        size = size_of(plan.tables, asked.workload(workload.id).transactions[0], plan.version)
        assert (size.writes, size.reads) == (0, 7 if kind == "read" else 0)
        work[kind] = cpu(asked, asked.workload(workload.id)).nodes[0].receive_utilisation.value
    # Two blobs of three parts each.
    assert work["scan"] == pytest.approx(work["read"] * 6 / 7)


def test_network_carries_each_write_to_every_replica() -> None:
    found = network(STARTER, STARTER.workloads[0])
    busiest = max(found.hosts, key=lambda h: h.utilisation.value)
    assert 0 < busiest.utilisation.value < 1
    twice = network(STARTER, STARTER.workloads[1])
    assert max(h.utilisation.value for h in twice.hosts) > busiest.utilisation.value
    assert not network(STARTER, None).hosts


@pytest.mark.parametrize("name", sample_names())
def test_a_plan_without_a_data_node_is_estimated_under_its_loads(name: str) -> None:
    plan = sample_plan(name)
    bare = plan.replace(processes=tuple(one for one in plan.processes if one.kind != "data"))
    for workload in bare.workloads:
        assert Estimation(bare, workload).to_json()["checkpoint"] is not None


def test_a_buffer_for_the_log_changes_nothing_of_loads_and_times_but_with_small_log_files() -> None:
    plan = set_parameter(sample_plan("redo-overload"), "data_node", "FragmentLogFileSize", "64M")
    with keeping():
        one, more, much = (
            narrowed(machines_of(set_parameter(plan, "data_node", "RedoBuffer", size)))
            for size in ("16M", "32M", "128M")
        )
        assert one is more
        assert one is not much
        assert not any(machine.small_log_files for machine in one.nodes)
        assert all(machine.small_log_files for machine in much.nodes)


@pytest.mark.parametrize("name", ["disk-data", "telecom-144"])
def test_what_takes_the_time_of_disks_beside_nodes_that_start(name: str) -> None:
    plan = sample_plan(name)
    first, *others = plan.data_nodes
    # Two nodes on one host share its disks.
    plan = edits.update(plan, others[0].id, host_id=first.host_id, disk_roles=first.disk_roles)
    asked = disk_demand(plan, plan.workloads[0])
    for starting in ((), (first.node_id,), (first.node_id, others[0].node_id)):
        taken: dict[str, float] = {}
        for demand in asked.disks:
            for one in demand.streams:
                if one.node_id not in starting:
                    share = one.write_bytes_per_s.value / demand.device.sequential_write_bytes_per_s
                    share += one.random_reads_per_s.value / demand.device.random_read_iops
                    share += one.random_writes_per_s.value / demand.device.random_write_iops
                    taken[demand.disk_id] = taken.get(demand.disk_id, 0.0) + share
        assert asked.busy(starting) == pytest.approx(taken)
        assert taken


def test_another_host_leaves_what_is_known_of_all_others() -> None:
    """Where four variants of a large plan are compared, all that depends on a node is worked out once."""
    plan, load = TELECOM, TELECOM.workloads[0]
    other, _ = assign(plan, f"hosts[{plan.host(plan.data_nodes[0].host_id).hostname}].cores=48")
    with keeping():
        saved, saved_too = (backup(one, load).nodes for one in (plan, other))
        files, files_too = (disk_space(one, load).nodes for one in (plan, other))
        busy, busy_too = (cpu(one, load).nodes for one in (plan, other))
    figures = [(*one.figures, *two.figures) for one, two in zip(saved, saved_too, strict=True)]
    assert sum(all(a is b for a, b in zip(one[:4], one[4:], strict=True)) for one in figures) == 143
    assert sum(one is two for one, two in zip(files, files_too, strict=True)) == 143
    assert sum(one is two for one, two in zip(busy, busy_too, strict=True)) == 143


def test_nodes_that_hold_and_do_the_same_share_the_sizes_of_their_files() -> None:
    with keeping():
        spaces = disk_space(TELECOM, TELECOM.workloads[0]).nodes
        kinds = {id(node.alike) for node in node_data(TELECOM)}
    sizes = {id(file.bytes) for node in spaces for file in node.files if file.role is DiskRole.BACKUP}
    assert len(sizes) <= len(kinds) < len(spaces) / 4
