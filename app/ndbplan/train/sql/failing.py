"""What statements meet when no data node answers, or single user mode keeps the server out: by version.

Texts: recorded on running 7.4.10 and 8.4.8 clusters of which a whole node group was lost.
"""

from __future__ import annotations

from collections.abc import Iterable

from ndbplan.ndb.console import form
from ndbplan.ndb.errors import said
from ndbplan.plan.tables import Table
from ndbplan.train.live import LiveCluster
from ndbplan.train.sql.problem import SqlError, Warned, of_ndb
from ndbplan.train.sql.server import answering
from ndbplan.train.state import is_local

_FAILURE = "Got error 4009 'Cluster Failure' from"
NOT_OPENED = f"{_FAILURE} NDBCLUSTER"
"""What a table is refused with while the cluster is lost."""
_SINGLE_USER = 299
_NO_LOCK = "Could not acquire global schema lock"


def is_lost(cluster: LiveCluster) -> bool:
    """Whether the SQL nodes have no cluster to talk to."""
    return not cluster.state.alive() or not cluster.clients


def _parts(cluster: LiveCluster) -> bool:
    """Whether the server tells of the dictionary by itself, and of the lock in a line of its own."""
    return bool(form(cluster.plan.version, "dictionary_of_its_own"))


def lock_warnings(cluster: LiveCluster) -> tuple[Warned, ...]:
    """What a change of the schema is warned of while the cluster is lost; empty: it is not."""
    if not is_lost(cluster):
        return ()
    if _parts(cluster):
        return _warned(f"{_FAILURE} NDB", _NO_LOCK)
    return _warned(f"{_FAILURE} NDB. {_NO_LOCK}")


def open_warnings(cluster: LiveCluster, table: str) -> tuple[Warned, ...]:
    """Why a table cannot be opened while the cluster is lost; `table` with its database."""
    if not _parts(cluster) or not table:
        return _warned(f"{_FAILURE} NDB")
    not_ready = f"Can't open table '{table}' from NDB, schema distribution is not ready"
    return _warned(not_ready, f"Could not open NDB_SHARE for '{table}'")


def counting_warnings(cluster: LiveCluster, tables: Iterable[Table]) -> tuple[Warned, ...]:
    """What a list with the rows of tables is warned of while the cluster is lost: none of NDB is opened."""
    if not is_lost(cluster):
        return ()
    ours = [table.full_name for table in tables if not is_local(table)]
    before = () if _parts(cluster) else lock_warnings(cluster)
    refused = _warned(NOT_OPENED)
    return (*before, *(one for name in ours for one in (*open_warnings(cluster, name), *refused)))


def listing_warnings(cluster: LiveCluster) -> tuple[Warned, ...]:
    """What SHOW TABLES is warned of while the cluster is lost: servers that ask it which tables there are."""
    return () if _parts(cluster) else lock_warnings(cluster)


def _warned(*texts: str) -> tuple[Warned, ...]:
    return tuple(Warned("Warning", 1296, text) for text in texts)


def may_use(cluster: LiveCluster, table: Table, *, counts: bool = False) -> None:
    """Raises what a statement on a table meets; one of InnoDB asks nobody else.

    `counts`: all its rows are counted, which a server tries three times [7.4.10, 8.4.8].
    """
    if not is_local(table):
        may_read(cluster, table.full_name, tries=3 if counts else 1)


def may_read(cluster: LiveCluster, table: str = "", *, tries: int = 1) -> None:
    """Raises what a statement on a table of NDB meets when the cluster or the access is gone."""
    if is_lost(cluster):
        raise SqlError(1296, "HY000", f"{_FAILURE} NDBCLUSTER", open_warnings(cluster, table))
    if _is_shut_out(cluster):
        error = of_ndb(said(_SINGLE_USER, cluster.plan.version))
        error.warnings = (*error.warnings[:-1] * tries, error.warnings[-1])
        raise error


def _is_shut_out(cluster: LiveCluster) -> bool:
    """Whether single user mode keeps the server out."""
    node = answering(cluster)
    own = () if node is None else (node.node_id, *node.pool_node_ids)
    return cluster.state.single_user is not None and cluster.state.single_user not in own


def _may_define_alone(cluster: LiveCluster, verb: str, what: str, table: str) -> None:
    """Raises what making or dropping a table meets in single user mode [8.4.8; DROP: 7.4.10]."""
    if not _is_shut_out(cluster) or what != "TABLE":
        return
    inside = of_ndb(said(_SINGLE_USER, cluster.plan.version))
    if verb == "DROP" and not _parts(cluster):
        told = Warned("Warning", _SINGLE_USER, inside.text)
        raise SqlError(1051, "42S02", f"Unknown table '{table}'", (*inside.warnings[:-1], told))
    if verb == "DROP":
        raise SqlError(3604, "HY000", f"Storage engine can't drop table '{table}'", inside.warnings[:-1])
    if verb == "CREATE" and _parts(cluster):
        text = f"Can't create table '{table.rpartition('.')[2]}' (use SHOW WARNINGS for more info)."
        raise SqlError(1005, "HY000", text, inside.warnings[:-1])


def may_define(cluster: LiveCluster, verb: str, what: str, table: str) -> None:
    """The same for a statement about the schema; a database can be made without a cluster."""
    if what in ("DATABASE", "SCHEMA"):
        return
    if not is_lost(cluster):
        _may_define_alone(cluster, verb, what, table)
        may_read(cluster, table)
        return
    locked = lock_warnings(cluster)
    if what in ("LOGFILE", "TABLESPACE"):
        kind, code = ("LOGFILE GROUP" if what == "LOGFILE" else what), {"CREATE": 1528, "ALTER": 1533}
        told = {"CREATE": f"Failed to create {kind}", "ALTER": f"Failed to alter: {kind}"}
        text = told.get(verb, f"Failed to drop {kind}")
        raise SqlError(code.get(verb, 1529), "HY000", text, _warned(f"{_FAILURE} NDB"))
    if not _parts(cluster):
        if verb == "DROP":
            raise SqlError(1051, "42S02", f"Unknown table '{table}'", _warned(f"{_FAILURE} NDB"))
        if verb in ("CREATE", "TRUNCATE"):
            raise SqlError(157, "HY000", "Could not connect to storage engine", locked)
        may_read(cluster, table)
    if verb == "DROP":
        inside = _warned("Schema distribution is not ready", f"{_FAILURE} NDBCLUSTER")
        raise SqlError(3604, "HY000", f"Storage engine can't drop table '{table}'", (*locked, *inside))
    opened = open_warnings(cluster, table) if verb != "CREATE" else ()
    raise SqlError(1296, "HY000", f"{_FAILURE} NDBCLUSTER", (*locked, *opened))
