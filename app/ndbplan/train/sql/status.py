"""Status variables that count what was typed: Com_select and its like, Questions, Threads_connected.

    name_of("SHOW TABLES")                   # "show_tables"; empty: nothing counts it
    counted(cluster, own, everybody=True)    # {"Com_select": "3", "Questions": "12", ...}

The connections of the load are not among them, as they are not in SHOW PROCESSLIST. Source: manual 5.7 and
8.4, server status variables.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping

from ndbplan.train.live import LiveCluster
from ndbplan.train.sql.catalogue import processlist

_SAME = (
    "select", "update", "delete", "replace", "begin", "commit", "rollback", "savepoint", "truncate",
    "optimize", "analyze", "check", "repair", "kill", "flush", "load", "create_table", "create_db",
    "create_index", "drop_table", "drop_db", "drop_index", "alter_table", "alter_db", "alter_tablespace",
    "rename_table", "insert", "insert_select", "lock_tables", "unlock_tables", "set_option", "change_db",
    "show_databases", "show_tables", "show_table_status", "show_create_table", "show_create_db",
    "show_fields",
    "show_keys", "show_variables", "show_status", "show_warnings", "show_errors", "show_processlist",
    "show_plugins", "show_storage_engines", "show_engine_status", "show_charsets", "show_collations",
    "show_grants", "prepare_sql", "execute_sql", "dealloc_sql",
)  # fmt: skip
_BEGINS = (
    (r"insert\b.*\bselect\b", "insert_select"), (r"start\s+transaction", "begin"), ("use", "change_db"),
    ("set", "set_option"), (r"(?:desc|describe|explain)\s+\S+\Z", "show_fields"),
    ("with|table|values", "select"),
    (r"create\s+(?:database|schema)", "create_db"), (r"drop\s+(?:database|schema)", "drop_db"),
    (r"alter\s+(?:database|schema)", "alter_db"), (r"create\s+(?:unique\s+)?index", "create_index"),
    (r"(?:create|alter|drop)\s+(?:tablespace|logfile)", "alter_tablespace"), ("prepare", "prepare_sql"),
    ("execute", "execute_sql"), (r"(?:deallocate|drop)\s+prepare", "dealloc_sql"),
    (r"alter\s+(?:online|offline)\s+table", "alter_table"),
    (r"show\s+(?:full\s+)?(?:columns|fields)", "show_fields"),
    (r"show\s+(?:index|indexes|keys)", "show_keys"),
    (r"show\s+schemas", "show_databases"), (r"show\s+(?:global|session)\s+status", "show_status"),
    (r"show\s+(?:global|session)\s+variables", "show_variables"), (r"show\s+full\s+tables", "show_tables"),
    (r"show\s+full\s+processlist", "show_processlist"), (r"show\s+create\s+database", "show_create_db"),
    (r"show\s+(?:storage\s+)?engines", "show_storage_engines"), (r"show\s+engine", "show_engine_status"),
    (r"show\s+(?:character\s+set|charset)", "show_charsets"), (r"show\s+collation", "show_collations"),
    *((one.replace("_", r"\s+"), one) for one in _SAME),
)  # fmt: skip
_KNOWN = tuple(
    (re.compile(rf"(?:{begin})(?:\b|\Z)", re.IGNORECASE | re.DOTALL), name) for begin, name in _BEGINS
)
_OF_A_LINE = 4000
"""Letters that are looked at."""


def name_of(sql: str) -> str:
    """What counts a statement; empty: nothing does."""
    text = sql[:_OF_A_LINE].strip().lstrip("(").strip()
    return next((name for known, name in _KNOWN if known.match(text)), "")


def with_one_more(counts: Mapping[str, int], sql: str) -> Mapping[str, int]:
    """The counts of a session with a statement more."""
    return Counter(counts) + Counter([name_of(sql), "all"])


def counted(cluster: LiveCluster, own: Mapping[str, int], *, everybody: bool) -> dict[str, str]:
    """Of one session, or of all that are connected to its server."""
    total = Counter(own)
    if everybody:
        for number, session in cluster.sessions.items():
            if number != cluster.sql_session:
                total += Counter(session.counts)
    rows = [row for row in processlist("", "", cluster).rows if row[4] != "Daemon"]
    values = {f"Com_{name}": total[name] for name in sorted(_SAME)}
    values |= {"Connections": max(int(row[0]) for row in rows), "Questions": total["all"]}
    values |= {
        "Threads_cached": 0,
        "Threads_created": len(rows),
        "Threads_connected": len(rows),
        "Threads_running": sum(row[4] == "Query" for row in rows),
    }
    return {name: str(value) for name, value in values.items()}
