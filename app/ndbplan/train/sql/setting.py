"""SET: which variables of NDB a statement sets."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from ndbplan.base.units import whole_number
from ndbplan.ndb.console import SqlVariable, form, other_variables
from ndbplan.ndb.mysqld_options import who_sets
from ndbplan.ndb.sql_server import engine_rows
from ndbplan.ndb.version import NdbVersion
from ndbplan.train.sql import modes, server
from ndbplan.train.sql.problem import NotSimulated, SqlError, Warned, syntax
from ndbplan.train.sql.variables import missing

_SET = re.compile(
    r"\A\s*((?:global|session|local|persist|persist_only)\s+|"
    r"@@(?:(?:global|session|local|persist|persist_only)\.)?)?(\w+)\s*:?=\s*"
    r"('[^']*'|\"[^\"]*\"|[^,\s]+)",
    re.IGNORECASE,
)
_BETWEEN = re.compile(r"""(?:'[^']*'|"[^"]*"|[^,'"])+""")
"""An assignment up to the next comma; commas inside quotes are none."""
_SWITCH = {"0": "OFF", "OFF": "OFF", "FALSE": "OFF", "1": "ON", "ON": "ON", "TRUE": "ON", "DEFAULT": "ON"}
"""What switches autocommit."""
OFFLINE = "ndbinfo_offline"
_SHOWS_HERE = ("ndb_table_temporary", "ndbinfo_show_hidden", "ndbinfo_table_prefix")
"""Variables that change what is answered here, and are not followed."""
_ANSWERS_ELSE = ("default_week_format", "max_sort_length", "read_only", "super_read_only")
"""Others of that kind."""
_UTC = ("+00:00", "+0:00", "-00:00")
_OFFSET = re.compile(r"[+-][0-9]{1,2}:[0-5][0-9]")
_ENGINES = ("default_storage_engine", "storage_engine", "default_tmp_storage_engine")
_READ_ONLY = (
    "version",
    "ndb_version",
    "ndb_version_string",
    "version_comment",
    "ndbinfo_version",
    "hostname",
)


def _is_global(scope: str) -> bool:
    return "global" in scope or "persist" in scope


def _read_only(name: str) -> SqlError:
    return SqlError(1238, "HY000", f"Variable '{name}' is a read only variable")


def _no_value(name: str, given: str) -> SqlError:
    return SqlError(1231, "42000", f"Variable '{name}' can't be set to the value of '{given}'")


def _may_set(name: str, how: str, scope: str) -> None:
    """Raises SqlError where nobody sets it, or not this way; `how`: see `SqlVariable.set`."""
    if how == "no":
        raise _read_only(name)
    if how == "global" and not _is_global(scope):
        text = f"Variable '{name}' is a GLOBAL variable and should be set with SET GLOBAL"
        raise SqlError(1229, "HY000", text)
    if how == "session" and _is_global(scope):
        text = f"Variable '{name}' is a SESSION variable and can't be used with SET GLOBAL"
        raise SqlError(1228, "HY000", text)
    if how == "begin" and not _is_global(scope):
        text = f"SESSION variable '{name}' is read-only. Use SET GLOBAL to assign the value"
        raise SqlError(1621, "HY000", text)


def _time_zone(given: str) -> str:
    """UTC by each of its names; hosts have it too. A new server has no table of names (manual 8.4)."""
    if given.upper() in ("SYSTEM", *_UTC):
        return "SYSTEM" if given.upper() == "SYSTEM" else given
    if _OFFSET.fullmatch(given):
        raise NotSimulated("times are those of UTC here; an offset from it is not simulated")
    raise SqlError(1298, "HY000", f"Unknown or incorrect time zone: '{given}'")


def _other(name: str, given: str, now: str, scope: str, version: NdbVersion) -> dict[str, str]:
    """What becomes of a variable that is not of NDB."""
    known = other_variables(version).get(name)
    is_text, given = given[:1] in ("'", '"'), given.strip("'\"")
    if known is None:
        raise _read_only(name)
    _may_set(name, known.set, scope)
    if name == "autocommit" and given.upper() not in _SWITCH:
        raise _no_value(name, given)
    if name == "autocommit" and given.upper() != "DEFAULT":
        return {name: _SWITCH[given.upper()]}
    if given.upper() == "DEFAULT":
        return {name: known.value}
    told = _SWITCH.get(given.upper(), given) if known.value in ("ON", "OFF") else given
    if name == "sql_mode":
        return {name: modes.taken(given, version)}
    if name == "time_zone":
        return {name: _time_zone(given)}
    if name in _ANSWERS_ELSE and told.upper() != now.upper():
        raise NotSimulated(f"what {name} does is not simulated")
    if known.value in ("ON", "OFF"):
        if given.upper() not in _SWITCH:
            raise _no_value(name, given)
        return {name: _SWITCH[given.upper()]}
    if whole_number(known.value) is not None and (is_text or _number(given) is None):
        raise SqlError(1232, "42000", f"Incorrect argument type to variable '{name}'")
    return {name: _bounded(name, known, given)}


def _bounded(name: str, known: SqlVariable, given: str) -> str:
    """A number within what the variable may be."""
    number = _number(given)
    if number is None:
        return given
    if known.least is None or known.most is None:
        if number < 0:
            raise NotSimulated(f"the least that {name} may be is not known here")
        return str(number)
    return str(min(known.most, max(known.least, number)))


def _number(given: str) -> int | None:
    """A whole number, with or without a sign, or TRUE or FALSE; None: it is none."""
    if given.upper() in ("TRUE", "FALSE"):
        return int(given.upper() == "TRUE")
    number = whole_number(given[1:] if given[:1] in ("+", "-") else given)
    return number if number is None or not given.startswith("-") else -number


def cut(sql: str, version: NdbVersion) -> tuple[Warned, ...]:
    """What is warned of a number that a variable cannot be: the nearest takes its place."""
    told = []
    for _, typed, given in _assigned(sql):
        known, value = other_variables(version).get(typed.lower()), given.strip("'\"")
        number = None if known is None else _number(value)
        if known is not None and number is not None and _bounded(typed.lower(), known, value) != str(number):
            text = f"Truncated incorrect {typed.lower()} value: '{value}'"
            told.append(Warned("Warning", 1292, text))
    return tuple(told)


def _assigned(sql: str) -> Iterator[tuple[str, str, str]]:
    """Scope, name and value of each assignment of SET."""
    for part in _BETWEEN.findall(re.sub(r"\Aset\s", "", sql.strip(), flags=re.IGNORECASE)):
        if found := _SET.match(part):
            scope, typed, given = found.groups(default="")
            yield scope, typed, given


def _engine(given: str, now: str, version: NdbVersion) -> str:
    """The name of a storage engine as the server has it. Raises SqlError for one that it has not."""
    known = {str(row[0]).lower(): str(row[0]) for row in engine_rows(version)} | {"ndb": "ndbcluster"}
    if given.upper() == "DEFAULT":
        return now
    if given.lower() not in known:
        raise SqlError(1286, "42000", f"Unknown storage engine '{given}'")
    return known[given.lower()]


_ISOLATION = re.compile(
    r"\A\s*set\s+(session|local|global)\s+transaction\b.*\bisolation\s+level\s+(read\s+committed|read\s+uncommitted|"
    r"repeatable\s+read|serializable)\b",
    re.IGNORECASE | re.DOTALL,
)
_OF_ISOLATION = ("transaction_isolation", "tx_isolation")


def _isolation(match: re.Match[str] | None, now: Mapping[str, str]) -> dict[str, str]:
    """What SET SESSION TRANSACTION sets; NDB reads what is committed, whatever it says."""
    level = "" if match is None else "-".join(match[2].upper().split())
    return {name: level for name in _OF_ISOLATION if name in now} if level else {}


class Found(NamedTuple):
    """What a SET sets, by the names of the variables."""

    own: dict[str, str]
    """For the session."""
    of_all: dict[str, str]
    """For everybody."""
    persisted: dict[str, str]
    """For everybody from the next start of the server on."""


def settings(sql: str, now: Mapping[str, str], of_all: Mapping[str, str], version: NdbVersion) -> Found:
    """What a statement sets that counts here; `of_all`: what DEFAULT is to a session.

    Raises SqlError, and NotSimulated for what would show.
    """
    level = _ISOLATION.match(sql)
    isolation = _isolation(level, now)
    is_global = level is not None and _is_global(level[1].lower())
    found = Found({}, isolation, {}) if is_global else Found(isolation, {}, {})
    for scope, typed, given in _assigned(sql):
        where = scope.strip().strip("@.").lower()
        if where.startswith("persist") and not form(version, "dictionary_of_its_own"):
            raise syntax(sql[sql.index(typed, sql.lower().index(where) + len(where)) :])
        value = _set(typed, given, now, where, version)
        if where.startswith("persist"):
            found.persisted.update(value)
        if where in ("global", "persist"):
            found.of_all.update(value)
        elif where != "persist_only":
            takes_all = given.upper() == "DEFAULT"
            found.own.update({name: of_all[name] for name in value} if takes_all else value)
    return found


def _set(typed: str, given: str, now: Mapping[str, str], scope: str, version: NdbVersion) -> dict[str, str]:
    """What one assignment sets. Raises SqlError and NotSimulated."""
    name, value = typed.lower(), given.strip("'\"").upper()
    if name in _READ_ONLY:
        raise _read_only(name)
    if name not in now:
        raise missing(typed)
    if name in _ENGINES:
        return {name: _engine(given.strip("'\""), now[name], version)}
    if not name.startswith("ndb"):
        return _other(name, given, now[name], scope, version)
    _may_set(name, "global" if name == OFFLINE else who_sets(version).get(name, ""), scope)
    switch = name in server.SWITCHES or now[name] in ("ON", "OFF")
    if switch and (value not in _SWITCH or value == "DEFAULT"):
        raise _no_value(name, given.strip("'\""))
    if switch:
        is_on = _SWITCH[value] == "ON"
        value = str(int(is_on)) if name in server.SWITCHES else "ON" if is_on else "OFF"
    if name in _SHOWS_HERE and value != now[name].upper():
        raise NotSimulated(f"what {name} does is not simulated")
    return {name: value if switch else given.strip("'\"")}
