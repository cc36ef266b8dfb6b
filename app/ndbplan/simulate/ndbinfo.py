"""ndbinfo tables of a simulated moment, with the columns that the plan's version of the product has.

view("logbuffers", result, plan, at_s=25.0)   # rows as dicts
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from ndbplan.base.errors import UserError
from ndbplan.base.units import MIB
from ndbplan.configuration.link_buffers import link_buffers
from ndbplan.configuration.settings import node_settings, redo_buffer_bytes, redo_log_parts
from ndbplan.estimate.constants import constants_of
from ndbplan.estimate.storage.memory import NodeMemory
from ndbplan.estimate.storage.node_memory import (
    disk_page_buffer_bytes,
    job_buffer_pages,
    overallocated_send_bytes,
    redo_memory_bytes,
    send_buffer_bytes,
    transaction_memory,
)
from ndbplan.estimate.stored import ldm_threads, memory, threads_of
from ndbplan.ndb.ndbinfo import (
    NdbinfoTable,
    logbuffers_row_is_an_ldm,
    long_message_pages,
    memory_types,
    resource_rows,
    restart_state,
    tables_of,
    undo_log_rows,
)
from ndbplan.plan.plan import Plan
from ndbplan.plan.processes import DataNode, process_node_ids
from ndbplan.plan.workloads import OperationKind
from ndbplan.simulate.outage import clients_of
from ndbplan.simulate.series import latest_restarts

if TYPE_CHECKING:
    from ndbplan.simulate.result import SimulationResult
    from ndbplan.simulate.series import NodeSeries

Row = dict[str, Any]
View = Callable[["SimulationResult", Plan, int], Iterator[Row]]

PAGE_BYTES = 32768
_FILE_BUFFERS_FREE_PAGES = 64
"""Pages of FILE_BUFFERS that are free whatever the log holds: the rest is taken at the start [8.4.8]."""
_LEAST_PAGES = 2
"""Pages of a log part in use when nothing is written [8.4.8: 65,536 bytes in every part; 7.4.10: 131,072 in
an LDM thread of two parts]."""
_INDEX_PAGE_BYTES = 8192
_SCHEMA_PAGES = 64
MOST_OPERATIONS = 200
"""Rows of cluster_operations that are made up at most; the real table changes too fast to read more."""
_BLOCK_DBTC = 245
_BLOCK_API = 0x8000
"""Numbers of DBTC and of the first API block (NDB source, BlockNumbers.h)."""

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
    "allocate memory": "secs_to_allocate_node_id",
    "start permission and metadata": "secs_to_copy_meta_data",
    "restore from local checkpoint": "secs_restore_fragments",
    "execute undo log": "secs_undo_disk_data",
    "execute redo log": "secs_exec_redo_log",
    "rebuild ordered indexes": "secs_index_rebuild",
    "copy fragments": "secs_to_synchronize_starting_node",
    "wait for local checkpoint": "secs_wait_lcp_for_restart",
    "wait for subscriptions": "secs_wait_subscription_handover",
}
"""Column that each phase of a restart counts in; phases known only as a whole count as local recovery."""
_LOCAL_RECOVERY = (
    "secs_restore_fragments",
    "secs_undo_disk_data",
    "secs_exec_redo_log",
    "secs_index_rebuild",
)


class NdbinfoError(UserError):
    """A table that cannot be asked for: the version lacks it, it is not simulated, or nobody answers."""


def table_of(plan: Plan, name: str) -> NdbinfoTable:
    """A simulated table as the plan's version has it. Raises NdbinfoError."""
    tables = tables_of(plan.version)
    here = [known for known in VIEWS if known in tables]
    shown = name[:64]
    if not tables:
        raise NdbinfoError(
            f"unknown database 'ndbinfo': NDB {plan.version} has none, 7.1 brought it",
            where="--table",
            fix="set version 7.1 or later",
        )
    if name in here:
        return tables[name]
    if name in tables:
        what = f"ndbinfo.{shown} is not simulated"
    elif name in VIEWS:
        what = f"NDB {plan.version} has no table ndbinfo.{shown}; a later version brought it"
    else:
        what = f"NDB {plan.version} has no table ndbinfo.{shown}"
    raise NdbinfoError(what, where="--table", fix=f"ask for {', '.join(here)}")


def view(name: str, result: SimulationResult, plan: Plan, at_s: float) -> list[Row]:
    """One table at a moment of a run; `plan` is the plan that was simulated. Raises NdbinfoError."""
    table = table_of(plan, name)
    bucket = _bucket(result, at_s)
    if not any(True for _ in _up(result, bucket)):
        raise NdbinfoError(
            "ERROR 1296 (HY000): Got error 157 'Connection to NDB failed' from NDBINFO: no data node is up",
            where=f"--at {at_s:g}s",
            fix="ask for a moment at which the cluster runs",
        )
    rows = VIEWS[name](result, plan, bucket)
    return [{column: row[column] for column in table.columns} for row in rows]


def _bucket(result: SimulationResult, at_s: float) -> int:
    return max(0, min(len(result.times_s) - 1, int(at_s / result.bucket_s)))


def _up(result: SimulationResult, bucket: int) -> Iterator[tuple[int, NodeSeries]]:
    """Data nodes that answer, by node id, with the series that stands for each."""
    by_id = {node_id: series for series in result.nodes for node_id in series.node_ids}
    for node_id in sorted(by_id):
        if by_id[node_id].dead[bucket] <= 0:
            yield node_id, by_id[node_id]


def _logbuffers(result: SimulationResult, plan: Plan, bucket: int) -> Iterator[Row]:
    by_ldm, undo = logbuffers_row_is_an_ldm(plan.version), undo_log_rows(plan.version)
    nodes = {node.node_id: node for node in plan.data_nodes}
    for node_id, _ in _up(result, bucket):
        used, total = _by_part(result, node_id, "last", bucket)
        instances = ldm_threads(plan, nodes[node_id])
        total = redo_buffer_bytes(node_settings(plan, nodes[node_id])) if by_ldm else total
        held: dict[tuple[int, int], int] = {}
        for log_part in range(redo_log_parts(node_settings(plan, nodes[node_id]))):
            instance = log_part % instances + 1
            place = (0, instance) if by_ldm else (log_part, instance)
            # Up to 7.x the parts of an LDM thread share one buffer, and each holds pages of its own.
            pages = max(_LEAST_PAGES, _pages(used.get(log_part, 0.0)))
            held[place] = held.get(place, 0) + pages
        for log_id, instance in sorted(held):
            yield {
                "node_id": node_id,
                "log_type": "REDO",
                "log_id": log_id,
                "log_part": instance,
                "total": total,
                "used": min(total, held[log_id, instance] * PAGE_BYTES),
            }
        if plan.logfile_groups:
            yield {
                "node_id": node_id,
                "log_type": "DD-UNDO",
                "log_id": undo.log_id,
                "log_part": 0,
                "total": sum(undo.buffer_bytes(group.undo_buffer_bytes) for group in plan.logfile_groups),
                "used": 0,
            }


def _by_part(result: SimulationResult, node_id: int, of: str, bucket: int) -> tuple[dict[int, float], int]:
    """What each log part of a node that is written to holds at a moment, and how much one can hold."""
    mine = [part for part in result.parts if node_id in part.node_ids]
    total = mine[0].buffer_bytes if of == "last" else mine[0].log_bytes
    return {part.log_part: float(getattr(part, of)[bucket]) for part in mine}, total


def _logspaces(result: SimulationResult, plan: Plan, bucket: int) -> Iterator[Row]:
    nodes = {node.node_id: node for node in plan.data_nodes}
    undo = undo_log_rows(plan.version)
    files = [file for group in plan.logfile_groups for file in group.undo_files]
    undo_total = sum(file.count * undo.space_bytes(file.size_bytes) for file in files)
    for node_id, series in _up(result, bucket):
        used, total = _by_part(result, node_id, "log_used", bucket)
        instances = ldm_threads(plan, nodes[node_id])
        # By LDM thread, as the rows come from the blocks of the node [7.4.10: parts 0, 2, 1, 3 with two].
        parts = sorted(
            range(redo_log_parts(node_settings(plan, nodes[node_id]))), key=lambda part: part % instances
        )
        for log_part in parts:
            yield {
                "node_id": node_id,
                "log_type": "REDO",
                "log_id": 0,
                "log_part": log_part,
                "total": total,
                # Counted in MiB, as seen on 7.4.10 and 8.4.8.
                "used": min(total, -int(-used.get(log_part, 0.0) // MIB) * MIB),
            }
        if undo_total:
            yield {
                "node_id": node_id,
                "log_type": "DD-UNDO",
                "log_id": undo.log_id,
                "log_part": 0,
                "total": undo_total,
                "used": min(undo_total, round(float(series.undo_used[bucket]))),
            }


def _memoryusage(result: SimulationResult, plan: Plan, bucket: int) -> Iterator[Row]:
    page_bytes, busy_pages = long_message_pages()
    nodes = {node.node_id: node for node in plan.data_nodes}
    for node_id, series in _up(result, bucket):
        index_total, index_used = _index_memory(plan, nodes[node_id], series, bucket)
        messages = node_settings(plan, nodes[node_id]).number("LongMessageBuffer") // page_bytes
        pages = {
            "Data memory": (PAGE_BYTES, _pages(_memory(series, bucket)), _whole(series.memory_total_bytes)),
            "Index memory": (_INDEX_PAGE_BYTES, index_used, index_total),
            "Long message buffer": (page_bytes, min(busy_pages, messages), messages),
        }
        for kind in memory_types(plan.version):
            size, used, total = pages[kind]
            yield {
                "node_id": node_id,
                "memory_type": kind,
                "used": used * size,
                "used_pages": used,
                "total": total * size,
                "total_pages": total,
            }


def _memory(series: NodeSeries, bucket: int) -> float:
    """DataMemory in use; pages are there or not, so never more than all."""
    return min(float(series.memory[bucket]), float(series.memory_total_bytes))


def index_pages(plan: Plan, node: DataNode) -> int:
    """Pages of IndexMemory, up to 7.5."""
    return _used_at_start(plan, node).index_memory_limit_bytes // _INDEX_PAGE_BYTES


def _used_at_start(plan: Plan, node: DataNode) -> NodeMemory:
    return next(one for one in memory(plan).nodes if one.node_id == node.node_id)


def _index_memory(plan: Plan, node: DataNode, series: NodeSeries, bucket: int) -> tuple[int, int]:
    """Pages of IndexMemory, up to 7.5, and those in use: hash indexes grow with the rows."""
    own, total = _used_at_start(plan, node), index_pages(plan, node)
    grown = float(series.memory[bucket]) / max(1.0, own.data_memory_bytes.value)
    return total, min(total, -int(-own.index_memory_bytes.value * grown // _INDEX_PAGE_BYTES))


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
    kinds = resource_rows(plan.version)
    nodes = {node.node_id: node for node in plan.data_nodes}
    for node_id, series in _up(result, bucket):
        node = nodes[node_id]
        resources: dict[str, tuple[int, int, int]] = {}
        for name, (reserved, most) in _reserved(result, plan, node, series).items():
            used = kinds.used_pages.get(name, round(reserved * kinds.used_share.get(name, 0.0)))
            resources[name] = (reserved, used, kinds.no_limit if most is None else most)
        of_index = index_pages(plan, node) * _INDEX_PAGE_BYTES // PAGE_BYTES
        data, files, cache = (
            resources[name][0] for name in ("DATA_MEMORY", "FILE_BUFFERS", "DISK_PAGE_BUFFER")
        )
        # IndexMemory is taken whole at the start.
        resources["DATA_MEMORY"] = (data, _pages(_memory(series, bucket)) + of_index, data)
        resources["FILE_BUFFERS"] = (files, max(0, files - _FILE_BUFFERS_FREE_PAGES), files)
        resources["DISK_PAGE_BUFFER"] = (cache, cache, cache)
        shared = node_settings(plan, node).number("SharedGlobalMemory") // PAGE_BYTES
        listed = [resources[name] for name in kinds.names if name in resources]
        resources["RESERVED"] = (
            sum(max(0, reserved - used) for reserved, used, _ in listed),
            sum(used for _, used, _ in listed),
            sum(reserved for reserved, _, _ in listed) + shared,
        )
        spare_pct = node_settings(plan, node).number("MinFreePct")
        for name in kinds.names:
            reserved, used, most = resources[name]
            # Of what is taken and the spare pages (481 pages in use, 26 spare [8.4.8]).
            spare = -(-used * spare_pct // max(1, 100 - spare_pct)) if name == "DATA_MEMORY" else 0
            yield {
                "node_id": node_id,
                "resource_name": name,
                "reserved": reserved,
                "used": used,
                "max": most,
                "spare": spare,
            }


def _reserved(
    result: SimulationResult, plan: Plan, node: DataNode, series: NodeSeries
) -> dict[str, tuple[int, int | None]]:
    """Pages of the global memory reserved for each use, and the most it may take; None: no limit."""
    threads, settings = threads_of(plan, node), node_settings(plan, node)
    index_pages = _index_memory(plan, node, series, 0)[0] * _INDEX_PAGE_BYTES // PAGE_BYTES
    data = _whole(series.memory_total_bytes) + index_pages
    files = redo_memory_bytes(settings, threads) // PAGE_BYTES
    jobs = job_buffer_pages(threads, plan.version)
    send_bytes = send_buffer_bytes(settings, threads, link_buffers(plan)[node.node_id])
    sends, more = _whole(send_bytes), _whole(overallocated_send_bytes(settings, send_bytes))
    return {
        "TRANSACTION_MEMORY": (_pages(transaction_memory(settings, threads, constants_of(plan)).value), None),
        "DISK_OPERATIONS": (0, None),
        "DISK_RECORDS": (0, None),
        "DATA_MEMORY": (data, data),
        "JOBBUFFER": (jobs, jobs),
        "FILE_BUFFERS": (files, files),
        "TRANSPORTER_BUFFERS": (sends, sends + more),
        "DISK_PAGE_BUFFER": (_whole(disk_page_buffer_bytes(settings, threads)),) * 2,
        "QUERY_MEMORY": (0, None),
        "SCHEMA_TRANS_MEMORY": (_SCHEMA_PAGES, None),
    }


def _restart_info(result: SimulationResult, plan: Plan, bucket: int) -> Iterator[Row]:
    at_s = float(result.times_s[bucket]) + result.bucket_s
    for one in latest_restarts(result.restarts, at_s):
        seconds = dict.fromkeys(RESTART_SECONDS, 0)
        state = restart_state("failed")
        begun = one.started_at_s
        if begun is not None and at_s >= begun:
            for name, duration_s in one.phases:
                if at_s < begun:
                    break
                column = _PHASES.get(name)
                seconds[column or "secs_for_local_recovery"] += round(min(duration_s, at_s - begun))
                state = restart_state(name if column else "restore from local checkpoint")
                begun += duration_s
            else:
                if at_s >= begun:
                    state = restart_state("done")
            seconds["secs_for_local_recovery"] += sum(seconds[column] for column in _LOCAL_RECOVERY)
        total = sum(seconds.values()) - sum(seconds[column] for column in _LOCAL_RECOVERY)
        yield {
            "node_id": one.node_id,
            "node_restart_status": state[1],
            "node_restart_status_int": state[0],
            **seconds,
            "total_restart_secs": total,
        }


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
    clients = [node_id for client in clients_of(plan) for node_id in process_node_ids(client)]
    for nth in range(waiting if writes else 0):
        kind, table = writes[nth % len(writes)]
        node_id, coordinator = nodes[nth % len(nodes)], nodes[(nth // len(nodes)) % len(nodes)]
        client = clients[nth % len(clients)] if clients else 0
        yield {
            "node_id": node_id,
            "block_instance": nth % 4 + 1,
            "transid": (client << 52) | (coordinator << 40) | nth,
            "operation_type": kind.value.upper(),
            "state": "LOG_QUEUED",
            "tableid": table + 10,
            "fragmentid": nth % max(1, len(nodes)),
            "client_node_id": client,
            "client_block_ref": _BLOCK_API + nth % 16,
            "tc_node_id": coordinator,
            "tc_block_no": _BLOCK_DBTC,
            "tc_block_instance": nth % 2 + 1,
        }


def _whole(size: int) -> int:
    return size // PAGE_BYTES


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
