"""Bytes per second that leave and enter each location, where the plan states how fast its uplink is.

    uplinks(machines, loads, client_hosts)[0].utilisation

Each step of a write, and what a read brings back (`flows`), crosses the uplink of a location when one of its
ends lies in it and the other does not. A rack in a room sends through both uplinks what leaves the room.

Source: the manual on transactions, as for `network`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ndbplan.base.quantity import Quantity, Term
from ndbplan.estimate.load.demand import NodeLoad
from ndbplan.estimate.load.flows import carried, flows_between
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


def uplinks(
    machines: Machines, loads: Sequence[NodeLoad], client_hosts: Sequence[Host]
) -> tuple[UplinkUse, ...]:
    """Every location whose uplink has a stated speed. Nothing when none has."""
    stated = [location for location in machines.locations if location.uplink_bytes_per_s is not None]
    if not stated:
        return ()
    clients = [host.location_id for host in client_hosts]
    flows = flows_between(machines, carried(machines, loads), clients, lambda host: host.location_id)
    uses = []
    for location in stated:
        speed = location.uplink_bytes_per_s or 1.0
        here = inside(machines.locations, [location.id])
        out, into = flows.out_of(here), flows.into(here)
        busier = max(out, into, key=lambda q: q.value)
        link = Term(f"uplink of {location.name}", speed, "bytes/s", "plan")
        use = busier.scaled(1 / speed, "fraction", (busier.as_term("busier direction"), link))
        uses.append(UplinkUse(location.id, location.name, out, into, use))
    return tuple(uses)
