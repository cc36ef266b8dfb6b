"""Rules of ndb_mgmd about node ids, node groups, hosts and ports."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from functools import partial

from ndbplan.base.units import how_many
from ndbplan.checks.parameters import setting, without
from ndbplan.checks.problem import Edit, Problem, Severity, Solution
from ndbplan.checks.rule import error, problem, rule, warning
from ndbplan.checks.solutions import one_of
from ndbplan.configuration.deployment import MANAGEMENT_PORT
from ndbplan.configuration.node_groups import counted_nodes, stated_group
from ndbplan.configuration.settings import (
    connection_settings,
    no_of_replicas,
    node_settings,
    settings_by_node,
)
from ndbplan.configuration.stated import counting as counting_of
from ndbplan.edits.changes import SetField, together
from ndbplan.edits.parts import remove
from ndbplan.estimate.estimation import Estimation
from ndbplan.ndb import parameters as catalogue
from ndbplan.ndb.addresses import address_of, never_resolves
from ndbplan.ndb.heartbeat_ring import order_refused
from ndbplan.ndb.node_names import data_nodes
from ndbplan.plan.plan import Plan
from ndbplan.plan.processes import NODE_GROUP_NONE, DataNode, ManagementNode, process_node_ids

_LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
PORTS = 65536
FIRST_FREE_PORT = 1024
"""Ports there are, and the first that needs no root (RFC 6335, 6)."""
NAME_OF_MACHINE = "the name or address of the machine: only its network knows it"


@rule("replicas-alike", "NoOfReplicas differs between data nodes", refused=True)
def replicas_alike(now: Estimation) -> Iterator[Problem]:
    plan = now.plan
    replicas = no_of_replicas(plan)
    for node in plan.data_nodes:
        stated_here = counting_of("DB", node.parameters, plan.ndb_version) if node.parameters else {}
        own = stated_here.get("NoOfReplicas", replicas)
        if own != replicas:
            yield error(
                f"data node {node.node_id}",
                f"data node {node.node_id} has NoOfReplicas {own}, the cluster {replicas}; ndb_mgmd refuses "
                "the configuration",
                f"remove it from data node {node.node_id}",
                [node.id],
                without(node.id, "NoOfReplicas"),
            )


@rule("node-group-number", "A node group has a number that does not exist", refused=True)
def node_group_number(now: Estimation) -> Iterator[Problem]:
    plan = now.plan
    most = plan.features.node_groups_most
    for node in counted_nodes(plan):
        group = stated_group(plan, node)
        if group is not None and most <= group < NODE_GROUP_NONE:
            yield error(
                f"data node {node.node_id}",
                f"data node {node.node_id} has node group {group}; they go from 0 to {most - 1}",
                "use a lower number",
                [node.id],
                _ungrouped(node.id),
            )
    if no_of_replicas(plan) == 1 and len(plan.data_nodes) > most:
        paired = len(plan.data_nodes) % 2 == 0
        yield error(
            "data nodes",
            f"{len(plan.data_nodes)} data nodes with NoOfReplicas 1 need as many node groups; there are "
            f"{most}",
            "set NoOfReplicas to 2" if paired else "have fewer data nodes, or two of each node group",
            [],
            setting("data_node", "NoOfReplicas", 2) if paired else None,
            missing="which data nodes can go: only whoever knows what they are for can say",
        )


def _ungrouped(process_id: str) -> Edit:
    return SetField(process_id, "node_group", None)


@rule("data-node-ids", "A data node has an id that the version does not allow", refused=True)
def data_node_ids(now: Estimation) -> Iterator[Problem]:
    plan = now.plan
    highest = catalogue.parameter("DB", "NodeId", plan.version).maximum or 144
    taken = {node_id for process in plan.processes for node_id in process_node_ids(process)}
    free = (node_id for node_id in range(1, highest + 1) if node_id not in taken)
    for node in plan.data_nodes:
        if node.node_id > highest:
            own = next(free, None)
            yield error(
                f"data node {node.node_id}",
                f"{node.node_id} is not the id of a data node in NDB {plan.ndb_version}: they go from 1 to "
                f"{highest}",
                f"give it a free node id up to {highest}" + (f": {own}" if own else ""),
                [node.id],
                SetField(node.id, "node_id", own) if own else None,
                missing=f"which node can do without its id: all up to {highest} are taken",
            )
    if len(plan.data_nodes) > highest:
        yield error(
            "data nodes",
            f"{len(plan.data_nodes)} data nodes; NDB {plan.ndb_version} has at most {highest}",
            "take data nodes away",
            missing="which data nodes can go: only whoever knows what they are for can say",
        )


@rule("heartbeat-order", "Data nodes do not agree on the order of heartbeats")
def heartbeat_order(now: Estimation) -> Iterator[Problem]:
    plan, name = now.plan, "HeartbeatOrder"
    orders = {i: settings.number(name) for i, settings in settings_by_node(plan).items()}
    if not order_refused(orders):
        return
    stands = Counter(orders.values())
    placeless = [node for node in plan.data_nodes if not orders[node.node_id]]
    blamed = placeless or [node for node in plan.data_nodes if stands[orders[node.node_id]] > 1]
    who = data_nodes([node.node_id for node in blamed])
    what = f"{name} is not set, while others have it" if placeless else f"{name} is that of others too"
    ring = sorted(plan.data_nodes, key=lambda node: (not orders[node.node_id], orders[node.node_id]))
    yield error(
        who,
        f"{who}: {what}; no data node starts then",
        f"give each data node a {name} of its own: 1 to {len(ring)}",
        [node.id for node in blamed],
        together(setting(node.id, name, place) for place, node in enumerate(ring, 1)),
    )


def local_names(plan: Plan) -> frozenset[str]:
    """Names by which a machine calls itself and that ndb_mgmd takes for no others."""
    return _LOOPBACK if plan.features.ipv6_loopback_is_local else _LOOPBACK - {"::1"}


@rule("localhost-mixed", "localhost is used together with other host names", refused=True)
def localhost_mixed(now: Estimation) -> Iterator[Problem]:
    plan = now.plan
    local = local_names(plan)
    used = [host for host in plan.hosts if plan.processes_of_host[host.id]]
    here = [host for host in used if host.hostname in local]
    others = [host for host in used if host.hostname not in local]
    if here and others:
        yield error(
            f"host {here[0].hostname}",
            f"host {here[0].hostname} is used together with {others[0].hostname}; ndb_mgmd refuses localhost "
            f"together "
            "with other host names",
            "name the machine as the other machines see it",
            [host.id for host in here],
            missing=NAME_OF_MACHINE,
        )


@rule("management-ports", "Management nodes of one host share a port", refused=True)
def management_ports(now: Estimation) -> Iterator[Problem]:
    plan = now.plan
    unresolved = _unresolved_allowed(plan)
    taken: dict[tuple[str, int], ManagementNode] = {}
    for node in plan.management_nodes:
        hostname = plan.host(node.host_id).hostname
        # validate_unique_mgm_ports compares addresses, so every spelling of one counts.
        name = address_of("127.0.0.1" if hostname == "localhost" else hostname) or hostname.lower()
        value = node_settings(plan, node).value("PortNumber")
        port = value if isinstance(value, int) and value else MANAGEMENT_PORT
        first = taken.setdefault((name, port), node)
        if first is not node:
            # Where host names need not resolve it compares the names, letter by letter.
            alike = not unresolved or plan.host(first.host_id).hostname == hostname
            # Upwards from the port that is taken, then from the first that needs no rights.
            others = (*range(port + 1, PORTS), *range(FIRST_FREE_PORT, port))
            free = next(p for p in others if (name, p) not in taken)
            yield problem(
                # Older servers start without looking at the others.
                Severity.ERROR if plan.features.management_ports_compared and alike else Severity.WARNING,
                f"management node {node.node_id}",
                f"management nodes {first.node_id} and {node.node_id} both listen on port {port} of "
                f"{hostname}; "
                "only one of them can start",
                f"give node {node.node_id} PortNumber {free}",
                [first.id, node.id],
                setting(node.id, "PortNumber", free),
            )


def _unresolved_allowed(plan: Plan) -> bool:
    """Whether ndb_mgmd takes host names that do not resolve, but for its own."""
    name = "AllowUnresolvedHostnames"
    known = catalogue.knows("TCP", name, plan.version)
    return known and connection_settings(plan).number(name) == 1


@rule("host-name-reserved", "A host name cannot be resolved", refused=True)
def host_name_reserved(now: Estimation) -> Iterator[Problem]:
    plan = now.plan
    allowed = _unresolved_allowed(plan)
    for host in plan.hosts:
        served = [
            p
            for p in plan.processes_of_host[host.id]
            if isinstance(p, DataNode | ManagementNode) or plan.features.sql_hosts_resolved
        ]
        if not served:
            continue
        ids = [host.id, *(p.id for p in served)]
        mapped = ":" in host.hostname and "." in (address_of(host.hostname) or "")
        why = never_resolves(host.hostname)
        if why and allowed and not any(isinstance(p, ManagementNode) for p in served):
            yield warning(
                f"host {host.hostname}",
                f"{host.hostname} {why}; ndb_mgmd starts all the same, as AllowUnresolvedHostnames is "
                "on, but no node can be there",
                "write the real name or address of the machine",
                ids,
                missing=NAME_OF_MACHINE,
            )
        elif why:
            yield error(
                f"host {host.hostname}",
                f"{host.hostname} {why}, so ndb_mgmd refuses it",
                "write the real name or address of the machine",
                ids,
                missing=NAME_OF_MACHINE,
            )
        elif ":" in host.hostname and not plan.features.ipv6 and not mapped:
            yield error(
                f"host {host.hostname}",
                f"{host.hostname} is an IPv6 address; NDB {plan.ndb_version} knows IPv4 only, IPv6 came with "
                "8.0.22",
                "use an IPv4 address or a name",
                ids,
                missing=NAME_OF_MACHINE,
            )


@rule("node-count", "There are more than 255 nodes", refused=True)
def node_count(now: Estimation) -> Iterator[Problem]:
    ids = [node_id for process in now.plan.processes for node_id in process_node_ids(process)]
    if len(ids) > 255:
        told = error(
            "cluster",
            f"the plan takes {len(ids)} node ids; a cluster has 255",
            "take API slots or pool connections away",
        )
        edit = _fewer_ids(now.plan, len(ids) - 255)
        title = f"Take {how_many(len(ids) - 255, 'id')} of API slots and pools away"
        ways = [Solution(title, "data, management and SQL nodes stay", edit, asks=True)] if edit else []
        unknown = "which nodes can go: API slots and pools alone do not have so many ids"
        yield replace(told, solve=one_of(now, "node-count", ways, unknown))


def _fewer_ids(plan: Plan, count: int) -> Edit | None:
    """The last API slots gone, then the last connections of pools; None: those are not so many."""
    slots = [slot.id for slot in plan.api_slots[-count:]]
    left, edits = count - len(slots), list[Edit]([partial(remove, object_ids=slots)] if slots else [])
    for node in reversed(plan.sql_nodes):
        fewer = min(left, len(node.pool_node_ids))
        if fewer:
            edits.append(SetField(node.id, "pool_node_ids", node.pool_node_ids[:-fewer]))
            left -= fewer
    both: Edit | None = together(edits) if edits and not left else None
    return both
