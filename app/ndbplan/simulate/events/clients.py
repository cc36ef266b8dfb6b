"""What clients offer while events happen: bursts, and SQL nodes that are down or cut off."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ndbplan.plan.events import Burst
from ndbplan.plan.workloads import ClosedLoad
from ndbplan.simulate.events.handlers import Asked, handles, planned
from ndbplan.simulate.events.nodes import service
from ndbplan.simulate.outage import clients_of
from ndbplan.simulate.simulation import Due, Simulation


@dataclass(frozen=True)
class BurstBegins:
    """Clients send so many times what they would."""

    number: int
    factor: float
    text: str


@dataclass(frozen=True)
class BurstEnds:
    """They do so no longer."""

    number: int


@planned(Burst)
def burst(event: Burst, asked: Asked) -> Iterator[Due]:
    """The burst, and its end."""
    text = f"burst: {event.factor:g} times the load for {event.duration_s:g} s"
    yield Due(event.at_s, BurstBegins(asked.number, event.factor, text), of_cluster=False)
    yield Due(event.at_s + event.duration_s, BurstEnds(asked.number), of_cluster=False)


@handles(BurstBegins)
def burst_begins(sim: Simulation, event: BurstBegins) -> None:
    """Clients send more, or less."""
    sim.bursts[event.number] = event.factor
    offer(sim)
    sim.say(event.text)


@handles(BurstEnds)
def burst_ends(sim: Simulation, event: BurstEnds) -> None:
    """A burst is over; nothing to note."""
    sim.bursts.pop(event.number, None)
    offer(sim)


def offer(sim: Simulation) -> None:
    """Work out from now on what clients send: those of SQL nodes that are down send nothing.

    Clients spread evenly over the SQL nodes (over API slots where there are none). Whoever is connected to an
    SQL node that sees no data node of the living cluster is refused.
    """
    scenario, outage, run = sim.scenario, sim.outage, sim.laws.run
    clients = clients_of(outage.plan)
    up = [client for client in clients if not outage.is_down(client.id)]
    share = len(up) / len(clients) if clients else 1.0
    factor = 1.0
    for number in sorted(sim.bursts):
        factor *= sim.bursts[number]
    everyone = float(scenario.laws.run.clients)
    if isinstance(scenario.workload.load, ClosedLoad):
        run.clients = everyone * share * factor
    else:
        begin = round(sim.now_s / scenario.step_s)
        sim.laws.offered[begin:] = scenario.laws.offered[begin:] * (share * factor)
        run.clients = everyone * share
    run.cut_off_share = 0.0
    if outage.cuts and up and outage.stop is None:
        started = [node for node in outage.plan.data_nodes if node.node_id in outage.running.started]
        seeing = [client for client in up if any(outage.sees(client, node) for node in started)]
        run.cut_off_share = 1.0 - len(seeing) / len(up)
    service(sim)
    sim.note_settings()
