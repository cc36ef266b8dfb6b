"""Bytes and messages per second between places: hosts, or the locations they stand in.

    flows = flows_between(machines, carried(machines, loads), clients, lambda host: host.id)
    flows.out_of({"host-a"}).value                 # bytes per second

A write goes from the client to the coordinator, on to the primary and along the chain of backups; what a read
brings back goes from the data node to the client. While data nodes are down, the others of their node groups
carry what was theirs.

Source: the manual on transactions, as for `network`; constants by name in resources/ndb/constants.json.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace

from ndbplan.base.quantity import Quantity
from ndbplan.configuration.settings import replicas_of
from ndbplan.estimate.constants import Constants
from ndbplan.estimate.load.demand import NodeLoad
from ndbplan.estimate.load.network import crossing_bytes_per_s
from ndbplan.estimate.storage.machines import Machines
from ndbplan.plan.hardware import Host

Ends = tuple[str | None, str | None]
"""Where something comes from and where it goes; None: it stands in no location."""


@dataclass(frozen=True)
class Carried:
    """What the data nodes that are up carry."""

    loads: tuple[NodeLoad, ...]
    writes_per_s: float
    """Rows that clients write, each counted once."""


def carried(machines: Machines, loads: Sequence[NodeLoad], dead: Collection[int] = ()) -> Carried:
    """The loads of the data nodes that are up, with what the dead of their node groups did before.

    `dead`: node ids. A node group of which nobody is left carries nothing.
    """
    writes = sum(load.writes_per_s for load in loads) / replicas_of(machines.settings)
    by_id = {load.node_id: load for load in loads}
    up = []
    for load in loads:
        if load.node_id in dead:
            continue
        group = machines.group_of.get(load.node_id, ())
        gone = [by_id[m.node_id] for m in group if m.node_id in dead and m.node_id in by_id]
        left = sum(m.node_id not in dead for m in group)
        up.append(_with_theirs(load, gone, left) if gone else load)
    return Carried(tuple(up), writes)


def _with_theirs(load: NodeLoad, gone: Sequence[NodeLoad], left: int) -> NodeLoad:
    """A load with its share of what others did as primaries: what is written is on all of them anyway."""
    return replace(
        load,
        reads_per_s=load.reads_per_s + sum(one.reads_per_s for one in gone) / left,
        read_operations_per_s=load.read_operations_per_s
        + sum(one.read_operations_per_s for one in gone) / left,
        scanned_rows_per_s=load.scanned_rows_per_s + sum(one.scanned_rows_per_s for one in gone) / left,
        write_payload_bytes_per_s=load.write_payload_bytes_per_s
        + sum(one.write_payload_bytes_per_s for one in gone) / left,
        read_payload_bytes_per_s=load.read_payload_bytes_per_s
        + sum(one.read_payload_bytes_per_s for one in gone) / left,
    )


class Flows:
    """Payload and messages per second between places, as bytes per second with their derivation."""

    def __init__(self, constants: Constants) -> None:
        self._constants = constants
        self._payload: dict[Ends, float] = defaultdict(float)
        self._messages: dict[Ends, float] = defaultdict(float)

    def add(self, begin: str | None, end: str | None, payload: float, messages: float) -> None:
        """Payload goes one way; each message and its answer go both ways."""
        if begin != end:
            self._payload[begin, end] += payload
            self._messages[begin, end] += messages
            self._messages[end, begin] += messages

    def out_of(self, here: Collection[str]) -> Quantity:
        """What leaves these places."""
        return self._sum(lambda begin, end: begin in here and end not in here)

    def into(self, here: Collection[str]) -> Quantity:
        """What comes into these places from outside."""
        return self._sum(lambda begin, end: end in here and begin not in here)

    def crossing(self, here: Collection[str | None], there: Collection[str | None]) -> Quantity:
        """What goes from these places to those."""
        return self._sum(lambda begin, end: begin in here and end in there)

    def between(self, one: str, other: str) -> Quantity:
        """What goes from one place to another."""
        return self._sum(lambda begin, end: begin == one and end == other)

    def _sum(self, goes: Callable[[str | None, str | None], bool]) -> Quantity:
        payload = sum(value for ends, value in self._payload.items() if goes(*ends))
        messages = sum(value for ends, value in self._messages.items() if goes(*ends))
        return crossing_bytes_per_s(payload, messages, self._constants)


def flows_between(
    machines: Machines,
    now: Carried,
    clients: Sequence[str | None],
    place_of: Callable[[Host], str | None],
) -> Flows:
    """Between the places of data nodes and of `clients`: those that transactions come through."""
    flows = Flows(machines.constants)
    loads, writes = now.loads, now.writes_per_s
    place = {node.node_id: place_of(node.host) for node in machines.nodes}
    payload = sum(load.write_payload_bytes_per_s for load in loads)
    row = payload / writes if writes else 0.0
    up = {load.node_id for load in loads}
    for load in loads:
        here, own = place[load.node_id], load.write_payload_bytes_per_s
        primary_writes = own / row if row else 0.0
        reads = load.reads_per_s + load.scanned_rows_per_s
        for other in loads:
            # Every node coordinates as many transactions.
            share = 1 / len(loads)
            flows.add(place[other.node_id], here, own * share, (primary_writes + reads) * share)
        for mate in machines.group_of.get(load.node_id, ()):
            if mate.node_id != load.node_id and mate.node_id in up:
                flows.add(here, place[mate.node_id], own, primary_writes)
        for client in clients:
            share = 1 / len(clients)
            flows.add(here, client, load.read_payload_bytes_per_s * share, 0.0)
            # Reads are asked of the node that holds the row, writes of any.
            flows.add(client, here, payload / len(loads) * share, (writes / len(loads) + reads) * share)
    return flows
