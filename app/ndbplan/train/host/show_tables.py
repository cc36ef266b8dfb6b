"""ndb_show_tables: what the dictionary of the data nodes has. Forms: running 8.4.8 and 7.4.10 clusters.

Events are left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ndbplan.base.units import whole_number
from ndbplan.ndb.console import form
from ndbplan.plan.hardware import Host
from ndbplan.train.answer import Answer
from ndbplan.train.host.options import read_words, refused
from ndbplan.train.live import LiveCluster

_VALUES = ("-c", "--ndb-connectstring", "--connect-string", "-t", "--type")
_FLAGS = ("-p", "--parsable", "-f", "--fully-qualified")
_USER_TABLE, _UNIQUE_INDEX, _ORDERED_INDEX, _HASH_MAP = 2, 3, 6, 24
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
    """`ndb_show_tables [-p] [-f] [-t TYPE]`."""
    # ndbinfo loads the engine of queries.
    from ndbplan.train.sql.dictionary import dict_obj_info

    read = read_words(words, _VALUES, _FLAGS)
    if isinstance(read, str):
        return refused("ndb_show_tables", read, (*_VALUES, *_FLAGS), "ndb_show_tables: ")
    flags, values = read
    stated = values.get("--type", values.get("-t", ""))
    kind = whole_number(stated) if stated else None
    if stated and kind is None:
        return Answer(
            f"ndb_show_tables: [ERROR] Unknown suffix used for variable 'type' (value '{stated}')\n", 2
        )
    ends = str(form(cluster.plan.version, "tool_ends"))
    if not cluster.state.alive():
        return Answer("Unable to connect to the data nodes.\n" + ends.format(code=1, word="Failed"), 1)
    found = [_Listed(row["type"], row["id"], row["fq_name"]) for row in dict_obj_info(cluster)]
    is_parsable = bool(flags & {"-p", "--parsable"})
    whole = bool(flags & {"-f", "--fully-qualified"})
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
    return Answer(text + ends.format(code=0, word="OK"))


def _line(number: str, kind: str, state: str, logged: str, database: str, schema: str, name: str) -> str:
    return f"{number:<5} {kind:<20} {state:<8} {logged:<7} {database:<12} {schema:<8} {name}\n"
