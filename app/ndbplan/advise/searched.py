"""Highest rates that were searched for already: of two plans that simulate alike one search is enough.

searched = Searched()
max_load(now, searched=searched); max_load(other, searched=searched)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from ndbplan.advise.highest_rate import End, highest_rate

if TYPE_CHECKING:
    from ndbplan.simulate.model.scenario import Scenario


class Searched:
    """What the search for the highest rate answered, by what it depends on."""

    def __init__(self) -> None:
        self._found: dict[tuple[bytes, float], tuple[float, End]] = {}

    def highest(
        self, scenario: Scenario, duration_s: float, cancelled: Callable[[], bool] | None
    ) -> tuple[float, End]:
        """The answer of `highest_rate`."""
        key = key_of(scenario), duration_s
        if key not in self._found:
            self._found[key] = highest_rate(scenario, duration_s, cancelled)
        return self._found[key]


def key_of(scenario: Scenario) -> bytes:
    """What tells scenarios apart for the search of the highest rate: equal keys, equal answers."""
    from hashlib import blake2b

    import numpy as np

    digest = blake2b(digest_size=16)
    # A search offers rates of its own.
    for array in (*scenario.laws._replace(offered=np.empty(0)), scenario.start):
        found = np.asarray(array)
        # Between the fields of a row lie bytes that mean nothing.
        digest.update(repr(found.tolist()).encode() if found.dtype.names else found.tobytes())
    services = [(one.resource, one.where, one.max_per_s, one.object_ids) for one in scenario.services]
    nodes = [[node.id for node in one.nodes] for one in scenario.node_classes]
    disks = [(one.hostnames, [disk.name for disk in one.disks]) for one in scenario.disk_classes]
    cache = scenario.page_cache
    cached = "" if cache is None else repr([(name, _plain(value)) for name, value in vars(cache).items()])
    network = [scenario.plan.host(node.host_id).network_bytes_per_s for node in scenario.plan.data_nodes]
    told = (services, nodes, disks, cached, network, scenario.steps, scenario.step_s, scenario.client_limit)
    digest.update(repr(told).encode())
    return digest.digest()


def _plain(value: object) -> object:
    return value.tolist() if hasattr(value, "tolist") else value
