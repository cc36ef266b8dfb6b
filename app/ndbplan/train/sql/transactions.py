"""BEGIN, COMMIT, ROLLBACK and savepoints, and transactions that a lost data node took with it."""

from __future__ import annotations

from ndbplan.ndb.console import form
from ndbplan.train.live import LiveCluster
from ndbplan.train.schema import Transacts
from ndbplan.train.sql.problem import NotSimulated, SqlError, syntax
from ndbplan.train.sql.refused import met
from ndbplan.train.state import LOCAL_ID

OK = "Query OK, 0 rows affected (0.00 sec)"
_OF_SAVEPOINTS = ("savepoint", "release", "rollback", "to", "work")
ABORTED_BY_FAILURE = 286
"""What the next statement of a transaction meets when a data node has failed."""


def not_lost(cluster: LiveCluster) -> None:
    """Raises what the next statement of a transaction meets when a data node failed while it was open."""
    if cluster.state.transaction is None or not cluster.state.transaction_lost:
        return
    cluster.act(Transacts("rollback"))
    if cluster.state.alive():
        raise met(ABORTED_BY_FAILURE, "")


def transaction(sql: str, cluster: LiveCluster) -> str:
    """BEGIN, COMMIT, ROLLBACK and savepoints, of which NDB knows nothing."""
    words = sql.lower().split()
    verb, is_open = words[0], cluster.state.transaction is not None
    if verb == "xa":
        raise NotSimulated("XA is not simulated here")
    if verb == "start" and words[1:2] != ["transaction"]:
        if words[1:2] and words[1] in ("replica", "slave", "group_replication"):
            raise NotSimulated(f"START {words[1].upper()} is not simulated here")
        raise syntax(" ".join(sql.split()[1:]))
    if verb == "start" and "only" in words:
        raise NotSimulated("transactions that are READ ONLY are not simulated")
    names = [word.strip("`") for word in sql.split() if word.lower() not in _OF_SAVEPOINTS]
    if verb == "savepoint":
        if any(table_id.startswith(LOCAL_ID) for table_id in cluster.state.transaction or ()):
            raise NotSimulated("savepoints of InnoDB are not simulated; NDB has none")
        # Before 8.0 as soon as a transaction is open, whatever was done in it [7.4.10].
        if is_open and (cluster.state.transaction or form(cluster.plan.version, "no_savepoint_at_once")):
            text = "The storage engine for the table doesn't support SAVEPOINT"
            raise SqlError(1178, "42000", text)
        return OK
    if verb == "release" or (verb == "rollback" and "to" in words[1:3]):
        raise SqlError(1305, "42000", f"SAVEPOINT {names[-1] if names else ''} does not exist")
    if verb == "rollback":
        cluster.act(Transacts("rollback"))
    elif verb == "commit":
        not_lost(cluster)
        cluster.act(Transacts("commit"))
    else:
        cluster.act(Transacts("commit"))
        cluster.act(Transacts("begin"))
    return OK
