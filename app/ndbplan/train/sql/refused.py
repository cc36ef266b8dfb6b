"""What changes of rows meet at a moment: the errors of the data nodes, as clients see them."""

from __future__ import annotations

import math
from bisect import bisect_left

from sqlglot import exp

from ndbplan.configuration.redo_problems import QUEUED_TIMEOUT
from ndbplan.configuration.settings import node_settings
from ndbplan.ndb.console import form
from ndbplan.ndb.errors import said
from ndbplan.ndb.ndbinfo import tables_of
from ndbplan.ndb.version import NdbVersion
from ndbplan.plan.tables import Table
from ndbplan.plan.workloads import OperationKind
from ndbplan.train.contents import Contents
from ndbplan.train.live import LiveCluster
from ndbplan.train.schema import NO_LOG, Wrote, refused_for
from ndbplan.train.sql.problem import SqlError, Warned, no_table, of_ndb
from ndbplan.train.typed_memory import refused_for_copies, refused_for_room

_TIMEOUTS = (QUEUED_TIMEOUT, 274)
"""274: of a scan [8.4.8]."""
_SHARES = 100
"""Steps in which the room of a log is looked for."""
_ERRORS_IN_1114 = (827, 625, 902, 1601)
"""Of what needs room. One row that is changed or deleted needs none [8.4.8, 7.4.10]."""


def refusing(cluster: LiveCluster) -> int:
    """The error that most transactions of the last moment got; 0: most were accepted."""
    result = cluster.result()
    at = len(result.times_s) - 1
    codes = {code: float(values[at]) for code, values in result.refused_by_code.items()}
    worst = max(codes, key=lambda code: codes[code], default=0)
    return worst if worst and codes[worst] > float(result.accepted[at]) else 0


def refusing_change(cluster: LiveCluster, kind: OperationKind) -> int:
    """The same for changes of a kind: those that add no row go on where memory or a tablespace is full."""
    code = refusing(cluster)
    return 0 if code in _ERRORS_IN_1114 and kind is not OperationKind.INSERT else code


def log_refused(cluster: LiveCluster, table: Table, log_bytes: float) -> int:
    """The error that the log of a change meets; where work is queued, only after the time that it waits."""

    def code() -> int:
        return refused_for(cluster.session.simulation, table.id, log_bytes)

    if code() not in (0, NO_LOG):
        # So much log is written while the statement goes on.
        cluster.advance(cluster.session.simulation.scenario.step_s)
    if code() == QUEUED_TIMEOUT:
        cluster.advance_until(lambda _: code() != QUEUED_TIMEOUT, timed_out_s(cluster) - cluster.now_s)
    if code() not in (0, NO_LOG):
        # Rows before the one that found no room are logged, and undone; their log stays.
        room = bisect_left(range(_SHARES), 1, key=lambda n: _meets(cluster, table, log_bytes * n / _SHARES))
        cluster.act(Wrote(table.id, 0, log_bytes * max(0, room - 1) / _SHARES))
    return code()


def _meets(cluster: LiveCluster, table: Table, log_bytes: float) -> bool:
    return refused_for(cluster.session.simulation, table.id, log_bytes) != 0


def timed_out_s(cluster: LiveCluster) -> float:
    """When data nodes give up what begins to wait now, for a row or for redo log, in simulated seconds.

    They look at their transactions every TimeBetweenInactiveTransactionAbortCheck: the wait is between
    TransactionDeadlockDetectionTimeout and that much more [8.4.8: 1.37 to 1.59 s for a row, 2.28 s for redo
    log, of 1.2 s].
    """
    settings = node_settings(cluster.plan)
    looks_s = settings.number("TimeBetweenInactiveTransactionAbortCheck") / 1000
    least_s = cluster.now_s + settings.number("TransactionDeadlockDetectionTimeout") / 1000
    return math.ceil(round(least_s / looks_s, 6)) * looks_s if looks_s else least_s


def met(code: int, table: str, version: NdbVersion) -> SqlError:
    """An error of the data nodes as the client sees it."""
    inside = of_ndb(said(code, version))
    if code in _TIMEOUTS:
        text = "Lock wait timeout exceeded; try restarting transaction"
        return SqlError(1205, "HY000", text, inside.warnings[:1])
    if code in _ERRORS_IN_1114:
        return SqlError(1114, "HY000", f"The table '{table}' is full", inside.warnings[:1])
    return inside


def check_room(cluster: LiveCluster, table: Table, added: int, contents: Contents, copied: int) -> None:
    """Raises SqlError where rows that are added, or copies of those that change, have no room."""
    sim = cluster.session.simulation
    if code := refused_for_room(sim, table, added, contents):
        raise met(code, table.name, cluster.plan.version)
    if code := refused_for_copies(sim, table, copied, contents):
        error = met(code, table.name, cluster.plan.version)
        # Said twice [7.4.10].
        raise SqlError(error.code, error.sqlstate, error.text, error.warnings[:1] * 2)


def share_with_room(cluster: LiveCluster, table: Table, added: int, contents: Contents, copied: int) -> float:
    """How much of a change is made before its rows, or their copies, have no room; 1: all of it."""
    sim, most = cluster.session.simulation, max(added, copied)

    def is_refused(rows: int) -> bool:
        return bool(
            refused_for_room(sim, table, added * rows // most, contents)
            or refused_for_copies(sim, table, copied * rows // most, contents)
        )

    if most <= 0 or not is_refused(most):
        return 1.0
    return bisect_left(range(1, most), True, key=is_refused) / most


def of_ndbinfo(tree: exp.Expr, name: str, cluster: LiveCluster) -> SqlError:
    """Why the views of ndbinfo take no change, by statement and version [8.4.8, 7.4.10]."""
    if name not in tables_of(cluster.plan.version):
        return no_table("ndbinfo", name)
    if isinstance(tree, exp.Insert):
        return SqlError(1471, "HY000", f"The target table {name} of the INSERT is not insertable-into")
    if isinstance(tree, exp.Update) and not form(cluster.plan.version, "dictionary_of_its_own"):
        column = next((c.name for one in tree.expressions for c in one.find_all(exp.Column)), "")
        return SqlError(1348, "HY000", f"Column '{column}' is not updatable")
    return read_only(f"ndb${name}")


def read_only(name: str) -> SqlError:
    """A table of ndbinfo takes no change."""
    return SqlError(1036, "HY000", f"Table '{name}' is read only")


def inside_of(code: int, version: NdbVersion) -> Warned:
    """What the data nodes said before the server made its own error of it."""
    return of_ndb(said(code, version)).warnings[0]


# Changes of more rows than are known one by one.
