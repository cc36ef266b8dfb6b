"""Predictions for the published articles, from the sample plans that describe their experiments."""

from __future__ import annotations

from functools import cache

from ndbplan.base.resources import resource_path
from ndbplan.estimate.backup import create_file
from ndbplan.estimate.checkpoint import checkpoint, speed_limits
from ndbplan.estimate.cpu import cpu
from ndbplan.estimate.disk_data import disk_data
from ndbplan.estimate.disks import disk_demand
from ndbplan.estimate.node_data import node_data
from ndbplan.estimate.procedure import add_nodes
from ndbplan.estimate.redo import redo
from ndbplan.estimate.restart import Conditions, restart
from ndbplan.plan import edits
from ndbplan.plan.file import load
from ndbplan.plan.hardware import Disk, Host
from ndbplan.plan.plan import Calibration, ClusterParameters, Plan
from ndbplan.plan.processes import DataNode
from ndbplan.plan.tables import Column, Index, Table
from ndbplan.plan.workloads import OpenLoad, Operation, OperationKind, RatePoint, Transaction, Workload
from reality.facts import Fact

_MEASURED_BYTES_PER_S = 115_196 * 1024
_MEASURED_UTILISATION = 0.953
_WRITE_FACTOR = 2.1


@cache
def sample(name: str) -> Plan:
    """A sample plan of the program."""
    return load(resource_path(f"samples/{name}.ndbplan"))


def without_counts(table: Table) -> Table:
    """The table without the rows that were counted in its partitions."""
    return edits.changed(table, partition_rows=())


@cache
def _overloaded() -> Plan:
    """The sample redo-overload with its disk as fast as it was seen and the write factor its figures ask."""
    plan = sample("redo-overload")
    for disk_id in plan.host_of_disk:
        plan = edits.update(
            plan, disk_id, sequential_write_bytes_per_s=_MEASURED_BYTES_PER_S / _MEASURED_UTILISATION
        )
    plan = edits.set_parameter(plan, "data_node", "DiskCheckpointSpeed", 10 * 2**20)
    factor = Calibration(constant="device_write_factor", value=_WRITE_FACTOR, source="article redo-overload")
    return plan.replace(calibrations=(factor,))


def redo_overload(fact: Fact) -> float:
    """Device bytes, utilisation and the transactions that the device can take."""
    plan = _overloaded()
    workload = plan.workload("2 x 5120 B, 4320 tx/s")
    busiest = disk_demand(plan, workload).busiest
    assert busiest is not None
    written = busiest.write_bytes_per_s.value
    if fact.unit == "KiB/s":
        return written / 1024
    if fact.unit == "percent":
        return 100 * busiest.utilisation.value
    if fact.unit == "bytes/tx":
        return written / 4320
    log = redo(plan, workload).nodes[0].device_bytes_per_s.value
    lcp = checkpoint(plan, workload).nodes[0].write_bytes_per_s.value
    return 4320 * (_MEASURED_BYTES_PER_S - lcp) / log


def thread_cpu(fact: Fact) -> float:
    """Per cent of a core: thread 0 polls the network, 1 coordinates, the others are LDM threads."""
    plan = sample("redo-overload")
    node = cpu(plan, plan.workload("2 x 5120 B, 4320 tx/s")).nodes[0]
    which = {0: node.receive_utilisation, 1: node.other_utilisation}
    return 100 * which.get(fact.inputs["thread_index"], node.ldm_utilisation).value


def time_to_410(fact: Fact) -> float:
    """Seconds until the log of a growing table overflows: a reader's report."""
    columns = (
        Column(name="id", type="int", unsigned=True, nullable=False),
        Column(name="bsid", type="bigint", unsigned=True, nullable=False),
        Column(name="date", type="char", length=8, nullable=False),
        Column(name="time", type="char", length=12, nullable=False),
        Column(name="price", type="float", unsigned=True, nullable=False),
        Column(name="size", type="mediumint", unsigned=True, nullable=False),
        Column(name="code", type="char", length=1, nullable=False),
    )
    table = Table(
        id="trades", database="TickStore", name="trades", columns=columns, primary_key=("id",),
        indexes=(Index(name="Index_2", columns=("bsid", "date", "time")),),
    )  # fmt: skip
    disk = Disk(
        id="d", name="d", kind="hdd", capacity_bytes=10**12, sequential_read_bytes_per_s=1e8,
        sequential_write_bytes_per_s=1e8, random_read_iops=150, random_write_iops=150,
    )  # fmt: skip
    host = Host(id="h", hostname="h", cores=16, memory_bytes=48 * 2**30, disks=(disk,))
    insert = Transaction(name="insert", operations=(Operation(table_id="trades", kind=OperationKind.INSERT),))
    rate = RatePoint(at_s=0, rate_per_s=fact.inputs["insert_rate_per_s"])
    workload = Workload(id="w", name="w", transactions=(insert,), load=OpenLoad(points=(rate,)))
    parameters = {
        "NoOfReplicas": 1,
        "DataMemory": 38000 * 2**20,
        "NoOfFragmentLogFiles": fact.inputs["no_of_fragment_log_files"],
        "FragmentLogFileSize": 16 * 2**20,
        # Four threads are assumed: one log part alone would have overflowed within minutes.
        "MaxNoOfExecutionThreads": 8,
    }
    plan = Plan(
        ndb_version="7.1",
        hosts=(host,),
        processes=(DataNode(id="n", node_id=2, host_id="h"),),
        parameters=ClusterParameters(data_node=parameters),
        tables=(table,),
        workloads=(workload,),
    )
    overflow = checkpoint(plan, workload).nodes[0].overflow_after_s
    assert overflow is not None
    return overflow.value


def restart_2009(fact: Fact) -> float:
    """Node restart and initial node restart of 6 GB, and the effect of traffic before and after 7.0.9b."""
    plan = sample("node-restart")
    normal = restart(plan, "node").duration_s.value
    initial = restart(plan, "initial").duration_s.value
    if fact.id == "s001-inr-over-nr":
        return initial / normal
    if fact.id == "s001-speedup-traffic":
        traffic = Conditions(workload=plan.workloads[0])
        before = edits.set_plan(plan, ndb_version="7.0.8")
        slow = restart(before, "node", conditions=traffic).duration_s.value
        return slow / restart(plan, "node", conditions=traffic).duration_s.value
    return initial if "-inr-" in fact.id else normal


def disk_data_times(fact: Fact) -> float:
    """The first start of a cluster with 40 GB of redo log, and the creation of an undo and a data file."""
    plan = sample("disk-data")
    if fact.id == "s002-initial-start":
        return restart(plan, "start").duration_s.value
    disk = plan.host(plan.data_nodes[0].host_id).disks[0]
    return create_file(plan, disk, fact.inputs["file_mib"] * 2**20).value


def add_node_script(fact: Fact) -> float:
    """Management nodes, rolling restart, SQL nodes, new nodes, CREATE NODEGROUP: what the script did."""
    left_out = ("config", "reorg", "optim", "verify")
    steps = add_nodes(sample("add-nodes")).steps
    return sum(s.duration_s.value for s in steps if not s.key.startswith(left_out))


def random_reads(fact: Fact) -> float:
    """Reads per second of rows on disk when each disk is as busy as it was seen."""
    plan = sample("disk-data")
    workload = plan.workload("Random reads, 20 threads")
    disk = next(iter(plan.data_nodes))
    iops = plan.host(disk.host_id).disks[0].random_read_iops
    miss = 1 - disk_data(plan, workload).nodes[0].hit_ratio.value
    measured = 1290.42
    per_s = 0.9 * iops / miss * len(plan.data_nodes)
    return {
        "s002-read-qps": per_s,
        "s002-read-latency": 1000 * 20 / per_s,
        "s002-disk-miss-iops": measured / len(plan.data_nodes) * miss,
        "s002-read-disk-util": 100 * measured / len(plan.data_nodes) * miss / iops,
    }[fact.id]


_PHASES = {
    "s004-touch-memory": "allocate memory",
    "s004-early-phases": "start permission and metadata",
    "s004-restore": "restore from local checkpoint",
    "s004-redo-apply": "execute redo log",
    "s004-index-rebuild": "rebuild ordered indexes",
    "s004-copy-fragment": "copy fragments",
    "s004-wait-lcp": "wait for local checkpoint",
    "s004-wait-subscriptions": "wait for subscriptions",
}


def terabyte(fact: Fact) -> float:
    """Phases and total of a node restart of 600 GB, and the projection to 24 LDM threads."""
    plan = sample("terabyte-load")
    estimate = restart(plan, "node")
    if fact.id in _PHASES:
        return next(p for p in estimate.phases if p.name == _PHASES[fact.id]).duration_s.value
    faster = restart(plan, "node", conditions=Conditions(ldm_threads=24)).duration_s.value
    return {
        "s004-total": estimate.duration_s.value,
        "s004-total-24ldm": faster,
        "s004-total-24ldm-saving": estimate.duration_s.value - faster,
    }[fact.id]


def load_rate(fact: Fact) -> float:
    """Warehouses per second that checkpoints keep up with, at the highest speed redo control may set."""
    plan = sample("terabyte-load")
    node = plan.data_nodes[0]
    warehouse = node_data(plan)[0].checkpoint_bytes / fact.inputs["warehouses"]
    factor = 1 + 0.40 / 0.60
    return speed_limits(plan, node).own_restart / factor / warehouse
