"""Rows of ndbinfo that tell of machines: processors, threads and what runs in them, and disks.

What is busy is what the simulation and the estimates say; counters that neither has are 0.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from ndbplan.base.units import MIB
from ndbplan.estimate.loaded import disk_data
from ndbplan.estimate.stored import ldm_threads, threads_of
from ndbplan.ndb.ndbinfo import fixed_rows, thread_blocks
from ndbplan.plan.processes import DataNode
from ndbplan.simulate.series import NodeSeries
from ndbplan.train.busy import host_busy, thread_use
from ndbplan.train.live import LiveCluster
from ndbplan.train.sql.counted import committed

Row = dict[str, Any]
_CPU_S = 1.0
"""What cpustat takes its means over."""
_MEASURED = {"50ms": (0.05, 20), "1sec": (1.0, 20), "20sec": (20.0, 20)}
"""Seconds of a measurement and how many are kept [8.4.8]."""
_SPEEDS_KEPT = 61
"""Seconds that disk_write_speed_base goes back, of each thread [7.4.10, 8.4.8]."""
_USER = 0.85
"""Share of busy time outside the operating system [assumed]."""
_WORDS = {
    "main": "main thread, schema and distribution handling",
    "rep": "rep thread, asynch replication and proxy block handling",
    "ldm": "ldm thread, handling a set of data partitions",
    "tc": "tc thread, transaction handling, unique index and pushdown join handling",
    "recv": "receive thread, performing receieve and polling for new receives",
    "send": "send thread",
}


def _nodes(cluster: LiveCluster) -> Iterator[DataNode]:
    for node_id in cluster.state.alive():
        node = cluster.state.data_node(node_id)
        assert node is not None
        yield node


def _thread_names(cluster: LiveCluster, node: DataNode) -> list[str]:
    """Names of its threads in the order of their numbers."""
    counts = threads_of(cluster.plan, node)
    return [name for name in _WORDS for _ in range(getattr(counts, name))]


def threads(cluster: LiveCluster) -> Iterator[Row]:
    """What each thread is for."""
    for node in _nodes(cluster):
        for number, name in enumerate(_thread_names(cluster, node)):
            yield {
                "node_id": node.node_id, "thr_no": number, "thread_name": name,
                "thread_description": _WORDS[name],
            }  # fmt: skip


def threadblocks(cluster: LiveCluster) -> Iterator[Row]:
    """Which blocks run in which thread."""
    for node in _nodes(cluster):
        names, of = _thread_names(cluster, node), dict.fromkeys(_WORDS, 0)
        has_tc = "tc" in names
        for number, name in enumerate(names):
            of[name] += 1
            inside = [(block, 0) for block in thread_blocks(name) if name in ("main", "rep")]
            inside += [(block, of[name]) for block in thread_blocks(name) if name not in ("main", "rep")]
            if name == "main" and has_tc:
                inside = [one for one in inside if one != ("DBTC", 0)] + [("DBTC", 0)]
            if name == "rep":
                inside.append(("PGMAN", ldm_threads(cluster.plan, node) + 1))
            for block, instance in [*inside, ("THRMAN", number + 1)]:
                yield {
                    "node_id": node.node_id, "thr_no": number, "block_name": block,
                    "block_instance": instance,
                }  # fmt: skip


def threadstat(cluster: LiveCluster) -> Iterator[Row]:
    """How long each thread has worked since its start; signals are not counted here."""
    now_ms = round(cluster.now_s * 1000)
    for node in _nodes(cluster):
        began_s = max(0.0, cluster.state.starts.get(node.node_id, 0.0))
        up_s = cluster.now_s - began_s
        for number, (name, busy) in enumerate(thread_use(cluster, node, max(_CPU_S, up_s))):
            yield {
                "node_id": node.node_id, "thr_no": number, "thr_nm": name,
                "os_tid": cluster.state.process_number(node.node_id) + number, "os_now": now_ms,
                "os_ru_utime": round(busy * up_s * 1e6 * _USER),
                "os_ru_stime": round(busy * up_s * 1e6 * (1 - _USER)),
            }  # fmt: skip


def cpustat(cluster: LiveCluster) -> Iterator[Row]:
    """How busy each thread was in the last second, in percent."""
    for node in _nodes(cluster):
        for number, (_, busy) in enumerate(thread_use(cluster, node, _CPU_S)):
            user, system = round(busy * 100 * _USER), round(busy * 100 * (1 - _USER))
            yield {
                "node_id": node.node_id, "thr_no": number, "OS_user": user, "OS_system": system,
                "OS_idle": 100 - user - system, "thread_exec": user + system,
                "thread_sleeping": 100 - user - system, "elapsed_time": round(_CPU_S * 1e6),
            }  # fmt: skip


def cpustat_kept(every: str) -> Callable[[LiveCluster], Iterator[Row]]:
    """The measurements that are kept of each thread, newest first, in microseconds."""
    seconds, count = _MEASURED[every]

    def rows(cluster: LiveCluster) -> Iterator[Row]:
        for node in _nodes(cluster):
            uses = [
                thread_use(cluster, node, seconds, back_s=nth * seconds)
                for nth in range(count)
                if nth * seconds < cluster.now_s
            ]
            for number in range(len(_thread_names(cluster, node))):
                for use in uses:
                    busy, whole = use[number][1], round(seconds * 1e6)
                    user, system = round(busy * whole * _USER), round(busy * whole * (1 - _USER))
                    yield {
                        "node_id": node.node_id, "thr_no": number, "OS_user_time": user,
                        "OS_system_time": system, "OS_idle_time": whole - user - system,
                        "exec_time": user + system, "sleep_time": whole - user - system,
                        "elapsed_time": whole,
                    }  # fmt: skip

    return rows


def hwinfo(cluster: LiveCluster) -> Iterator[Row]:
    """The machine of each data node."""
    for node in _nodes(cluster):
        host = cluster.plan.host(node.host_id)
        yield {
            "node_id": node.node_id, "cpu_cnt_max": host.cores, "cpu_cnt": host.cores,
            "num_cpu_cores": host.cores, "num_cpu_sockets": host.sockets,
            "HW_memory_size": host.memory_bytes,
        }  # fmt: skip


def cpuinfo(cluster: LiveCluster) -> Iterator[Row]:
    """The processors of these machines."""
    for node in _nodes(cluster):
        host = cluster.plan.host(node.host_id)
        for core in range(host.cores):
            yield {
                "node_id": node.node_id, "cpu_no": core, "cpu_online": 1, "core_id": core,
                "socket_id": core * host.sockets // host.cores,
            }  # fmt: skip


def cpudata(cluster: LiveCluster) -> Iterator[Row]:
    """How they were used in the last second, in milliseconds: all of a machine alike."""
    for node in _nodes(cluster):
        host = cluster.plan.host(node.host_id)
        busy_ms = round(1000 * host_busy(cluster, host, _CPU_S))
        user_ms = round(busy_ms * _USER)
        for core in range(host.cores):
            yield {
                "node_id": node.node_id, "cpu_no": core, "cpu_userspace_time": user_ms,
                "cpu_idle_time": 1000 - busy_ms, "cpu_system_time": busy_ms - user_ms,
            }  # fmt: skip


def cpudata_kept(every: str) -> Callable[[LiveCluster], Iterator[Row]]:
    """The measurements of processors that are kept, newest first, in milliseconds: all of a machine alike."""
    seconds, count = _MEASURED[every]

    def rows(cluster: LiveCluster) -> Iterator[Row]:
        whole = round(seconds * 1000)
        for node in _nodes(cluster):
            host = cluster.plan.host(node.host_id)
            kept = [
                round(whole * host_busy(cluster, host, seconds, back_s=nth * seconds))
                for nth in range(count)
                if nth * seconds < cluster.now_s
            ]
            for core in range(host.cores):
                for nth, busy_ms in enumerate(kept):
                    user_ms = round(busy_ms * _USER)
                    yield {
                        "node_id": node.node_id, "measurement_id": nth, "cpu_no": core,
                        "cpu_userspace_time": user_ms, "cpu_idle_time": whole - busy_ms,
                        "cpu_system_time": busy_ms - user_ms, "elapsed_time": whole,
                    }  # fmt: skip

    return rows


def blocks(_cluster: LiveCluster) -> Iterator[Row]:
    """The blocks that a data node consists of."""
    return ({"block_number": number, "block_name": name} for number, name in fixed_rows("blocks"))


def dict_obj_types(_cluster: LiveCluster) -> Iterator[Row]:
    """Kinds of objects of the dictionary."""
    return ({"type_id": number, "type_name": name} for number, name in fixed_rows("dict_obj_types"))


# Disks.


def _series(cluster: LiveCluster) -> Iterator[tuple[DataNode, NodeSeries, int, float]]:
    """Data nodes with what they wrote, the last moment that is over, and its seconds."""
    result = cluster.result()
    last = max(0, int((cluster.now_s - result.bucket_s) / result.bucket_s))
    by_id = {node_id: series for series in result.nodes for node_id in series.node_ids}
    for node in _nodes(cluster):
        if node.node_id in by_id:
            yield node, by_id[node.node_id], last, result.bucket_s


def disk_write_speed_base(cluster: LiveCluster) -> Iterator[Row]:
    """What each LDM thread wrote in each of the last seconds, newest first."""
    for node, series, last, bucket_s in _series(cluster):
        ldms = ldm_threads(cluster.plan, node)
        for thread in range(ldms):
            for ago in range(min(_SPEEDS_KEPT, int(cluster.now_s) + 1)):
                at = last - int(ago / bucket_s)
                lcp, redo, target = (
                    0.0 if at < 0 else float(values[at]) / ldms
                    for values in (
                        series.lcp_bytes_per_s, series.redo_bytes_per_s, series.lcp_target
                    )
                )  # fmt: skip
                yield {
                    "node_id": node.node_id, "thr_no": thread, "millis_ago": 1000 * ago,
                    "millis_passed": 1000, "backup_lcp_bytes_written": round(lcp),
                    "redo_bytes_written": round(redo), "target_disk_write_speed": round(target),
                }  # fmt: skip


def disk_write_speed_aggregate(cluster: LiveCluster) -> Iterator[Row]:
    """Means of the last second, ten and sixty, by LDM thread, and what checkpoints may write now."""
    for node, series, last, bucket_s in _series(cluster):
        ldms = ldm_threads(cluster.plan, node)
        row: Row = {
            "node_id": node.node_id,
            "current_target_disk_write_speed": round(float(series.lcp_target[last]) / ldms),
        }
        for seconds, name in ((1, "last_sec"), (10, "last_10sec"), (60, "last_60sec")):
            first = max(0, last - max(1, round(seconds / bucket_s)) + 1)
            for kind, values in (("backup_lcp", series.lcp_bytes_per_s), ("redo", series.redo_bytes_per_s)):
                lately = values[first : last + 1] / ldms
                row[f"{kind}_speed_{name}"] = round(float(lately.mean()))
                row[f"std_dev_{kind}_speed_{name}"] = round(float(lately.std()))
        yield from ({**row, "thr_no": thread} for thread in range(ldms))


_PAGE_BYTES = MIB // 32


def diskpagebuffer(cluster: LiveCluster) -> Iterator[Row]:
    """Pages of disk data asked for since the start, by what answered; those of a node spread over its LDMs.

    The last instance is that of extents, which has next to nothing to do.
    """
    workload = cluster.session.simulation.scenario.workload
    found = disk_data(cluster.session.simulation.outage.plan, workload)
    peak = cluster.session.simulation.scenario.laws.offered.max()
    per_s = float(peak) / cluster.session.simulation.scenario.step_s
    for node in _nodes(cluster):
        ldms, mine = ldm_threads(cluster.plan, node), found.node(node.node_id)
        asked_s = committed(cluster, node.node_id) / per_s if per_s > 0 else 0.0
        for instance in range(1, ldms + 2):
            row: Row = {"node_id": node.node_id, "block_instance": instance}
            if mine is not None and instance <= ldms:
                reads = mine.random_reads_per_s.value * asked_s / ldms
                asked = mine.accesses_per_s * asked_s / ldms
                written = mine.page_write_bytes_per_s.value / _PAGE_BYTES + mine.random_writes_per_s.value
                row |= {
                    "pages_read": round(reads), "page_requests_wait_io": round(reads),
                    "page_requests_direct_return": round(max(0.0, asked - reads)),
                    "pages_written_lcp": round(written * asked_s / ldms),
                }  # fmt: skip
            yield row


_SECONDS_OF_DISKSTATS = 20
"""Seconds that diskstats_1sec goes back, of each instance [8.4.8]."""


def _page_rates(cluster: LiveCluster) -> Iterator[tuple[int, int, float, float, float]]:
    """Node, instance, and pages of disk data asked for, read and written in a second of the load."""
    workload = cluster.session.simulation.scenario.workload
    found = disk_data(cluster.session.simulation.outage.plan, workload)
    for node in _nodes(cluster):
        ldms, mine = ldm_threads(cluster.plan, node), found.node(node.node_id)
        for instance in range(1, ldms + 2):
            if mine is None or instance > ldms:
                yield node.node_id, instance, 0.0, 0.0, 0.0
                continue
            written = mine.page_write_bytes_per_s.value / _PAGE_BYTES + mine.random_writes_per_s.value
            reads = mine.random_reads_per_s.value
            yield node.node_id, instance, mine.accesses_per_s / ldms, reads / ldms, written / ldms


def _pages(asked: float, reads: float, writes: float) -> Row:
    return {
        "pages_made_dirty": round(writes), "reads_issued": round(reads), "reads_completed": round(reads),
        "writes_issued": round(writes), "writes_completed": round(writes),
        "get_page_calls_issued": round(asked), "get_page_reqs_issued": round(reads),
        "get_page_reqs_completed": round(reads),
    }  # fmt: skip


def _of_offered(cluster: LiveCluster, ago: int) -> float:
    """Share of the load that was accepted in a second of the past."""
    result = cluster.result()
    at = int((cluster.now_s - 1e-6) / result.bucket_s) - int(ago / result.bucket_s)
    if at < 0 or at >= len(result.accepted):
        return 0.0
    offered = float(cluster.session.simulation.scenario.laws.offered.max())
    per_s = offered / cluster.session.simulation.scenario.step_s
    return float(result.accepted[at]) / per_s if per_s > 0 else 0.0


def diskstats_1sec(cluster: LiveCluster) -> Iterator[Row]:
    """Pages of disk data in each of the last seconds, newest first."""
    shares = [_of_offered(cluster, ago) for ago in range(_SECONDS_OF_DISKSTATS)]
    for node_id, instance, asked, reads, writes in _page_rates(cluster):
        for ago, share in enumerate(shares):
            yield {
                "node_id": node_id, "block_instance": instance,
                **_pages(asked * share, reads * share, writes * share), "seconds_ago": ago,
            }  # fmt: skip


def diskstat(cluster: LiveCluster) -> Iterator[Row]:
    """The same of the last second."""
    share = _of_offered(cluster, 0)
    for node_id, instance, asked, reads, writes in _page_rates(cluster):
        pages = _pages(asked * share, reads * share, writes * share)
        yield {"node_id": node_id, "block_instance": instance, **pages}


_PGMAN, _BOUNDS = 253, (0, *(2**n for n in range(4, 23)))
"""Number of the block, and the bounds of its histogram in microseconds, of 20 rows [8.4.8: 0, 16, 32 ...]."""


def pgman_time_track_stats(cluster: LiveCluster) -> Iterator[Row]:
    """How long pages were waited for: all stand where a disk takes so long, as nobody measures each."""
    for row in diskpagebuffer(cluster):
        for bound in _BOUNDS:
            at_disk = bound == _BOUNDS[_AT_DISK]
            yield {
                "node_id": row["node_id"], "block_number": _PGMAN, "block_instance": row["block_instance"],
                "upper_bound": bound, "page_reads": row.get("pages_read", 0) * at_disk,
                "page_writes": row.get("pages_written_lcp", 0) * at_disk,
                "get_page": row.get("page_requests_wait_io", 0) * at_disk,
            }  # fmt: skip


_AT_DISK = 6
"""Which bound a page of a disk falls under: 512 microseconds [assumed]."""
