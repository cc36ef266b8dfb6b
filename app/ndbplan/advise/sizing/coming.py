"""What the load has to come through: connections first, then hosts, and of them the fewest.

following = more_clients(found.broken, found.clients, lacking)
"""

from __future__ import annotations

from collections.abc import Callable

from ndbplan.advise.sizing.build import MOST_CONNECTIONS, MOST_NODES, Clients
from ndbplan.advise.sizing.verdict import CLIENTS, CONNECTIONS, Met

Lacking = Callable[[Clients], Met | None]
"""The limit of a load that so many clients break in closed form; None: none."""


def more_clients(broken: Met, now: Clients, lacking: Lacking, likely: Callable[[], float]) -> Clients | None:
    """Clients that come nearer to meeting a limit than those of now; None: it asks for no more of them.

    What is left without a rack, or without a host, is no share of all: as many times as many hosts as the
    limit lacks are enough, and often too many. Of those above now the fewest that lack nothing are taken.
    `likely`: where to look for them first, as times the hosts of now.
    """
    if broken.kind not in (CONNECTIONS, CLIENTS) or broken.allowed.value <= 0:
        return None
    # How long it goes well does not say how much is lacking.
    times = broken.nearness if broken.is_ratio else 1.0
    if broken.kind == CONNECTIONS and now.connections < MOST_CONNECTIONS:
        return now.with_connections(times)
    most = now.with_hosts(times)
    fewest = None if most.hosts > MOST_NODES else _enough(most.hosts, lacking)
    return most if fewest is None else _fewest(fewest, now.hosts, now.with_hosts(likely()).hosts, lacking)


def _fewest(known: Clients, too_few: int, likely: int, lacking: Lacking) -> Clients:
    """The fewest hosts above `too_few` that lack nothing: `known` do, and so do all between.

    As many as are likely are tried first, then further and further from them.
    """
    fewest, low, step, middle = known, too_few, 1, likely
    while fewest.hosts - low > 1:
        middle = min(max(middle, low + 1), fewest.hosts - 1)
        found = _enough(middle, lacking)
        if found is None:
            low, middle = middle, middle + step
        else:
            fewest, middle = found, middle - step
        step *= 2
    return fewest


def _enough(hosts: int, lacking: Lacking) -> Clients | None:
    """So many hosts with the connections that they need; None: they lack something with any."""
    clients = Clients(hosts)
    while (broken := lacking(clients)) is not None:
        if broken.kind != CONNECTIONS or clients.connections >= MOST_CONNECTIONS or broken.allowed.value <= 0:
            return None
        clients = clients.with_connections(broken.nearness)
    return clients
