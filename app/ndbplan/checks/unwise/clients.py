"""Rules about the nodes that clients come through: SQL nodes and API nodes under the plan's workloads."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

from ndbplan.base.units import format_count, format_percent, format_value, how_many
from ndbplan.checks.problem import Problem
from ndbplan.checks.rule import rule, warning
from ndbplan.checks.unwise.load_cures import ways_for_clients, ways_for_connections
from ndbplan.edits.changes import SetField
from ndbplan.estimate.estimation import Estimation
from ndbplan.estimate.loaded import as_long_as_its_work, own_work_s
from ndbplan.plan.workloads import ClosedLoad


@rule("client-nodes", "SQL or API nodes cannot carry their workloads")
def client_nodes(now: Estimation) -> Iterator[Problem]:
    for workload in now.plan.workloads:
        cpu = now.under(workload).cpu
        coming = cpu.clients
        if coming is None or not coming.nodes:
            continue
        kind = "SQL" if coming.through == "sql" else "API"
        by_host = {host.host_id: host for host in cpu.hosts}
        worst = max(coming.nodes, key=lambda n: by_host[n.host_id].utilisation.value)
        host = by_host[worst.host_id]
        ids = [worst.process_id, worst.host_id, workload.id]
        asked = f"{format_count(round(coming.statements_per_s))} statements a second"
        if host.utilisation.value > 1 and not host.data_nodes:
            found = warning(
                f"{kind} node {worst.node_id}",
                f"under workload '{workload.name}' {len(coming.nodes)} {kind} nodes get {asked}; host "
                f"{worst.host} would be {format_percent(host.utilisation.value)} busy",
                f"add {kind} nodes or give their hosts more cores",
                ids,
                measure=host.utilisation.value,
            )
            yield replace(found, solve=partial(ways_for_clients, now, workload))
        busiest = max(coming.nodes, key=lambda n: n.connection_utilisation.value)
        if busiest.connection_utilisation.value > 1:
            more = "a larger ndb-cluster-connection-pool" if kind == "SQL" else "more API slots"
            found = warning(
                f"{kind} node {busiest.node_id}",
                f"under workload '{workload.name}' {len(coming.nodes)} {kind} nodes get {asked}; the "
                f"{how_many(busiest.connections, 'cluster connection')} of node {busiest.node_id} would be "
                f"{format_percent(busiest.connection_utilisation.value)} busy",
                f"{more}, or more {kind} nodes",
                [busiest.process_id, workload.id],
                measure=busiest.connection_utilisation.value,
            )
            yield replace(found, solve=partial(ways_for_connections, now, workload))


@rule("latency-of-clients", "Clients state a latency that their transactions cannot have")
def latency_of_clients(now: Estimation) -> Iterator[Problem]:
    for workload in now.plan.workloads:
        load, slower = workload.load, as_long_as_its_work(now.plan, workload)
        if not isinstance(load, ClosedLoad) or slower is workload:
            continue
        work = own_work_s(now.plan, workload)
        assert work is not None
        needed = load.model_copy(update={"latency_s": float(f"{work.value:.2g}")})
        yield warning(
            f"workload '{workload.name}'",
            f"each client of workload '{workload.name}' is said to wait {format_value(load.latency_s, 's')} "
            f"for a transaction, whose own work takes {work}; estimates count as many transactions as "
            "that latency allows",
            f"state a latency of {format_value(needed.latency_s, 's')}, or smaller transactions",
            [workload.id],
            SetField(workload.id, "load", needed),
        )
