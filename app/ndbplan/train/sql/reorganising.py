"""ALTER TABLE t REORGANIZE PARTITION: it waits until the rows lie on all node groups."""

from __future__ import annotations

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


def reorganise(sql: str, in_use: str, cluster: LiveCluster) -> tuple[str, tuple[Warned, ...]]:
    """What is said when the rows lie on all node groups, and warnings. Raises SqlError."""
    words = [word.strip("`;,") for word in sql.split()]
    low = " ".join(sql.lower().replace("=", " ").replace(",", " ").split())
    name = next((word for at, word in enumerate(words) if at and words[at - 1].lower() == "table"), "")
    database, _, named = name.rpartition(".")
    is_new = cluster.plan.features.algorithm_inplace
    if "algorithm" in low and not is_new:
        raise syntax(sql[sql.lower().index("reorganize") :])
    deprecated = online_warning(words[1].upper(), cluster.plan.version)
    if deprecated and is_new:
        raise syntax(sql[sql.lower().index(words[1].lower()) :])
    table = server.table_named(cluster, database or in_use, named)
    if is_local(table):
        raise not_partitioned()
    failing.may_read(cluster, table.full_name)
    if "lock none" in low or "lock shared" in low:
        raise SqlError(1845, "0A000", NO_LOCK)
    if table.partitions or table.distribution_key:
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

    copies = "algorithm copy" in low or words[1].lower() == "offline"
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
