"""Whether a change of the schema may begin while the cluster, or the access to it, is gone."""

from __future__ import annotations

import re

from ndbplan.train.live import LiveCluster
from ndbplan.train.sql import failing, server
from ndbplan.train.sql.defining import NDB

_TABLE_OF = re.compile(
    r"(?:create|drop|alter|truncate|rename)\s+(?:online\s+|offline\s+)?(?:table\s+)?(if\s+(?:not\s+)?exists\s+)?"
    r"([`\w.$]+)",
    re.IGNORECASE,
)
_ENGINE = re.compile(r"\bengine[\s=]{1,9}[`'\"]?(\w{1,64})", re.IGNORECASE)


def may_define(sql: str, in_use: str, engine: str, cluster: LiveCluster) -> None:
    """Raises what a change of the schema meets; `engine`: that of tables whose statement names none."""
    named = _TABLE_OF.match(sql)
    if _is_of_server(sql, in_use, engine, cluster, named):
        return
    words = sql.upper().split()
    verb, what = words[0], words[1] if len(words) > 1 else ""
    table = ""
    if named is not None:
        database, _, name = named[2].replace("`", "").rpartition(".")
        table = f"{database or in_use}.{name}"
        known = {one.full_name for one in cluster.plan.tables}
        if verb == "DROP" and table not in known and (named[1] or not failing.is_lost(cluster)):
            return
    failing.may_define(cluster, verb, what, table)


def _is_of_server(
    sql: str, in_use: str, engine: str, cluster: LiveCluster, named: re.Match[str] | None
) -> bool:
    """Whether a statement is about a table of the server alone, for which nobody else is asked."""
    if named is None:
        return False
    database, _, name = named[2].replace("`", "").rpartition(".")
    full = f"{database or in_use}.{name}"
    given = _ENGINE.search(sql)
    says = given[1] if given is not None else ""
    if any(one.full_name == full for one in server.local_tables(cluster)):
        return says.lower() not in NDB
    is_made = sql.split()[:2] != [] and [one.lower() for one in sql.split()[:2]] == ["create", "table"]
    return is_made and (says or engine).lower() == "innodb"
