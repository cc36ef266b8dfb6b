"""Rules about memory: does it fit the host, do the tables fit DataMemory."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace
from functools import partial

from ndbplan.base.units import MIB, format_bytes_binary, format_percent
from ndbplan.checks.fits import misfit
from ndbplan.checks.problem import Problem
from ndbplan.checks.rule import error, rule, warning
from ndbplan.configuration.settings import node_settings, scope_of
from ndbplan.edits.parts import set_parameter
from ndbplan.estimate.estimation import Estimation
from ndbplan.estimate.storage.memory import NodeMemory
from ndbplan.plan.processes import DataNode

_RAM_WARNING = 0.90
_DATA_MEMORY_WARNING = 0.80


@rule("memory-of-host", "Data nodes do not fit into the memory of their host")
def memory_of_host(now: Estimation) -> Iterator[Problem]:
    plan = now.plan
    by_host: dict[str, list[NodeMemory]] = defaultdict(list)
    nodes = {node.node_id: node for node in plan.data_nodes}
    for needed in now.memory.nodes:
        by_host[nodes[needed.node_id].host_id].append(needed)
    for host_id, needs in by_host.items():
        host = plan.host(host_id)
        ram = sum(need.ram_bytes.value for need in needs)
        share = ram / host.memory_bytes
        if share <= _RAM_WARNING:
            continue
        shown = [str(need.node_id) for need in needs[:4]] + (["…"] if len(needs) > 4 else [])
        who = f"data node{'s' if len(needs) > 1 else ''} {', '.join(shown)}"
        text = (
            f"{who} allocate {format_bytes_binary(ram)} at start, {format_percent(share)} of the "
            f"{format_bytes_binary(host.memory_bytes)} of {host.hostname}"
        )
        ids = [host.id, *(nodes[need.node_id].id for need in needs)]
        certain = "memory_bytes" not in host.assumed
        if certain and sum(need.ram_bytes.low for need in needs) > host.memory_bytes:
            yield error(
                f"host {host.hostname}",
                f"{text}: the data node does not start or the host swaps",
                "lower DataMemory or DiskPageBufferMemory, or give the host more memory",
                ids,
                measure=share,
            )
        else:
            yield warning(
                f"host {host.hostname}",
                f"{text}; the operating system and its file cache need at least 10 %",
                "lower DataMemory or DiskPageBufferMemory, or give the host more memory",
                ids,
                measure=share,
            )


@rule("data-memory-of-host", "DataMemory leaves no room for everything else")
def data_memory_of_host(now: Estimation) -> Iterator[Problem]:
    plan = now.plan
    by_host: dict[str, int] = defaultdict(int)
    for node in plan.data_nodes:
        by_host[node.host_id] += node_settings(plan, node).number("DataMemory")
    for host_id, data_memory in by_host.items():
        host = plan.host(host_id)
        share = data_memory / host.memory_bytes
        if _DATA_MEMORY_WARNING < share <= 1:
            yield warning(
                f"host {host.hostname}",
                f"DataMemory of {host.hostname} is {format_bytes_binary(data_memory)}, "
                f"{format_percent(share)} of "
                f"its {format_bytes_binary(host.memory_bytes)}; buffers and the system need the rest, "
                "80 % is the usual limit",
                f"lower DataMemory to {format_bytes_binary(host.memory_bytes * _DATA_MEMORY_WARNING)}",
                [host.id],
                measure=share,
            )


@rule("data-memory-fill", "The tables do not fit into DataMemory")
def data_memory_fill(now: Estimation) -> Iterator[Problem]:
    plan = now.plan
    nodes = {node.node_id: node for node in plan.data_nodes}
    for need in now.memory.nodes:
        node = nodes[need.node_id]
        kept = node_settings(plan, node).number("MinFreePct") or 5
        usable = 1 - kept / 100
        if need.fill <= usable:
            continue
        text = (
            f"the tables take {format_bytes_binary(need.data_memory_bytes.value)} on data node "
            f"{node.node_id}, "
            f"{format_percent(need.fill)} of its DataMemory "
            f"{format_bytes_binary(need.data_memory_limit_bytes)}; "
            f"{format_percent(usable)} can be filled (MinFreePct {kept})"
        )
        found = error(
            f"data node {node.node_id}",
            f"{text}: inserts fail with error 827",
            f"lower MinFreePct: at {kept} nothing can be filled",
            [node.id],
            measure=need.fill,
        )
        if usable > 0:
            wanted = need.data_memory_bytes.high / usable * 1.05
            found = replace(found, advice=partial(_more_memory, now, node, wanted))
        yield found


def _more_memory(now: Estimation, node: DataNode, wanted: float) -> str:
    """Raise DataMemory where hosts and disks have room for that, else what would make room."""
    size = -(-int(wanted) // MIB) * MIB
    scope = scope_of(node, "DataMemory")
    reason = misfit(now, set_parameter(now.plan, scope, "DataMemory", size))
    if not reason:
        return f"raise DataMemory to {format_bytes_binary(size)} or add a node group"
    return f"add a node group; {format_bytes_binary(size)} of DataMemory do not fit: {reason}"
