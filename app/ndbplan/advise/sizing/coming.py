"""What the load has to come through: connections first, then hosts, and of them the fewest.

following = more_clients(found.broken, found.clients, lacking)
"""

from __future__ import annotations

from collections.abc import Callable

from ndbplan.advise.sizing.build import MOST_CONNECTIONS, MOST_NODES, Clients
from ndbplan.advise.sizing.verdict import CLIENTS, CONNECTIONS, Met

Lacking = Callable[[Clients], Met | None]
"""The limit of a load that so many clients break in closed form; None: none."""


def more_clients(broken: Met, now: Clients, lacking: Lacking) -> Clients | None:
    """Clients that come nearer to meeting a limit than those of now; None: it asks for no more of them.

    What is left without a rack, or without a host, is no share of all: as many times as many hosts as the
    limit lacks are enough, and often too many. Of those above now the fewest that lack nothing are taken.
    """
    if broken.kind not in (CONNECTIONS, CLIENTS) or broken.allowed.value <= 0:
        return None
    # How long it goes well does not say how much is lacking.
    times = broken.nearness if broken.is_ratio else 1.0
    if broken.kind == CONNECTIONS and now.connections < MOST_CONNECTIONS:
        return now.with_connections(times)
    most = now.with_hosts(times)
    if most.hosts > MOST_NODES or _enough(most.hosts, lacking) is None:
        return most
    low, high = now.hosts, most.hosts
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if _enough(middle, lacking) is None else (low, middle)
    return _enough(high, lacking)


def _enough(hosts: int, lacking: Lacking) -> Clients | None:
    """So many hosts with the connections that they need; None: they lack something with any."""
    clients = Clients(hosts)
    while (broken := lacking(clients)) is not None:
        if broken.kind != CONNECTIONS or clients.connections >= MOST_CONNECTIONS or broken.allowed.value <= 0:
            return None
        clients = clients.with_connections(broken.nearness)
    return clients
