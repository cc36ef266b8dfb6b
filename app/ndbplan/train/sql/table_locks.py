"""LOCK TABLES and FLUSH TABLES WITH READ LOCK: locks of one SQL node, of which NDB knows nothing.

    take("LOCK TABLES t READ", "test", cluster)     # raises LockWaitError where others are in the table

Sessions on other SQL nodes go on, and so do clients of NDB; those of the load that come through the same
server are not held up here. Source: manual 5.6 and 8.4, LOCK TABLES; sp.cc of 5.7; texts: errmsg-utf8.txt.
"""

from __future__ import annotations

import re

from ndbplan.ndb.console import form
from ndbplan.train.live import LiveCluster
from ndbplan.train.locks import TableLocks, Wanted, blockers
from ndbplan.train.sql import server, transactions
from ndbplan.train.sql.locking import OF_TABLE, LockWaitError
from ndbplan.train.sql.problem import NotSimulated, SqlError, syntax
from ndbplan.train.transacting import LocksTables

_LOCK = re.compile(r"lock tables?\b", re.IGNORECASE)
_UNLOCK = re.compile(r"unlock (tables?|instance)\Z", re.IGNORECASE)
_FLUSH = re.compile(r"flush (?:local |no_write_to_binlog )?tables?\b", re.IGNORECASE)
_READ_LOCK = " with read lock"
_NAME = r"(?:`[^`]{1,64}`|[\w$]{1,64})"
_ONE = re.compile(
    rf"(?:(?P<database>{_NAME}) ?\. ?)?(?P<name>{_NAME})"
    rf"(?: (?:as )?(?!read\b|low_|write\b)(?P<alias>{_NAME}))?"
    r" (?P<how>read(?: local)?|(?:low_priority )?write)\Z",
    re.IGNORECASE,
)


def take(sql: str, in_use: str, cluster: LiveCluster) -> None:
    """What LOCK, UNLOCK and FLUSH do to table locks. Raises SqlError, LockWaitError and NotSimulated."""
    sql = " ".join(sql.split())
    if found := _UNLOCK.match(sql):
        if found[1].lower() != "instance":
            release(cluster)
        return
    if (found := _FLUSH.match(sql)) and sql.lower().endswith(_READ_LOCK):
        names = sql[found.end() : -len(_READ_LOCK)].split(",")
        _lock(", ".join(f"{one} READ" for one in names if one.strip()), in_use, cluster)
    elif found := _LOCK.match(sql):
        if not sql[found.end() :].strip():
            raise syntax("")
        _lock(sql[found.end() :], in_use, cluster)
    elif re.match(r"lock instance\b", sql, re.IGNORECASE):
        if not form(cluster.plan.version, "dictionary_of_its_own"):
            raise syntax(sql.split(None, 1)[1])
        raise NotSimulated("which statements LOCK INSTANCE makes wait is not simulated")


def release(cluster: LiveCluster) -> None:
    """UNLOCK TABLES: where tables were locked it ends a transaction, too."""
    held = cluster.state.of_servers.locked.get(cluster.sql_session)
    if held is None:
        return
    if held.tables and transactions.open_of(cluster) is not None:
        transactions.act(cluster, "commit")
    cluster.act(LocksTables(cluster.sql_session, None))


def _lock(listed: str, in_use: str, cluster: LiveCluster) -> None:
    node = server.answering(cluster)
    tables, names = dict[str, bool](), dict[tuple[str, str], bool]()
    for part in listed.split(",") if listed else ():
        found = _ONE.match(part.strip())
        if found is None:
            raise syntax(part.strip())
        database = (found["database"] or in_use).strip("`")
        if not database:
            raise SqlError(1046, "3D000", "No database selected")
        if database in server.SYSTEM or database == "ndbinfo":
            continue
        table = server.table_named(cluster, database, found["name"].strip("`"))
        writes, name = found["how"].lower().endswith("write"), (found["alias"] or found["name"]).strip("`")
        if (table.id, name.lower()) in names:
            raise SqlError(1066, "42000", f"Not unique table/alias: '{name}'")
        names[table.id, name.lower()] = writes
        tables[table.id] = tables.get(table.id, False) or writes
    if transactions.open_of(cluster) is not None and listed:
        transactions.act(cluster, "commit")
    release(cluster)
    state = cluster.state
    written = frozenset(one for one, writes in tables.items() if writes)
    forbids = bool(form(cluster.plan.version, "read_lock_waits_for_writers"))
    read = Wanted(tables=frozenset(tables) - written, forbids=forbids)
    for wanted in (Wanted(tables=written, defines=True), read):
        others = blockers(
            cluster.sql_session, wanted, state.transactions, state.waits, state.of_servers.locked
        )
        if wanted.tables and others:
            raise LockWaitError(wanted, OF_TABLE, others)
    cluster.act(LocksTables(
        cluster.sql_session, TableLocks(0 if node is None else node.node_id, tables, names, not listed)
    ))  # fmt: skip
