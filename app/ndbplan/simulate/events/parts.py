"""Parts of the cluster that fail by an event of the plan, and are there again: processes, hosts, networks."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ndbplan.plan.events import (
    BetweenSides,
    HostFailure,
    LocationFailure,
    ManagementNodeDown,
    NetworkCut,
    NodeFailure,
    SqlNodeDown,
)
from ndbplan.plan.hardware import Host, Location
from ndbplan.plan.places import inside
from ndbplan.plan.plan import Plan
from ndbplan.plan.processes import ApiSlot, DataNode, ManagementNode, Process, SqlNode
from ndbplan.simulate.events.failures import cut, heal, hosts_of, processes_on, release, strike
from ndbplan.simulate.events.handlers import Asked, handles, planned
from ndbplan.simulate.events.nodes import Starts
from ndbplan.simulate.model.node_rows import SimulationError
from ndbplan.simulate.outage import name_of
from ndbplan.simulate.simulation import Due, Simulation


@dataclass(frozen=True)
class ProcessFails:
    """A process is killed, or stops."""

    number: int
    process: Process
    text: str


@dataclass(frozen=True)
class ProcessReturns:
    """It is started again."""

    number: int
    process: Process
    starts: Starts


@dataclass(frozen=True)
class PlaceFails:
    """A host, or all hosts of a location, fall silent."""

    number: int
    place_id: str
    text: str


@dataclass(frozen=True)
class PlaceReturns:
    """They are back, and what runs there is started."""

    number: int
    place_id: str
    text: str
    starts: Starts


@dataclass(frozen=True)
class SightLost:
    """Two sides lose sight of each other."""

    number: int
    object_ids: tuple[str, ...]
    other_ids: tuple[str, ...]
    text: str


@dataclass(frozen=True)
class SightBack:
    """They see each other again."""

    number: int
    text: str
    starts: Starts


# Processes.


@planned(NodeFailure)
def node_failure(event: NodeFailure, asked: Asked) -> Iterator[Due]:
    """A data node dies, and is started again."""
    node = asked.plan.by_id.get(event.object_id)
    if not isinstance(node, DataNode):
        raise SimulationError(f"'{event.object_id}' is not a data node", where="events")
    yield from _process_fails(event.at_s, event.back_after_s, node, f"{name_of(node)} dies", asked)


@planned(ManagementNodeDown)
def management_node_down(event: ManagementNodeDown, asked: Asked) -> Iterator[Due]:
    """A management node stops, and is started again."""
    node = asked.plan.by_id.get(event.object_id)
    if not isinstance(node, ManagementNode):
        raise SimulationError(f"'{event.object_id}' is not a management node", where="events")
    yield from _process_fails(event.at_s, event.back_after_s, node, f"{name_of(node)} stops", asked)


@planned(SqlNodeDown)
def sql_node_down(event: SqlNodeDown, asked: Asked) -> Iterator[Due]:
    """An SQL node stops, and is started again."""
    node = asked.plan.by_id.get(event.object_id)
    if not isinstance(node, SqlNode):
        raise SimulationError(f"'{event.object_id}' is not an SQL node", where="events")
    text = f"{name_of(node)} is down: its clients send nothing"
    after_s = event.duration_s if event.duration_s > 0 else None
    yield from _process_fails(event.at_s, after_s, node, text, asked)


def _process_fails(
    at_s: float, back_after_s: float | None, process: Process, text: str, asked: Asked
) -> Iterator[Due]:
    fails = ProcessFails(asked.number, process, text)
    yield Due(at_s, fails, of_cluster=isinstance(process, DataNode))
    if back_after_s is not None:
        returns = ProcessReturns(asked.number, process, Starts(asked.plan))
        yield Due(at_s + back_after_s, returns, of_cluster=False)


@handles(ProcessFails)
def fail(sim: Simulation, event: ProcessFails) -> None:
    """The process is down from now on; one that was down already is so for one reason more."""
    was_down = sim.outage.is_down(event.process.id)
    strike(sim, event.number, [event.process], silent=False)
    if not was_down or isinstance(event.process, SqlNode):
        sim.say(event.text)


@handles(ProcessReturns)
def come_back(sim: Simulation, event: ProcessReturns) -> None:
    """The process is there again, unless another event keeps it down."""
    release(sim, event.number, [event.process], event.starts)


# Hosts and locations.


def place_failure(event: HostFailure | LocationFailure, asked: Asked) -> Iterator[Due]:
    """Hosts fall silent, and are back."""
    place = asked.plan.by_id.get(event.object_id)
    if not isinstance(place, Host | Location):
        raise SimulationError(f"'{event.object_id}' is not a host or location", where="events")
    name = place.hostname if isinstance(place, Host) else place.name
    held = [name_of(p) for p in processes_on(asked.plan, hosts_of(asked.plan, [place.id]))]
    shown = f": {', '.join(held[:6])}{' …' if len(held) > 6 else ''}" if held else ""
    fails = PlaceFails(asked.number, place.id, f"{name} falls silent{shown}")
    yield Due(event.at_s, fails, of_cluster=False)
    if event.back_after_s is not None:
        returns = PlaceReturns(asked.number, place.id, f"{name} is back", Starts(asked.plan))
        yield Due(event.at_s + event.back_after_s, returns, of_cluster=False)


planned(HostFailure)(place_failure)
planned(LocationFailure)(place_failure)


@handles(PlaceFails)
def fall_silent(sim: Simulation, event: PlaceFails) -> None:
    """All that runs there fails, and nobody hears a connection break."""
    # Hosts may be added during the run.
    hosts = hosts_of(sim.outage.plan, [event.place_id])
    for object_id in sorted(_dark(sim.outage.plan, event.place_id) | hosts):
        sim.outage.goes_down(object_id, sim.at_s)
    strike(sim, event.number, processes_on(sim.outage.plan, hosts), silent=True)
    sim.say(event.text)


def _dark(plan: Plan, place_id: str) -> frozenset[str]:
    """The place that fails, and the locations in it."""
    return inside(plan.locations, [place_id]) | {place_id}


@handles(PlaceReturns)
def be_back(sim: Simulation, event: PlaceReturns) -> None:
    """A host that is back has broken the old connections at the latest."""
    sim.say(event.text)
    hosts = hosts_of(sim.outage.plan, [event.place_id])
    for object_id in sorted(_dark(sim.outage.plan, event.place_id) | hosts):
        sim.outage.comes_up(object_id, sim.at_s)
    release(sim, event.number, processes_on(sim.outage.plan, hosts), event.starts)


# Networks.


@planned(NetworkCut)
def network_cut(event: NetworkCut, asked: Asked) -> Iterator[Due]:
    """Two sides lose sight of each other, and see each other again."""
    plan, sides = asked.plan, sides_of(asked.plan, event)
    text = f"{sides[0]} and {sides[1]} lose sight of each other"
    lost = SightLost(asked.number, event.object_ids, event.other_ids, text)
    yield Due(event.at_s, lost, of_cluster=False)
    if event.back_after_s is not None:
        back = SightBack(asked.number, f"{sides[0]} and {sides[1]} see each other again", Starts(plan))
        yield Due(event.at_s + event.back_after_s, back, of_cluster=False)


def sides_of(plan: Plan, event: BetweenSides) -> tuple[str, str]:
    """What both sides are called. Raises SimulationError for a host on both."""
    here, there = hosts_of(plan, event.object_ids), hosts_of(plan, event.other_ids)
    if here & there:
        host = plan.host(min(here & there))
        raise SimulationError(
            f"host {host.hostname} is on both sides of the network",
            where="events",
            fix="name each host, or the location it stands in, on one side",
        )
    return _called(plan, event.object_ids), _called(plan, event.other_ids) or "all others"


def _called(plan: Plan, object_ids: tuple[str, ...]) -> str:
    """Names of locations and hosts, the first few."""
    names: list[str] = []
    for object_id in object_ids:
        part = plan.by_id.get(object_id)
        if isinstance(part, DataNode | ManagementNode | SqlNode | ApiSlot):
            names.append(name_of(part))
        else:
            names.append(str(getattr(part, "hostname", None) or getattr(part, "name", object_id)))
    return ", ".join(names[:4]) + (" …" if len(names) > 4 else "")


@handles(SightLost)
def lose_sight(sim: Simulation, event: SightLost) -> None:
    """Hosts may be added during the run."""
    plan = sim.outage.plan
    cut(sim, event.number, hosts_of(plan, event.object_ids), hosts_of(plan, event.other_ids))
    sim.say(event.text)


@handles(SightBack)
def see_again(sim: Simulation, event: SightBack) -> None:
    """What stopped because of the cut is started."""
    sim.say(event.text)
    heal(sim, event.number, event.starts)
