"""What clients offer while events happen: bursts, and SQL nodes that are down or cut off."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ndbplan.plan.workloads import ClosedLoad
from ndbplan.simulate.events.nodes import service
from ndbplan.simulate.events.outage import clients_of

if TYPE_CHECKING:
    from ndbplan.simulate.events.state import World


def offer(world: World) -> None:
    """Work out from now on what clients send: those of SQL nodes that are down send nothing.

    Clients spread evenly over the SQL nodes (over API slots where there are none). Whoever is connected to an
    SQL node that sees no data node of the living cluster is refused.
    """
    scenario, outage = world.scenario, world.outage
    clients = clients_of(outage.plan)
    up = [client for client in clients if not outage.is_down(client.id)]
    share = len(up) / len(clients) if clients else 1.0
    burst = 1.0
    for number in sorted(world.bursts):
        burst *= world.bursts[number]
    if isinstance(scenario.workload.load, ClosedLoad):
        scenario.run.clients = world.clients * share * burst
    else:
        begin = round(world.now_s / scenario.step_s)
        scenario.offered[begin:] = world.offered[begin:] * (share * burst)
        scenario.run.clients = world.clients * share
    scenario.run.cut_off_share = 0.0
    if outage.cuts and up and outage.stop is None:
        started = [node for node in outage.plan.data_nodes if node.node_id in outage.running.started]
        seeing = [client for client in up if any(outage.sees(client, node) for node in started)]
        scenario.run.cut_off_share = 1.0 - len(seeing) / len(up)
    service(world)
    world.note_settings()


def burst_begins(world: World, number: int, factor: float) -> None:
    """Clients send so many times what they would."""
    world.bursts[number] = factor
    offer(world)


def burst_ends(world: World, number: int) -> bool:
    """A burst is over; nothing to note."""
    world.bursts.pop(number, None)
    offer(world)
    return False
