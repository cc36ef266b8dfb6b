"""Rules about the nodes that clients come through: SQL nodes and API nodes under the plan's workloads."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from functools import partial

from ndbplan.base.units import format_count, format_percent, format_value, how_many
from ndbplan.checks.problem import Problem
from ndbplan.checks.rule import rule, warning
from ndbplan.checks.unwise.load_cures import ways_for_clients, ways_for_connections
from ndbplan.edits.changes import SetField, together
from ndbplan.edits.sql_options import SESSIONS, sessions_allowed
from ndbplan.estimate.estimation import Estimation
from ndbplan.estimate.loaded import as_long_as_its_work, enough_sessions, own_work_s, sessions_per_node
from ndbplan.ndb.mysqld_options import option
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


@rule("client-sessions", "SQL nodes let fewer sessions in than clients open")
def client_sessions(now: Estimation) -> Iterator[Problem]:
    plan = now.plan
    known = option(SESSIONS, plan.version)
    assert known is not None
    assert known.maximum is not None
    for workload in plan.workloads:
        each, nodes = sessions_per_node(plan, workload)
        few = [(node, most) for node, most in nodes if each > most]
        if not few:
            continue
        wanted = enough_sessions(each, len(nodes))
        fits = wanted <= known.maximum
        ways = (sessions_allowed(node, wanted) for node, most in nodes if most < wanted)
        yield warning(
            f"SQL node {few[0][0].node_id}",
            f"clients of workload '{workload.name}' open {format_count(math.ceil(each))} sessions at each "
            f"of {how_many(len(nodes), 'SQL node')}, and node {few[0][0].node_id} lets {few[0][1]} in "
            f"({SESSIONS}): the others are refused with error 1040",
            f"set {SESSIONS} to {wanted}" + (", enough with one of them down" if len(nodes) > 1 else "")
            if fits
            else f"have more SQL nodes or fewer clients: {SESSIONS} goes up to {known.maximum}",
            [*(node.id for node, _ in few), workload.id],
            together(ways) if fits else None,
            measure=max(each / most for _, most in few),
        )


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
            "that latency allows. Smaller transactions would take less",
            f"state a latency of {format_value(needed.latency_s, 's')}",
            [workload.id],
            SetField(workload.id, "load", needed),
        )
