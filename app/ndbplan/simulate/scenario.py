"""A plan and a workload compiled to plain arrays for the kernel: nodes, log parts, disks, load over time."""

from __future__ import annotations

import math
from collections.abc import Hashable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ndbplan.base.errors import UserError
from ndbplan.base.units import MIB
from ndbplan.estimate.checkpoint import is_partial, speed_limits
from ndbplan.estimate.constants import constant_for
from ndbplan.estimate.distribution import distribute, ldm_threads, node_groups
from ndbplan.estimate.load import TableLoad, offered_per_s, table_loads
from ndbplan.estimate.node_data import node_data_by_id
from ndbplan.estimate.parameters import number
from ndbplan.estimate.redo import log_bytes_per_part
from ndbplan.estimate.shares import Shares, shares_of
from ndbplan.plan.hardware import Disk
from ndbplan.plan.paths import disk_for
from ndbplan.plan.plan import Plan
from ndbplan.plan.processes import DataNode, DiskRole
from ndbplan.plan.settings import redo_buffer_bytes, redo_log_parts
from ndbplan.plan.workloads import ClosedLoad, OpenLoad, OperationKind, Workload
from ndbplan.simulate import columns as col

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

MAX_STEPS = 20_000_000
NEXT_FILE_OPEN_BYTES = 9.5 * MIB
"""Bytes of a log file on disk before the next file is open [7.4.10, error 1220 with files of 16 MiB]."""
LCP_SHARE_SMALL_FILES = 0.62
"""Share of a busy disk that a checkpoint takes when log files are smaller than the redo buffer [7.4.10]."""
DOOMED_SHARE = 0.67
"""Log that transactions of many rows write before they are undone, against what all their rows in open parts
would write [7.4.10: log per accepted row 1.2 to 1.45 x, 1.8 x at four times the ceiling]."""
UNEVEN = 0.02
"""Standard deviation of the speed at which parts of one disk are written [7.4.10: fills 2 to 5 % apart]."""
MOST_FRAGMENTS = 64.0
SPAN_OF_TWO_SINCE = (7, 4)
"""From here the log reaches back to the start of the last complete checkpoint (seen on 7.4.10); before, to
the start of the one before it (fits the 410 of seed 000's comment)."""


class SimulationError(UserError):
    """A plan or setting that cannot be simulated."""


@dataclass(frozen=True)
class NodeClass:
    """Data nodes that behave alike and are simulated as one."""

    nodes: tuple[DataNode, ...]
    redo_disk: int
    lcp_disk: int
    log_parts: int
    redo_buffer_bytes: int

    @property
    def node_id(self) -> int:
        """Node id of the first of them."""
        return self.nodes[0].node_id


@dataclass(frozen=True)
class DiskClass:
    """Disks that get the same streams and are simulated as one."""

    disks: tuple[Disk, ...]
    hostnames: tuple[str, ...]
    bytes_per_s: float
    """What redo, checkpoints and the rest may use: bandwidth without the load of other programs."""


@dataclass(frozen=True)
class Scenario:
    """Everything the kernel needs that does not change while it runs."""

    plan: Plan
    workload: Workload
    seed: int
    step_s: float
    steps: int
    node_classes: tuple[NodeClass, ...]
    disk_classes: tuple[DiskClass, ...]
    run: Floats
    nodes: Floats
    index: Ints
    slots: Ints
    group_count: Floats
    """How many real node groups each simulated one stands for."""
    ldm_of: Ints
    load: Floats
    share: Floats
    disks: Floats
    offered: Floats
    start_data: Floats
    redo_bytes_per_transaction: float
    """Log bytes of one transaction, over all parts of one replica set."""

    @property
    def duration_s(self) -> float:
        """Simulated time."""
        return self.steps * self.step_s


def compile_scenario(
    plan: Plan,
    workload: Workload,
    *,
    duration_s: float,
    step_s: float,
    seed: int,
    every_node: bool = False,
    uneven: float = UNEVEN,
) -> Scenario:
    """Arrays for one run. Raises SimulationError for a plan without node groups or disks, or a bad time."""
    steps = _steps(duration_s, step_s)
    groups = node_groups(plan)
    if not groups:
        raise SimulationError(
            "the plan has no complete node group",
            where="processes",
            fix="add as many data nodes as NoOfReplicas",
        )
    real = _real_nodes(plan, workload, groups)
    classes = _classes(groups, real, every_node)
    replicas = len(groups[0])
    log_parts = max(node.parts for node in real.values())
    node_classes: list[NodeClass] = []
    disk_classes: list[DiskClass] = []
    disk_index: dict[str, int] = {}
    slots = np.zeros((len(classes), replicas), dtype=np.int64)
    group_count = np.zeros(len(classes))
    share = np.zeros((len(classes), log_parts))
    rows: list[Floats] = []
    numbers: list[list[int]] = []
    load_rows: list[Floats] = []
    data: list[float] = []
    for g, members in enumerate(classes):
        group_count[g] = len(members)
        first = members[0]
        same = not every_node and len({real[node.id].signature for node in first}) == 1
        share[g, :] = len(members) * _padded(real[first[0].id].row_share, log_parts)
        for slot, node in enumerate(first[:1] if same else first):
            alike = tuple(n for group in members for n in (group if same else (group[slot],)))
            slots[g, slot:] = len(node_classes)
            found = real[node.id]
            redo = _disk_class(plan, DiskRole.REDO, alike, disk_index, disk_classes)
            lcp = _disk_class(plan, DiskRole.LCP, alike, disk_index, disk_classes)
            node_classes.append(NodeClass(alike, redo, lcp, found.parts, found.redo_buffer))
            rows.append(found.row)
            numbers.append([g, slot, redo, lcp, len(alike), 1, 1])
            load_rows.append(_padded(found.redo_per_tx, log_parts))
            data.append(found.data)
    ldm_of = np.zeros((len(node_classes), log_parts), dtype=np.int64)
    for n in range(len(node_classes)):
        ldm_of[n] = np.arange(log_parts) % max(1, int(rows[n][col.N_LDMS]))
    disks = np.array([[d.bytes_per_s, _lcp_share(plan)] for d in disk_classes])
    load = np.array(load_rows)
    per_tx = max((float(real[n.id].redo_per_tx.sum()) for g in groups for n in g[:1]), default=0.0)
    return Scenario(
        plan=plan,
        workload=workload,
        seed=seed,
        step_s=step_s,
        steps=steps,
        node_classes=tuple(node_classes),
        disk_classes=tuple(disk_classes),
        run=_run(plan, workload, step_s, share, log_parts, group_count, uneven),
        nodes=np.array(rows),
        index=np.array(numbers, dtype=np.int64),
        slots=slots,
        group_count=group_count,
        ldm_of=ldm_of,
        load=load,
        share=share,
        disks=disks,
        offered=_offered(workload, steps, step_s),
        start_data=np.array(data),
        redo_bytes_per_transaction=per_tx * len(groups),
    )


def _steps(duration_s: float, step_s: float) -> int:
    if not 0.001 <= step_s <= 1.0:
        raise SimulationError(f"a step of {step_s:g} s is outside 1 ms to 1 s", where="step")
    if not duration_s > 0:
        raise SimulationError(f"a duration of {duration_s:g} s leaves nothing to simulate", where="duration")
    steps = math.ceil(duration_s / step_s - 1e-9)
    if steps > MAX_STEPS:
        raise SimulationError(
            f"{duration_s:g} s in steps of {step_s:g} s are {steps} steps; at most {MAX_STEPS} are possible",
            where="duration",
            fix="simulate a shorter time or take longer steps",
        )
    return steps


@dataclass(frozen=True)
class _RealNode:
    row: Floats
    redo_per_tx: Floats
    """Log bytes of each part for one transaction."""
    row_share: Floats
    """Share of a transaction's logged rows that each part of the node's group gets."""
    parts: int
    redo_buffer: int
    data: float
    signature: Hashable


def _padded(values: Floats, length: int) -> Floats:
    return np.concatenate([values, np.zeros(length - len(values))]) if len(values) < length else values


def _real_nodes(
    plan: Plan, workload: Workload, groups: tuple[tuple[DataNode, ...], ...]
) -> dict[str, _RealNode]:
    rate = offered_per_s(workload.load)
    loads = table_loads(plan, workload) if rate > 0 else ()
    by_table = [(load, shares_of(plan, load.table)) for load in loads]
    held = node_data_by_id(plan)
    page = constant_for(plan, "redo_page_overhead").value
    insert_weight = number(plan, None, "InsertRecoveryWork", 40) / 100
    rows_per_tx = sum(load.writes_per_s for load in loads) / rate if rate > 0 else 0.0
    found: dict[str, _RealNode] = {}
    shared = _shared_disks(plan, groups)
    for group in groups:
        for node in group:
            parts = redo_log_parts(plan, node)
            redo = np.zeros(parts)
            row_share = np.zeros(parts)
            inserted = changed = operations = 0.0
            for load, by_node in by_table:
                share = by_node.get(node.node_id)
                if share is None:
                    continue
                for part, amount in share.by_log_part:
                    redo[part % parts] += amount * load.redo_bytes_per_s.value * page / rate
                    if rows_per_tx > 0 and load.redo_bytes_per_s.value > 0:
                        row_share[part % parts] += amount * load.writes_per_s / rate / rows_per_tx
                row_bytes = load.checkpoint_row_bytes * share.replicas / rate
                inserted += (load.inserts_per_s - load.deletes_per_s) * row_bytes
                weighted = load.updates_per_s + insert_weight * load.inserts_per_s + 1.2 * load.deletes_per_s
                changed += weighted * row_bytes
                operations += load.logged_operations_per_s * share.replicas / rate
            row = _node_row(plan, node, inserted, changed, operations, float(redo.sum()))
            row[col.N_FRAGMENTS] = _fragments(plan, node, by_table)
            data = held[node.node_id].checkpoint_bytes if node.node_id in held else 0.0
            signature = (
                row.tobytes(),
                redo.tobytes(),
                row_share.tobytes(),
                data,
                tuple(_disk_signature(plan, node, role) for role in (DiskRole.REDO, DiskRole.LCP)),
                _one_disk(plan, node),
                node.id if node.id in shared else None,
            )
            found[node.id] = _RealNode(
                row, redo, row_share, parts, redo_buffer_bytes(plan, node), data, signature
            )
    return found


def _fragments(plan: Plan, node: DataNode, by_table: list[tuple[TableLoad, Shares]]) -> float:
    """Fragments of the tables in question that an LDM thread of the node checkpoints in turn."""
    count = 0
    for load, _ in by_table:
        nodes = distribute(plan, load.table).placement.nodes
        count += int((nodes == node.node_id).sum())
    return float(min(MOST_FRAGMENTS, max(1, round(count / max(1, ldm_threads(plan, node))))))


def _node_row(
    plan: Plan, node: DataNode, inserted: float, changed: float, operations: float, redo_bytes: float
) -> Floats:
    row = np.zeros(col.N_COLUMNS)
    buffer_reserve = constant_for(plan, "redo_buffer_reserve_bytes").value
    log_reserve = constant_for(plan, "redo_log_reserve_bytes").value
    file_bytes = number(plan, node, "FragmentLogFileSize", 16 * MIB)
    log_bytes = log_bytes_per_part(plan, node)
    limits = speed_limits(plan, node)
    ldms = max(1, ldm_threads(plan, node))
    row[col.N_BUFFER_LIMIT] = max(1.0, redo_buffer_bytes(plan, node) - buffer_reserve)
    row[col.N_LOG_BYTES] = max(1.0, log_bytes)
    row[col.N_LOG_LIMIT] = max(1.0, log_bytes - log_reserve)
    row[col.N_FILE_BYTES] = file_bytes
    row[col.N_FILE_OPEN_AFTER] = min(NEXT_FILE_OPEN_BYTES, 0.6 * file_bytes)
    row[col.N_LCP_MIN] = limits.floor
    row[col.N_LCP_MAX] = limits.ceiling
    row[col.N_LCP_MAX_OTHER] = limits.other_restart
    row[col.N_LCP_MAX_OWN] = limits.own_restart
    compressed = number(plan, node, "CompressedLCP", 0)
    row[col.N_LCP_FACTOR] = constant_for(plan, "lcp_compressed_factor").value if compressed else 1.0
    row[col.N_LAG_LIMIT_S] = number(plan, node, "RedoOverCommitLimit", 20)
    row[col.N_LAG_COUNT] = max(1, number(plan, node, "RedoOverCommitCounter", 3))
    row[col.N_REDO_CONTROL] = limits.redo_control
    row[col.N_PARTIAL] = is_partial(plan, node)
    row[col.N_RECOVERY_WORK] = max(1, number(plan, node, "RecoveryWork", 60)) / 100
    row[col.N_QUEUE] = queues(plan)
    row[col.N_ADAPTIVE] = limits.floor < limits.ceiling
    row[col.N_DEVICE_FACTOR] = constant_for(plan, "device_write_factor").value
    row[col.N_INSERTED] = inserted
    row[col.N_CHANGED] = changed
    saved = constant_for(plan, "redo_commit_bytes").value - constant_for(plan, "redo_abort_bytes").value
    row[col.N_ABORT_SHARE] = max(0.0, 1.0 - saved * operations / redo_bytes) if redo_bytes > 0 else 1.0
    row[col.N_LDMS] = ldms
    return row


def queues(plan: Plan) -> bool:
    """Whether work waits for redo (DefaultOperationRedoProblemAction = queue, set for SQL and API nodes)."""
    for parameters in (plan.parameters.sql, *(p.parameters for p in plan.sql_nodes)):
        for name, value in parameters.items():
            if name.lower() == "defaultoperationredoproblemaction":
                return str(value).lower() == "queue"
    return False


def _disk_signature(plan: Plan, node: DataNode, role: DiskRole) -> Hashable:
    disk = _disk(plan, node, role)
    return (disk.kind, disk.sequential_write_bytes_per_s, disk.other_load, disk.random_write_iops)


def _one_disk(plan: Plan, node: DataNode) -> bool:
    return _disk(plan, node, DiskRole.REDO).id == _disk(plan, node, DiskRole.LCP).id


def _disk(plan: Plan, node: DataNode, role: DiskRole) -> Disk:
    disk = disk_for(plan, node, role)
    if disk is None:
        host = plan.host(node.host_id)
        raise SimulationError(
            f"host {host.hostname} of data node {node.node_id} has no disk",
            where=f"hosts.{host.id}.disks",
            fix="give the host at least one disk",
        )
    return disk


def _shared_disks(plan: Plan, groups: tuple[tuple[DataNode, ...], ...]) -> set[str]:
    """Ids of data nodes whose disks other data nodes use too: these are simulated one by one."""
    users: dict[str, set[str]] = {}
    for group in groups:
        for node in group:
            for role in (DiskRole.REDO, DiskRole.LCP):
                users.setdefault(_disk(plan, node, role).id, set()).add(node.id)
    return {node_id for ids in users.values() if len(ids) > 1 for node_id in ids}


def _classes(
    groups: tuple[tuple[DataNode, ...], ...], real: dict[str, _RealNode], every_node: bool
) -> list[list[tuple[DataNode, ...]]]:
    """Node groups that behave alike, together."""
    if every_node:
        return [[group] for group in groups]
    found: dict[Hashable, list[tuple[DataNode, ...]]] = {}
    for group in groups:
        found.setdefault(tuple(real[node.id].signature for node in group), []).append(group)
    return list(found.values())


def _disk_class(
    plan: Plan,
    role: DiskRole,
    nodes: tuple[DataNode, ...],
    known: dict[str, int],
    classes: list[DiskClass],
) -> int:
    disks = [_disk(plan, node, role) for node in nodes]
    if disks[0].id not in known:
        first = disks[0]
        share = constant_for(plan, "hdd_shared_stream_factor").value if first.kind == "hdd" else 1.0
        for disk in disks:
            known[disk.id] = len(classes)
        classes.append(
            DiskClass(
                tuple(disks),
                tuple(plan.host_of_disk[disk.id].hostname for disk in disks),
                first.sequential_write_bytes_per_s * share * max(0.001, 1.0 - first.other_load),
            )
        )
    return known[disks[0].id]


def _lcp_share(plan: Plan) -> float:
    share = constant_for(plan, "lcp_device_share").value
    small = number(plan, None, "FragmentLogFileSize", 16 * MIB) < redo_buffer_bytes(plan, None)
    return min(share, LCP_SHARE_SMALL_FILES) if small else share


def _run(
    plan: Plan,
    workload: Workload,
    step_s: float,
    share: Floats,
    log_parts: int,
    group_count: Floats,
    uneven: float,
) -> Floats:
    run = np.zeros(col.R_COLUMNS)
    gcp_s = max(step_s, number(plan, None, "TimeBetweenGlobalCheckpoints", 2000) / 1000)
    per_second = max(1, round(1.0 / step_s))
    run[col.R_STEP_S] = step_s
    run[col.R_STEPS_PER_SECOND] = per_second
    run[col.R_STEPS_PER_GCP] = max(1, round(gcp_s / step_s))
    load = workload.load
    if isinstance(load, ClosedLoad):
        run[col.R_CLIENTS] = load.clients
        run[col.R_CYCLE_S] = max(1e-4, load.latency_s + load.think_time_s)
    elif load.clients is not None:
        run[col.R_CLIENTS] = load.clients
    if queues(plan):
        timeout_s = number(plan, None, "TransactionDeadlockDetectionTimeout", 1200) / 1000
        run[col.R_QUEUE_STEPS] = max(1, min(100_000, round(timeout_s / step_s)))
    rows, coverage, used = _coverage(workload, share, group_count)
    run[col.R_ROWS_PER_TX] = rows
    run[col.R_COVERAGE] = coverage
    run[col.R_PARTS_USED] = used
    run[col.R_UNEVEN] = uneven
    words = 2 ** min(31, max(0, number(plan, None, "TimeBetweenLocalCheckpoints", 20)))
    run[col.R_LCP_THRESHOLD] = 4.0 * words
    run[col.R_DOOMED] = 1.0 - (1.0 - DOOMED_SHARE) * coverage
    run[col.R_GROWS] = 1.0
    run[col.R_SPAN_MORE] = plan.version < SPAN_OF_TWO_SINCE
    return run


def _coverage(workload: Workload, share: Floats, group_count: Floats) -> tuple[float, float, float]:
    """(written rows of a transaction, how fully it covers the log parts, parts in use)."""
    writes = (OperationKind.INSERT, OperationKind.UPDATE, OperationKind.DELETE)
    weights = sum(t.weight for t in workload.transactions)
    used = float(((share > 0) * group_count[:, None]).sum())
    rows = coverage = 0.0
    for transaction in workload.transactions:
        count = sum(o.rows for o in transaction.operations if o.kind in writes)
        weight = transaction.weight / weights
        rows += weight * count
        if count > 1 and used > 1:
            each = (share / group_count[:, None])[share > 0]
            times = np.broadcast_to(group_count[:, None], share.shape)[share > 0]
            touched = float((times * (1.0 - (1.0 - np.minimum(1.0, each)) ** count)).sum())
            coverage += weight * (touched - 1.0) / (used - 1.0)
    return rows, min(1.0, max(0.0, coverage)), used


def _offered(workload: Workload, steps: int, step_s: float) -> Floats:
    """Transactions that arrive in each step."""
    load = workload.load
    if isinstance(load, ClosedLoad):
        return np.zeros(1)
    middle: Floats = (np.arange(steps, dtype=np.float64) + 0.5) * step_s
    return rate_at(load, middle) * step_s


def rate_at(load: OpenLoad, times_s: Floats) -> Floats:
    """Offered transactions per second at some moments."""
    at = np.array([point.at_s for point in load.points], dtype=np.float64)
    rates: Floats = np.array([point.rate_per_s for point in load.points], dtype=np.float64)
    order = np.argsort(at, kind="stable")
    at, rates = at[order], rates[order]
    moments = np.mod(times_s, load.repeat_s) if load.repeat_s > 0 else times_s
    if load.shape == "linear":
        return np.asarray(np.interp(moments, at, rates), dtype=np.float64)
    last = np.clip(np.searchsorted(at, moments, side="right") - 1, 0, len(rates) - 1)
    return np.asarray(rates[last], dtype=np.float64)
