"""How a statement that waits for another session goes on, and what its client shows meanwhile.

Time passes while it waits, as another console says or with the clock; the real client shows nothing then.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from ndbplan.train.live import LiveCluster
from ndbplan.train.locks import Waiting, blockers
from ndbplan.train.prompts import sql_prompt
from ndbplan.train.sql import transactions
from ndbplan.train.sql.locking import BY_KEY, BY_SCAN
from ndbplan.train.sql.problem import SqlError
from ndbplan.train.sql.refused import met
from ndbplan.train.sql.server import lasted
from ndbplan.train.transacting import INTERRUPTED, KILLED, Waits

_LASTED = re.compile(r"\(([0-9]+\.[0-9]{2}) sec\)")


STOPPED = SqlError(1317, "70100", "Query execution was interrupted")


class Turn(NamedTuple):
    """A statement that waits no more."""

    one: Waiting
    error: SqlError | None
    """Why it was given up; None: it goes on."""


def begins(others: list[int]) -> str:
    """What is shown of a statement that begins to wait."""
    who = ", ".join(sql_prompt(one) for one in others)
    return f"(it waits for what {who} has locked: the answer comes as time passes)\n"


def still(session: int, cluster: LiveCluster) -> str:
    """What is said of a line that is typed where a statement still waits."""
    since_s = cluster.now_s - cluster.state.waits[session].since_s
    return (
        f"ndbplan: {sql_prompt(session)} has waited for {since_s:.1f} s and takes no line — "
        "let time pass ('! wait 1s'), or go on in another session\n"
    )


def interrupt(session: int, cluster: LiveCluster) -> None:
    """KILL QUERY of a statement that waits: it is given up at once."""
    one = cluster.state.waits[session]
    cluster.act(Waits(session, one._replace(until_s=cluster.now_s, code=INTERRUPTED)))


def with_time(text: str, waited_s: float) -> str:
    """What is printed of a statement that waited first."""
    if not waited_s:
        return text
    return _LASTED.sub(lambda found: f"({lasted(float(found[1]) + waited_s)})", text, count=1)


def is_cut_off(node_id: int, cluster: LiveCluster) -> bool:
    """Whether the SQL node of a session is gone."""
    process = cluster.state.process(node_id)
    return process is not None and cluster.session.simulation.outage.is_down(process.id)


def turn(session: int, cluster: LiveCluster) -> Turn | None:
    """How a statement goes on that waited; None: it still does."""
    state = cluster.state
    one = state.waits[session]
    blocked = blockers(session, one.wanted, state.transactions, state.waits, state.of_servers.locked)
    if blocked and cluster.now_s < one.until_s - 1e-9:
        return None
    cluster.act(Waits(session, None))
    return Turn(one, _given_up(one, cluster.seen_by(session)) if blocked else None)


def _given_up(one: Waiting, cluster: LiveCluster) -> SqlError:
    """What a wait ends with: of NDB the whole transaction is gone, of the server the statement."""
    if one.code in (BY_KEY, BY_SCAN):
        return transactions.given_up(met(one.code, "", cluster.plan.version), cluster)
    if one.code == KILLED:
        return transactions.LOST_CONNECTION
    if one.code == INTERRUPTED:
        return STOPPED
    return SqlError(1205, "HY000", "Lock wait timeout exceeded; try restarting transaction")
