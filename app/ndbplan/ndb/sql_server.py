"""What an SQL node of each version says of itself: engines, plugins, its catalogue, words behind SHOW.

    engine_rows(NdbVersion.parse("8.4.8"))[0]        # ("ndbcluster", "YES", ...)

The data is `resources/ndb/sql_server.json`, recorded on running servers.
"""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

from ndbplan.base.resources import read_json
from ndbplan.ndb.version import NdbVersion, in_span


class Plugin(NamedTuple):
    """A plugin as SHOW PLUGINS lists it."""

    name: str
    status: str
    kind: str
    license_name: str


def _data() -> Any:
    return read_json("ndb/sql_server.json")


@cache
def catalogue_columns(table: str, version: NdbVersion) -> tuple[str, ...]:
    """Columns of a table of INFORMATION_SCHEMA that is answered here."""
    later = (row for row in _data()["later_columns"] if row["table"] == table and in_span(version, row))
    return (*_data()["information_schema"][table], *(name for row in later for name in row["columns"]))


@cache
def catalogue_numbers() -> frozenset[str]:
    """Columns of INFORMATION_SCHEMA that hold numbers, in whichever table."""
    return frozenset(_data()["numbers_of_information_schema"])


@cache
def catalogue_tables() -> frozenset[str]:
    """Names of tables that INFORMATION_SCHEMA has in some release."""
    return frozenset(_data()["tables_of_information_schema"])


@cache
def show_words() -> frozenset[str]:
    """Words behind SHOW that the product knows."""
    return frozenset(_data()["show"])


@cache
def flushed(version: NdbVersion) -> frozenset[str]:
    """First words of what FLUSH takes."""
    return frozenset(row["word"] for row in _data()["flush"] if in_span(version, row))


@cache
def server_functions() -> frozenset[str]:
    """Functions that the product has, whether or not they are answered here."""
    return frozenset(_data()["functions"]["names"])


@cache
def argument_counts() -> dict[str, range]:
    """How many arguments functions take that check it when they are called, by names in small letters."""
    return _counts("counts")


@cache
def grammar_counts() -> dict[str, range]:
    """How many arguments those take whose call is part of the grammar."""
    return _counts("grammar_counts")


def _counts(of: str) -> dict[str, range]:
    most = 10**6
    rows = _data()["functions"][of].items()
    return {name: range(least, (rest[0] if rest else most) + 1) for name, (least, *rest) in rows}


@cache
def missing_functions(version: NdbVersion) -> frozenset[str]:
    """Functions that servers of other releases have and the one of the version has not."""
    rows = _data()["functions"]["spans"]
    lacks = frozenset(name for row in rows if not in_span(version, row) for name in row["names"])
    return lacks - {name for row in rows if in_span(version, row) for name in row["names"]}


@cache
def no_calls(version: NdbVersion) -> frozenset[str]:
    """Words of the server's language that were functions of older ones: a call of one is no syntax."""
    spans = _data()["functions"]["no_call_from"].items()
    return frozenset(name for first, names in spans if in_span(version, {"first": first}) for name in names)


@cache
def calls_without_blank() -> frozenset[str]:
    """Functions, in small letters, that are none where a blank stands before their parenthesis."""
    return frozenset(_data()["functions"]["no_blank"])


def engine_rows(version: NdbVersion) -> list[tuple[str | None, ...]]:
    """Storage engines in the order of the server: name, support, comment, transactions, XA, savepoints."""
    return [tuple(row) for row in next(one["rows"] for one in _data()["engines"] if in_span(version, one))]


def plugins(version: NdbVersion) -> list[Plugin] | None:
    """Plugins in the order of the server; None: they were not listed."""
    rows = next((one["rows"] for one in _data()["plugins"] if in_span(version, one)), None)
    return None if rows is None else [Plugin(*row) for row in rows]


def empty_tables(version: NdbVersion) -> dict[str, dict[str, list[str]]]:
    """Tables of NDB in databases of the server, with their columns: nobody replicates, so they are empty."""
    found: dict[str, dict[str, list[str]]] = {}
    for row in _data()["empty_tables"]:
        if in_span(version, row):
            found.setdefault(row["database"], {})[row["table"]] = row["columns"]
    return found
