"""Links that rows cross on their way to other data nodes: of hosts, and uplinks between locations.

    copy_links(plan, {3: 6e9})[3]

Rows come in equal parts from the started members of the node's group; between processes of one host they
cross no link. Several nodes that fetch rows at once share the links they have in common.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from ndbplan.configuration.node_groups import node_groups
from ndbplan.plan.plan import Plan


@dataclass(frozen=True, slots=True)
class Crossing:
    """One direction of a link and everything that crosses it."""

    name: str
    bytes_per_s: float
    crossing_bytes: float


Flow = tuple[str, str, float]
"""(id of the host that sends, id of the host that receives, bytes)."""


def crossings(plan: Plan, flows: Iterable[Flow]) -> dict[tuple[str, str, bool], Crossing]:
    """Every direction of a link that flows cross, by (`host` or `location`, its id, outwards)."""
    sums: dict[tuple[str, str, bool], float] = {}
    places = {location.id: location for location in plan.locations}
    for sender, receiver, size in flows:
        for key in _crossed(plan, sender, receiver):
            sums[key] = sums.get(key, 0.0) + size
    by_link = {}
    for key, size in sums.items():
        kind, at, _ = key
        if kind == "host":
            host = plan.host(at)
            by_link[key] = Crossing(f"network of host {host.hostname}", host.network_bytes_per_s, size)
        else:
            place = places[at]
            by_link[key] = Crossing(f"uplink of {place.name}", place.uplink_bytes_per_s or 1.0, size)
    return by_link


def _crossed(plan: Plan, sender: str, receiver: str) -> list[tuple[str, str, bool]]:
    """Directions of links that bytes from one host to another cross."""
    if sender == receiver:
        return []
    links = [("host", sender, True), ("host", receiver, False)]
    begin, end = plan.host(sender).location_id, plan.host(receiver).location_id
    if begin != end:
        for place in plan.locations:
            if place.uplink_bytes_per_s is not None and place.id in (begin, end):
                links.append(("location", place.id, place.id == begin))
    return links


def sources_of(plan: Plan, starting: Iterable[int]) -> dict[int, tuple[int, ...]]:
    """Node ids that each starting node fetches its rows from: members of its group that are started."""
    away = set(starting)
    sources: dict[int, tuple[int, ...]] = {}
    for group in node_groups(plan):
        ids = [node.node_id for node in group]
        for node_id in away & set(ids):
            mates = tuple(i for i in ids if i not in away) or tuple(i for i in ids if i != node_id)
            sources[node_id] = mates
    return sources


def copy_links(plan: Plan, fetched_bytes: Mapping[int, float]) -> dict[int, tuple[Crossing, ...]]:
    """For nodes that fetch so many bytes each at the same time: the links that each of them depends on."""
    host_of = {node.node_id: node.host_id for node in plan.data_nodes}
    sources = sources_of(plan, fetched_bytes)
    own: dict[int, list[Flow]] = {}
    for node_id, size in fetched_bytes.items():
        mates = sources.get(node_id, ())
        own[node_id] = [(host_of[mate], host_of[node_id], size / len(mates)) for mate in mates]
    whole = crossings(plan, (flow for flows in own.values() for flow in flows))
    return {
        node_id: tuple(
            whole[key]
            for key in dict.fromkeys(k for begin, end, _ in flows for k in _crossed(plan, begin, end))
        )
        for node_id, flows in own.items()
    }
