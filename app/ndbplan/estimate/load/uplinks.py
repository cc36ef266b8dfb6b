"""Bytes per second that leave and enter each location, where the plan states how fast its uplink is.

    uplinks(machines, loads, client_hosts)[0].utilisation

A write goes from the client to the coordinator, on to the primary and along the chain of backups; each of
these steps crosses the uplink of a location when one of its ends lies in it and the other does not. So does
what a read brings back. A rack in a room sends through both uplinks what leaves the room.

Source: the manual on transactions, as for `network`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from ndbplan.base.quantity import Quantity, Term
from ndbplan.configuration.settings import replicas_of
from ndbplan.estimate.load.demand import NodeLoad
from ndbplan.estimate.load.network import crossing_bytes_per_s
from ndbplan.estimate.storage.machines import Machines
from ndbplan.plan.hardware import Host
from ndbplan.plan.places import inside


@dataclass(frozen=True, slots=True)
class UplinkUse:
    """The uplink of one location."""

    location_id: str
    location: str
    out_bytes_per_s: Quantity
    in_bytes_per_s: Quantity
    utilisation: Quantity
    """Of the busier direction."""


class _Flows:
    """Payload and messages per second between locations."""

    def __init__(self) -> None:
        self.payload: dict[tuple[str | None, str | None], float] = defaultdict(float)
        self.messages: dict[tuple[str | None, str | None], float] = defaultdict(float)

    def add(self, begin: str | None, end: str | None, payload: float, messages: float) -> None:
        """Payload goes one way; each message and its answer go both ways."""
        if begin != end:
            self.payload[begin, end] += payload
            self.messages[begin, end] += messages
            self.messages[end, begin] += messages


def uplinks(
    machines: Machines, loads: Sequence[NodeLoad], client_hosts: Sequence[Host]
) -> tuple[UplinkUse, ...]:
    """Every location whose uplink has a stated speed. Nothing when none has."""
    stated = [location for location in machines.locations if location.uplink_bytes_per_s is not None]
    if not stated:
        return ()
    flows = _flows(machines, loads, client_hosts)
    uses = []
    for location in stated:
        speed = location.uplink_bytes_per_s or 1.0
        here = inside(machines.locations, [location.id])

        def through(outwards: bool, here: Collection[str] = here) -> Quantity:
            payload = sum(v for ends, v in flows.payload.items() if _crosses(ends, here, outwards))
            messages = sum(v for ends, v in flows.messages.items() if _crosses(ends, here, outwards))
            return crossing_bytes_per_s(payload, messages, machines.constants)

        out, into = through(True), through(False)
        busier = max(out, into, key=lambda q: q.value)
        link = Term(f"uplink of {location.name}", speed, "bytes/s", "plan")
        use = busier.scaled(1 / speed, "fraction", (busier.as_term("busier direction"), link))
        uses.append(UplinkUse(location.id, location.name, out, into, use))
    return tuple(uses)


def _crosses(ends: tuple[str | None, str | None], here: Collection[str], outwards: bool) -> bool:
    begin, end = ends if outwards else ends[::-1]
    return begin in here and end not in here


def _flows(machines: Machines, loads: Sequence[NodeLoad], client_hosts: Sequence[Host]) -> _Flows:
    flows = _Flows()
    place = {node.node_id: node.host.location_id for node in machines.nodes}
    payload = sum(load.write_payload_bytes_per_s for load in loads)
    writes = sum(load.writes_per_s for load in loads) / replicas_of(machines.settings)
    row = payload / writes if writes else 0.0
    clients = [host.location_id for host in client_hosts]
    mates = {node.node_id: group for group in machines.groups for node in group}
    for load in loads:
        here, own = place[load.node_id], load.write_payload_bytes_per_s
        primary_writes = own / row if row else 0.0
        reads = load.reads_per_s + load.scanned_rows_per_s
        for other in loads:
            # Every node coordinates as many transactions.
            share = 1 / len(loads)
            flows.add(place[other.node_id], here, own * share, (primary_writes + reads) * share)
        for mate in mates.get(load.node_id, ()):
            if mate.node_id != load.node_id:
                flows.add(here, place[mate.node_id], own, primary_writes)
        for client in clients:
            share = 1 / len(clients)
            flows.add(here, client, load.read_payload_bytes_per_s * share, 0.0)
            flows.add(client, here, payload / len(loads) * share, (writes + reads) / len(loads) * share)
    return flows
