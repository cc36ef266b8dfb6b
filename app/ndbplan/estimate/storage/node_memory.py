"""RAM that a data node allocates for its parameters: DataMemory, buffers, page cache, transaction memory.

    ram_bytes(settings, threads, links, constants)      # one term for each part

Source: init_global_memory_manager (ndbd.cpp) and compute_jb_pages (mt.cpp) of 8.x, held against the figures
that ndbmtd 8.4.8 printed at start for 196 settings (tests/reality/datanode-memory-report.csv).
"""

from __future__ import annotations

import re

from ndbplan.base.quantity import Quantity, total
from ndbplan.base.units import KIB, MIB, parse_bytes
from ndbplan.configuration.link_buffers import LinkBuffers
from ndbplan.configuration.settings import (
    NodeSettings,
    index_memory_bytes,
    is_diskless,
    redo_buffer_bytes,
    redo_buffers,
    redo_log_parts,
)
from ndbplan.estimate.constants import Constants
from ndbplan.ndb import parameters as catalogue
from ndbplan.ndb.features import features
from ndbplan.ndb.threads.layout import ThreadCounts
from ndbplan.ndb.version import NdbVersion

PAGE = 32 * KIB
_QUEUE_PAGES = 32
_POOLED_THREADS = 32
"""With more block threads than this, job queues are pooled: every thread has this many."""
_SEND_THREAD_PAGES = 60
"""Pages that each block thread adds to the send buffers (held against what ndbmtd 8.4.8 printed)."""
LEAST_SEND_BYTES = 16 * MIB
_SEND_LINK_BYTES = 256 * KIB
"""Least send buffers: so much, and for each link (NDB source, MIN_SEND_BUFFER_GENERAL in mt.cpp)."""
_GROUP_TRANSPORTERS_MOST = 32
"""Transporters to one member of the node group, at most (NDB source, MAX_NODE_GROUP_TRANSPORTERS)."""
_RESTORE_BUFFER_BYTES = 4 * MIB
"""For each thread that restores (NDB source, LCP_RESTORE_BUFFER)."""
_LOCAL_SCANS_MOST = 4096
"""MaxNoOfLocalScans where it is not stated, at most (held against what ndbmtd 8.4.8 printed)."""


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


def send_buffer_bytes(settings: NodeSettings, threads: ThreadCounts, links: LinkBuffers) -> int:
    """Send buffers of all links of a node."""
    stated = settings.number("TotalSendBufferMemory")
    own = stated or links.send_bytes
    extra = settings.number("ExtraSendBufferMemory")
    size = own + extra + threads.block_threads * _SEND_THREAD_PAGES * PAGE
    if extra == 0:
        least = LEAST_SEND_BYTES + links.number * _SEND_LINK_BYTES + threads.block_threads * 2 * MIB
        size = max(size, least)
    return size


def redo_memory_bytes(settings: NodeSettings, threads: ThreadCounts) -> int:
    """Redo buffers with those of the log files: 1 MiB for each log part."""
    buffers = redo_buffers(settings, threads.ldm_instances)
    return buffers * redo_buffer_bytes(settings) + redo_log_parts(settings) * MIB


def overallocated_send_bytes(settings: NodeSettings, send_bytes: int) -> int:
    """What send buffers may take of SharedGlobalMemory beyond their own bytes.

    Source: init_global_memory_manager (ndbd.cpp); ndbmtd 8.4.8 prints it at start.
    """
    least = min(send_bytes, settings.number("SharedGlobalMemory"))
    return (least if settings.features.send_overallocation_bounded else send_bytes) // 4


def group_transporters(settings: NodeSettings, threads: ThreadCounts) -> int:
    """Transporters that a node makes to each other member of its node group, beside the first; 0: none.

    Source: Qmgr::execREAD_CONFIG_REQ and initial_set_up_multi_trps: without send threads there are none, and
    a node makes as many as it would use, whatever the other one has.
    """
    if not threads.send or not catalogue.knows(settings.section, "NodeGroupTransporters", settings.version):
        return 0
    stated = settings.number("NodeGroupTransporters")
    wanted = min(stated, max(threads.ldm, threads.tc)) if stated else threads.ldm
    wanted = min(wanted, _GROUP_TRANSPORTERS_MOST)
    return wanted if wanted > 1 else 0


def receive_buffer_bytes(settings: NodeSettings, threads: ThreadCounts, links: LinkBuffers) -> Quantity:
    """Receive buffers of all links: one for each transporter.

    They are allocated as a whole and used as far as messages wait in them: low is nothing, unless memory is
    locked. Source: TCP_Transporter::initTransporter.
    """
    size = float(links.receive_bytes + group_transporters(settings, threads) * links.group_receive_bytes)
    least = size if settings.number("LockPagesInMainMemory") else 0.0
    return Quantity.spanning(size, (least,), "bytes")


def disk_page_buffer_bytes(settings: NodeSettings, threads: ThreadCounts) -> int:
    """DiskPageBufferMemory with the buffers for restoring that lie beside it."""
    restoring = threads.ldm_instances + threads.query + threads.recover
    stated = settings.number("DiskPageBufferMemory")
    return stated + restoring * _RESTORE_BUFFER_BYTES + 2 * MIB


def least_transaction_memory(settings: NodeSettings, threads: ThreadCounts, constants: Constants) -> float:
    """What is reserved, and a part for each LDM and TC thread, in bytes: a smaller setting is raised.

    Source: ndbmtd 8.4.8, which took 38 MB for every TransactionMemory below (one LDM and one TC thread).
    """
    ldm, tc = threads.ldm_instances, max(1, threads.tc)

    def times(count: float, name: str) -> float:
        return count * constants[name].value

    return (
        times(1, "transaction_reserved_bytes")
        + times(settings.number("MaxNoOfConcurrentOperations"), "transaction_reserved_operation_bytes")
        + times(ldm - 1, "transaction_reserved_ldm_bytes")
        + times(threads.query + threads.recover, "transaction_reserved_query_bytes")
        + times(settings.number("ReservedTransactionBufferMemory"), "transaction_reserved_buffer_factor")
        + times(ldm + tc, "transaction_reserved_thread_bytes")
    )


def _local_scans(settings: NodeSettings, threads: ThreadCounts) -> int:
    scans = settings.number("MaxNoOfConcurrentScans")
    return min(max(1, threads.tc) * threads.ldm_instances * scans, _LOCAL_SCANS_MOST)


def computed_values(
    settings: NodeSettings, threads: ThreadCounts, links: LinkBuffers, constants: Constants
) -> dict[str, int]:
    """What a node takes for parameters that are not stated, where that follows from others of them."""
    operations = settings.number("MaxNoOfConcurrentOperations")
    found = {
        "MaxNoOfLocalOperations": round(operations * constants["local_operations"].value),
        "MaxNoOfLocalScans": _local_scans(settings, threads),
        "TotalSendBufferMemory": links.send_bytes,
    }
    return {name: value for name, value in found.items() if not settings.states(name)}


def transaction_memory(settings: NodeSettings, threads: ThreadCounts, constants: Constants) -> Quantity:
    """TransactionMemory as set, or as the node computes it from its operation limits.

    The factors are fitted to what 8.4.8 printed for 90 settings of limits and threads; 10 % off at most.
    """
    stated = settings.number("TransactionMemory")
    least = least_transaction_memory(settings, threads, constants)
    if stated:
        return Quantity.exact(max(float(stated), least), "bytes")
    ldm, tc = threads.ldm_instances, max(1, threads.tc)
    operations = settings.number("MaxNoOfConcurrentOperations")
    others = threads.query + threads.recover

    def times(count: float, name: str) -> float:
        return count * constants[name].value

    transactions = settings.number("MaxNoOfConcurrentTransactions")
    local_operations = settings.number("MaxNoOfLocalOperations") or times(operations, "local_operations")
    scans = settings.number("MaxNoOfLocalScans") or _local_scans(settings, threads)
    computed = (
        times(1, "transaction_memory_bytes")
        + tc
        * (
            times(operations, "coordinator_operation_bytes")
            + times(transactions, "coordinator_transaction_bytes")
        )
        + times(local_operations, "local_operation_bytes")
        + times(transactions, "local_transaction_bytes")
        + times(scans, "local_scan_row_bytes") * settings.number("BatchSizePerLocalScan")
        + times(ldm, "transaction_memory_ldm_bytes")
        + times(others, "transaction_memory_query_bytes")
        + constants["index_operation_bytes"].value
        * max(0, settings.number("MaxNoOfConcurrentIndexOperations") - 8192)
        + constants["fired_trigger_bytes"].value * max(0, settings.number("MaxNoOfFiredTriggers") - 4000)
        + constants["transaction_buffer_factor"].value
        * max(0, settings.number("TransactionBufferMemory") - MIB)
    )
    return (computed * constants["transaction_memory_fit"]).in_unit("bytes").within(least=least)


def ram_bytes(
    settings: NodeSettings, threads: ThreadCounts, links: LinkBuffers, constants: Constants
) -> Quantity:
    """Bytes of RAM of a data node, before and after log file groups are made: those take shared memory."""

    def exact(value: float) -> Quantity:
        return Quantity.exact(float(value), "bytes")

    has_parameter = catalogue.knows(settings.section, "TransactionMemory", settings.version)
    transactions = "TransactionMemory" if has_parameter else "records of transactions"
    pieces = [
        ("DataMemory", exact(settings.number("DataMemory"))),
        ("IndexMemory", exact(index_memory_bytes(settings, threads.ldm_instances))),
        ("SharedGlobalMemory", exact(settings.number("SharedGlobalMemory"))),
        ("redo buffers", exact(redo_memory_bytes(settings, threads))),
        ("job buffers", exact(job_buffer_pages(threads, settings.version) * PAGE)),
        ("send buffers", exact(send_buffer_bytes(settings, threads, links))),
        ("receive buffers", receive_buffer_bytes(settings, threads, links)),
        (
            "DiskPageBufferMemory and restore buffers",
            exact(disk_page_buffer_bytes(settings, threads)),
        ),
        ("schema transactions", exact(2 * MIB)),
        (transactions, transaction_memory(settings, threads, constants)),
        ("buffers for messages", exact(settings.number("LongMessageBuffer"))),
        ("buffers for backup", exact(_backup_bytes(settings))),
        ("undo buffer of InitialLogfileGroup", exact(_undo_bytes(settings))),
        (
            "program and its other memory",
            constants["process_memory_bytes"],
        ),
    ]
    return total([(name, size) for name, size in pieces if size.value], "bytes")


def _backup_bytes(settings: NodeSettings) -> int:
    data = settings.number("BackupDataBufferSize")
    return data + settings.number("BackupLogBufferSize")


def _undo_bytes(settings: NodeSettings) -> int:
    """Undo buffer of InitialLogfileGroup, 64 MiB unless it says otherwise; others lie in shared memory."""
    try:
        initial = str(settings.value("InitialLogfileGroup") or "")
    except KeyError:
        initial = ""
    if not initial or is_diskless(settings):
        return 0
    stated = re.search(r"undo_buffer_size\s*=\s*([0-9]+[KMG]?)", initial)
    return parse_bytes(stated[1]) if stated else 64 * MIB
