"""ndbinfo tables of a simulated moment, with the columns of the real ones.

    views(result, plan, at_s=25.0)["logbuffers"]   # rows as dicts

Column names as in the reference manual (NDB 7.4 to 9.x).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from ndbplan.plan.plan import Plan
from ndbplan.plan.processes import DataNode
from ndbplan.plan.workloads import OperationKind

if TYPE_CHECKING:
    from ndbplan.simulate.result import NodeSeries, Restart, SimulationResult

Row = dict[str, Any]
View = Callable[["SimulationResult", Plan, int], Iterator[Row]]

PAGE_BYTES = 32768
MOST_OPERATIONS = 200
"""Rows of cluster_operations that are made up at most; the real table changes too fast to read more."""
_BLOCK_DBTC = 245
_BLOCK_API = 0x8000

RESTART_SECONDS = (
    "secs_to_complete_node_failure",
    "secs_to_allocate_node_id",
    "secs_to_include_in_heartbeat_protocol",
    "secs_until_wait_for_ndbcntr_master",
    "secs_wait_for_ndbcntr_master",
    "secs_to_get_start_permitted",
    "secs_to_wait_for_lcp_for_copy_meta_data",
    "secs_to_copy_meta_data",
    "secs_to_include_node",
    "secs_starting_node_to_request_local_recovery",
    "secs_for_local_recovery",
    "secs_restore_fragments",
    "secs_undo_disk_data",
    "secs_exec_redo_log",
    "secs_index_rebuild",
    "secs_to_synchronize_starting_node",
    "secs_wait_lcp_for_restart",
    "secs_wait_subscription_handover",
)
"""Columns of restart_info in the order of the phases."""

_PHASES = {
    "allocate memory": ("secs_to_allocate_node_id", "Allocated node id", 0),
    "start permission and metadata": ("secs_to_copy_meta_data", "Copying metadata to starting node", 6),
    "restore from local checkpoint": ("secs_restore_fragments", "Restore fragments ongoing", 8),
    "execute undo log": ("secs_undo_disk_data", "Restore fragments ongoing", 8),
    "execute redo log": ("secs_exec_redo_log", "Restore fragments ongoing", 8),
    "rebuild ordered indexes": ("secs_index_rebuild", "Restore fragments ongoing", 8),
    "copy fragments": (
        "secs_to_synchronize_starting_node",
        "Synchronizing starting node with live nodes",
        9,
    ),
    "wait for local checkpoint": ("secs_wait_lcp_for_restart", "Wait for LCP to ensure durability", 10),
    "wait for subscriptions": ("secs_wait_subscription_handover", "Wait for handover of subscriptions", 11),
}
_LOCAL_RECOVERY = (
    "secs_restore_fragments",
    "secs_undo_disk_data",
    "secs_exec_redo_log",
    "secs_index_rebuild",
)


def views(result: SimulationResult, plan: Plan, at_s: float) -> dict[str, list[Row]]:
    """Every table at a moment of a run; `plan` is the plan that was simulated."""
    return {name: list(view(result, plan, _bucket(result, at_s))) for name, view in VIEWS.items()}


def view(name: str, result: SimulationResult, plan: Plan, at_s: float) -> list[Row]:
    """One table at a moment of a run. KeyError for a table that is not simulated."""
    return list(VIEWS[name](result, plan, _bucket(result, at_s)))


def _bucket(result: SimulationResult, at_s: float) -> int:
    return max(0, min(len(result.times_s) - 1, int(at_s / result.bucket_s)))


def _up(result: SimulationResult, bucket: int) -> Iterator[tuple[int, NodeSeries]]:
    """Data nodes that answer, by node id, with the series that stands for each."""
    by_id = {node_id: series for series in result.nodes for node_id in series.node_ids}
    for node_id in sorted(by_id):
        if by_id[node_id].dead[bucket] <= 0:
            yield node_id, by_id[node_id]


def _logbuffers(result: SimulationResult, plan: Plan, bucket: int) -> Iterator[Row]:
    for node_id, series in _up(result, bucket):
        for part in result.parts:
            if node_id in part.node_ids:
                yield {
                    "node_id": node_id,
                    "log_type": "REDO",
                    "log_id": 0,
                    "log_part": part.log_part + 1,
                    "total": part.buffer_bytes,
                    "used": _pages(float(part.last[bucket])) * PAGE_BYTES,
                }
        if series.undo_buffer_bytes > 0:
            yield {
                "node_id": node_id,
                "log_type": "DD-UNDO",
                "log_id": 1,
                "log_part": 0,
                "total": series.undo_buffer_bytes,
                "used": 0,
            }


def _logspaces(result: SimulationResult, plan: Plan, bucket: int) -> Iterator[Row]:
    for node_id, series in _up(result, bucket):
        for part in result.parts:
            if node_id in part.node_ids:
                yield {
                    "node_id": node_id,
                    "log_type": "REDO",
                    "log_id": 0,
                    "log_part": part.log_part,
                    "total": part.log_bytes,
                    "used": round(float(part.log_used[bucket])),
                }
        if series.undo_log_bytes > 0:
            yield {
                "node_id": node_id,
                "log_type": "DD-UNDO",
                "log_id": 1,
                "log_part": 0,
                "total": series.undo_log_bytes,
                "used": round(float(series.undo_used[bucket])),
            }


def _memoryusage(result: SimulationResult, plan: Plan, bucket: int) -> Iterator[Row]:
    for node_id, series in _up(result, bucket):
        used = _pages(float(series.memory[bucket]))
        total = series.memory_total_bytes // PAGE_BYTES
        yield {
            "node_id": node_id,
            "memory_type": "Data memory",
            "used": used * PAGE_BYTES,
            "used_pages": used,
            "total": total * PAGE_BYTES,
            "total_pages": total,
        }


def _disk_write_speed(result: SimulationResult, plan: Plan, bucket: int) -> Iterator[Row]:
    for node_id, series in _up(result, bucket):
        row: Row = {"node_id": node_id}
        for seconds, name in ((1, "last_sec"), (10, "last_10sec"), (60, "last_60sec")):
            first = max(0, bucket - max(1, round(seconds / result.bucket_s)) + 1)
            for column, values in (
                (f"backup_lcp_speed_{name}", series.lcp_bytes_per_s),
                (f"redo_speed_{name}", series.redo_bytes_per_s),
            ):
                row[column] = round(float(values[first : bucket + 1].mean()))
        yield row


def _resources(result: SimulationResult, plan: Plan, bucket: int) -> Iterator[Row]:
    for node_id, series in _up(result, bucket):
        limit = series.memory_total_bytes // PAGE_BYTES
        yield {
            "node_id": node_id,
            "resource_name": "DATA_MEMORY",
            "reserved": limit,
            "used": _pages(float(series.memory[bucket])),
            "max": limit,
        }
        buffers = [part for part in result.parts if node_id in part.node_ids]
        held = sum(part.buffer_bytes for part in buffers) // PAGE_BYTES
        yield {
            "node_id": node_id,
            "resource_name": "FILE_BUFFERS",
            "reserved": held,
            "used": sum(_pages(float(part.last[bucket])) for part in buffers),
            "max": held,
        }


def _restart_info(result: SimulationResult, plan: Plan, bucket: int) -> Iterator[Row]:
    at_s = float(result.times_s[bucket]) + result.bucket_s
    for one in _latest(result.restarts, at_s):
        seconds = dict.fromkeys(RESTART_SECONDS, 0)
        status, number = "Node failure handling completed", 14
        begun = one.started_at_s
        if begun is not None and at_s >= begun:
            for name, duration_s in one.phases:
                column, running, code = _PHASES.get(name, ("secs_for_local_recovery", name, 8))
                if at_s < begun:
                    break
                seconds[column] += round(min(duration_s, at_s - begun))
                status, number = running, code
                begun += duration_s
            else:
                if at_s >= begun:
                    status, number = "Restart completed", 12
            seconds["secs_for_local_recovery"] += sum(seconds[column] for column in _LOCAL_RECOVERY)
        total = sum(seconds.values()) - sum(seconds[column] for column in _LOCAL_RECOVERY)
        yield {
            "node_id": one.node_id,
            "node_restart_status": status,
            "node_restart_status_int": number,
            **seconds,
            "total_restart_secs": total,
        }


def _latest(restarts: tuple[Restart, ...], at_s: float) -> list[Restart]:
    """The last restart of each node that had failed by then."""
    found = {one.node_id: one for one in restarts if one.failed_at_s <= at_s}
    return [found[node_id] for node_id in sorted(found)]


def _cluster_operations(result: SimulationResult, plan: Plan, bucket: int) -> Iterator[Row]:
    """Operations that wait for redo log, spread over nodes and fragments as the workload does."""
    nodes = [node_id for node_id, _ in _up(result, bucket)]
    workload = next((w for w in plan.workloads if w.name == result.workload), None)
    waiting = min(MOST_OPERATIONS, round(float(result.waiting[bucket])))
    if not nodes or workload is None or waiting <= 0:
        return
    writes = [
        (operation.kind, plan.tables.index(plan.table(operation.table_id)))
        for transaction in workload.transactions
        for operation in transaction.operations
        if operation.kind in (OperationKind.INSERT, OperationKind.UPDATE, OperationKind.DELETE)
    ]
    clients = [p.node_id for p in plan.processes if not isinstance(p, DataNode) and p.kind != "management"]
    for number in range(waiting if writes else 0):
        kind, table = writes[number % len(writes)]
        node_id, coordinator = nodes[number % len(nodes)], nodes[(number // len(nodes)) % len(nodes)]
        client = clients[number % len(clients)] if clients else 0
        yield {
            "node_id": node_id,
            "block_instance": number % 4 + 1,
            "transid": (client << 52) | (coordinator << 40) | number,
            "operation_type": kind.value.upper(),
            "state": "LOG_QUEUED",
            "tableid": table + 10,
            "fragmentid": number % max(1, len(nodes)),
            "client_node_id": client,
            "client_block_ref": _BLOCK_API + number % 16,
            "tc_node_id": coordinator,
            "tc_block_no": _BLOCK_DBTC,
            "tc_block_instance": number % 2 + 1,
        }


def _pages(size: float) -> int:
    return -int(-size // PAGE_BYTES)


VIEWS: dict[str, View] = {
    "logbuffers": _logbuffers,
    "logspaces": _logspaces,
    "memoryusage": _memoryusage,
    "disk_write_speed_aggregate_node": _disk_write_speed,
    "resources": _resources,
    "restart_info": _restart_info,
    "cluster_operations": _cluster_operations,
}
"""Tables by name."""
