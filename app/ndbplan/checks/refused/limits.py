"""Rules that ndb_mgmd itself has: limits between parameters, ids, hosts, ports and connections."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterator

from ndbplan.base.units import whole_number
from ndbplan.checks.problem import Edit, Problem, Severity
from ndbplan.checks.refused.configuration import without
from ndbplan.checks.rule import error, problem, rule, warning
from ndbplan.configuration.node_groups import counted_nodes, stated_group
from ndbplan.configuration.settings import (
    NodesAlike,
    connection_settings,
    no_of_replicas,
    node_settings,
    nodes_alike,
)
from ndbplan.configuration.stated import SECTIONS, Fate, Stated, stated, stated_by_place
from ndbplan.configuration.stated import counting as counting_of
from ndbplan.edits.changes import SetField, SetParameter, together
from ndbplan.estimate.estimation import Estimation
from ndbplan.ndb import parameters as catalogue
from ndbplan.ndb.addresses import address_of
from ndbplan.plan.plan import Plan
from ndbplan.plan.processes import NODE_GROUP_NONE, DataNode, ManagementNode, Process, process_node_ids

LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
"""Names by which a machine calls itself."""

_UNLIMITED_DML = 4_294_967_295
_OBJECTS_MAX = 4_294_967_293
_MANAGEMENT_PORT = 1186
_THREAD_PRIORITY = re.compile(r"[ \t]*(fifo|rr)(,\s*[+-]?[0-9][^,]*)?")
"""As NdbThread_SetHighPrioProperties reads it (NdbThread.c): strcmp for the policy, strtol for the number."""
_PORTS = 65536
_FIRST_FREE_PORT = 1024
_RESERVED = (
    "ConcurrentIndexOperations",
    "ConcurrentOperations",
    "ConcurrentScans",
    "ConcurrentTransactions",
    "FiredTriggers",
    "LocalScans",
)
_REPLACED_BY_TRANSACTION_MEMORY = (
    "MaxNoOfConcurrentIndexOperations",
    "MaxNoOfFiredTriggers",
    "MaxNoOfLocalScans",
    "MaxNoOfLocalOperations",
)


def counting(plan: Plan, sections: Collection[str], name: str) -> Iterator[Stated]:
    """Every place where the plan states a parameter that ndb_mgmd takes; its name as the manual spells it."""
    for one in stated(plan):
        if one.section in sections and one.reading.name == name and one.reading.fate is Fate.COUNTS:
            yield one


def holding(plan: Plan, section: str, name: str) -> Iterator[tuple[Stated, tuple[Process, ...]]]:
    """Every place as of `counting`, with the nodes for which what it says holds.

    ndb_mgmd looks at what nodes end up with: a default that all of them replace does no harm.
    """
    nodes = [process for process in plan.processes if SECTIONS[process.kind] == section]
    own = {process.id for process in nodes if name.lower() in {each.lower() for each in process.parameters}}
    for one in counting(plan, (section,), name):
        held = tuple(
            process
            for process in nodes
            if (process.id in one.object_ids if one.object_ids else process.id not in own)
        )
        if held:
            yield one, held


def setting(scope: str, name: str, value: int | str) -> Edit:
    """The edit that sets a parameter."""
    return SetParameter(scope, name, value)


def wanted_operations(plan: Plan, alike: NodesAlike) -> int:
    """MaxNoOfConcurrentOperations that every rule about it is content with: what they all set it to."""
    wanted = [
        alike.settings.number(name)
        for name in ("MaxNoOfConcurrentOperations", "MaxNoOfConcurrentTransactions")
    ]
    dml = (
        alike.settings.number("MaxDMLOperationsPerTransaction")
        if plan.features.dml_operations_compared
        else _UNLIMITED_DML
    )
    if dml != _UNLIMITED_DML:
        wanted.append(dml)
    return max(*wanted, operations_of_largest_transaction(plan)[0])


def operations_of_largest_transaction(plan: Plan) -> tuple[int, float, str]:
    """Records that a data node needs for the largest transaction, its rows and its name."""
    members = sum(node.node_group != NODE_GROUP_NONE for node in plan.data_nodes)
    largest, name = 0.0, ""
    for workload in plan.workloads:
        for transaction in workload.transactions:
            rows = sum(o.rows for o in transaction.operations if o.kind != "scan")
            if rows > largest:
                largest, name = rows, transaction.name
    return math.ceil(largest * 1.1 / max(1, members)) if members else 0, largest, name


@rule(
    "operations-and-transactions",
    "MaxNoOfConcurrentOperations is below MaxNoOfConcurrentTransactions",
    refused=True,
)
def operations_and_transactions(now: Estimation) -> Iterator[Problem]:
    plan = now.plan
    for alike in nodes_alike(plan):
        operations = alike.settings.number("MaxNoOfConcurrentOperations")
        transactions = alike.settings.number("MaxNoOfConcurrentTransactions")
        if operations < transactions:
            wanted = wanted_operations(plan, alike)
            yield error(
                alike.where,
                f"MaxNoOfConcurrentOperations {operations} is below MaxNoOfConcurrentTransactions "
                f"{transactions}; ndb_mgmd refuses the configuration",
                f"set MaxNoOfConcurrentOperations to {wanted}",
                alike.object_ids,
                setting(alike.scope_of("MaxNoOfConcurrentOperations"), "MaxNoOfConcurrentOperations", wanted),
            )


@rule("dml-operations", "MaxDMLOperationsPerTransaction is above MaxNoOfConcurrentOperations", refused=True)
def dml_operations(now: Estimation) -> Iterator[Problem]:
    plan = now.plan
    if not plan.features.dml_operations_compared:
        return
    for alike in nodes_alike(plan):
        dml = alike.settings.number("MaxDMLOperationsPerTransaction")
        operations = alike.settings.number("MaxNoOfConcurrentOperations")
        if dml != _UNLIMITED_DML and dml > operations:
            wanted = wanted_operations(plan, alike)
            yield error(
                alike.where,
                f"MaxDMLOperationsPerTransaction {dml} is above MaxNoOfConcurrentOperations {operations}; "
                "ndb_mgmd refuses the configuration",
                f"set MaxNoOfConcurrentOperations to {wanted}",
                alike.object_ids,
                setting(alike.scope_of("MaxNoOfConcurrentOperations"), "MaxNoOfConcurrentOperations", wanted),
            )


@rule("reserved-limits", "More is reserved than the limit allows", refused=True)
def reserved_limits(now: Estimation) -> Iterator[Problem]:
    plan = now.plan
    for name in _RESERVED:
        if not catalogue.knows("DB", f"Reserved{name}", plan.version):
            continue
        for alike in nodes_alike(plan):
            reserved, most = alike.settings.number(f"Reserved{name}"), alike.settings.number(f"MaxNoOf{name}")
            if alike.settings.states(f"Reserved{name}") and reserved > most:
                yield error(
                    alike.where,
                    f"Reserved{name} {reserved} is above MaxNoOf{name} {most}; ndb_mgmd refuses the "
                    "configuration",
                    f"lower Reserved{name} to {most}",
                    alike.object_ids,
                    setting(alike.scope_of(f"Reserved{name}"), f"Reserved{name}", most),
                )


@rule("table-objects", "There are too many tables and indexes together", refused=True)
def table_objects(now: Estimation) -> Iterator[Problem]:
    names = ("MaxNoOfTables", "MaxNoOfOrderedIndexes", "MaxNoOfUniqueHashIndexes")
    for alike in nodes_alike(now.plan):
        total = sum(alike.settings.number(name) for name in names)
        if total > _OBJECTS_MAX:
            yield error(
                alike.where,
                f"{', '.join(names)} add up to {total}; ndb_mgmd allows {_OBJECTS_MAX}",
                "lower them to what the schema needs",
                alike.object_ids,
            )


@rule("transaction-memory", "TransactionMemory is set together with settings that it replaces", refused=True)
def transaction_memory(now: Estimation) -> Iterator[Problem]:
    plan = now.plan
    if not catalogue.knows("DB", "TransactionMemory", plan.version):
        return
    for place, values in stated_by_place(plan):
        if place.section != "DB" or "TransactionMemory" not in values:
            continue
        for name in _REPLACED_BY_TRANSACTION_MEMORY:
            if name in values:
                yield error(
                    place.where,
                    f"{name} and TransactionMemory are both set; ndb_mgmd refuses the configuration",
                    f"remove {name}",
                    place.object_ids,
                    without(place.scope, values[name].reading.written),
                )


@rule(
    "start-fail-retries",
    "Start retries have no effect where nodes do not restart by themselves",
    refused=True,
)
def start_fail_retries(now: Estimation) -> Iterator[Problem]:
    plan = now.plan
    count = sum(len(process_node_ids(process)) for process in plan.processes)
    for alike in nodes_alike(plan):
        # check_mutually_exclusive in ConfigInfo.cpp goes through the ids below the number of nodes only.
        seen = not alike.nodes or any(node.node_id < count for node in alike.nodes)
        for name in ("MaxStartFailRetries", "StartFailRetryDelay"):
            if not catalogue.knows("DB", name, plan.version):
                continue
            default = catalogue.default("DB", name, plan.version)
            if alike.settings.value(name) != default and alike.settings.number("StopOnError") != 0:
                yield problem(
                    Severity.ERROR if seen else Severity.WARNING,
                    alike.where,
                    f"{name} is {alike.settings.value(name)} while StopOnError is 1; "
                    + (
                        f"ndb_mgmd wants its default {default}"
                        if seen
                        else "nodes that do not restart by themselves have no use for it"
                    ),
                    "set StopOnError to 0",
                    alike.object_ids,
                    setting(alike.scope_of("StopOnError"), "StopOnError", 0),
                )


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
        yield error(
            "data nodes",
            f"{len(plan.data_nodes)} data nodes with NoOfReplicas 1 need as many node groups; there are "
            f"{most}",
            "use NoOfReplicas 2 or fewer data nodes",
        )


def _ungrouped(process_id: str) -> Edit:
    return SetField(process_id, "node_group", None)


@rule("data-node-ids", "A data node has an id that the version does not allow", refused=True)
def data_node_ids(now: Estimation) -> Iterator[Problem]:
    plan = now.plan
    highest = catalogue.parameter("DB", "NodeId", plan.version).maximum or 144
    for node in plan.data_nodes:
        if node.node_id > highest:
            yield error(
                f"data node {node.node_id}",
                f"data node {node.node_id}: in NDB {plan.ndb_version} ids of data nodes go from 1 to "
                f"{highest}",
                f"give it a free node id up to {highest}",
                [node.id],
            )
    if len(plan.data_nodes) > highest:
        yield error(
            "data nodes",
            f"{len(plan.data_nodes)} data nodes; NDB {plan.ndb_version} has at most {highest}",
            "take data nodes away",
        )


@rule("localhost-mixed", "localhost is used together with other host names", refused=True)
def localhost_mixed(now: Estimation) -> Iterator[Problem]:
    plan = now.plan
    local = LOOPBACK if plan.features.ipv6_loopback_is_local else LOOPBACK - {"::1"}
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
        )


@rule("management-ports", "Management nodes of one host share a port", refused=True)
def management_ports(now: Estimation) -> Iterator[Problem]:
    plan = now.plan
    taken: dict[tuple[str, int], ManagementNode] = {}
    for node in plan.management_nodes:
        hostname = plan.host(node.host_id).hostname
        # validate_unique_mgm_ports compares addresses, so every spelling of one counts.
        name = address_of("127.0.0.1" if hostname == "localhost" else hostname) or hostname.lower()
        value = node_settings(plan, node).value("PortNumber")
        port = value if isinstance(value, int) and value else _MANAGEMENT_PORT
        first = taken.setdefault((name, port), node)
        if first is not node:
            # Upwards from the port that is taken, then from the first that needs no rights.
            others = (*range(port + 1, _PORTS), *range(_FIRST_FREE_PORT, port))
            free = next(p for p in others if (name, p) not in taken)
            yield problem(
                # Older servers start without looking at the others.
                Severity.ERROR if plan.features.management_ports_compared else Severity.WARNING,
                f"management node {node.node_id}",
                f"management nodes {first.node_id} and {node.node_id} both listen on port {port} of "
                f"{hostname}; "
                "only one of them can start",
                f"give node {node.node_id} PortNumber {free}",
                [first.id, node.id],
                setting(node.id, "PortNumber", free),
            )


@rule("host-name-reserved", "A host name cannot be resolved", refused=True)
def host_name_reserved(now: Estimation) -> Iterator[Problem]:
    plan = now.plan
    name = "AllowUnresolvedHostnames"
    known = catalogue.knows("TCP", name, plan.version)
    allowed = known and connection_settings(plan).number(name) == 1
    for host in plan.hosts:
        served = [
            p
            for p in plan.processes_of_host[host.id]
            if isinstance(p, DataNode | ManagementNode) or plan.features.sql_hosts_resolved
        ]
        if not served:
            continue
        ids = [host.id, *(p.id for p in served)]
        never = host.hostname.rpartition(".")[2].lower() == "invalid"
        mapped = ":" in host.hostname and "." in (address_of(host.hostname) or "")
        if never and allowed and not any(isinstance(p, ManagementNode) for p in served):
            yield warning(
                f"host {host.hostname}",
                "names under .invalid never resolve; ndb_mgmd starts all the same, as "
                "AllowUnresolvedHostnames "
                f"is on, but no node can be on {host.hostname}",
                "write the real name or address of the machine",
                ids,
            )
        elif never:
            yield error(
                f"host {host.hostname}",
                f"names under .invalid never resolve, so ndb_mgmd refuses {host.hostname}",
                "write the real name or address of the machine",
                ids,
            )
        elif ":" in host.hostname and not plan.features.ipv6 and not mapped:
            yield error(
                f"host {host.hostname}",
                f"{host.hostname} is an IPv6 address; NDB {plan.ndb_version} knows IPv4 only, IPv6 came with "
                "8.0.22",
                "use an IPv4 address or a name",
                ids,
            )
        elif ":" in host.hostname and address_of(host.hostname) is None:
            yield error(
                f"host {host.hostname}",
                f"{host.hostname} is no IPv6 address, and names have no colons; ndb_mgmd cannot resolve it",
                "write an address or a name",
                ids,
            )


@rule("connection-map", "ConnectionMap does not list data nodes", refused=True)
def connection_map(now: Estimation) -> Iterator[Problem]:
    plan = now.plan
    highest = catalogue.parameter("DB", "NodeId", plan.version).maximum or 144
    joined = {frozenset((link.process_id_1, link.process_id_2)) for link in plan.links}
    named = frozenset[str]() if plan.features.connected_by_pair else frozenset[str]().union(*joined)
    for one, nodes in holding(plan, "API", "ConnectionMap"):
        # strtol in check_connection: blanks and a sign before a number do no harm, anything behind it does.
        parts = (re.sub(r"^\s*\+?", "", part) for part in str(one.reading.value).split(","))
        bad = next((part for part in parts if not 1 <= (whole_number(part) or 0) <= highest), None)
        # It is read for connections without a section of their own.
        is_read = any(
            len(process_node_ids(process)) > 1
            or (process.id not in named and frozenset((process.id, node.id)) not in joined)
            for process in nodes
            for node in plan.data_nodes
        )
        if bad is not None and is_read:
            yield error(
                one.where,
                f"ConnectionMap holds '{bad[:20]}'; it is a list of data node ids from 1 to {highest}",
                "write for example 1,2,3",
                one.object_ids,
                without(one.scope, one.reading.written),
            )


@rule("heartbeat-thread-priority", "HeartbeatThreadPriority cannot be read", refused=True)
def heartbeat_thread_priority(now: Estimation) -> Iterator[Problem]:
    name = "HeartbeatThreadPriority"
    for one, _ in (*holding(now.plan, "API", name), *holding(now.plan, "MGM", name)):
        text = str(one.reading.value)
        if not _THREAD_PRIORITY.fullmatch(text):
            yield error(
                one.where,
                f"HeartbeatThreadPriority '{text[:30]}' is not fifo or rr (in small letters) with a number; "
                "ndb_mgmd refuses the configuration",
                "write for example fifo,50",
                one.object_ids,
                without(one.scope, one.reading.written),
            )


@rule("node-count", "There are more than 255 nodes", refused=True)
def node_count(now: Estimation) -> Iterator[Problem]:
    ids = [node_id for process in now.plan.processes for node_id in process_node_ids(process)]
    if len(ids) > 255:
        yield error(
            "cluster",
            f"the plan takes {len(ids)} node ids; a cluster has 255",
            "take API slots or pool connections away",
        )


@rule("deprecated-parameter", "A parameter is deprecated")
def deprecated_parameter(now: Estimation) -> Iterator[Problem]:
    plan = now.plan
    for one in stated(plan):
        entry = one.reading.parameter
        if entry is None or entry.status != "deprecated" or one.reading.fate is Fate.DOUBLED:
            continue
        name = entry.name
        instead = f"; {entry.replaced_by} takes its place" if entry.replaced_by else ""
        removed = without(one.scope, one.reading.written)
        added = _added_to_data_memory(plan, one)
        yield warning(
            one.where,
            f"{name} is deprecated in NDB {plan.ndb_version}{instead}",
            f"remove {name}" if added is None else f"remove {name} and add its value to DataMemory",
            one.object_ids,
            removed if added is None else together((removed, added)),
        )


@rule("not-implemented", "A parameter does nothing yet")
def not_implemented(now: Estimation) -> Iterator[Problem]:
    plan = now.plan
    for one in stated(plan):
        entry = one.reading.parameter
        if entry is not None and entry.status == "not_implemented" and one.reading.fate is Fate.COUNTS:
            yield warning(
                one.where,
                f"{entry.name} is not implemented in NDB {plan.ndb_version}; ndb_mgmd takes it with a "
                "warning, and nothing heeds it",
                f"remove {entry.name}",
                one.object_ids,
                without(one.scope, one.reading.written),
            )


def _added_to_data_memory(plan: Plan, one: Stated) -> SetParameter | None:
    """From 7.6 on the data node adds a stated IndexMemory to DataMemory; the same memory, stated once."""
    own = any(
        {"DataMemory", "IndexMemory"} & counting_of("DB", node.parameters, plan.ndb_version).keys()
        for node in plan.data_nodes
        if node.parameters
    )
    counts = one.reading.name == "IndexMemory" and one.reading.fate is Fate.COUNTS
    if not counts or not plan.features.index_memory_joined or one.scope != "data_node" or own:
        return None
    entry = catalogue.parameter("DB", "DataMemory", plan.version)
    value = one.reading.value
    total = node_settings(plan).number("DataMemory") + value if isinstance(value, int) else 0
    return SetParameter("data_node", "DataMemory", total) if 0 < total <= (entry.maximum or total) else None
