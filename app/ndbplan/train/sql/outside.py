"""Statements that reach outside the tables: files of the server or the client, and other sessions."""

from __future__ import annotations

import re
from collections.abc import Mapping

from ndbplan.ndb.console import form
from ndbplan.train.live import LiveCluster
from ndbplan.train.sql import catalogue
from ndbplan.train.sql.problem import NotSimulated, SqlError, syntax
from ndbplan.train.sql.sessions_seen import at_work, number_of
from ndbplan.train.sql.waiting import STOPPED, interrupt
from ndbplan.train.transacting import Kills

_LOAD = re.compile(
    r"load\s++data\s++(?:(?:low_priority|concurrent)\s++)?(local\s++)?infile\s++(?:'([^']*+)'|\"([^\"]*+)\")",
    re.IGNORECASE,
)
_KILL = re.compile(r"kill\s++(?:(connection|query)\s++)?([0-9]{1,18})", re.IGNORECASE)
_FIRST = 1
"""The session that is always there."""
_PRIVATE = SqlError(
    1290,
    "HY000",
    "The MySQL server is running with the --secure-file-priv option so it cannot execute this statement",
)


def no_file(version_has_folder: bool, values: Mapping[str, str]) -> SqlError | NotSimulated:
    """Why a statement that reads or writes a file of the server is refused.

    From 5.7 on packages name one folder for such files, and no host has any in it here.
    """
    if version_has_folder and "secure_file_priv" not in values:
        return _PRIVATE
    return NotSimulated("files that statements read or write are not simulated")


def load(sql: str, cluster: LiveCluster, values: Mapping[str, str]) -> SqlError | NotSimulated:
    """LOAD DATA: refused, as a server with its defaults does, or not simulated."""
    found, version = _LOAD.match(sql), cluster.plan.version
    if found is None:
        return syntax(sql.partition(" ")[2])
    if not found[1]:
        return no_file(bool(form(version, "files_in_one_folder")), values)
    name = found[2] or found[3] or ""
    if form(version, "no_local_files") and values.get("local_infile", "OFF") != "ON":
        text = "Loading local data is disabled; this must be enabled on both the client and server sides"
        return SqlError(3948, "42000", text)
    return SqlError(2, "HY000", form(version, "file_not_found").format(name=name))


def kill(sql: str, cluster: LiveCluster) -> str:
    """KILL [CONNECTION | QUERY] n. Raises SqlError (1094: no connection is called so) and NotSimulated."""
    found = _KILL.fullmatch(sql.strip())
    if found is None:
        raise syntax(sql.partition(" ")[2])
    connection, of_query = int(found[2]), (found[1] or "").lower() == "query"
    session, own = number_of(connection, cluster), cluster.sql_session
    known = {int(row[0]) for row in catalogue.processlist(sql, "", cluster).rows}
    if connection not in known and session != _FIRST:
        raise SqlError(1094, "HY000", f"Unknown thread id: {connection}")
    if session is None:
        raise NotSimulated("KILL of a thread of the server itself is not simulated; that of a session is")
    if session in at_work(cluster):
        raise NotSimulated("a change of the schema that is under way goes on here; KILL does not end it")
    if not of_query:
        cluster.act(Kills(session))
    elif session in cluster.state.waits:
        interrupt(session, cluster)
    if session == own:
        raise STOPPED
    return "Query OK, 0 rows affected (0.00 sec)"
