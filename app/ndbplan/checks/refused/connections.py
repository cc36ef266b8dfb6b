"""Rules about connections: what ndb_mgmd refuses of [tcp] and [shm], single ones and those of all nodes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial

from ndbplan.base.units import format_ndb_size
from ndbplan.checks.parameters import counting, setting, without
from ndbplan.checks.problem import Edit, Problem, Severity, Solution
from ndbplan.checks.rule import error, problem, rule, warning
from ndbplan.checks.solutions import one_of
from ndbplan.configuration.connections import Connection, connections_of, server_of
from ndbplan.configuration.settings import node_settings
from ndbplan.configuration.stated import Fate, link_scope, readings, stated
from ndbplan.edits.changes import KeepLinks, SetField, together
from ndbplan.edits.solutions import host_memory, module_size
from ndbplan.estimate.estimation import Estimation
from ndbplan.ndb import parameters as catalogue
from ndbplan.ndb.addresses import address_of
from ndbplan.ndb.mysqld_options import canonical, in_effect
from ndbplan.plan.hardware import Host
from ndbplan.plan.plan import Plan
from ndbplan.plan.processes import ManagementNode, SqlNode, process_node_ids

_RECEIVE_BUFFER_MOST = 2_147_450_879
"""ndb_mgmd aborts above it: the buffer and one message more must fit in 31 bits (answers of 8.4.8)."""

_BUFFER_POOL = "innodb-buffer-pool-size"


def scope_of_connection(connection: Connection) -> str:
    """Where an edit changes what a connection has: its own section, or all of its kind."""
    return connection.kind if connection.link is None else link_scope(connection.link)


def _management_connections(plan: Plan) -> dict[int, list[Connection]]:
    """The connections of each management node: the ones that ndb_mgmd opens itself."""
    ids = [node.node_id for node in plan.management_nodes]
    found: dict[int, list[Connection]] = {node_id: [] for node_id in ids}
    for connection in connections_of(plan, ids) if ids else ():
        for node_id in connection.node_ids:
            if node_id in found:
                found[node_id].append(connection)
    return found


def _nodes(connection: Connection) -> str:
    return f"nodes {connection.node_ids[0]} and {connection.node_ids[1]}"


def _ends(plan: Plan, connection: Connection) -> list[str]:
    link = connection.link
    return [] if link is None else [link.process_id_1, link.process_id_2]


@rule("prefer-ip-version", "Connections of a management node prefer different IP versions", refused=True)
def prefer_ip_version(now: Estimation) -> Iterator[Problem]:
    plan = now.plan
    name = "PreferIPVersion"
    if not any(one.is_link for one in counting(plan, ("TCP",), name)):
        return
    for node_id, connections in _management_connections(plan).items():
        by_version: dict[object, Connection] = {}
        for connection in connections:
            if connection.kind == "tcp":
                by_version.setdefault(connection.value(name), connection)
        odd = [connection for connection in by_version.values() if connection.link is not None]
        if len(by_version) > 1 and odd:
            one = odd[-1]
            yield error(
                _nodes(one),
                f"{name} is {one.value(name)} for {_nodes(one)} and not for the other connections of "
                "management "
                f"node {node_id}; ndb_mgmd refuses the configuration",
                f"remove {name} from this connection",
                _ends(plan, one),
                without(scope_of_connection(one), name),
            )


@rule("receive-buffer-size", "A receive buffer is larger than ndb_mgmd can make it", refused=True)
def receive_buffer_size(now: Estimation) -> Iterator[Problem]:
    plan = now.plan
    name = "ReceiveBufferMemory"
    if not any(int(one.reading.value) > _RECEIVE_BUFFER_MOST for one in counting(plan, ("TCP",), name)):
        return
    told: set[str] = set()
    for connections in _management_connections(plan).values():
        for connection in connections:
            value, scope = (
                connection.value(name) if connection.kind == "tcp" else 0,
                scope_of_connection(connection),
            )
            if isinstance(value, int) and value > _RECEIVE_BUFFER_MOST and scope not in told:
                told.add(scope)
                yield error(
                    "all tcp settings" if connection.link is None else _nodes(connection),
                    f"{name} is {format_ndb_size(value)}; ndb_mgmd takes up to {_RECEIVE_BUFFER_MOST} "
                    "bytes for its "
                    "own connections and aborts above",
                    "set it to 2M",
                    _ends(plan, connection),
                    setting(scope, name, 2 * 2**20),
                )


@rule("link-host-names", "A connection names a host that cannot be reached", refused=True)
def link_host_names(now: Estimation) -> Iterator[Problem]:
    plan = now.plan
    for link in plan.links:
        first, second = plan.by_id[link.process_id_1], plan.by_id[link.process_id_2]
        where, ids = f"nodes {first.node_id} and {second.node_id}", [first.id, second.id]
        ends = [
            (p.node_id, {"data": "data", "management": "management"}.get(p.kind, "api"))
            for p in (first, second)
        ]
        server = 1 if server_of(*ends) == first.node_id else 2
        for reading in (
            readings(link.kind.upper(), link.parameters, plan.ndb_version) if link.parameters else ()
        ):
            if reading.name not in ("HostName1", "HostName2") or reading.fate is not Fate.COUNTS:
                continue
            text, listens = str(reading.value), reading.name.endswith(str(server))
            if not text and listens:
                why = f"{reading.name} is empty, but this node listens; ndb_mgmd refuses the configuration"
            elif text and plan.features.sql_hosts_resolved and _never_resolves(text):
                why = f"{reading.name} '{text[:60]}' cannot be resolved; ndb_mgmd refuses the configuration"
            else:
                continue
            yield error(where, why, f"remove {reading.name}", ids, without(link_scope(link), reading.written))


def _never_resolves(hostname: str) -> bool:
    """Whether a text can be no machine's name or address, whatever the name service knows."""
    if hostname.rpartition(".")[2].lower() == "invalid":
        return True
    looks_like_one = ":" in hostname or hostname.replace(".", "").isdigit()
    return (looks_like_one and address_of(hostname) is None) or any(c in hostname for c in " ,/%[]")


@rule("servers-fit", "Servers have no room in the memory of their host")
def servers_fit(now: Estimation) -> Iterator[Problem]:
    plan = now.plan
    by_host: dict[str, list[ManagementNode | SqlNode]] = {}
    clients: tuple[ManagementNode | SqlNode, ...] = (*plan.management_nodes, *plan.sql_nodes)
    for process in clients:
        by_host.setdefault(process.host_id, []).append(process)
    for host_id, processes in by_host.items():
        host = plan.host(host_id)
        room = host.memory_bytes - _data_nodes_bytes(now, host_id)
        if room < 0:
            # Data nodes that do not fit alone have a rule of their own.
            room = host.memory_bytes
        pools = sum(_buffer_pool(plan, process) for process in processes)
        if _most_buffers(plan, processes) + pools <= room:
            continue
        needed = sum(_buffers(plan, process) for process in processes) + pools
        if needed > room:
            ids = ", ".join(str(process.node_id) for process in processes)
            who = f"nodes {ids} take" if len(processes) > 1 else f"node {ids} takes"
            beside = "" if room == host.memory_bytes else f", {format_ndb_size(room)} beside its data nodes"
            told = warning(
                f"host {host.hostname}",
                f"{who} {format_ndb_size(needed)} at least "
                f"({_parts(pools)}), "
                f"{host.hostname} has {format_ndb_size(host.memory_bytes)}{beside}; a process may not start",
                "lower SendBufferMemory, ExtraSendBufferMemory, ReceiveBufferMemory or "
                "innodb-buffer-pool-size",
                [process.id for process in processes],
            )
            ids_here = [process.id for process in processes]
            ways = _ways_for_servers(plan, host, ids_here, needed - room)
            unknown = "which connections need their buffers: only whoever measured them knows"
            yield replace(told, solve=one_of(now, "servers-fit", ways, unknown, ids_here))


def _ways_for_servers(
    plan: Plan, host: Host, process_ids: Sequence[str], short_bytes: int
) -> tuple[Solution, ...]:
    """What is stated of them back to the defaults, or as much memory more in the host."""
    names = ("ExtraSendBufferMemory", "TotalSendBufferMemory", "SendBufferMemory", "ReceiveBufferMemory")
    edits: list[Edit] = [
        without(one.scope, one.reading.written)
        for one in stated(plan)
        if one.reading.name in names
        and one.section in ("MGM", "API", "TCP")
        and (not one.object_ids or set(one.object_ids) & set(process_ids))
    ]
    for node in plan.sql_nodes:
        for name in node.options if node.id in process_ids else ():
            if canonical(name) == _BUFFER_POOL:
                edits.append(SetField(node.id, "options", node.options.without(name)))
    size = module_size(host.memory_bytes + short_bytes)
    why = f"instead of {format_ndb_size(host.memory_bytes)}"
    larger = partial(host_memory, host_ids=[host.id], memory_bytes=size)
    bought = Solution(f"Give {host.hostname} {format_ndb_size(size)}", why, larger, buys=True)
    if not edits:
        return (bought,)
    why = "the sizes that the product takes by itself"
    return (Solution("Set buffers and pools back to their defaults", why, together(edits)), bought)


def _data_nodes_bytes(now: Estimation, host_id: str) -> int:
    """What the data nodes of a host allocate, send buffers included."""
    ids = {node.node_id for node in now.plan.data_nodes if node.host_id == host_id}
    return int(sum(n.ram_bytes.value for n in now.memory.nodes if n.node_id in ids)) if ids else 0


def _parts(pools: int) -> str:
    sends = "TotalSendBufferMemory or all SendBufferMemory, ExtraSendBufferMemory and all ReceiveBufferMemory"
    return f"{sends}; {format_ndb_size(pools)} of innodb-buffer-pool-size" if pools else sends


def _buffer_pool(plan: Plan, process: ManagementNode | SqlNode) -> int:
    """The buffer pool of InnoDB that a server has, whether a table uses it or not."""
    if not isinstance(process, SqlNode):
        return 0
    return in_effect(process.options, _BUFFER_POOL, plan.version)


def _buffers(plan: Plan, process: ManagementNode | SqlNode) -> int:
    """Send and receive buffers of all connections of a process: each id of a pool has its own."""
    settings, ids = node_settings(plan, process), process_node_ids(process)
    extra, total = settings.number("ExtraSendBufferMemory"), settings.number("TotalSendBufferMemory")
    own = tuple(connections_of(plan, ids))

    def of_all(name: str, among: Iterable[Connection]) -> int:
        return sum(value for one in among if isinstance(value := one.value(name), int))

    sends = total * len(ids) if total else of_all("SendBufferMemory", own)
    return extra * len(ids) + sends + of_all("ReceiveBufferMemory", (c for c in own if c.kind == "tcp"))


def _most_buffers(plan: Plan, processes: Iterable[ManagementNode | SqlNode]) -> int:
    """No less than their send and receive buffers, without looking at each connection."""
    ends = len(plan.data_nodes) + len(plan.management_nodes)
    sends, receives = (_largest(plan, name) * ends for name in ("SendBufferMemory", "ReceiveBufferMemory"))
    most = 0
    for process in processes:
        settings = node_settings(plan, process)
        own = (settings.number("TotalSendBufferMemory") or sends) + receives
        most += (settings.number("ExtraSendBufferMemory") + own) * len(process_node_ids(process))
    return most


def _largest(plan: Plan, name: str) -> int:
    values = [catalogue.default("TCP", name, plan.version) or 0]
    for kind, parameters in (
        ("TCP", plan.parameters.tcp),
        ("SHM", plan.parameters.shm),
        *((link.kind.upper(), link.parameters) for link in plan.links),
    ):
        for reading in readings(kind, parameters, plan.ndb_version) if parameters else ():
            if reading.name == name and reading.fate is Fate.COUNTS:
                values.append(reading.value)
    return max(int(value) for value in values)


@rule("old-and-new-name", "An old and a new name of one parameter are both set", refused=True)
def old_and_new_name(now: Estimation) -> Iterator[Problem]:
    plan = now.plan
    if not plan.features.deprecated_pairs:
        return
    for node in plan.data_nodes:
        of_all = (
            readings("DB", plan.parameters.data_node, plan.ndb_version) if plan.parameters.data_node else ()
        )
        own = readings("DB", node.parameters, plan.ndb_version) if node.parameters else ()
        places = {
            r.name: (node.id if r in own else "data_node", r)
            for r in (*of_all, *own)
            if r.fate is Fate.COUNTS
        }
        if {"Discless", "Diskless"} <= places.keys():
            scope, reading = places["Discless"]
            yield problem(
                Severity.ERROR,
                f"data node {node.node_id}",
                f"Discless and Diskless are both set for data node {node.node_id}; they are one parameter, "
                "and "
                "ndb_mgmd refuses the configuration",
                "remove Discless",
                [node.id],
                without(scope, reading.written),
            )


@rule("link-ends", "A connection joins no data node", refused=True)
def link_ends(now: Estimation) -> Iterator[Problem]:
    plan = now.plan
    seen: dict[frozenset[str], int] = {}
    for link in plan.links:
        first, second = plan.by_id[link.process_id_1], plan.by_id[link.process_id_2]
        kinds = {first.kind, second.kind}
        if "data" not in kinds and kinds != {"management"}:
            yield error(
                f"nodes {first.node_id} and {second.node_id}",
                f"a connection joins nodes {first.node_id} and {second.node_id}, but neither is a data node; "
                "ndb_mgmd refuses it",
                "remove the connection",
                [first.id, second.id],
                _unlinked(link.process_id_1, link.process_id_2),
            )
        pair = frozenset((first.id, second.id))
        seen[pair] = seen.get(pair, 0) + 1
        if seen[pair] == 2:
            yield problem(
                Severity.ERROR if plan.features.second_link_refused else Severity.WARNING,
                f"nodes {first.node_id} and {second.node_id}",
                f"two connections join nodes {first.node_id} and {second.node_id}; ndb_mgmd allows one",
                "remove one of them",
                [first.id, second.id],
                KeepLinks(pair, 1),
            )


@rule("link-leaves-out", "A connection of its own leaves a node without the others")
def link_leaves_out(now: Estimation) -> Iterator[Problem]:
    plan = now.plan
    if plan.features.connected_by_pair:
        return
    partners: dict[str, set[str]] = {}
    for link in plan.links:
        for one, other in ((link.process_id_1, link.process_id_2), (link.process_id_2, link.process_id_1)):
            partners.setdefault(one, set()).add(other)
    for process in plan.processes:
        if process.kind == "data" or process.id not in partners:
            continue
        missing = [node.node_id for node in plan.data_nodes if node.id not in partners[process.id]]
        if missing:
            shown = ", ".join(map(str, missing[:4])) + (" …" if len(missing) > 4 else "")
            yield warning(
                f"node {process.node_id}",
                f"node {process.node_id} has a connection of its own; before 8.0 ndb_mgmd makes no others "
                f"for such a node, so it does not reach data node{'s' if len(missing) > 1 else ''} {shown}; "
                "one to every data node would do as well",
                f"remove the connections of node {process.node_id}",
                [process.id],
                together(tuple(_unlinked(process.id, other) for other in sorted(partners[process.id]))),
            )


def _unlinked(first: str, second: str) -> Edit:
    return KeepLinks(frozenset((first, second)))


@rule("shared-memory-links", "A shared memory connection joins nodes of different hosts")
def shared_memory_links(now: Estimation) -> Iterator[Problem]:
    plan = now.plan
    for link in plan.links:
        if link.kind != "shm":
            continue
        first, second = plan.by_id[link.process_id_1], plan.by_id[link.process_id_2]
        where, ids = f"nodes {first.node_id} and {second.node_id}", [first.id, second.id]
        if not plan.features.shared_memory:
            yield warning(
                where,
                f"[shm] joins nodes {first.node_id} and {second.node_id}; before 7.6 most programs are "
                f"built without "
                "shared memory connections and refuse the section",
                "remove the connection; nodes of one host then use TCP",
                ids,
                _unlinked(first.id, second.id),
            )
        elif first.host_id != second.host_id:
            yield warning(
                where,
                f"[shm] joins nodes {first.node_id} and {second.node_id}, which run on different hosts; "
                f"ndb_mgmd "
                "accepts it, but they never connect",
                "remove the connection",
                ids,
                _unlinked(first.id, second.id),
            )
