"""ALTER TABLE t REORGANIZE PARTITION: it waits until the rows lie on all node groups."""

from __future__ import annotations

import re

from ndbplan.importing.ddl.known_tables import TableName
from ndbplan.importing.ddl.stream import Stream, Unreadable
from ndbplan.importing.ddl.table_names import table_name
from ndbplan.importing.ddl.tokens import words
from ndbplan.train.growing import Reorganise
from ndbplan.train.live import Hold, LiveCluster
from ndbplan.train.locks import Running
from ndbplan.train.sql import failing, server
from ndbplan.train.sql.altering import COPIED_ROWS_PER_S, NO_LOCK
from ndbplan.train.sql.defining import online_warning
from ndbplan.train.sql.maintaining import not_partitioned
from ndbplan.train.sql.problem import SqlError, Warned, syntax
from ndbplan.train.state import is_local
from ndbplan.train.transacting import Runs

_LONGEST_S = 86400.0
_REORGANIZES = re.compile(r"\breorganize\s+partition\b(?!.*\binto\b)", re.IGNORECASE | re.DOTALL)

_NAMES_SOME = re.compile(
    r"\breorganize\s+partition\s+(?!(?:local|no_write_to_binlog)\b)[`\w]", re.IGNORECASE
)  # fmt: skip
"""Names of partitions, behind which INTO has to stand (sql_yacc.yy, reorg_parts_rule)."""


def is_reorganising(sql: str) -> bool:
    """Whether an ALTER TABLE spreads the rows of a table over all node groups."""
    return _REORGANIZES.search(sql) is not None


def _named(sql: str, in_use: str) -> tuple[str, TableName]:
    """What stands behind ALTER, and the name of the table."""
    verb = sql.split(None, 1)[0]
    try:
        stream = Stream(words(sql[len(verb) :], len(verb)), len(sql))
        how = stream.peek().upper
        _ = stream.accept("ONLINE") or stream.accept("OFFLINE")
        stream.expect("TABLE")
        return how, table_name(stream, in_use).table
    except Unreadable as wrong:
        raise syntax(sql[wrong.offset :]) from None
    except ValueError:
        raise syntax(sql) from None


def reorganise(sql: str, in_use: str, cluster: LiveCluster) -> tuple[str, tuple[Warned, ...]]:
    """What is said when the rows lie on all node groups, and warnings. Raises SqlError."""
    low = " ".join(sql.lower().replace("=", " ").replace(",", " ").split())
    how, (database, named) = _named(sql, in_use)
    is_new = cluster.plan.features.algorithm_inplace
    if "algorithm" in low and not is_new:
        raise syntax(sql[sql.lower().index("reorganize") :])
    if _NAMES_SOME.search(sql):
        raise syntax("")
    deprecated = online_warning(how, cluster.plan.version)
    if deprecated and is_new:
        raise syntax(sql[sql.upper().index(how) :])
    table = server.table_named(cluster, database, named)
    if is_local(table):
        raise not_partitioned()
    failing.may_read(cluster, table.full_name)
    if "lock none" in low or "lock shared" in low:
        raise SqlError(1845, "0A000", NO_LOCK)
    # By which columns they are made does not count (sql_partition.cc, prep_alter_part_table).
    if table.partitions:
        text = "REORGANIZE PARTITION without parameters can only be used on auto-partitioned tables"
        raise SqlError(1511, "HY000", f"{text} using HASH PARTITIONs")
    begin_s = cluster.now_s
    node = server.answering(cluster)
    of_node = 0 if node is None else node.node_id
    cluster.act(Runs(cluster.sql_session, Running(sql, in_use, of_node, begin_s, None, "altering table")))
    cluster.act(Reorganise(table.id))
    many = len(deprecated)
    warned = f", {many} warning" if many else ""

    def said(now: LiveCluster, copied: int) -> str:
        rows = f"{copied} row{'s' * (copied != 1)} affected{warned}"
        lasted = server.lasted(now.now_s - begin_s)
        return f"Query OK, {rows} ({lasted})\nRecords: {copied}  Duplicates: 0  Warnings: {many}\n"

    copies = "algorithm copy" in low or how == "OFFLINE"
    copied = cluster.rows_of(table) if copies else 0
    copied_s = begin_s + copied / COPIED_ROWS_PER_S

    def is_done(now: LiveCluster) -> bool:
        return not now.session.simulation.is_moving and now.now_s >= copied_s - 1e-9

    hold = Hold(is_done, lambda now, _text: f"{said(now, copied)}\n")
    if (cluster.apart or cluster.takes_turns) and not is_done(cluster):
        cluster.holds.append(hold)
        return "", deprecated
    cluster.past_holds.append(hold)
    cluster.advance_until(is_done, _LONGEST_S)
    return said(cluster, copied), deprecated
