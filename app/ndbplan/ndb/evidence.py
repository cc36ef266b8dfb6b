"""What the rules of a version rest on: its own servers' answers, or what lies between them and manuals.

unheld(NdbVersion.parse("7.0"))    # 'rules of NDB 7.0 are interpolated from manuals and 7.4.10'
"""

from __future__ import annotations

from functools import cache

from ndbplan.base.resources import read_json
from ndbplan.ndb.version import NdbVersion


@cache
def held_releases() -> tuple[NdbVersion, ...]:
    """The releases whose servers were asked, oldest first."""
    return tuple(NdbVersion.parse(row["release"]) for row in read_json("ndb/servers.json")["held"])


def stands_for(version: NdbVersion) -> NdbVersion:
    """The release whose server was asked, of a series without a patch number; any other version itself."""
    return next((release for release in held_releases() if release.series == str(version)), version)


def unheld(version: NdbVersion) -> str:
    """One line that says what the rules of a version rest on; nothing when its own servers were asked.

    A series without a patch number stands for the release of it that was asked.
    """
    held = held_releases()
    if stands_for(version) in held:
        return ""
    older = [release for release in held if release < version]
    newer = [release for release in held if release > version]
    around = [str(release) for release in (*older[-1:], *newer[:1])]
    # Before the oldest server there are manuals to go by; behind the newest there may be none yet.
    verb = "interpolated" if newer else "extrapolated"
    between = "manuals and " if len(around) == 1 else "manuals, "
    return f"rules of NDB {version} are {verb} from {between}{' and '.join(around)}"
