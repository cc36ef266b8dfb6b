"""What a console answers: text at once, orders for the cluster, and what it waits for to say the rest.

reply = mgm.answer("4 STOP", cluster)      # nothing has happened yet
done = carry_out(reply, cluster)           # the node is told to stop, time passes until it has
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NamedTuple

from ndbplan.simulate.events.handlers import Order
from ndbplan.train.live import LOOKS_EVERY_S, LiveCluster

PATIENCE_S = 3600.0
"""A console that waits is given up after so much simulated time."""


@dataclass(frozen=True)
class Answer:
    """What a console answers to one line."""

    text: str = ""
    exit: int = 0
    """Exit status of the program, where the line is all that it was given."""
    orders: tuple[Order, ...] = ()
    """What the cluster is told; nothing has happened before that."""
    waits: Callable[[LiveCluster], Answer | None] | None = None
    """What follows once it is there; None: it has to be waited for."""
    ends: bool = False
    """The program ends."""


def begin(reply: Answer, cluster: LiveCluster) -> Answer:
    """Give the orders of an answer; what it waits for is still to come."""
    for order in reply.orders:
        refusal = cluster.act(order)
        if refusal is not None:
            return replace(reply, text=f"{reply.text}{refusal.text}\n", exit=1, orders=(), waits=None)
    return replace(reply, orders=())


def given_up(waited_s: float) -> str:
    """What is said where nothing came."""
    return f"(no answer after {waited_s:.0f} s: given up)\n"


class Waited(NamedTuple):
    """What an answer waited for, and how long."""

    from_s: float
    to_s: float
    waits: Callable[[LiveCluster], Answer | None]
    text: str
    """What was there by then."""


def carry_out(reply: Answer, cluster: LiveCluster, waited: list[Waited] | None = None) -> Answer:
    """Give the orders of an answer and let time pass until all of it is there; `waited` gets each wait."""
    text = ""
    while True:
        reply = begin(reply, cluster)
        text += reply.text
        if reply.waits is None:
            return replace(reply, text=text)
        from_s = cluster.now_s
        more = _waited(reply.waits, cluster)
        if waited is not None:
            waited.append(Waited(from_s, cluster.now_s, reply.waits, text))
        if isinstance(more, str):
            return replace(reply, text=text + more, exit=1, orders=(), waits=None)
        reply = more


def _waited(waits: Callable[[LiveCluster], Answer | None], cluster: LiveCluster) -> Answer | str:
    """What follows once it is there; a text where it never is."""
    found: list[Answer] = []

    def is_there(now: LiveCluster) -> bool:
        more = waits(now)
        if more is not None:
            found.append(more)
        return more is not None

    begin_s = cluster.now_s
    if not cluster.advance_until(is_there, PATIENCE_S, LOOKS_EVERY_S):
        return given_up(cluster.now_s - begin_s)
    return found[0]
