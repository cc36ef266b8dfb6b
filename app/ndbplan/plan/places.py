"""Locations inside locations: what a rack lies in, and what lies in a site. Nothing else follows the chain.

chain(plan.locations, host.location_id)        # the rack, its room, their site: nearest first
inside(plan.locations, ["site-1"])             # ids of the site and of all rooms and racks in it
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from ndbplan.base.kept import kept_by_identity
from ndbplan.plan.fields import Id
from ndbplan.plan.hardware import Location

MOST_LEVELS = 8
"""Locations inside one another at most: more than site, building, floor, room, row and rack."""


@kept_by_identity(size=64)
def _chains(locations: tuple[Location, ...]) -> Mapping[Id, tuple[Location, ...]]:
    by_id = {place.id: place for place in locations}
    return {place_id: tuple(_up(by_id, place_id)) for place_id in by_id}


def _up(by_id: Mapping[Id, Location], place_id: Id | None) -> Iterator[Location]:
    seen: set[Id] = set()
    while place_id is not None and place_id in by_id and place_id not in seen:
        seen.add(place_id)
        yield by_id[place_id]
        place_id = by_id[place_id].parent_id


def chain(locations: tuple[Location, ...], location_id: Id | None) -> tuple[Location, ...]:
    """A location and all that it lies in, nearest first; nothing for None. A circle ends where it closes."""
    return () if location_id is None else _chains(locations).get(location_id, ())


def inside(locations: tuple[Location, ...], location_ids: Collection[Id]) -> frozenset[Id]:
    """Ids of these locations and of all that lie in them."""
    wanted = set(location_ids)
    return frozenset(i for i, up in _chains(locations).items() if any(place.id in wanted for place in up))


def domain_of(locations: tuple[Location, ...], location_id: Id | None) -> Location | None:
    """The nearest location up the chain that states a LocationDomainId."""
    return next((p for p in chain(locations, location_id) if p.location_domain_id is not None), None)


def may_hold(locations: tuple[Location, ...], location_id: Id) -> tuple[Location, ...]:
    """The locations that another one may be put in: neither itself, nor in it, nor too deep."""
    own = inside(locations, [location_id])
    top = len(chain(locations, location_id))
    below = max((len(chain(locations, i)) for i in own), default=top) - top + 1
    return tuple(
        place
        for place in locations
        if place.id not in own and len(chain(locations, place.id)) + below <= MOST_LEVELS
    )
