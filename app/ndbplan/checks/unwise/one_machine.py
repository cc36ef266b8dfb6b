"""Rules about hosts at loopback addresses: each machine has those for itself, so all of them are one machine.

ndb_mgmd takes addresses 127.x.x.x but 127.0.0.1 together with any others (8.4.8 and 7.4.10).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

from ndbplan.base.units import how_many
from ndbplan.checks.parameters import setting
from ndbplan.checks.problem import Edit, Problem
from ndbplan.checks.refused.nodes_and_hosts import NAME_OF_MACHINE, PORTS, local_names
from ndbplan.checks.rule import error, rule
from ndbplan.configuration.deployment import management_port
from ndbplan.edits.changes import together
from ndbplan.edits.roles import move_process
from ndbplan.estimate.estimation import Estimation
from ndbplan.ndb.addresses import is_loopback
from ndbplan.plan.hardware import Host
from ndbplan.plan.plan import Plan
from ndbplan.plan.processes import ManagementNode, SqlNode


def _used(plan: Plan, *, local: bool) -> list[Host]:
    used = (host for host in plan.hosts if plan.processes_of_host[host.id])
    return [host for host in used if is_loopback(host.hostname) == local]


@rule("loopback-apart", "A host has a loopback address, and others must reach it")
def loopback_apart(now: Estimation) -> Iterator[Problem]:
    plan = now.plan
    others = _used(plan, local=False)
    for host in _used(plan, local=True) if others else ():
        if host.hostname in local_names(plan):
            # ndb_mgmd refuses it: the rule localhost-mixed.
            continue
        more = f" and {how_many(len(others) - 1, 'other host')}" if len(others) > 1 else ""
        yield error(
            f"host {host.hostname}",
            f"{host.hostname} is a loopback address, which every machine has for itself: nodes on "
            f"{others[0].hostname}{more} would look for its nodes on their own machine",
            "name the machine as the other machines see it",
            [host.id],
            missing=NAME_OF_MACHINE,
        )


@rule("loopback-shared", "Hosts at loopback addresses are one machine, and their nodes want the same of it")
def loopback_shared(now: Estimation) -> Iterator[Problem]:
    plan = now.plan
    local = {host.id: host for host in _used(plan, local=True)}
    if len(local) <= 1:
        return
    servers: dict[int, list[ManagementNode]] = {}
    for node in plan.management_nodes:
        if node.host_id in local:
            servers.setdefault(management_port(plan, node), []).append(node)
    for port, nodes in servers.items():
        # ndb_mgmd listens on all addresses of its machine, whatever its HostName is.
        if len({node.host_id for node in nodes}) > 1:
            ports = (free for free in range(port + 1, PORTS) if free not in servers)
            own = together(setting(node.id, "PortNumber", next(ports)) for node in nodes[1:])
            yield _shared(plan, nodes, f"listen on port {port}", "give each a PortNumber of its own", own)
    sql = [node for node in plan.sql_nodes if node.host_id in local]
    if len({node.host_id for node in sql}) > 1:
        fix = "put them on one host of the plan: each gets files and ports of its own"
        onto = together(partial(move_process, process_id=n.id, host_id=sql[0].host_id) for n in sql[1:])
        yield _shared(plan, sql, "read /etc/my.cnf and listen on the same ports", fix, onto)


def _shared(
    plan: Plan, nodes: Sequence[ManagementNode | SqlNode], what: str, fix: str, edit: Edit
) -> Problem:
    ids = " and ".join(str(node.node_id) for node in nodes[:2])
    hosts = " and ".join(dict.fromkeys(plan.host(node.host_id).hostname for node in nodes[:2]))
    kind = "management" if isinstance(nodes[0], ManagementNode) else "SQL"
    more = f" and {len(nodes) - 2} more" if len(nodes) > 2 else ""
    return error(
        f"{kind} nodes {ids}",
        f"{kind} nodes {ids}{more} all {what}, and {hosts} are one machine: only one of them starts",
        fix,
        [node.id for node in nodes],
        edit,
    )
