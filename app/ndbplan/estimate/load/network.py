"""Bytes per second in and out of each host under a workload.

    network(machines, loads, through).hosts[0].utilisation

A write crosses the network from the client to the coordinator, from there to the primary and along the chain
of backups; a read as a request to the primary and its row back to the client.

Source: engine model 8.4; constants by name in resources/ndb/constants.json.
"""

from __future__ import annotations

from dataclasses import dataclass

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
class _Flow:
    """Payload bytes and operations per second through one host's link."""

    payload_in: float = 0.0
    payload_out: float = 0.0
    hops_in: float = 0.0
    hops_out: float = 0.0


def _data_node_flow(load: NodeLoad, nodes: int, replicas: int, payload: float, writes: float) -> _Flow:
    """Traffic of one data node. `payload`, `writes`: of the whole cluster, per second."""
    away = 1 - 1 / nodes
    own, own_reads = load.write_payload_bytes_per_s, load.reads_per_s + load.scanned_rows_per_s
    row = payload / writes if writes else 0.0
    primary_writes = own / row if row else 0.0
    copies_in = max(0.0, load.writes_per_s - primary_writes)
    copies_out = copies_in if replicas > 1 else 0.0
    coordinated = payload / nodes
    flow = _Flow()
    flow.payload_in = coordinated + own * away + copies_in * row
    flow.payload_out = coordinated * away + copies_out * row + load.read_payload_bytes_per_s
    hops = writes / nodes + primary_writes * away + copies_in + own_reads * (1 + away)
    # Every request is answered, so hops cost the same in both directions.
    flow.hops_in = flow.hops_out = 2 * hops
    return flow


def crossing_bytes_per_s(payload: float, messages: float, constants: Constants) -> Quantity:
    """What crosses a link one way for so many bytes of values and so many messages a second."""
    values = Quantity.stated("values of rows", payload, "bytes/s", "workload")
    sent = Quantity.stated("messages", messages, "per s", "workload")
    return values + (sent * constants["network_protocol_bytes"]).in_unit("bytes/s")


def _host(host: Host, flow: _Flow, constants: Constants) -> HostNetwork:
    return _link(host, constants, flow.payload_in, flow.payload_out, flow.hops_in, flow.hops_out)


@kept_by_identity(size=KEPT_NODES)
def _link(
    host: Host, constants: Constants, payload_in: float, payload_out: float, hops_in: float, hops_out: float
) -> HostNetwork:
    into = crossing_bytes_per_s(payload_in, hops_in, constants)
    out = crossing_bytes_per_s(payload_out, hops_out, constants)
    busier = max(into, out, key=lambda q: q.value).named("busier direction")
    link = Quantity.stated(f"link of {host.hostname}", host.network_bytes_per_s, "bytes/s")
    utilisation = (busier / (link * constants["network_usable"])).in_unit("fraction")
    return HostNetwork(host.id, host.hostname, into, out, utilisation)


def network(machines: Machines, loads: tuple[NodeLoad, ...], through: tuple[Coming, ...]) -> NetworkEstimate:
    """Traffic of every host. `through`: the SQL or API nodes that transactions come through."""
    hosts = same(machines.by_id[load.node_id].host for load in loads)
    return _network(machines.constants, replicas_of(machines.settings), loads, hosts, through)


@kept_by_identity(size=48)
def _network(
    constants: Constants,
    replicas: int,
    loads: tuple[NodeLoad, ...],
    hosts: tuple[Host, ...],
    through: tuple[Coming, ...],
) -> NetworkEstimate:
    """`hosts`: of the data node of each load."""
    payload = sum(load.write_payload_bytes_per_s for load in loads)
    answers = sum(load.read_payload_bytes_per_s for load in loads)
    writes = sum(load.writes_per_s for load in loads) / replicas
    requests = writes + sum(load.reads_per_s for load in loads)
    flows: dict[str, tuple[Host, _Flow]] = {}

    def put(host: Host, flow: _Flow) -> None:
        _, whole = flows.setdefault(host.id, (host, _Flow()))
        whole.payload_in += flow.payload_in
        whole.payload_out += flow.payload_out
        whole.hops_in += flow.hops_in
        whole.hops_out += flow.hops_out

    for load, host in zip(loads, hosts, strict=True):
        put(host, _data_node_flow(load, len(loads), replicas, payload, writes))
    # The data nodes pay for clients from anywhere too; where those are, nobody knows.
    for _, host in through:
        share = 1 / len(through)
        put(host, _Flow(answers * share, payload * share, requests * share, requests * share))
    return NetworkEstimate(tuple(_host(host, flow, constants) for host, flow in flows.values()))


def data_node_link(
    machines: Machines, load: NodeLoad, data_nodes: int, payload_bytes_per_s: float, writes_per_s: float
) -> Quantity:
    """How busy one data node alone keeps the link of its host, in a cluster of so many that are up.

    `payload_bytes_per_s`, `writes_per_s`: what clients write, over the whole cluster.
    """
    replicas = replicas_of(machines.settings)
    flow = _data_node_flow(load, data_nodes, replicas, payload_bytes_per_s, writes_per_s)
    return _host(machines.by_id[load.node_id].host, flow, machines.constants).utilisation
