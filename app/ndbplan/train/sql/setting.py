"""SET: which variables of NDB a statement sets."""

from __future__ import annotations

import re
from collections.abc import Mapping

from ndbplan.train.sql import server
from ndbplan.train.sql.problem import NotSimulated, SqlError

_SET = re.compile(
    r"\A\s*((?:global|session|local|persist)\s+|@@(?:global\.|session\.)?)?(\w+)\s*:?=\s*"
    r"('[^']*'|\"[^\"]*\"|[^,\s]+)",
    re.IGNORECASE,
)
_BETWEEN = re.compile(r"""(?:'[^']*'|"[^"]*"|[^,'"])+""")
"""An assignment up to the next comma; commas inside quotes are none."""
_SWITCH = {"0": "OFF", "OFF": "OFF", "FALSE": "OFF", "1": "ON", "ON": "ON", "TRUE": "ON", "DEFAULT": "ON"}
"""What switches autocommit."""
OFFLINE = "ndbinfo_offline"
_SHOWS_HERE = ("ndb_table_no_logging", "ndb_table_temporary", "ndbinfo_show_hidden", "ndbinfo_table_prefix")
"""Variables that change what is answered here, and are not followed."""
_READ_ONLY = (
    "version",
    "ndb_version",
    "ndb_version_string",
    "version_comment",
    "ndbinfo_version",
    "hostname",
)


def settings(sql: str, now: Mapping[str, str]) -> dict[str, str]:
    """What a statement sets that counts here. Raises SqlError, and NotSimulated for what would show."""
    kept: dict[str, str] = {}
    parts = _BETWEEN.findall(re.sub(r"\Aset\s", "", sql.strip(), flags=re.IGNORECASE))
    found = map(_SET.match, parts)
    for scope, typed, given in (one.groups(default="") for one in found if one is not None):
        name, value = typed.lower(), given.strip("'\"").upper()
        if name in _READ_ONLY:
            raise SqlError(1238, "HY000", f"Variable '{name}' is a read only variable")
        if name == "autocommit" and "global" not in scope.lower() and value in _SWITCH:
            kept[name] = _SWITCH[value]
        if not name.startswith("ndb"):
            continue
        if name not in now:
            raise SqlError(1193, "HY000", f"Unknown system variable '{name}'")
        if name == OFFLINE and "global" not in scope.lower():
            text = f"Variable '{name}' is a GLOBAL variable and should be set with SET GLOBAL"
            raise SqlError(1229, "HY000", text)
        switch = name in server.SWITCHES or now[name] in ("ON", "OFF")
        if switch and value not in ("0", "1", "ON", "OFF"):
            shown = given.strip("'\"")
            raise SqlError(1231, "42000", f"Variable '{name}' can't be set to the value of '{shown}'")
        if switch:
            is_on = value in ("1", "ON")
            value = str(int(is_on)) if name in server.SWITCHES else "ON" if is_on else "OFF"
        if name in _SHOWS_HERE and value != now[name].upper():
            raise NotSimulated(f"what {name} does is not simulated")
        kept[name] = value if switch else given.strip("'\"")
    return kept
