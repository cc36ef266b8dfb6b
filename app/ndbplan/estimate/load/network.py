"""Bytes per second in and out of each host under a workload.

    network(machines, loads, through).hosts[0].utilisation

A write crosses the network from the client to the coordinator, from there to the primary and along the chain
of backups; a read as a request to the primary and its row back to the client. What stays on one host
crosses nothing: a link carries what `flows` between hosts sum to.

Source: engine model 8.4; constants by name in resources/ndb/constants.json.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from ndbplan.base.kept import kept_by_identity, same
from ndbplan.base.quantity import Quantity
from ndbplan.base.shapes import Shape
from ndbplan.configuration.settings import replicas_of
from ndbplan.estimate.constants import Constants
from ndbplan.estimate.load.clients import Coming
from ndbplan.estimate.load.demand import NodeLoad
from ndbplan.estimate.load.node_settings import KEPT_NODES
from ndbplan.estimate.storage.machines import Machines
from ndbplan.plan.hardware import Host


@dataclass(frozen=True, slots=True)
class HostNetwork(Shape):
    """Network of one host."""

    JSON = "host in_bytes_per_s out_bytes_per_s utilisation"

    host_id: str
    host: str
    in_bytes_per_s: Quantity
    out_bytes_per_s: Quantity
    utilisation: Quantity
    """Of the busier direction."""


@dataclass(frozen=True, slots=True)
class NetworkEstimate(Shape):
    """Network of every host that runs data nodes, or SQL or API nodes of the workload."""

    JSON = "hosts"

    hosts: tuple[HostNetwork, ...]

    def host(self, host_id: str) -> HostNetwork | None:
        """The host's figures; None when it has no traffic."""
        return next((host for host in self.hosts if host.host_id == host_id), None)


@dataclass(slots=True)
class _Asked:
    """What data nodes and clients do, per second: those of one host, or all of them."""

    nodes: int = 0
    payload: float = 0.0
    """Bytes of values that are written to these nodes as primaries."""
    writes: float = 0.0
    """Rows that are written to them as primaries."""
    reads: float = 0.0
    answers: float = 0.0
    """Bytes of values that they send to clients."""
    sent_bytes: float = 0.0
    """To replicas elsewhere."""
    sent_rows: float = 0.0
    got_bytes: float = 0.0
    got_rows: float = 0.0
    clients: float = 0.0
    """Share of the transactions that comes through here."""


def _crossing(here: _Asked, whole: _Asked) -> tuple[float, float, float]:
    """Payload in and out of a host, and messages, which cost the same both ways as each is answered."""
    # Every node coordinates as many transactions.
    share, apart = here.nodes / whole.nodes, 1.0 - here.clients
    others, away = max(0.0, whole.payload - here.payload), 1.0 - share
    reads = max(0.0, whole.reads - here.reads)
    writes = max(0.0, whole.writes - here.writes)
    answers = max(0.0, whole.answers - here.answers)
    into = here.payload * away + here.got_bytes + whole.payload * share * apart + answers * here.clients
    out = others * share + here.sent_bytes + here.answers * apart + whole.payload * away * here.clients
    messages = (
        (here.writes + here.reads) * away
        + (writes + reads) * share
        + here.sent_rows
        + here.got_rows
        + (whole.writes * share + here.reads) * apart
        + (whole.writes * away + reads) * here.clients
    )
    return into, out, messages


def crossing_bytes_per_s(payload: float, messages: float, constants: Constants) -> Quantity:
    """What crosses a link one way for so many bytes of values and so many messages a second."""
    values = Quantity.stated("values of rows", payload, "bytes/s", "workload")
    sent = Quantity.stated("messages", messages, "per s", "workload")
    return values + (sent * constants["network_protocol_bytes"]).in_unit("bytes/s")


@kept_by_identity(size=KEPT_NODES)
def _link(
    host: Host, constants: Constants, payload_in: float, payload_out: float, messages: float
) -> HostNetwork:
    into = crossing_bytes_per_s(payload_in, messages, constants)
    out = crossing_bytes_per_s(payload_out, messages, constants)
    busier = max(into, out, key=lambda q: q.value).named("busier direction")
    link = Quantity.stated(f"link of {host.hostname}", host.network_bytes_per_s, "bytes/s")
    utilisation = (busier / (link * constants["network_usable"])).in_unit("fraction")
    return HostNetwork(host.id, host.hostname, into, out, utilisation)


def network(machines: Machines, loads: tuple[NodeLoad, ...], through: tuple[Coming, ...]) -> NetworkEstimate:
    """Traffic of every host. `through`: the SQL or API nodes that transactions come through."""
    hosts = same(machines.by_id[load.node_id].host for load in loads)
    by_id = {load.node_id: load for load in loads}
    groups = (machines.group_of.get(load.node_id, ()) for load in loads)
    firsts = same(
        next((by_id[one.node_id] for one in group if one.node_id in by_id), load)
        for group, load in zip(groups, loads, strict=True)
    )
    return _network(machines.constants, replicas_of(machines.settings), loads, hosts, firsts, through)


@kept_by_identity(size=48)
def _network(
    constants: Constants,
    replicas: int,
    loads: tuple[NodeLoad, ...],
    hosts: tuple[Host, ...],
    firsts: tuple[NodeLoad, ...],
    through: tuple[Coming, ...],
) -> NetworkEstimate:
    """`hosts`: of the data node of each load; `firsts`: the first load of its node group."""
    whole = _Asked(len(loads), sum(load.write_payload_bytes_per_s for load in loads))
    whole.writes = sum(load.writes_per_s for load in loads) / replicas
    whole.reads = sum(load.reads_per_s + load.scanned_rows_per_s for load in loads)
    whole.answers = sum(load.read_payload_bytes_per_s for load in loads)
    row = whole.payload / whole.writes if whole.writes else 0.0
    of_hosts: dict[str, tuple[Host, _Asked]] = {}
    groups: dict[int, list[tuple[str, float]]] = {}
    """Where each node of a node group is, and what is written to it as a primary."""
    for load, host, first in zip(loads, hosts, firsts, strict=True):
        groups.setdefault(id(first), []).append((host.id, load.write_payload_bytes_per_s))
    for load, host, first in zip(loads, hosts, firsts, strict=True):
        _, here = of_hosts.setdefault(host.id, (host, _Asked()))
        own = load.write_payload_bytes_per_s
        elsewhere = [payload for host_id, payload in groups[id(first)] if host_id != host.id]
        sent, got = own * len(elsewhere), sum(elsewhere)
        here.nodes += 1
        here.payload += own
        here.reads += load.reads_per_s + load.scanned_rows_per_s
        here.answers += load.read_payload_bytes_per_s
        here.sent_bytes += sent
        here.got_bytes += got
        if row:
            here.writes += own / row
            here.sent_rows += sent / row
            here.got_rows += got / row
    # The data nodes pay for clients from anywhere too; where those are, nobody knows.
    for _, host in through:
        _, here = of_hosts.setdefault(host.id, (host, _Asked()))
        here.clients += 1 / len(through)
    if not whole.nodes:
        return NetworkEstimate(tuple(_link(host, constants, 0.0, 0.0, 0.0) for host, _ in of_hosts.values()))
    return NetworkEstimate(
        tuple(_link(host, constants, *_crossing(here, whole)) for host, here in of_hosts.values())
    )


class Written(NamedTuple):
    """What clients ask for over the whole cluster, per second."""

    payload_bytes_per_s: float
    writes_per_s: float
    """Rows, each counted once."""
    reads_per_s: float


def data_node_link(machines: Machines, load: NodeLoad, data_nodes: int, asked: Written) -> Quantity:
    """How busy one data node alone keeps the link of its host, in a cluster of so many that are up."""
    whole = _Asked(data_nodes, asked.payload_bytes_per_s, asked.writes_per_s, asked.reads_per_s)
    row = whole.payload / whole.writes if whole.writes else 0.0
    own, reads = load.write_payload_bytes_per_s, load.reads_per_s + load.scanned_rows_per_s
    here = _Asked(1, own, own / row if row else 0.0, reads, load.read_payload_bytes_per_s)
    # A primary sends its copies where it gets those of others from.
    here.got_rows = max(0.0, load.writes_per_s - here.writes)
    here.sent_rows = here.got_rows if replicas_of(machines.settings) > 1 else 0.0
    here.got_bytes, here.sent_bytes = here.got_rows * row, here.sent_rows * row
    host = machines.by_id[load.node_id].host
    return _link(host, machines.constants, *_crossing(here, whole)).utilisation
