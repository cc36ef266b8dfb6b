"""The questions behind the facts: each asks a public function of the program about one plan, nothing more."""

from __future__ import annotations

import re
from collections.abc import Callable

from ndbplan.advise.max_load import max_load
from ndbplan.base.quantity import Quantity
from ndbplan.configuration.settings import node_settings
from ndbplan.edits import parts as edits
from ndbplan.estimate.constants import constant_for, constants_of
from ndbplan.estimate.estimation import Estimation
from ndbplan.estimate.grown import reorganise
from ndbplan.estimate.load.redo import log_bytes_per_part
from ndbplan.estimate.loaded import cpu, disk_data, disk_demand, redo
from ndbplan.estimate.stored import memory, node_data
from ndbplan.estimate.timed import restart
from ndbplan.estimate.times.disk_files import create_file as creation_of
from ndbplan.estimate.times.restart import Conditions
from ndbplan.operations.add_nodes import add_nodes
from ndbplan.plan.plan import Plan
from ndbplan.simulate.model.workload import estimation_of
from ndbplan.simulate.run import simulate
from reality.facts import Fact

_OVERLOAD = "2 x 5120 B, 4320 tx/s"


def device(plan: Plan, fact: Fact) -> float:
    """What the busiest device writes: KiB/s, per cent of its speed, or bytes for each transaction."""
    busiest = disk_demand(plan, plan.workload(_OVERLOAD)).busiest
    assert busiest is not None
    written = busiest.write_bytes_per_s.value
    each = {"KiB/s": written / 1024, "percent": 100 * busiest.utilisation.value, "bytes/tx": written / 4320}
    return each[fact.unit]


def device_ceiling(plan: Plan, fact: Fact) -> Quantity:
    """The load at which the device is full, for the minute that the article watched."""
    return max_load(estimation_of(plan, plan.workload(_OVERLOAD).id), duration_s=60.0).max_per_s


def thread_cpu(plan: Plan, fact: Fact) -> Quantity:
    """Per cent of a core: thread 0 polls the network, 1 coordinates, the others are LDM threads."""
    node = cpu(plan, plan.workload(_OVERLOAD)).nodes[0]
    which = {0: node.receive_utilisation, 1: node.other_utilisation}
    found = which.get(fact.inputs["thread_index"], node.ldm_utilisation)
    return Quantity(100 * found.value, 100 * found.low, 100 * found.high, "percent", found.why)


def first_error(plan: Plan, fact: Fact) -> Quantity:
    """Seconds until the first error of the plan's first load."""
    error = simulate(estimation_of(plan), duration_s=7200).first_error
    assert error is not None
    return error.first_at_s


def restart_of_2009(plan: Plan, fact: Fact) -> Quantity:
    """Node restart, or initial node restart."""
    return restart(plan, "initial" if "-inr-" in fact.id else "node").duration_s


def initial_over_normal(plan: Plan, fact: Fact) -> float:
    """How much longer an initial node restart takes."""
    return restart(plan, "initial").duration_s.value / restart(plan, "node").duration_s.value


def speedup_of_7_0_9(plan: Plan, fact: Fact) -> float:
    """How much longer a restart under traffic took with the version before."""
    traffic = Conditions(workload=plan.workloads[0])
    before = edits.set_plan(plan, ndb_version="7.0.8")
    slow = restart(before, "node", conditions=traffic).duration_s.value
    return slow / restart(plan, "node", conditions=traffic).duration_s.value


def first_start(plan: Plan, fact: Fact) -> Quantity:
    """First start of the whole cluster."""
    return restart(plan, "start").duration_s


def create_file(plan: Plan, fact: Fact) -> Quantity:
    """An undo or data file of so many MiB."""
    disk = plan.host(plan.data_nodes[0].host_id).disks[0]
    return creation_of(constants_of(plan), disk, fact.inputs["file_mib"] * 2**20)


def random_reads(plan: Plan, fact: Fact) -> float:
    """Reads a second that the disks take, how busy they are at the measured rate, reads of one disk."""
    workload = plan.workload("Random reads, 20 threads")
    if fact.id == "s002-read-qps":
        # The disks were 90 % busy.
        return 0.9 * max_load(estimation_of(plan, workload.id), duration_s=60.0).max_per_s.value
    node = disk_data(plan, workload).nodes[0]
    iops = node.random_reads_per_s.value
    return iops if fact.id == "s002-disk-miss-iops" else 100 * iops / plan.hosts[0].disks[0].random_read_iops


def reorganise_time(plan: Plan, fact: Fact) -> Quantity:
    """Reorganisation onto one more node group."""
    return reorganise(plan).duration_s


def add_node_script(plan: Plan, fact: Fact) -> float:
    """Management nodes, rolling restart, SQL nodes, new nodes, CREATE NODEGROUP: what the script did."""
    left_out = ("config", "reorg", "optim", "verify")
    timeline = add_nodes(Estimation(plan)).timeline
    return sum(i.duration_s.value for i in timeline if not i.step.key.startswith(left_out))


def fragments(plan: Plan, fact: Fact) -> float:
    """Fragments of the table before or after it is reorganised."""
    change = reorganise(plan).tables[0].redistribution
    return float((change.before if fact.id.endswith("before") else change.after).placement.fragments)


def _partition(plan: Plan, fact: Fact, when: str) -> dict[str, float]:
    match = re.fullmatch(rf"s003-{when}-p(\d+)-(\w+)", fact.id)
    assert match is not None
    after = reorganise(plan).to_json()["tables"][0]["partitions"]
    found = dict(next(p for p in after if p["partition"] == int(match[1])))
    return {**found, "kind": match[2]}  # type: ignore[dict-item]


_OF_JSON = {"rows": "rows", "commits": "commits", "fixed": "fixed_bytes", "var": "var_bytes"}


def partition_after(plan: Plan, fact: Fact) -> float:
    """Rows, commits and pages of one partition after the reorganisation, as `ndbplan reorg --json` says."""
    found = _partition(plan, fact, "after")
    value = found[_OF_JSON[str(found["kind"])]]
    return float(value["value"] if isinstance(value, dict) else value)


def partition_before(plan: Plan, fact: Fact) -> float:
    """The same before it, as `ndbplan distribute --json` says."""
    from ndbplan.estimate.storage.skew import distribution_json
    from ndbplan.estimate.stored import distribute

    match = re.fullmatch(r"s003-before-p(\d+)-(\w+)", fact.id)
    assert match is not None
    shape = distribution_json(distribute(plan, plan.tables[0]))["partitions"][int(match[1])]
    value = shape["rows" if match[2] == "commits" else _OF_JSON[match[2]]]
    return float(value["value"] if isinstance(value, dict) else value)


def rows_moved(plan: Plan, fact: Fact) -> float:
    """Rows that change their partition."""
    return float(reorganise(plan).tables[0].rows_moved)


def whole_memory(plan: Plan, fact: Fact) -> float:
    """All pages of one replica, before and after."""
    if fact.id == "s003-mem-before":
        table = memory(plan).tables[0]
        return table.fixed_bytes + table.variable_bytes.value
    return float(reorganise(plan).memory_peak_bytes)


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


def restart_phase(plan: Plan, fact: Fact) -> Quantity:
    """One phase of a node restart."""
    return next(p for p in restart(plan, "node").phases if p.name == _PHASES[fact.id]).duration_s


def restart_total(plan: Plan, fact: Fact) -> Quantity:
    """The whole node restart, with 24 LDM threads, and what those save."""
    now = restart(plan, "node").duration_s
    if fact.id == "s004-total":
        return now
    faster = restart(plan, "node", conditions=Conditions(ldm_threads=24)).duration_s
    if fact.id == "s004-total-24ldm":
        return faster
    saved = now.value - faster.value
    return Quantity(saved, saved, saved, "s", faster.why)


def log_per_part(plan: Plan, fact: Fact) -> float:
    """MiB of redo log of one log part."""
    return log_bytes_per_part(node_settings(plan)) / 2**20


_OPERATIONS = {
    "c740-redo-t1": ("test.t1", "insert"),
    "c740-redo-1000": ("test.payload1000", "insert"),
    "c740-redo-blob100": ("test.blob100", "insert"),
    "c740-redo-blob1k": ("test.blob1k", "insert"),
    "c740-redo-blob5k": ("test.blob5k", "insert"),
    "c740-redo-blob5k-update": ("test.blob5k", "update"),
    "c740-redo-unique-update": ("test.uniq", "update"),
}


def redo_bytes(plan: Plan, fact: Fact) -> float:
    """Log of one operation, as `ndbplan estimate --only redo` lists it."""
    listed = redo(plan, plan.workloads[0]).operations
    found = {(one.table, one.operation): one.bytes_per_replica.value for one in listed}
    if fact.id == "c740-redo-unique-insert":
        return found["test.uniq", "insert"] - found["test.plain", "insert"]
    return found[_OPERATIONS[fact.id]]


def checkpoint_row(plan: Plan, fact: Fact) -> float:
    """Bytes of a row in a checkpoint."""
    node = node_data(plan)[0]
    return node.checkpoint_bytes / node.rows


def checkpoint_wait(plan: Plan, fact: Fact) -> Quantity:
    """Wait for a checkpoint in a node restart."""
    return next(p for p in restart(plan, "node").phases if p.name == "wait for local checkpoint").duration_s


def node_restart(plan: Plan, fact: Fact) -> Quantity:
    """Whole node restart."""
    return restart(plan, "node").duration_s


def reorganise_t1(plan: Plan, fact: Fact) -> Quantity:
    """Reorganisation of table t1 from two to four nodes that share two cores."""
    return next(t for t in reorganise(plan).tables if t.table == "test.t1").duration_s


def constant(name: str) -> Callable[[Plan, Fact], float]:
    """A constant of the engine."""
    return lambda plan, _: constant_for(plan, name).value
