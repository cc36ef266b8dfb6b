"""What the management client and the processes of a version call things.

    release_of(NdbVersion.parse("8.4")).name     # mysql-8.4.8 ndb-8.4.8
    form(version, "master_mark")                 # * or Master
    knows_word(version, "PROMPT")

Data and sources: resources/ndb/console.json.
"""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

from ndbplan.base.resources import read_json
from ndbplan.ndb.version import NdbVersion, in_span


class Release(NamedTuple):
    """A release as its programs name it."""

    ndb: str
    mysql: str

    @property
    def name(self) -> str:
        """`mysql-5.6.28 ndb-7.4.10`."""
        return f"mysql-{self.mysql} ndb-{self.ndb}"


def _data() -> dict[str, Any]:
    data: dict[str, Any] = read_json("ndb/console.json")
    return data


def release_of(version: NdbVersion) -> Release:
    """The release that a plan's version stands for; a series without a patch number: one of its releases."""
    ndb, mysql = _data()["releases"][version.series]
    stated = str(version)
    if stated == version.series:
        return Release(ndb, mysql)
    return Release(stated, stated if mysql == ndb else _server_of(version, ndb, mysql))


def _server_of(version: NdbVersion, ndb: str, mysql: str) -> str:
    """The server that a release has: that of the last one known in its series at or before it."""
    known = {NdbVersion.parse(ndb): mysql} | {
        NdbVersion.parse(name): server for name, server in _data()["servers_of"].items() if name != "source"
    }
    before = [one for one in known if one[:2] == version[:2] and one <= version]
    return known[max(before)] if before else mysql


@cache
def form(version: NdbVersion, name: str) -> Any:
    """What a version has for one of the forms."""
    rows = (row for row in _data()["forms"] if row["name"] == name)
    return next(row["value"] for row in rows if in_span(version, row))


def tool_options(program: str) -> frozenset[str]:
    """Long options of a program of NDB, without hyphens; `ndbmtd` has those of ndbd."""
    options = _data()["tool_options"]
    own = options.get({"ndbmtd": "ndbd"}.get(program, program), ())
    return frozenset((*options["common"], *own))


class SqlVariable(NamedTuple):
    """A system variable of an SQL node."""

    value: str
    """What the server has by itself; empty of one of NDB that is listed: what the option of its name has."""
    set: str
    """Empty: a session may; `global`: only SET GLOBAL changes it; `begin`: so, and a session keeps what it
    began with; `session`: only a session changes it; `no`: nothing does."""
    least: int | None = None
    """What a number below it becomes; None: not known."""
    most: int | None = None
    """What a number above it becomes."""


def _variables(version: NdbVersion, listed: str) -> dict[str, SqlVariable]:
    rows = (row for row in read_json("ndb/sql_variables.json")[listed] if in_span(version, row))
    return {
        row["name"]: SqlVariable(row.get("value", ""), row.get("set", ""), row.get("least"), row.get("most"))
        for row in rows
    }


@cache
def other_variables(version: NdbVersion) -> dict[str, SqlVariable]:
    """System variables of an SQL node that people ask for, and which are not of NDB."""
    return _variables(version, "others")


@cache
def variables_of_ndb(version: NdbVersion) -> dict[str, SqlVariable]:
    """System variables that begin with ndb, also those whose option another release brought."""
    return _variables(version, "variables")


@cache
def variable_families() -> tuple[str, ...]:
    """How the names of system variables begin that servers have and nobody lists here."""
    return tuple(read_json("ndb/sql_variables.json")["families"])


@cache
def complete_variables() -> tuple[str, ...]:
    """Parts of names: every variable with one of them is listed."""
    return tuple(read_json("ndb/sql_variables.json")["complete"])


@cache
def sql_status(version: NdbVersion) -> dict[str, str]:
    """Status variables of an SQL node that begin with Ndb, in its order; counters are 0."""
    lists = read_json("ndb/sql_status.json")["status"]
    return dict(next(one["rows"] for one in lists if in_span(version, one)))


def knows_word(version: NdbVersion, word: str) -> bool:
    """Whether the client of a version knows a command word; words without a span are in all."""
    return in_span(version, _data()["words"].get(word, {}))


def client_error(code: int) -> str:
    """What the management client says of one of its own errors."""
    return str(_data()["client_errors"][str(code)])
