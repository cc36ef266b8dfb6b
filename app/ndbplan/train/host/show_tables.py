"""ndb_show_tables: what the dictionary of the data nodes has. Forms: running 8.4.8 and 7.4.10 clusters.

Events are left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ndbplan.base.units import whole_number
from ndbplan.ndb.console import form
from ndbplan.ndb.errors import said
from ndbplan.plan.hardware import Host
from ndbplan.train.answer import Answer
from ndbplan.train.host.connecting import CONNECTING, unreached
from ndbplan.train.host.options import read_words
from ndbplan.train.live import LiveCluster

_VALUES = ("-d --database", "-l --loops", "-t --type", *CONNECTING)
_FLAGS = ("-p --parsable", "-f --fully-qualified")
_MOST_LOOPS = 100
_USER_TABLE, _UNIQUE_INDEX, _ORDERED_INDEX, _HASH_MAP = 2, 3, 6, 24
_INDEXES, _NO_TABLE = (_UNIQUE_INDEX, _ORDERED_INDEX), 723
_SYSTEM_TABLE, _HASH_TRIGGER, _INDEX_TRIGGER = 1, 11, 18
_KINDS = {
    _SYSTEM_TABLE: ("SystemTable", "Yes"), _USER_TABLE: ("UserTable", "Yes"),
    _UNIQUE_INDEX: ("UniqueHashIndex", "Yes"), _ORDERED_INDEX: ("OrderedIndex", "No"),
    _HASH_TRIGGER: ("HashIndexTrigger", "-"), _INDEX_TRIGGER: ("IndexTrigger", "-"), 25: ("ForeignKey", "-"),
    20: ("Tablespace", "-"), 21: ("LogfileGroup", "-"), 22: ("Datafile", "-"), 23: ("Undofile", "-"),
}  # fmt: skip
"""What a kind of object is called, and whether it is logged, by its number in dict_obj_types."""


class _Listed(NamedTuple):
    kind: int
    number: int
    name: str
    """`d/def/t1`, or without slashes what has no database."""


def show_tables(cluster: LiveCluster, host: Host, words: Sequence[str]) -> Answer:
    """`ndb_show_tables [-p] [-f] [-t TYPE] [-l LOOPS] [-d DATABASE TABLE]`: of a table, its indexes."""
    # ndbinfo loads the engine of queries.
    from ndbplan.train.sql.dictionary import dict_obj_info

    read = read_words("ndb_show_tables", words, _VALUES, _FLAGS, "ndb_show_tables: ")
    if isinstance(read, Answer):
        return read
    flags, values, names = read
    for name in ("loops", "type"):
        stated = values.get(f"--{name}", "")
        if stated and whole_number(stated) is None:
            wrong = f"Unknown suffix used for variable '{name}' (value '{stated[:60]}')"
            return Answer(f"ndb_show_tables: [ERROR] {wrong}\n", 2)
    kind, loops = whole_number(values.get("--type", "")), whole_number(values.get("--loops", "1"))
    if loops is None or not 0 < loops <= _MOST_LOOPS:
        return Answer(f"ndbplan: ndb_show_tables lists 1 to {_MOST_LOOPS} times here\n", 2)
    ends = str(form(cluster.plan.version, "tool_ends"))
    if none := unreached(cluster, host, values, ends=True):
        return none
    if not cluster.state.alive():
        return Answer("Unable to connect to the data nodes.\n" + ends.format(code=1, word="Failed"), 1)
    rows = list(dict_obj_info(cluster))
    if names:
        name = f"{values.get('--database', 'TEST_DB')}/def/{names[0]}"
        own = [row["id"] for row in rows if row["fq_name"] == name and row["type"] == _USER_TABLE]
        if not own:
            return Answer(
                f"listIndexes: {_NO_TABLE}: {said(_NO_TABLE, cluster.plan.version).text}\n"
                + ends.format(code=1, word="Failed"),
                1,
            )
        rows = [row for row in rows if row["parent_obj_id"] == own[0] and row["type"] in _INDEXES]
    found = [_Listed(row["type"], row["id"], row["fq_name"]) for row in rows]
    is_parsable, whole = "--parsable" in flags, "--fully-qualified" in flags
    text = "" if is_parsable else _line("id", "type", "state", "logging", "database", "schema", "name")
    for one in sorted(found, key=lambda one: (one.number, one.kind)):
        if kind is not None and one.kind != kind:
            continue
        parts = one.name.split("/")
        database, schema = parts[:2] if len(parts) > 2 and one.kind in _KINDS else ("", "")
        name = one.name if whole or not database else parts[-1]
        called, logged = _KINDS.get(one.kind, (form(cluster.plan.version, "hash_map_type"), "-"))
        cells = (called, "Online", logged, database, schema, name)
        quoted = "\t".join(f"'{cell}'" for cell in cells)
        text += f"{one.number}\t{quoted}\n" if is_parsable else _line(str(one.number), *cells)
    return Answer(text * loops + ends.format(code=0, word="OK"))


def _line(number: str, kind: str, state: str, logged: str, database: str, schema: str, name: str) -> str:
    return f"{number:<5} {kind:<20} {state:<8} {logged:<7} {database:<12} {schema:<8} {name}\n"
