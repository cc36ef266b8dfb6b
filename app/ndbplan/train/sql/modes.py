"""sql_mode: what a session sets it to, and which of its modes count here.

    taken("strict_trans_tables", version)       # as the server writes it; SqlError 1231 for what is no mode
    is_strict(cluster)                          # by the eyes of a session

Source: manual 5.6 to 8.4, Server SQL Modes.
"""

from __future__ import annotations

from ndbplan.ndb.console import form, other_variables
from ndbplan.ndb.version import NdbVersion
from ndbplan.train.live import LiveCluster
from ndbplan.train.sql.problem import NotSimulated, SqlError

GROUP_BY, DIVISION, ENGINE = "ONLY_FULL_GROUP_BY", "ERROR_FOR_DIVISION_BY_ZERO", "NO_ENGINE_SUBSTITUTION"
_STRICT = frozenset({"STRICT_TRANS_TABLES", "STRICT_ALL_TABLES"})
_WITH_STRICT = frozenset({"NO_ZERO_IN_DATE", "NO_ZERO_DATE", DIVISION})
_ACCOUNTS = "NO_AUTO_CREATE_USER"
_ORDER = (
    GROUP_BY, "STRICT_TRANS_TABLES", "STRICT_ALL_TABLES", "NO_ZERO_IN_DATE", "NO_ZERO_DATE", DIVISION,
    "TRADITIONAL", _ACCOUNTS, ENGINE,
)  # fmt: skip
"""As the server writes those that are followed here."""
_OTHERS = frozenset({
    "REAL_AS_FLOAT", "PIPES_AS_CONCAT", "ANSI_QUOTES", "IGNORE_SPACE", "NO_UNSIGNED_SUBTRACTION",
    "NO_DIR_IN_CREATE", "ANSI", "NO_AUTO_VALUE_ON_ZERO", "NO_BACKSLASH_ESCAPES", "ALLOW_INVALID_DATES",
    "HIGH_NOT_PRECEDENCE", "PAD_CHAR_TO_FULL_LENGTH", "TIME_TRUNCATE_FRACTIONAL",
})  # fmt: skip


def taken(given: str, version: NdbVersion) -> str:
    """The value that sql_mode has then. Raises SqlError, and NotSimulated for what would show."""
    if "(" in given or "@" in given or (given.strip().isdigit() and int(given)):
        raise NotSimulated("SET sql_mode takes names of modes here")
    has_accounts = _ACCOUNTS in _default(version) or not form(version, "dictionary_of_its_own")
    modes = {one.strip().upper() for one in given.split(",") if one.strip(" 0")}
    for one in sorted(modes - set(_ORDER) | modes & ({_ACCOUNTS} if not has_accounts else set())):
        if one in _OTHERS:
            raise NotSimulated(f"what the mode {one} does is not simulated")
        raise SqlError(1231, "42000", f"Variable 'sql_mode' can't be set to the value of '{one}'")
    if "TRADITIONAL" in modes:
        modes |= _STRICT | _WITH_STRICT | {ENGINE} | ({_ACCOUNTS} if has_accounts else set())
    beside = modes & _WITH_STRICT
    if beside != (_WITH_STRICT if modes & _STRICT else set()):
        names = ", ".join(sorted(_WITH_STRICT))
        raise NotSimulated(f"{names} go with a strict mode here, all of them or none")
    return ",".join(one for one in _ORDER if one in modes)


def _default(version: NdbVersion) -> frozenset[str]:
    return frozenset(other_variables(version)["sql_mode"].value.split(","))


def has(cluster: LiveCluster, mode: str) -> bool:
    """Whether a mode is set, by the eyes of the session; without one, by itself."""
    now = cluster.sql_modes
    return mode in (_default(cluster.plan.version) if now is None else now)


def is_strict(cluster: LiveCluster) -> bool:
    """Whether values that do not fit are refused."""
    return any(has(cluster, one) for one in _STRICT)


def unknown_engine(cluster: LiveCluster, name: str) -> SqlError | NotSimulated:
    """What is said of an engine that the server has not."""
    if not has(cluster, ENGINE):
        return NotSimulated(f"which engine takes the place of {name} without {ENGINE} is not simulated")
    return SqlError(1286, "42000", f"Unknown storage engine '{name}'")
