"""RAM that a data node allocates for its parameters: DataMemory, buffers, page cache, transaction memory.

    node_memories(plan)[node_id]        # Quantity in bytes, one term for each part

Source: init_global_memory_manager (ndbd.cpp) and compute_jb_pages (mt.cpp) of 8.x, held against the figures
that ndbmtd 8.4.8 printed at start for 196 settings (tests/reality/datanode-memory-report.csv).
"""

from __future__ import annotations

import re

from ndbplan.base.memo import memo_by_identity
from ndbplan.base.quantity import Quantity, total
from ndbplan.base.units import KIB, MIB, parse_bytes
from ndbplan.configuration.settings import (
    connection_settings,
    node_settings,
    redo_buffer_bytes,
    redo_log_parts,
)
from ndbplan.estimate.constants import constants_of
from ndbplan.estimate.storage.placement import threads_of
from ndbplan.ndb.features import features
from ndbplan.ndb.threads.layout import ThreadCounts
from ndbplan.ndb.version import NdbVersion
from ndbplan.plan.fields import Parameters
from ndbplan.plan.plan import Plan
from ndbplan.plan.processes import DataNode

PAGE = 32 * KIB
_QUEUE_PAGES = 32
_POOLED_THREADS = 32
"""With more block threads than this, job queues are pooled: every thread has this many."""
_SEND_THREAD_PAGES = 60
_SEND_GENERAL_BYTES = 16 * MIB
_SEND_LINK_BYTES = 256 * KIB
_RESTORE_BUFFER_BYTES = 4 * MIB
_LOCAL_SCANS_MOST = 4096


def job_buffer_pages(threads: ThreadCounts, version: NdbVersion) -> int:
    """Pages of 32 KiB that the job buffers of a multi-threaded node take."""
    known = features(version)
    if not known.multithreaded_node:
        return 0
    block, main = threads.block_threads, threads.main + threads.rep
    own = known.job_buffer_pages_own
    if block > _POOLED_THREADS and known.job_buffers_pooled:
        return block * (_POOLED_THREADS * _QUEUE_PAGES + own)
    queues = (
        threads.recv * (block - threads.recv)
        + threads.ldm * (threads.tc + main)
        + threads.tc * (threads.ldm + main + threads.tc)
        + main * block
        + max(0, 3 * threads.ldm - 2)
    )
    # Without LDM threads the remaining ones talk to themselves.
    alone = 56 if threads.ldm == 0 else 0
    return own * block + _QUEUE_PAGES * queues + alone


@memo_by_identity(16)
def _links(plan: Plan) -> int:
    """Links of a data node: to every other node of the cluster."""
    return len(plan.processes) - 1


def send_buffer_bytes(plan: Plan, node: DataNode, threads: ThreadCounts) -> int:
    """Send buffers of all links of a node."""
    links = _links(plan)
    stated = node_settings(plan, node).number("TotalSendBufferMemory")
    own = stated or links * connection_settings(plan).number("SendBufferMemory")
    extra = node_settings(plan, node).number("ExtraSendBufferMemory")
    size = own + extra + threads.block_threads * _SEND_THREAD_PAGES * PAGE
    if extra == 0:
        least = _SEND_GENERAL_BYTES + links * _SEND_LINK_BYTES + threads.block_threads * 2 * MIB
        size = max(size, least)
    return size


def disk_page_buffer_bytes(plan: Plan, node: DataNode, threads: ThreadCounts) -> int:
    """DiskPageBufferMemory with the buffers for restoring that lie beside it."""
    restoring = threads.ldm_instances + threads.query + threads.recover
    stated = node_settings(plan, node).number("DiskPageBufferMemory")
    return stated + restoring * _RESTORE_BUFFER_BYTES + 2 * MIB


def transaction_memory(plan: Plan, node: DataNode, threads: ThreadCounts) -> Quantity:
    """TransactionMemory as set, or as the node computes it from its operation limits.

    The factors are fitted to what 8.4.8 printed for 90 settings of limits and threads; 10 % off at most.
    """
    stated = node_settings(plan, node).number("TransactionMemory")
    ldm, tc = threads.ldm_instances, max(1, threads.tc)
    operations = node_settings(plan, node).number("MaxNoOfConcurrentOperations")
    buffers = node_settings(plan, node).number("ReservedTransactionBufferMemory")
    others = threads.query + threads.recover
    constants = constants_of(plan)

    def times(count: float, name: str) -> float:
        return count * constants[name].value

    reserved = (
        times(1, "transaction_reserved_bytes")
        + times(operations, "transaction_reserved_operation_bytes")
        + times(ldm - 1, "transaction_reserved_ldm_bytes")
        + times(others, "transaction_reserved_query_bytes")
        + times(buffers, "transaction_reserved_buffer_factor")
    )
    least = reserved + times(ldm + tc, "transaction_reserved_thread_bytes")
    if stated:
        return Quantity.exact(max(float(stated), least), "bytes")
    transactions = node_settings(plan, node).number("MaxNoOfConcurrentTransactions")
    local_operations = node_settings(plan, node).number("MaxNoOfLocalOperations") or 1.1 * operations
    scans = node_settings(plan, node).number("MaxNoOfLocalScans") or min(
        tc * ldm * node_settings(plan, node).number("MaxNoOfConcurrentScans"), _LOCAL_SCANS_MOST
    )
    computed = (
        times(1, "transaction_memory_bytes")
        + tc
        * (
            times(operations, "coordinator_operation_bytes")
            + times(transactions, "coordinator_transaction_bytes")
        )
        + times(local_operations, "local_operation_bytes")
        + times(transactions, "local_transaction_bytes")
        + times(scans, "local_scan_row_bytes") * node_settings(plan, node).number("BatchSizePerLocalScan")
        + times(ldm, "transaction_memory_ldm_bytes")
        + times(others, "transaction_memory_query_bytes")
        + constants["index_operation_bytes"].value
        * max(0, node_settings(plan, node).number("MaxNoOfConcurrentIndexOperations") - 8192)
        + constants["fired_trigger_bytes"].value
        * max(0, node_settings(plan, node).number("MaxNoOfFiredTriggers") - 4000)
        + constants["transaction_buffer_factor"].value
        * max(0, node_settings(plan, node).number("TransactionBufferMemory") - MIB)
    )
    return (computed * constants["transaction_memory_fit"]).in_unit("bytes").within(least=least)


@memo_by_identity(16)
def node_memories(plan: Plan) -> dict[int, Quantity]:
    """Bytes of RAM of every data node, by node id; nodes with the same settings share one answer.

    Raises ThreadConfigError for a ThreadConfig that a node would refuse.
    """
    kept: dict[tuple[Parameters, ThreadCounts], Quantity] = {}
    memories: dict[int, Quantity] = {}
    for node in plan.data_nodes:
        key = (node.parameters, threads_of(plan, node))
        if key not in kept:
            kept[key] = _node_memory(plan, node)
        memories[node.node_id] = kept[key]
    return memories


def _node_memory(plan: Plan, node: DataNode) -> Quantity:
    version, threads = plan.version, threads_of(plan, node)
    settings = node_settings(plan, node)
    parts = redo_log_parts(settings)

    def exact(value: float) -> Quantity:
        return Quantity.exact(float(value), "bytes")

    ldm = threads.ldm_instances
    index_memory = settings.number("IndexMemory")
    pieces = [
        ("DataMemory", exact(settings.number("DataMemory"))),
        ("IndexMemory", exact(index_memory + (8 * PAGE * ldm if index_memory else 0))),
        ("SharedGlobalMemory", exact(settings.number("SharedGlobalMemory"))),
        (
            "redo buffers of all log parts",
            exact(parts * (redo_buffer_bytes(settings) + MIB)),
        ),
        ("job buffers", exact(job_buffer_pages(threads, version) * PAGE)),
        ("send buffers", exact(send_buffer_bytes(plan, node, threads))),
        (
            "DiskPageBufferMemory and restore buffers",
            exact(disk_page_buffer_bytes(plan, node, threads)),
        ),
        ("schema transactions", exact(2 * MIB)),
        ("TransactionMemory", transaction_memory(plan, node, threads)),
        ("buffers for messages", exact(settings.number("LongMessageBuffer"))),
        ("buffers for backup", exact(_backup_bytes(plan, node))),
        ("undo buffer", exact(_undo_bytes(plan, node))),
        (
            "program and its other memory",
            constants_of(plan)["process_memory_bytes"],
        ),
    ]
    return total([(name, size) for name, size in pieces if size.value], "bytes")


def _backup_bytes(plan: Plan, node: DataNode) -> int:
    data = node_settings(plan, node).number("BackupDataBufferSize")
    return data + node_settings(plan, node).number("BackupLogBufferSize")


def _undo_bytes(plan: Plan, node: DataNode) -> int:
    """Undo buffers of log file groups; that of InitialLogfileGroup has 64 MiB unless it says otherwise."""
    planned = sum(group.undo_buffer_bytes for group in plan.logfile_groups)
    try:
        initial = str(node_settings(plan, node).value("InitialLogfileGroup") or "")
    except KeyError:
        initial = ""
    if planned or not initial:
        return planned
    stated = re.search(r"undo_buffer_size\s*=\s*([0-9]+[KMG]?)", initial)
    return parse_bytes(stated[1]) if stated else 64 * MIB
