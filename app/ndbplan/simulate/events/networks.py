"""Links in a run that carry less for a while, or until the end."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from ndbplan.base.units import format_percent
from ndbplan.estimate.constants import constants_of
from ndbplan.estimate.times.copy_links import SlowLink
from ndbplan.plan.events import NetworkSlow
from ndbplan.simulate.events.copying import copies_longer, copy_in
from ndbplan.simulate.events.failures import hosts_of
from ndbplan.simulate.events.handlers import Asked, handles, planned
from ndbplan.simulate.events.nodes import HasRows, Joins, Started, TakesPart, is_off, parts_of, service
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


def pace_copies(sim: Simulation) -> None:
    """Links are slower or quicker from now on: what starts copy, or have still to copy, takes other times."""
    for due in tuple(sim.due):
        if isinstance(due.event, HasRows) and not is_off(sim, due.event.started):
            _pace(sim, due.event.started, due.at_s)


def _pace(sim: Simulation, was: Started, ends_s: float) -> None:
    """The copying of one start, that would end at a moment, has as much left as before, at its new speed."""
    phases = was.starts.phases(was.node.node_id, sim.slow_links)
    copying_s, n = parts_of(phases, constants_of(sim.outage.plan))[2], sim.node(was.node.id)
    begins = [due.at_s for due in sim.due if isinstance(due.event, TakesPart) and due.event.started is was]
    from_s = begins[0] if begins else sim.at_s
    longer_s = (ends_s - from_s) * (copying_s / was.copying_s - 1.0) if was.copying_s > 0 else 0.0
    now = replace(was, copying_s=copying_s)
    for at, due in enumerate(sim.due):
        if isinstance(due.event, Joins | TakesPart | HasRows) and due.event.started is was:
            later_s = longer_s if isinstance(due.event, HasRows) else 0.0
            sim.due[at] = due._replace(at_s=due.at_s + later_s, event=replace(due.event, started=now))
    sim.due.sort(key=lambda due: due.order)
    copies_longer(sim, was.node.node_id, longer_s)
    if n >= 0 and not begins:
        copy_in(sim, n, ends_s + longer_s - sim.at_s)
