"""Options of mysqld that matter for NDB, by version of the product: default, range, what a change needs.

option("ndb_batch_size", version).default       # 32768; None for a name that is not listed
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache
from posixpath import dirname, normpath
from typing import Any, NamedTuple

from ndbplan.base.resources import read_json
from ndbplan.base.units import whole_number
from ndbplan.ndb.charsets import charset_of
from ndbplan.ndb.console import SqlVariable, other_variables, variables_of_ndb
from ndbplan.ndb.features import features
from ndbplan.ndb.version import NdbVersion, in_span, reached, release


class MysqldOption(NamedTuple):
    """One option as one version of the product takes it."""

    name: str
    type: str
    """int, bool, enum or text."""
    unit: str
    what: str
    dynamic: bool
    """SET GLOBAL changes it; otherwise its SQL node restarts."""
    since: str
    default: int | None
    minimum: int | None
    maximum: int | None
    values: tuple[str, ...] = ()
    """The words that an enum takes."""

    @classmethod
    def unlisted(cls, name: str) -> MysqldOption:
        """An option that only mysqld knows."""
        return cls(
            name, "text", "", "An option of mysqld itself, not checked here", False, "", None, None, None
        )


OPTION_NAME = re.compile(r"[a-z][a-z0-9.-]{1,63}")
"""How the canonical name of an option looks."""
_ON, _OFF = ("on", "true", "yes", "1"), ("off", "false", "no", "0")


def canonical(name: str) -> str:
    """The name as the list has it: mysqld takes _ for -, and any case."""
    return name.strip().lower().replace("_", "-")


@cache
def _rows() -> dict[str, dict[str, Any]]:
    return {row["name"]: row for row in read_json("ndb/mysqld_options.json")["options"]}


@cache
def _said_by_the_plan() -> dict[str, str]:
    """Options that follow from the plan, and from what of it."""
    names: dict[str, str] = read_json("ndb/mysqld_options.json")["said_by_the_plan"]
    return names


def said_by_the_plan(name: str) -> str:
    """What of a plan says an option, also one that is written as skip-, disable- or loose-; else nothing."""
    return _said_by_the_plan().get(without_prefix(name), "")


def without_prefix(name: str) -> str:
    """The option that is meant by one with a word before it, as skip-log-bin."""
    return re.sub(r"^(loose-)?(skip-|disable-|enable-)?", "", canonical(name))


@cache
def _gone() -> dict[str, tuple[str, str]]:
    """Options that later releases no longer have: since which, and what takes their place."""
    rows: list[dict[str, str]] = read_json("ndb/mysqld_options.json")["gone"]
    return {row["name"]: (row["from"], row["instead"]) for row in rows}


def _gone_values(name: str, version: NdbVersion) -> dict[str, str]:
    """Words that a version no longer takes in a list that is the value of an option, and since when."""
    rows: list[dict[str, Any]] = read_json("ndb/mysqld_options.json")["gone_values"]
    found = [row for row in rows if row["name"] == canonical(name) and version >= release(row["from"])]
    return {word: row["from"] for row in found for word in row["values"]}


@cache
def _came() -> dict[str, tuple[str, str]]:
    """Options that earlier releases do not have: since which there are some, and what they have instead."""
    rows: list[dict[str, str]] = read_json("ndb/mysqld_options.json")["came"]
    return {row["name"]: (row["from"], row["earlier"]) for row in rows}


def written(name: str, value: int | str) -> tuple[str, str]:
    """Name and value as my.cnf needs them for mysqld to read what is meant.

    The value of an option as log-bin is a name of files: ON would be one.
    """
    name, text = canonical(name), str(value)
    flag = (
        flag_of(text.strip()) if name in read_json("ndb/mysqld_options.json")["by_name_or_switch"] else None
    )
    if flag is None:
        return name, text
    return (name if flag else f"skip-{name}"), ""


def may_be_empty(name: str) -> bool:
    """Whether an empty text is a value of an option, which mysqld asks for all the same."""
    return canonical(name) in read_json("ndb/mysqld_options.json")["may_be_empty"]


def folders_named(name: str, value: int | str) -> tuple[str, ...]:
    """Folders that an option names; mysqld makes none. Relative ones are in its data directory."""
    paths, name, text = read_json("ndb/mysqld_options.json")["paths"], canonical(name), str(value).strip()
    if name in paths["folders"]:
        several = text.split(":") if name == "tmpdir" else [text]
        found = [one for one in several if one and one.upper() != "NULL"]
    elif name in (*paths["files"], *paths["logs"]) and "/" in text:
        found = [dirname(text)]
    else:
        return ()
    return tuple(normpath(one) for one in found)


def names_a_log(name: str) -> bool:
    """Whether an option names one file, which mysqld opens or goes on without."""
    return canonical(name) in read_json("ndb/mysqld_options.json")["paths"]["logs"]


def is_of_every_system(folder: str) -> bool:
    """Whether a folder is there on every host, and stays whose it is."""
    known = read_json("ndb/mysqld_options.json")["folders_of_systems"]
    return any(folder in some for some in known.values())


def is_option(name: str) -> bool:
    """Whether mysqld of any version has it, as far as is known here."""
    return any(canonical(name) in names for names in (_rows(), _gone(), _came(), _said_by_the_plan()))


@cache
def _first() -> dict[str, tuple[NdbVersion, ...]]:
    """Options of NDB that came to several series: the first release of each that has them."""
    rows = read_json("ndb/mysqld_options.json")["came_in_series"]
    return {row["name"]: tuple(map(release, row["first"])) for row in rows}


def _came_later(name: str, version: NdbVersion) -> str:
    """The release of its series with which a version lacks an option; nothing where it has it."""
    first = _first().get(name, ())
    mine = next((one for one in first if one[:2] == version[:2]), None)
    if mine is None and first and version < first[0]:
        mine = first[0]
    return str(mine) if mine is not None and version < mine else ""


def options(version: NdbVersion) -> list[MysqldOption]:
    """The options that a version has, of those that matter for NDB."""
    known = (option(name, version) for name in _rows())
    return [
        one
        for one in known
        if one is not None and release(one.since) <= version and not _came_later(one.name, version)
    ]


def flag_of(text: str) -> int | None:
    """1 or 0 of what mysqld takes for on and off; None: it is neither."""
    return next((flag for flag, words in ((1, _ON), (0, _OFF)) if text.lower() in words), None)


def number_of(text: str, version: NdbVersion) -> int | None:
    """The number that mysqld of a version reads: digits, then K, M … for powers of 1024; else None."""
    spans: list[dict[str, str]] = read_json("ndb/mysqld_options.json")["suffixes"]
    letters = reached(spans, version)["letters"]
    power = letters.find(text[-1:].upper()) + 1 if text else 0
    number = whole_number(text[:-1] if power else text)
    return None if number is None else number * 1024**power


def in_effect(stated: Mapping[str, int | str], name: str, version: NdbVersion) -> int:
    """The number that an SQL node with these options has: the last that says it, else the default."""
    known = option(name, version)
    if known is None or known.default is None:
        raise KeyError(name)
    said = [number_of(str(value), version) for one, value in stated.items() if canonical(one) == name]
    value = next((one for one in reversed(said) if one is not None), known.default)
    return max(known.minimum or 0, value if known.maximum is None else min(known.maximum, value))


def option(name: str, version: NdbVersion) -> MysqldOption | None:
    """What a version makes of an option; the oldest known for one that it lacks. None: it is not listed."""
    row = _rows().get(canonical(name))
    if row is None:
        return None
    spans = row["spans"]
    span = reached(spans, version)
    return MysqldOption(
        row["name"],
        row["type"],
        row["unit"],
        row["what"],
        row["dynamic"],
        spans[0]["from"],
        span["default"],
        span["min"],
        span["max"],
        tuple(span.get("values", ())),
    )


def _of_ndb(version: NdbVersion) -> dict[str, SqlVariable]:
    """System variables that begin with ndb: of the options that a release has, and what else servers said."""
    had = {one.name: one for one in options(version)}
    found = {}
    for name, one in variables_of_ndb(version).items():
        known = had.get(canonical(name))
        if known is None and canonical(name) in _rows():
            continue
        value = one.value
        if known is not None and known.default is not None and not value:
            value = ("OFF", "ON")[known.default] if known.type == "bool" else str(known.default)
        found[name] = one._replace(value=value)
    return found


@cache
def sql_variables(version: NdbVersion) -> dict[str, str]:
    """System variables of an SQL node that begin with ndb, as it has them by itself."""
    return {name: one.value for name, one in _of_ndb(version).items()}


@cache
def who_sets(version: NdbVersion) -> dict[str, str]:
    """Of every variable that is listed who may set it: see `SqlVariable.set`."""
    return {name: one.set for name, one in (_of_ndb(version) | other_variables(version)).items()}


_OLD, _NEW = NdbVersion(7, 4, 10), NdbVersion(8, 4, 8)
"""Releases whose servers said every variable of NDB that they have."""


def _had_by(name: str) -> tuple[bool, bool]:
    """Whether the older and the newer of these servers have a variable of NDB that begins so."""
    old, new = (any(canonical(one).startswith(name) for one in sql_variables(v)) for v in (_OLD, _NEW))
    return old, new


def who_has(name: str) -> str:
    """Which servers were seen to have an option of NDB that is not listed here; nothing for one of others."""
    plain = canonical(name).removeprefix("skip-")
    if not plain.startswith("ndb-") or plain in read_json("ndb/mysqld_options.json")["no_variables"]:
        return ""
    seen = {
        (True, True): f"NDB {_OLD} and {_NEW} have it",
        (True, False): f"NDB {_OLD} has it, {_NEW} has not",
        (False, True): f"NDB {_NEW} has it, {_OLD} has not",
    }
    return seen.get(_had_by(plain), f"neither NDB {_OLD} nor {_NEW} has it")


def _not_of_ndb(name: str, version: NdbVersion) -> str:
    """Of an option of NDB that is not listed here: that a release lacks it; nothing where nobody knows.

    What is listed of each is complete; mysqld takes the beginning of a name for the name.
    """
    if not name.startswith("ndb-") or name in read_json("ndb/mysqld_options.json")["no_variables"]:
        return ""
    old, new = _had_by(name)
    if new and not old and version <= _OLD:
        return f"{name} came after NDB {_OLD}"
    if old and not new and in_span(version, {"first": "8.4"}):
        return f"{name} is gone: NDB {_NEW} does not have it"
    if not old and not new and version in (_OLD, _NEW):
        return f"NDB {version} has no option {name}"
    return ""


def fault(name: str, value: int | str, version: NdbVersion) -> str:
    """What mysqld does not take as it is written, or the plan says otherwise, and what comes of it.

    Nothing: it is taken. A number out of range and a switch that is none are taken otherwise, with a warning
    in the error log (my_getopt.cc).
    """
    if why := said_by_the_plan(name):
        return f"{canonical(name)} follows from {why}; the export leaves this one out"
    if why := _taken_otherwise(name, value, version):
        return why
    if why := ends_mysqld(name, value, version):
        return f"{why}; mysqld would not start with it"
    return ""


def _taken_otherwise(name: str, value: int | str, version: NdbVersion) -> str:
    known, text = option(name, version), str(value).strip().lower()
    if known is None or version < release(known.since):
        return ""
    if known.type == "bool" and flag_of(text) is None:
        return f"{known.name} is ON or OFF, not {text[:40]}; mysqld takes it as OFF"
    number = number_of(text, version) if known.type == "int" else None
    if number is None or known.minimum is None or known.maximum is None:
        return ""
    nearest = max(known.minimum, min(number, known.maximum))
    span = f"{known.name} goes from {known.minimum} to {known.maximum}"
    return "" if nearest == number else f"{span}, not {text[:40]}; mysqld takes {nearest}"


def _one_of(text: str, words: tuple[str, ...]) -> str | None:
    """The word that mysqld reads: any case, its beginning where one word has it, its number; None: none.

    Source: mysys/my_getopt.cc (GET_ENUM), typelib.cc.
    """
    text, number = text.lower(), whole_number(text)
    same = [word for word in words if word.lower() == text]
    begin = same or [word for word in words if text and word.lower().startswith(text)]
    if len(begin) == 1:
        return begin[0]
    return words[number] if number is not None and number < len(words) else None


def read_as(name: str, value: str, version: NdbVersion) -> int | str:
    """What mysqld makes of a value, however it is written: one number, 1 or 0, one word of an enum."""
    known, text = option(name, version), value.strip()
    found: int | str | None = None
    if known is not None and known.type == "bool":
        found = flag_of(text or "on")
    elif known is not None and known.type == "int":
        found = number_of(text, version)
    elif known is not None and known.type == "enum":
        found = _one_of(text, known.values)
    return text if found is None else found


class Lack(NamedTuple):
    """An option with which mysqld does not start, as it needs another one."""

    name: str
    why: str
    needs: str
    to_be: str


def switched(name: str, version: NdbVersion) -> str:
    """ON or OFF: what a switch is where nothing is stated. Source: `on_by_themselves_source`."""
    rows = read_json("ndb/mysqld_options.json")["on_by_themselves"]
    is_on = any(row["name"] == canonical(name) and version >= release(row["from"]) for row in rows)
    return "ON" if is_on else "OFF"


def lacks(told: Mapping[str, str], version: NdbVersion) -> Iterator[Lack]:
    """Those of some options that need another one, which is missing or otherwise."""
    for row in read_json("ndb/mysqld_options.json")["needs"]:
        name, other = row["name"], row["needs"]
        is_asked = name in told and told[name].upper() in row["values"] and version >= release(row["from"])
        if is_asked and told.get(other, switched(other, version)).upper() not in row["to_be"]:
            to_be = row["to_be"][0]
            yield Lack(name, f"{name}={told[name]} without {other}={to_be}", other, to_be)
    letters = "character-set-server"
    if collation := told.get("collation-server", "").lower():
        wanted, given = charset_of(collation), told.get(letters, features(version).default_charset).lower()
        if _OF_THREE_BYTES.get(wanted, wanted) != _OF_THREE_BYTES.get(given, given):
            why = f"collation-server={collation} without {letters}={wanted}"
            yield Lack("collation-server", why, letters, wanted)


_OF_THREE_BYTES = {"utf8": "utf8mb3"}
"""Two names of one character set."""


def fixed_when_filled(name: str, version: NdbVersion) -> str:
    """What an option is by itself that stays as it was when the data directory was filled; else nothing."""
    rows = read_json("ndb/mysqld_options.json")["fixed_when_filled"]
    found = (row for row in rows if row["name"] == canonical(name) and version >= release(row["from"]))
    return next((str(row["usual"]) for row in found), "")


def _closed_folder(name: str, value: int | str) -> str:
    """That mysqld may not make the files that it has to; nothing where it may, or goes on without."""
    of_root = read_json("ndb/mysqld_options.json")["folders_of_systems"]["root"]
    closed = [] if names_a_log(name) else [one for one in folders_named(name, value) if one in of_root]
    return f"{canonical(name)} is in {closed[0]}, where root alone makes files" if closed else ""


def ends_mysqld(name: str, value: int | str, version: NdbVersion) -> str:
    """Why mysqld does not start with an option; nothing where it does, as far as is known."""
    since, instead = _gone().get(canonical(name), ("", ""))
    if since and version >= release(since):
        tail = f"; {instead} takes its place" if instead else ""
        return f"{canonical(name)} is gone since NDB {since}{tail}"
    since, earlier = _came().get(canonical(name), ("", ""))
    if since and version < release(since):
        return f"{canonical(name)} came with NDB {since}, before it is {earlier}"
    if came := _came_later(canonical(name).removeprefix("skip-"), version):
        return f"{canonical(name)} came with {came}, NDB {version} does not know it"
    gone, words = _gone_values(name, version), [word.strip() for word in str(value).upper().split(",")]
    if lost := [word for word in words if word in gone]:
        return f"{canonical(name)} has no {', '.join(lost)} since NDB {gone[lost[0]]}"
    if closed := _closed_folder(name, value):
        return closed
    known = option(name, version)
    if known is None:
        return _not_of_ndb(canonical(name).removeprefix("skip-"), version)
    if known.type == "text":
        return ""
    if version < release(known.since):
        return f"{known.name} came with {known.since}, NDB {version} does not know it"
    text = str(value).strip().lower()
    if known.type == "enum" and _one_of(text, known.values) is None:
        return f"{known.name} is one of {', '.join(known.values)}, not {text[:40] or 'nothing'}"
    if known.type == "int" and number_of(text, version) is None:
        return f"{known.name} is a whole number, as 65536 or 64K, not {text[:40]}"
    return ""
