"""What goes over a link while a run lasts: what accepted transactions take, by those that are up.

links(plan)                                    # the links there are: of hosts, of node groups, of locations
traffic(plan, result, links(plan)[0])          # named flows, bytes a second at each moment
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise, permutations
from typing import TYPE_CHECKING

from ndbplan.base.kept import kept_by_identity
from ndbplan.configuration.node_groups import node_groups
from ndbplan.describe.titles import display_name
from ndbplan.estimate.load.demand import offered_per_s
from ndbplan.estimate.loaded import flows_of_hosts
from ndbplan.plan.hardware import Host, Location
from ndbplan.plan.places import inside
from ndbplan.plan.plan import Plan
from ndbplan.plan.processes import process_node_ids

if TYPE_CHECKING:
    from ndbplan.simulate.model.load_over_time import Floats
    from ndbplan.simulate.result import SimulationResult


@dataclass(frozen=True)
class Link:
    """A host's own link, what leaves a location, or what the hosts of a node group send one another."""

    ids: tuple[str, ...]
    """Of a host, of a location, or of the data nodes of a node group: what is selected for it."""
    name: str
    limit_bytes_per_s: float | None = None
    """In each direction; None: nobody stated it."""


@kept_by_identity(4)
def links(plan: Plan) -> tuple[Link, ...]:
    """Every link that transactions may go over."""
    hosts = [h for h in plan.hosts if any(p.kind != "management" for p in plan.processes_of_host[h.id])]
    found = [Link((h.id,), f"{h.hostname} / link", h.network_bytes_per_s) for h in hosts]
    for group in node_groups(plan):
        members = tuple(node.id for node in group)
        ends = _ends(plan, members)
        if len(ends) > 1:
            between = " – ".join(h.hostname for h in ends)
            found.append(Link(members, between, min(h.network_bytes_per_s for h in ends)))
    for place in plan.locations:
        here = inside(plan.locations, [place.id])
        if any(h.location_id in here for h in hosts):
            name = f"{display_name(plan, place)} / uplink"
            found.append(Link((place.id,), name, place.uplink_bytes_per_s))
    return tuple(found)


def traffic(plan: Plan, result: SimulationResult, link: Link) -> list[tuple[str, Floats]]:
    """Names and bytes a second of what goes over a link; TypeError for a job, whose rate depends on its rows.

    As long as something is down, the others carry what was its; what is down sends and gets nothing.
    """
    import numpy as np

    accepted = result.accepted / offered_per_s(plan.workload(result.workload).load)
    names: list[str] = []
    flows: list[Floats] = []
    for begin_s, end_s, down in _spells(result):
        found = _flows(plan, result.workload, link, down)
        names = names or [name for name, _ in found]
        flows = flows or [np.zeros(len(accepted)) for _ in found]
        here = (result.times_s >= begin_s) & (result.times_s < end_s)
        for series, (_, rate) in zip(flows, found, strict=True):
            series[here] = accepted[here] * rate
    return list(zip(names, flows, strict=True))


def _spells(result: SimulationResult) -> Iterable[tuple[float, float, frozenset[str]]]:
    """From when to when which parts are down, over the whole run."""
    from ndbplan.simulate.moment import within

    changes = {0.0} | {at for s in result.down for at in (s.from_s, s.to_s) if at is not None}
    moments = [*sorted(changes), float("inf")]
    for begin_s, end_s in pairwise(moments):
        yield begin_s, end_s, within(result.down, begin_s)


def _flows(plan: Plan, workload: str, link: Link, down: frozenset[str]) -> list[tuple[str, float]]:
    """Names and rates of a link under all of the load, while these parts are down."""
    load = plan.workload(workload)
    part = plan.by_id[link.ids[0]]
    dead = frozenset(i for p in plan.processes if p.id in down for i in process_node_ids(p))
    now, hosts = flows_of_hosts(plan, load, dead), {part.id}
    if isinstance(part, Location):
        inner = inside(plan.locations, [part.id])
        hosts = {h.id for h in plan.hosts if h.location_id in inner}
    if isinstance(part, Host | Location):
        return [("in", now.into(hosts).value), ("out", now.out_of(hosts).value)]
    ends = _ends(plan, link.ids)
    if len(ends) == 2:
        one, other = ends
        return [
            (f"to {other.hostname}", now.between(one.id, other.id).value),
            (f"to {one.hostname}", now.between(other.id, one.id).value),
        ]
    return [("in all", sum(now.between(a.id, b.id).value for a, b in permutations(ends, 2)))]


def _ends(plan: Plan, members: Iterable[str]) -> list[Host]:
    """The hosts of data nodes, each once."""
    nodes = [node for node in plan.data_nodes if node.id in members]
    return list({node.host_id: plan.host(node.host_id) for node in nodes}.values())
