"""What a console answers: text at once, orders for the cluster, and what it waits for to say the rest.

reply = mgm.answer("4 STOP", cluster)      # nothing has happened yet
done = carry_out(reply, cluster)           # the node is told to stop, time passes until it has
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from ndbplan.simulate.events.handlers import Order
from ndbplan.train.live import LiveCluster

PATIENCE_S = 3600.0
"""A console that waits is given up after so much simulated time."""
LOOKS_EVERY_S = 0.1


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


def carry_out(reply: Answer, cluster: LiveCluster) -> Answer:
    """Give the orders of an answer and let time pass until all of it is there."""
    for order in reply.orders:
        refusal = cluster.act(order)
        if refusal is not None:
            return replace(reply, text=f"{reply.text}{refusal.text}\n", exit=1, orders=(), waits=None)
    if reply.waits is None:
        return replace(reply, orders=())
    found: list[Answer] = []
    waits = reply.waits

    def is_there(now: LiveCluster) -> bool:
        more = waits(now)
        if more is not None:
            found.append(more)
        return more is not None

    begin_s = cluster.now_s
    if not cluster.advance_until(is_there, PATIENCE_S, LOOKS_EVERY_S):
        given_up = f"(no answer after {cluster.now_s - begin_s:.0f} s: given up)\n"
        return replace(reply, text=reply.text + given_up, exit=1, orders=(), waits=None)
    rest = carry_out(found[0], cluster)
    return replace(rest, text=reply.text + rest.text)
