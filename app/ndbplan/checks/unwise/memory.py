"""Rules about memory: does it fit the host, do the tables fit DataMemory."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace
from functools import partial

from ndbplan.base.kept import kept_by_identity
from ndbplan.base.quantity import Quantity
from ndbplan.base.units import format_bytes_binary, format_count, format_duration, format_percent
from ndbplan.checks.fits import ROOM_LEFT
from ndbplan.checks.problem import Problem
from ndbplan.checks.rule import error, rule, warning
from ndbplan.checks.unwise.memory_cures import (
    DATA_MEMORY_SHARE,
    room_for_load,
    room_for_rows,
    room_in_containers,
    room_in_hosts,
)
from ndbplan.configuration.settings import settings_by_node, usable_data_memory
from ndbplan.edits import parts as edits
from ndbplan.edits import validated
from ndbplan.estimate.estimation import Estimation
from ndbplan.estimate.load.maintenance_window import Offered
from ndbplan.estimate.loaded import memory_full_after_s
from ndbplan.estimate.storage.column_bytes import DECIDES, assumed_mean_bytes, filled
from ndbplan.estimate.storage.memory import NodeMemory
from ndbplan.plan.workloads import OpenLoad

_MOMENTS = 400
"""Moments of a load's run whose rates are looked at."""


@rule("memory-of-host", "Data nodes do not fit into the memory of their host")
def memory_of_host(now: Estimation) -> Iterator[Problem]:
    plan, solve = now.plan, partial(room_in_hosts, "memory-of-host", now)
    by_host: dict[str, list[NodeMemory]] = defaultdict(list)
    nodes = {node.node_id: node for node in plan.data_nodes}
    for needed in now.memory.nodes:
        by_host[nodes[needed.node_id].host_id].append(needed)
    for host_id, needs in by_host.items():
        host = plan.host(host_id)
        ram = sum(need.ram_bytes.value for need in needs)
        share = ram / host.memory_bytes
        if share <= 1 - ROOM_LEFT:
            continue
        shown = [str(need.node_id) for need in needs[:4]] + (["…"] if len(needs) > 4 else [])
        named, is_one = ", ".join(shown), len(needs) == 1
        who = f"data node {named} allocates" if is_one else f"data nodes {named} allocate"
        text = (
            f"{who} {format_bytes_binary(ram)} at start, {format_percent(share)} of the "
            f"{format_bytes_binary(host.memory_bytes)} of {host.hostname}"
        )
        ids = [host.id, *(nodes[need.node_id].id for need in needs)]
        certain = "memory_bytes" not in host.assumed
        fix = "lower DataMemory or DiskPageBufferMemory, or give the host more memory"
        if certain and sum(need.ram_bytes.low for need in needs) > host.memory_bytes:
            text += ": the data node does not start or the host swaps"
            problem = error(f"host {host.hostname}", text, fix, ids, measure=share)
        else:
            text += "; the operating system and its file cache need at least 10 %"
            problem = warning(f"host {host.hostname}", text, fix, ids, measure=share)
        yield replace(problem, solve=solve)


@rule("memory-of-container", "A data node does not fit into the memory of its container")
def memory_of_container(now: Estimation) -> Iterator[Problem]:
    nodes = {node.node_id: node for node in now.plan.data_nodes}
    for need in now.memory.nodes:
        limit = need.container_memory_bytes
        if limit is None or need.ram_bytes.value <= (1 - ROOM_LEFT) * limit:
            continue
        share = need.ram_bytes.value / limit
        text = (
            f"the data node allocates {format_bytes_binary(need.ram_bytes.value)} at start, "
            f"{format_percent(share)} of the {format_bytes_binary(limit)} that are the limit of its container"
        )
        where, ids = f"data node {need.node_id}", (nodes[need.node_id].id,)
        fix = "lower DataMemory or DiskPageBufferMemory, or raise the limit"
        if need.ram_bytes.low > limit:
            text += ": the kernel kills it before it has started"
            problem = error(where, text, fix, ids, measure=share)
        else:
            text += "; stacks of threads and the pages of files that it writes count there too"
            problem = warning(where, text, fix, ids, measure=share)
        yield replace(problem, solve=partial(room_in_containers, now))


@rule("data-memory-of-host", "DataMemory leaves no room for everything else")
def data_memory_of_host(now: Estimation) -> Iterator[Problem]:
    plan, solve = now.plan, partial(room_in_hosts, "data-memory-of-host", now)
    by_host: dict[str, int] = defaultdict(int)
    settings_of = settings_by_node(plan)
    for node in plan.data_nodes:
        by_host[node.host_id] += settings_of[node.node_id].number("DataMemory")
    for host_id, data_memory in by_host.items():
        host = plan.host(host_id)
        share = data_memory / host.memory_bytes
        if DATA_MEMORY_SHARE < share <= 1:
            problem = warning(
                f"host {host.hostname}",
                f"DataMemory of {host.hostname} is {format_bytes_binary(data_memory)}, "
                f"{format_percent(share)} of "
                f"its {format_bytes_binary(host.memory_bytes)}; buffers and the system need the rest, "
                "80 % is the usual limit",
                f"lower DataMemory to {format_bytes_binary(host.memory_bytes * DATA_MEMORY_SHARE)}",
                [host.id],
                measure=share,
            )
            yield replace(problem, solve=solve)


@rule("data-memory-fill", "The tables do not fit into DataMemory")
def data_memory_fill(now: Estimation) -> Iterator[Problem]:
    for need in now.memory.nodes:
        taken, limit = need.data_memory_bytes, need.data_memory_limit_bytes
        yield from _over("data-memory-fill", now, need, "DataMemory", taken, limit)


@rule("index-memory-fill", "The hash indexes of the tables do not fit into IndexMemory")
def index_memory_fill(now: Estimation) -> Iterator[Problem]:
    for need in now.memory.nodes:
        taken, limit = need.index_memory_bytes, need.index_memory_limit_bytes
        yield from _over("index-memory-fill", now, need, "IndexMemory", taken, limit)


def _over(
    rule: str, now: Estimation, need: NodeMemory, name: str, taken: Quantity, limit_bytes: int
) -> Iterator[Problem]:
    """Told where tables take more of a memory of a data node than rows can fill."""
    settings = settings_by_node(now.plan)[need.node_id]
    kept, usable = settings.number("MinFreePct"), usable_data_memory(settings)
    fill = taken.value / max(1, limit_bytes)
    if fill <= usable:
        return
    node = next(node for node in now.plan.data_nodes if node.node_id == need.node_id)
    of_rows = name == "DataMemory"
    text = (
        f"{'the tables' if of_rows else 'the hash indexes of the tables'} take "
        f"{format_bytes_binary(taken.value)} on data node {node.node_id}, {format_percent(fill)} of its "
        f"{name} {format_bytes_binary(limit_bytes)}; {format_percent(usable)} can be filled "
        f"(MinFreePct {kept})"
    )
    problem = error(
        f"data node {node.node_id}",
        f"{text}: inserts fail with error {827 if of_rows else 625}{_resting_on(now) if of_rows else ''}",
        f"raise {name}, or add a node group"
        if usable > 0
        else f"lower MinFreePct: at {kept} nothing can be filled",
        [node.id],
        measure=fill,
    )
    yield replace(problem, solve=partial(room_for_rows, rule, now)) if usable > 0 else problem


@rule("fills-with-load", "A load fills the memory before it ends")
def fills_with_load(now: Estimation) -> Iterator[Problem]:
    plan = now.plan
    nodes = {node.node_id: node for node in plan.data_nodes}
    one_memory = plan.features.index_memory_joined
    memory, codes = ("DataMemory", "827") if one_memory else ("DataMemory or IndexMemory", "827 or 625")
    for workload in plan.workloads:
        if not isinstance(workload.load, OpenLoad):
            # What waiting clients send is no more than what is answered; a job states its rows.
            continue
        lasts_s = workload.duration_s * _mean_share(workload.load, workload.duration_s)
        for node_id, full_s in memory_full_after_s(plan, workload):
            # What is full before the load is told by itself.
            if not 0 < full_s < lasts_s:
                continue
            problem = warning(
                f"data node {node_id}",
                f"under workload '{workload.name}' the memory for rows is full after "
                f"{format_duration(full_s)} at its highest rate, and it lasts "
                f"{format_duration(workload.duration_s)}: inserts fail with error {codes} from then on",
                f"raise {memory}, delete rows in the same transactions, or state a shorter run",
                [nodes[node_id].id, workload.id],
                measure=lasts_s / full_s,
            )
            yield replace(problem, solve=partial(room_for_load, now, workload, lasts_s))


def _mean_share(load: OpenLoad, duration_s: float) -> float:
    """Mean rate of a load over its run, against its highest."""
    schedule = Offered(load)
    rates = [rate for _, rate in schedule.between(0.0, duration_s, _MOMENTS)]
    return sum(rates) / len(rates) / schedule.peak_per_s if schedule.peak_per_s > 0 else 0.0


@kept_by_identity(4)
def _resting_on(now: Estimation) -> str:
    """Names the column whose assumed length decides most of the memory, where it decides much."""
    plan, heaviest = now.plan, (0.0, "", now)
    for table in plan.tables:
        for column in table.columns:
            mean = assumed_mean_bytes(column, plan.version)
            weight = table.rows * filled(column) * (mean or 0.0)
            if mean is not None and column.storage != "disk" and weight > heaviest[0]:
                told = (
                    f"{format_count(mean)} bytes are assumed for a value of {table.full_name}.{column.name}"
                )
                empty = validated.changed(column, average_bytes=0.0)
                columns = tuple(empty if one is column else one for one in table.columns)
                heaviest = (weight, told, now.of(edits.update(plan, table.id, columns=columns)))
    whole = _in_all(now)
    share = (whole - _in_all(heaviest[2])) / whole if whole else 0.0
    return (
        f"; {heaviest[1]}, {format_percent(share)} of it all: measure them first" if share > DECIDES else ""
    )


def _in_all(now: Estimation) -> float:
    """Bytes that the tables take on all data nodes."""
    return sum(one.data_memory_bytes.value + one.index_memory_bytes.value for one in now.memory.nodes)
