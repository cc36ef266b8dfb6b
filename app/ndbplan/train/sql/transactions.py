"""BEGIN, COMMIT, ROLLBACK and savepoints, and transactions that the data nodes have given up."""

from __future__ import annotations

import re
from typing import Literal

from ndbplan.configuration.redo_problems import QUEUED_TIMEOUT
from ndbplan.ndb.console import form
from ndbplan.train.live import LiveCluster
from ndbplan.train.locks import Transaction
from ndbplan.train.sql import server
from ndbplan.train.sql.problem import NotSimulated, SqlError, Warned, syntax
from ndbplan.train.sql.refused import met
from ndbplan.train.state import LOCAL_ID
from ndbplan.train.transacting import Marks, Transacts

OK = "Query OK, 0 rows affected (0.00 sec)"
_OF_SAVEPOINTS = ("savepoint", "release", "rollback", "to", "work")
ENDS_TRANSACTION = (1205, 1297, 1296, 1114, 1022, 1062, 1451, 1452)
"""Errors after which the data nodes keep nothing of a transaction."""
_ROLLED_BACK = (
    "Storage engine NDB does not support rollback for this statement. "
    "Transaction rolled back and must be restarted"
)
LOST_CONNECTION = SqlError(2013, "HY000", "Lost connection to MySQL server during query")


def open_of(cluster: LiveCluster) -> Transaction | None:
    """The transaction of the session; None: none is open."""
    return cluster.state.transactions.get(cluster.sql_session)


def act(cluster: LiveCluster, how: Literal["begin", "commit", "rollback", "again"]) -> None:
    """Begin or end the transaction of the session."""
    node = server.answering(cluster)
    cluster.act(Transacts(cluster.sql_session, how, 0 if node is None else node.node_id))


def not_lost(cluster: LiveCluster, *, commits: bool = False) -> None:
    """Raises what the next statement of a transaction meets when the data nodes have given it up."""
    held = open_of(cluster)
    if held is None or not held.lost:
        return
    act(cluster, "rollback" if commits else "again")
    if not cluster.state.alive():
        return
    error = met(held.lost, "", cluster.plan.version)
    if commits:
        name = "commit_lock_wait" if held.lost == QUEUED_TIMEOUT else "commit_error"
        told = str(form(cluster.plan.version, name)).format(code=held.lost)
        error.warnings = (*error.warnings, Warned("Error", 1180, told))
        raise error
    raise rolled_back(error)


def given_up(error: SqlError, cluster: LiveCluster) -> SqlError:
    """An error of a statement, after which a transaction of NDB begins anew."""
    held = open_of(cluster)
    if held is None or error.code not in ENDS_TRANSACTION or not held.is_known:
        return error
    act(cluster, "again")
    return rolled_back(error)


def rolled_back(error: SqlError) -> SqlError:
    """The same error, with the warning that the whole transaction is gone [8.4.8, 7.4.10]."""
    error.warnings = (*error.warnings, Warned("Error", 1622, _ROLLED_BACK))
    return error


_XA = re.compile(
    r"xa (start|begin|end|prepare|commit|rollback) (?:'[^']*'|\"[^\"]*\"|0x[0-9a-f]+|x'[0-9a-f]*')",
    re.IGNORECASE,
)


def _distributed(sql: str) -> SqlError | NotSimulated:
    """What is said of XA, by which nobody here has begun anything.

    Source: manual 5.6 to 8.4, XA Transaction SQL Statements; XA Transaction States.
    """
    words = sql.split()
    found = _XA.match(" ".join(words))
    recovers = " ".join(words[1:]).lower() in ("recover", "recover convert xid")
    if found is None and not recovers:
        return syntax(" ".join(words[1:]))
    verb = "" if found is None else found[1].lower()
    if verb in ("commit", "rollback"):
        return SqlError(1397, "XAE04", "XAER_NOTA: Unknown XID")
    if verb in ("end", "prepare"):
        told = "The command cannot be executed when global transaction is in the  NON-EXISTING state"
        return SqlError(1399, "XAE07", f"XAER_RMFAIL: {told}")
    return NotSimulated("transactions of XA are not simulated here; START TRANSACTION is")


def _leave_savepoint(name: str, cluster: LiveCluster, *, keeps: bool) -> None:
    """ROLLBACK TO, which keeps the savepoint, and RELEASE; later ones go. Raises SqlError 1305.

    What engines did that came into the transaction behind it is rolled back whole (ha_rollback_to_savepoint),
    and nothing was done before.
    """
    held = open_of(cluster)
    if held is None or name.lower() not in held.savepoints:
        raise SqlError(1305, "42000", f"SAVEPOINT {name} does not exist")
    if keeps:
        act(cluster, "again")
    at = held.savepoints.index(name.lower())
    cluster.act(Marks(cluster.sql_session, held.savepoints[: at + keeps]))


def transaction(sql: str, cluster: LiveCluster) -> str:
    """BEGIN, COMMIT, ROLLBACK and savepoints, of which NDB knows nothing."""
    words, held = sql.lower().split(), open_of(cluster)
    verb, is_open = words[0], held is not None
    if verb == "xa":
        raise _distributed(sql)
    if verb == "start" and words[1:2] != ["transaction"]:
        if words[1:2] and words[1] in ("replica", "slave", "group_replication"):
            raise NotSimulated(f"START {words[1].upper()} is not simulated here")
        raise syntax(" ".join(sql.split()[1:]))
    if verb == "start" and "only" in words:
        raise NotSimulated("transactions that are READ ONLY are not simulated")
    names = [word.strip("`") for word in sql.split() if word.lower() not in _OF_SAVEPOINTS]
    if verb == "savepoint":
        deltas = {} if held is None else held.deltas
        if any(table_id.startswith(LOCAL_ID) for table_id in deltas):
            raise NotSimulated("savepoints of InnoDB are not simulated; NDB has none")
        # Before 8.0 as soon as a transaction is open, whatever was done in it [7.4.10].
        if is_open and (deltas or form(cluster.plan.version, "no_savepoint_at_once")):
            text = "The storage engine for the table doesn't support SAVEPOINT"
            raise SqlError(1178, "42000", text)
        if held is not None and names:
            others = tuple(one for one in held.savepoints if one != names[-1].lower())
            cluster.act(Marks(cluster.sql_session, (*others, names[-1].lower())))
        return OK
    if verb == "release" or (verb == "rollback" and "to" in words[1:3]):
        _leave_savepoint(names[-1] if names else "", cluster, keeps=verb == "rollback")
        return OK
    if verb == "rollback":
        act(cluster, "rollback")
    elif verb == "commit":
        not_lost(cluster, commits=True)
        act(cluster, "commit")
    else:
        act(cluster, "commit")
        act(cluster, "begin")
    return OK
