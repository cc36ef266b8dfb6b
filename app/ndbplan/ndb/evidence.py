"""What the rules of a version rest on: its own servers' answers, or what lies between them and manuals.

unheld(NdbVersion.parse("7.0"))    # 'rules of NDB 7.0 are interpolated from manuals and 7.4'
"""

from __future__ import annotations

from functools import cache

from ndbplan.base.resources import read_json
from ndbplan.ndb.version import NdbVersion


@cache
def held_series() -> tuple[str, ...]:
    """The series whose servers were asked, oldest first."""
    return tuple(row["series"] for row in read_json("ndb/servers.json")["held"])


def unheld(version: NdbVersion) -> str:
    """One line that says what the rules of a version rest on; nothing when its own servers were asked."""
    held = held_series()
    if version.series in held:
        return ""
    asked = [NdbVersion.parse(series) for series in held]
    older = [series for series, one in zip(held, asked, strict=True) if one < version]
    newer = [series for series, one in zip(held, asked, strict=True) if one > version]
    around = [*older[-1:], *newer[:1]]
    # Before the oldest server there are manuals to go by; behind the newest there may be none yet.
    verb = "interpolated" if newer else "extrapolated"
    return f"rules of NDB {version.series} are {verb} from manuals and {' and '.join(around)}"
