"""Every connection of a cluster with the settings it ends up with, those that ndb_mgmd makes itself included.

for one in connections(plan): print(one.node_ids, one.kind, one.value("SendBufferMemory"))

After add_a_connection, add_node_connections and fixPortNumber in ConfigInfo.cpp (7.x to 8.x) and the answers
of 7.4.10 and 8.4.8: a connection without a section of its own that crosses a wide area gets its own socket
buffers, whatever [tcp default] says; binding and TLS follow the nodes; a PortNumber of [tcp default] (before
8.0, where it may be set) is the first port of each host, from which the data nodes there count up.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

from ndbplan.base.kept import kept_by_identity, kept_by_value
from ndbplan.base.units import whole_number
from ndbplan.configuration.settings import NodeSettings, connection_settings, node_settings, settings_from
from ndbplan.configuration.stated import counting
from ndbplan.ndb import parameters as catalogue
from ndbplan.plan.fields import NO_PARAMETERS
from ndbplan.plan.places import domain_of
from ndbplan.plan.plan import Plan
from ndbplan.plan.processes import Link, Process, process_node_ids

_WIDE_AREA: Mapping[str, int] = {
    "TCP_SND_BUF_SIZE": 4_194_304,
    "TCP_RCV_BUF_SIZE": 4_194_304,
    "TCP_MAXSEG_SIZE": 61_440,
}
"""What ndb_mgmd gives TCP connections over a wide area (add_a_connection)."""


@dataclass(frozen=True)
class Connection:
    """One connection as ndb_mgmd hands it out."""

    node_ids: tuple[int, int]
    """As the section names them, or as ndb_mgmd puts them."""
    kind: str
    """tcp or shm."""
    settings: NodeSettings
    """What the plan states for it and for all of its kind."""
    given: Mapping[str, int | str]
    """What ndb_mgmd sets, whatever the plan says of all of its kind."""
    link: Link | None
    """Its section in the plan; None: ndb_mgmd makes it."""

    def value(self, name: str) -> int | str | None:
        """The value in effect."""
        return self.given[name] if name in self.given else self.settings.value(name)


@kept_by_value(65_536)
def _given(
    wide: bool, binds: bool, tls: bool, ends: tuple[tuple[str, int | str], ...], port: int, key: int | None
) -> Mapping[str, int | str]:
    given: dict[str, int | str] = {**(_WIDE_AREA if wide else {}), **dict(ends)}
    if binds:
        given["TcpBind_INADDR_ANY"] = 1
    if tls:
        given["RequireLinkTls"] = 1
    given["PortNumber"] = port
    if key is not None:
        given["ShmKey"] = key
    return given


def _shm_key(unique: int, first: int, second: int) -> int:
    """ShmKey of a connection without one: port of the first management server, both ids (fixShmKey)."""
    return (unique << 16 | max(first, second) << 8 | min(first, second)) & 0xFFFFFFFF


@dataclass(frozen=True)
class _End:
    """What a connection asks of one of its nodes."""

    node_id: int
    kind: str
    """data, management or api."""
    hostname: str
    wan: bool
    domain: int
    binds: bool
    tls: bool
    shm: bool
    port: int
    """At which it listens: a management server's own, a data node's ServerPort; 0: any that is free."""
    map: frozenset[int] | None


def _end(plan: Plan, process: Process, node_id: int) -> _End:
    settings = node_settings(plan, process)
    host = plan.host(process.host_id) if process.host_id is not None else None

    def number(name: str) -> int:
        return settings.number(name) if catalogue.knows(settings.section, name, plan.version) else 0

    def text(name: str) -> str:
        return settings.text(name) if catalogue.knows(settings.section, name, plan.version) else ""

    domain = number("LocationDomainId")
    own = any(name.lower() == "locationdomainid" for name in process.parameters)
    if catalogue.knows(settings.section, "LocationDomainId", plan.version) and host is not None and not own:
        place = domain_of(plan.locations, host.location_id)
        domain = domain if place is None or place.location_domain_id is None else place.location_domain_id
    listed = [part.strip().removeprefix("+") for part in text("ConnectionMap").split(",") if part.strip()]
    return _End(
        node_id,
        {"data": "data", "management": "management"}.get(process.kind, "api"),
        "" if host is None else host.hostname,
        bool(number("wan")),
        domain,
        bool(number("TcpBind_INADDR_ANY")),
        bool(number("RequireTls")),
        bool(number("UseShm")),
        number("PortNumber" if process.kind == "management" else "ServerPort"),
        frozenset(n for n in map(whole_number, listed) if n is not None) if listed else None,
    )


class _Ports:
    """Ports counted up from the default ones of a kind, host by host, as fixPortNumber does it."""

    def __init__(self, first: Mapping[str, int]) -> None:
        self.first = first
        """By kind; none: nothing is counted."""
        self._of_node: dict[int, int] = {}
        self._taken: dict[str, int] = {}

    def of(self, kind: str, server: _End, hostname: str) -> int:
        """The port at which a node listens that states none; 0: any that is free."""
        if server.node_id not in self._of_node and kind in self.first:
            host = hostname.lower()
            self._of_node[server.node_id] = self.first[kind] + self._taken.get(host, 0)
            self._taken[host] = self._taken.get(host, 0) + 1
        return self._of_node.get(server.node_id, 0)


def server_of(first: tuple[int, str], second: tuple[int, str]) -> int:
    """The node id that listens, of two (id, data | management | api): fixPortNumber in ConfigInfo.cpp."""
    (id1, kind1), (id2, kind2) = first, second
    if kind1 == "api" or kind2 == "management":
        return id2
    if kind2 == "api" or kind1 == "management":
        return id1
    return min(id1, id2)


@kept_by_identity(size=4)
def connections(plan: Plan) -> tuple[Connection, ...]:
    """Every connection, those with a section of their own first; two for one pair count once."""
    return tuple(_connections(plan, None))


def connections_of(plan: Plan, node_ids: Collection[int]) -> Iterator[Connection]:
    """The connections with one of these nodes at an end."""
    wanted = frozenset(node_ids)
    return (one for one in _connections(plan, wanted) if not wanted.isdisjoint(one.node_ids))


def nodes_that_differ(before: Plan, after: Plan) -> frozenset[int]:
    """Node ids at the ends of all connections that ndb_mgmd may make otherwise in two plans."""
    old, new = _ends(before), _ends(after)
    shared = (
        before.ndb_version == after.ndb_version,
        before.parameters.tcp == after.parameters.tcp,
        before.parameters.shm == after.parameters.shm,
        before.links == after.links,
        _unique(old) == _unique(new),
    )
    known = old.keys() | new.keys()
    differ = frozenset(node_id for node_id in known if old.get(node_id) != new.get(node_id))
    # Which port a connection gets may depend on those before it.
    counts_up = any(settings.states("PortNumber") for settings in _of_kind(after).values())
    return frozenset(known) if not all(shared) or (differ and counts_up) else differ


def _ends(plan: Plan) -> dict[int, _End]:
    return {
        node_id: _end(plan, process, node_id)
        for process in plan.processes
        for node_id in process_node_ids(process)
    }


def _of_kind(plan: Plan) -> dict[str, NodeSettings]:
    """What the plan states for all connections of a kind."""
    shm = settings_from("SHM", plan.parameters.shm, NO_PARAMETERS, plan.ndb_version)
    return {"tcp": connection_settings(plan), "shm": shm}


def _unique(ends: Mapping[int, _End]) -> int:
    """PortNumber of the first management server."""
    return next((end.port for _, end in sorted(ends.items()) if end.kind == "management"), 0)


def _connections(plan: Plan, wanted: frozenset[int] | None) -> Iterator[Connection]:
    ends = _ends(plan)
    unique = _unique(ends)
    of_kind = _of_kind(plan)
    ports = _Ports({k: one.number("PortNumber") for k, one in of_kind.items() if one.states("PortNumber")})
    # Which port a connection gets depends on those before it.
    wanted = None if ports.first else wanted
    joined: set[frozenset[int]] = set()
    for link in plan.links:
        first, second = (ends[plan.by_id[end].node_id] for end in (link.process_id_1, link.process_id_2))
        pair = frozenset((first.node_id, second.node_id))
        if pair in joined or len(pair) == 1:
            continue
        joined.add(pair)
        if wanted is None or pair & wanted:
            settings = connection_settings(plan, link)
            yield _connection(plan, first, second, link.kind, settings, link, unique, ports)
    by_kind = {
        kind: [e for _, e in sorted(ends.items()) if e.kind == kind] for kind in ("data", "api", "management")
    }
    data, management = by_kind["data"], by_kind["management"]
    served = [*by_kind["api"], *management]
    if not plan.features.connected_by_pair:
        named = frozenset[int]().union(*joined)
        served = [end for end in served if end.node_id not in named]
    pairs = (
        *((one, other) for i, one in enumerate(data) for other in data[i + 1 :]),
        *((one, other) for one in served for other in data),
        *((one, other) for i, one in enumerate(management) for other in management[i + 1 :]),
    )
    for first, second in pairs:
        pair = frozenset((first.node_id, second.node_id))
        if pair in joined or (wanted is not None and not pair & wanted):
            continue
        if any(a.map is not None and b.node_id not in a.map for a, b in ((first, second), (second, first))):
            continue
        shared = first.kind == "api" and second.shm and first.hostname == second.hostname != ""
        kind = "shm" if shared else "tcp"
        yield _connection(plan, first, second, kind, of_kind[kind], None, unique, ports)


def _connection(
    plan: Plan,
    first: _End,
    second: _End,
    kind: str,
    settings: NodeSettings,
    link: Link | None,
    unique: int,
    ports: _Ports,
) -> Connection:
    """`unique`: PortNumber of the first management server, which keys of shared memory begin with."""
    apart = first.domain and second.domain and first.domain != second.domain
    wide = bool(link is None and kind == "tcp" and (first.wan or second.wan or apart))
    listens = server_of((first.node_id, first.kind), (second.node_id, second.kind))
    server = first if first.node_id == listens else second
    binds = server.binds and catalogue.knows(kind.upper(), "TcpBind_INADDR_ANY", plan.version)
    tls = (first.tls or second.tls) and catalogue.knows(kind.upper(), "RequireLinkTls", plan.version)
    # fixHostname and fixPortNumber look at the section alone: a default comes too late to say these.
    own = counting(kind.upper(), link.parameters, plan.ndb_version) if link is not None else {}
    hostname = str(own.get(f"HostName{1 if server is first else 2}", server.hostname))
    ends = [("NodeIdServer", own.get("NodeIdServer", listens))]
    for name, end in (("HostName1", first), ("HostName2", second)):
        if settings.states(name):
            ends.append((name, own.get(name, end.hostname)))
    port = server.port or ports.of(kind, server, hostname)
    key = None
    if kind == "shm" and not settings.states("ShmKey"):
        key = _shm_key(unique, first.node_id, second.node_id)
    given = _given(wide, binds, tls, tuple(ends), port, key)
    return Connection((first.node_id, second.node_id), kind, settings, given, link)
