"""What takes its time at a console while others go on, as each client of the product does.

    cluster.apart = True                   # `! apart`: nobody is held up by what waits
    consoles.answer("ndb_mgm> 4 STOP")     # said at once: it is under way; the answer comes as time passes

A console that is not apart has its answer when the line is over, and time has passed with it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from ndbplan.base.errors import UserError
from ndbplan.train.answer import Answer
from ndbplan.train.live import LiveCluster

UNDER_WAY = "(under way: the answer comes as time passes; ^C ends the wait)\n"
INTERRUPTED = "^C -- query aborted\n"


class ApartError(UserError):
    """A word that says neither."""


def apart(text: str, cluster: LiveCluster) -> str:
    """`apart`, `apart off`: whether what waits holds up who typed it. Raises ApartError."""
    if text not in ("", "off"):
        raise ApartError(
            f"'apart {text[:40]}' is nothing that is known here", fix="type 'apart' or 'apart off'"
        )
    cluster.apart = not text
    how = "holds nobody up: its answer comes as time passes" if cluster.apart else "lets time pass"
    return f"what waits at a console {how}"


class Program(NamedTuple):
    """A program or a command that waits."""

    line: str
    since_s: float
    waits: Callable[[LiveCluster], Answer | None]
    text: str = ""
    """What is printed in front of the rest."""


def is_at_work(prompt: str, line: str, since_s: float, cluster: LiveCluster) -> str:
    """What is said of a line that is typed where something is under way."""
    lasts_s = cluster.now_s - since_s
    return (
        f"ndbplan: {prompt} has been at this for {lasts_s:.1f} s:\n  {line[:70]}\n"
        "  Let time pass ('! wait 1s'), go on at another console, or end it with ^C\n"
    )
