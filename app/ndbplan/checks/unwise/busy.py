"""Rules about processors of data nodes and networks under workloads: what cannot be done in time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

from ndbplan.base.units import format_bytes_per_s, format_count, format_percent, format_value, how_many
from ndbplan.checks.problem import Problem
from ndbplan.checks.rule import rule, warning
from ndbplan.checks.unwise.busy_cures import ways_for_networks, ways_for_processors
from ndbplan.estimate.estimation import Estimation
from ndbplan.estimate.loaded import uplinks
from ndbplan.estimate.row_locks import hottest_rows, row_lock_s
from ndbplan.plan.workloads import Workload


def _follows(workload: Workload) -> str:
    """What becomes of a load that is more than can be done."""
    if workload.load.kind == "open":
        return "transactions queue up and time out"
    return "who sends it waits, and is slower than planned"


@rule("processor-demand", "Data nodes do not keep up with a workload")
def processor_demand(now: Estimation) -> Iterator[Problem]:
    for workload in now.plan.workloads:
        cpu, solve = now.under(workload).cpu, partial(ways_for_processors, now, workload)
        busy = [node for node in cpu.nodes if node.ldm_utilisation.value > 1]
        if busy:
            worst = max(busy, key=lambda node: node.ldm_utilisation.value)
            found = warning(
                f"data node {worst.node_id}",
                f"under workload '{workload.name}' the busiest LDM thread of data node {worst.node_id} is "
                f"asked for {format_percent(worst.ldm_utilisation.value)} of what a core does: "
                f"{_follows(workload)}{_more(len(busy) - 1, 'data node')}",
                "more LDM threads with cores of their own, or more node groups",
                [*(node.id for node in now.plan.data_nodes if node.node_id == worst.node_id), workload.id],
                measure=worst.ldm_utilisation.value,
            )
            yield replace(found, solve=solve)
        full = [host for host in cpu.hosts if host.data_nodes and host.utilisation.value > 1]
        if full and not busy:
            host = max(full, key=lambda one: one.utilisation.value)
            found = warning(
                f"host {host.host}",
                f"under workload '{workload.name}' the processes on {host.host} ask for "
                f"{format_percent(host.utilisation.value)} of its cores: {_follows(workload)}"
                f"{_more(len(full) - 1, 'host')}",
                "more cores, fewer processes on the host, or more node groups",
                [host.host_id, workload.id],
                measure=host.utilisation.value,
            )
            yield replace(found, solve=solve)


@rule("network-demand", "A network does not keep up with a workload")
def network_demand(now: Estimation) -> Iterator[Problem]:
    for workload in now.plan.workloads:
        under = now.under(workload)
        busy = [host for host in under.network.hosts if host.utilisation.value > 1]
        if busy:
            worst = max(busy, key=lambda host: host.utilisation.value)
            carried = max(worst.in_bytes_per_s.value, worst.out_bytes_per_s.value)
            found = warning(
                f"network of {worst.host}",
                f"under workload '{workload.name}' the network of {worst.host} would carry "
                f"{format_bytes_per_s(carried)} one way: {format_percent(worst.utilisation.value)} of "
                f"what it can: {_follows(workload)}"
                f"{_more(len(busy) - 1, 'host')}",
                "a faster network, smaller rows, or more hosts",
                [worst.host_id, workload.id],
                measure=worst.utilisation.value,
            )
            yield replace(found, solve=partial(ways_for_networks, now, workload))
        full = [one for one in uplinks(now.plan, workload) if one.utilisation.value > 1]
        for uplink in full:
            carried = max(uplink.in_bytes_per_s.value, uplink.out_bytes_per_s.value)
            found = warning(
                f"uplink of {uplink.location}",
                f"under workload '{workload.name}' the uplink of {uplink.location} would carry "
                f"{format_bytes_per_s(carried)} one way: {format_percent(uplink.utilisation.value)} of "
                f"what it can: {_follows(workload)}",
                "a faster uplink, or clients in the same place as the primary replicas that they read",
                [uplink.location_id, workload.id],
                measure=uplink.utilisation.value,
            )
            yield replace(found, solve=partial(ways_for_networks, now, workload))


@rule("row-locks", "One row is changed too often")
def row_locks(now: Estimation) -> Iterator[Problem]:
    for workload in now.plan.workloads:
        held = row_lock_s(now.plan, workload)
        for table, locks_per_s in hottest_rows(now.plan, workload):
            if locks_per_s * held.value <= 1:
                continue
            yield warning(
                f"table {table.full_name}",
                f"under workload '{workload.name}' the most wanted row of {table.full_name} is locked "
                f"{format_count(locks_per_s)} times a second, for {format_value(held.value, 's')} each; one "
                f"row allows {format_count(1 / held.value)}: {_follows(workload)}",
                "spread the changes over more rows, such as a counter in several parts, or commit sooner",
                [table.id, workload.id],
                missing="which of its changes could go to other rows: who designed the table knows",
                measure=locks_per_s * held.value,
            )


def _more(count: int, what: str) -> str:
    return f"; the same with {how_many(count, f'more {what}')}" if count else ""
