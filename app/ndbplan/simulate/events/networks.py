"""Links in a run that carry less for a while, or until the end."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ndbplan.base.units import format_percent
from ndbplan.estimate.times.copy_links import SlowLink
from ndbplan.plan.events import NetworkSlow
from ndbplan.simulate.events.failures import hosts_of
from ndbplan.simulate.events.handlers import Asked, handles, planned
from ndbplan.simulate.events.nodes import pace_copies, service
from ndbplan.simulate.events.parts import sides_of
from ndbplan.simulate.simulation import Due, Simulation


@dataclass(frozen=True)
class LinkSlows:
    """What crosses between two sides has so much of its bandwidth."""

    number: int
    event: NetworkSlow
    name: str
    """Of both sides."""


@dataclass(frozen=True)
class LinkIsWell:
    """It has all of it again."""

    number: int
    text: str


@planned(NetworkSlow)
def network_slow(event: NetworkSlow, asked: Asked) -> Iterator[Due]:
    """The link slows, and is as fast as before."""
    one, other = sides_of(asked.plan, event)
    name = f"{one} to {other}"
    yield Due(event.at_s, LinkSlows(asked.number, event, name))
    if event.duration_s > 0:
        text = f"the network of {name} is as fast as before"
        yield Due(event.at_s + event.duration_s, LinkIsWell(asked.number, text))


@handles(LinkSlows)
def slow_down(sim: Simulation, due: LinkSlows) -> None:
    """What crosses has less room from now on. Hosts may be added during the run."""
    plan, event = sim.outage.plan, due.event
    here, there = hosts_of(plan, event.object_ids), hosts_of(plan, event.other_ids)
    sim.slow_link(due.number, SlowLink(here, there, event.factor, due.name))
    sim.say(f"the network of {due.name} at {format_percent(event.factor)} of its bandwidth")
    service(sim)
    pace_copies(sim)


@handles(LinkIsWell)
def speed_up(sim: Simulation, due: LinkIsWell) -> None:
    """It is as fast as before."""
    if not sim.whole_link(due.number):
        # Somebody healed it before.
        return
    sim.say(due.text)
    service(sim)
    pace_copies(sim)
