"""What a console answers: text at once, orders for the cluster, and what it waits for to say the rest.

reply = mgm.answer("4 STOP", cluster)      # nothing has happened yet
done = carry_out(reply, cluster)           # the node is told to stop, time passes until it has
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

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


def carry_out(reply: Answer, cluster: LiveCluster) -> Answer:
    """Give the orders of an answer and let time pass until all of it is there."""
    reply = begin(reply, cluster)
    if reply.waits is None:
        return reply
    found: list[Answer] = []
    waits = reply.waits

    def is_there(now: LiveCluster) -> bool:
        more = waits(now)
        if more is not None:
            found.append(more)
        return more is not None

    begin_s = cluster.now_s
    if not cluster.advance_until(is_there, PATIENCE_S, LOOKS_EVERY_S):
        text = reply.text + given_up(cluster.now_s - begin_s)
        return replace(reply, text=text, exit=1, orders=(), waits=None)
    rest = carry_out(found[0], cluster)
    return replace(rest, text=reply.text + rest.text)
