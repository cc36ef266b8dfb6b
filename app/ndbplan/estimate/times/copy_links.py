"""Links that rows cross on their way to other data nodes: of hosts, and uplinks of locations.

    copy_links(machines, {3: 6e9})[3]

Rows come in equal parts from the started members of the node's group; between processes of one host they
cross no link. Several nodes that fetch rows at once share the links they have in common.

Source: engine model 6, copy fragment; the rest is arithmetic.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from ndbplan.estimate.storage.machines import Machine, Machines
from ndbplan.plan.hardware import Host, Location
from ndbplan.plan.places import chain


@dataclass(frozen=True, slots=True)
class Crossing:
    """One direction of a link and everything that crosses it."""

    name: str
    bytes_per_s: float
    crossing_bytes: float


@dataclass(frozen=True)
class SlowLink:
    """What crosses between two sides has so much of its bandwidth."""

    here: frozenset[str]
    """Ids of the hosts of one side."""
    there: frozenset[str]
    """Of the other; none: of all others, and of clients from anywhere."""
    factor: float
    name: str
    """Of both sides, in words."""

    def leads(self, sender: Host, receiver: Host) -> bool:
        """Whether bytes from one host to another leave the first side."""
        far = receiver.id in self.there if self.there else receiver.id not in self.here
        return sender.id in self.here and far


Flow = tuple[Host, Host, float]
"""(host that sends, host that receives, bytes)."""
_Direction = tuple[str, str, bool]
"""(`host` or `location`, its id, outwards)."""


def crossings(locations: tuple[Location, ...], flows: Iterable[Flow]) -> dict[_Direction, Crossing]:
    """Every direction of a link that flows cross."""
    sums: dict[_Direction, float] = {}
    links: dict[_Direction, Host | Location] = {}
    for sender, receiver, size in flows:
        for key, link in _crossed(locations, sender, receiver).items():
            sums[key] = sums.get(key, 0.0) + size
            links[key] = link
    by_link = {}
    for key, size in sums.items():
        link = links[key]
        if isinstance(link, Host):
            by_link[key] = Crossing(f"network of host {link.hostname}", link.network_bytes_per_s, size)
        else:
            by_link[key] = Crossing(f"uplink of {link.name}", link.uplink_bytes_per_s or 1.0, size)
    return by_link


def _crossed(
    locations: tuple[Location, ...], sender: Host, receiver: Host
) -> dict[_Direction, Host | Location]:
    """Directions of links that bytes from one host to another cross."""
    if sender.id == receiver.id:
        return {}
    links: dict[_Direction, Host | Location] = {
        ("host", sender.id, True): sender,
        ("host", receiver.id, False): receiver,
    }
    stated = [place for place in locations if place.uplink_bytes_per_s is not None]
    if stated:
        left, reached = (
            {place.id for place in chain(locations, host.location_id)} for host in (sender, receiver)
        )
        for place in stated:
            if (place.id in left) != (place.id in reached):
                links["location", place.id, place.id in left] = place
    return links


def sources_of(machines: Machines, starting: Iterable[int]) -> dict[int, tuple[Machine, ...]]:
    """Nodes that each starting node fetches its rows from: members of its group that are started."""
    away = set(starting)
    sources: dict[int, tuple[Machine, ...]] = {}
    for node_id in away & machines.group_of.keys():
        group = machines.group_of[node_id]
        mates = tuple(one for one in group if one.node_id not in away)
        sources[node_id] = mates or tuple(one for one in group if one.node_id != node_id)
    return sources


def copy_links(
    machines: Machines, fetched_bytes: Mapping[int, float], slow_links: Sequence[SlowLink] = ()
) -> dict[int, tuple[Crossing, ...]]:
    """For nodes that fetch so many bytes each at the same time: the links that each of them depends on."""
    own = _fetched(machines, fetched_bytes)
    whole = crossings(machines.locations, (flow for flows in own.values() for flow in flows))
    slowed = slowed_links(machines, fetched_bytes, slow_links)
    # Of one node alone all of them are its own.
    apart = len(own) > 1
    return {
        node_id: (
            *(whole[key] for key in (crossings(machines.locations, flows) if apart else whole)),
            *slowed.get(node_id, ()),
        )
        for node_id, flows in own.items()
    }


def slowed_links(
    machines: Machines, fetched_bytes: Mapping[int, float], slow_links: Sequence[SlowLink]
) -> dict[int, tuple[Crossing, ...]]:
    """What of it crosses slowed links: it has a share of the bandwidth of their hosts and uplinks."""
    found: dict[int, tuple[Crossing, ...]] = {}
    own = _fetched(machines, fetched_bytes) if slow_links else {}
    every = [flow for flows in own.values() for flow in flows]
    for slow in slow_links:
        by_link = _slowed(machines.locations, every, slow)
        for node_id, flows in own.items():
            keys = _slowed(machines.locations, flows, slow)
            found[node_id] = (*found.get(node_id, ()), *(by_link[key] for key in keys))
    return found


def _fetched(machines: Machines, fetched_bytes: Mapping[int, float]) -> dict[int, list[Flow]]:
    sources = sources_of(machines, fetched_bytes)
    own: dict[int, list[Flow]] = {}
    for node_id, size in fetched_bytes.items():
        mates = sources.get(node_id, ())
        own[node_id] = [(mate.host, machines.by_id[node_id].host, size / len(mates)) for mate in mates]
    return own


def _slowed(
    locations: tuple[Location, ...], flows: Sequence[Flow], slow: SlowLink
) -> dict[_Direction, Crossing]:
    """What of the flows crosses a slowed link, with what it leaves them of each link of its sides."""
    out = [flow for flow in flows if slow.leads(flow[0], flow[1])]
    back = [flow for flow in flows if slow.leads(flow[1], flow[0])]

    def shares(crossing: list[Flow], outwards: bool) -> Iterator[tuple[_Direction, Crossing]]:
        for key, link in crossings(locations, crossing).items():
            # Where one side alone is named, the links of all others are whole.
            if slow.there or key[2] is outwards:
                name, rate = f"slowed {link.name}", link.bytes_per_s * slow.factor
                yield key, Crossing(name, rate, link.crossing_bytes)

    return dict((*shares(out, outwards=True), *shares(back, outwards=False)))
