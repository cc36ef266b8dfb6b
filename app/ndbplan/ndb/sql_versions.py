"""What SQL nodes of a version know of columns: types, character sets, collations, and what may be in a key.

unknown_type("json", NdbVersion.parse("7.4"))              # 'JSON came with NDB 7.5'
collation_instead("utf8mb4_0900_ai_ci", NdbVersion.parse("7.4"))       # 'utf8mb4_general_ci'
"""

from __future__ import annotations

from typing import Any

from ndbplan.base.resources import read_json
from ndbplan.ndb.charsets import charset_of
from ndbplan.ndb.columns import COLUMN_TYPES
from ndbplan.ndb.features import features
from ndbplan.ndb.version import NdbVersion, release

SOURCE_FILE = "ndb/sql_versions.json"
_EVERYWHERE = "utf8"
"""The character set of all letters that every version has."""


def _facts() -> dict[str, Any]:
    facts: dict[str, Any] = read_json(SOURCE_FILE)
    return facts


def unknown_type(name: str, version: NdbVersion) -> str:
    """Why a version has not a type of columns; nothing where it has."""
    row = _facts()["types"].get(name)
    if row is None or release(row["since"]) <= version:
        return ""
    return f"{name.upper()} came with NDB {row['since']}"


def type_instead(name: str) -> str:
    """The type that holds the same where a version has not this one."""
    return str(_facts()["types"][name]["instead"])


def unknown_fraction(name: str, digits: int | None, version: NdbVersion) -> str:
    """Why a version has no fractions of seconds; nothing where it has, or where none are asked for."""
    if name not in ("time", "datetime", "timestamp") or not digits or features(version).fractional_seconds:
        return ""
    return f"{name.upper()}({digits}): fractions of seconds came with NDB 7.3"


def unknown_collation(collation: str, version: NdbVersion) -> str:
    """Why a version has not a collation; nothing where it has."""
    charset = charset_of(collation)
    if charset not in _facts()["known_charsets"]:
        return f"no server has the collation {collation}"
    since = _facts()["charsets"].get(charset)
    if since is not None and release(since) > version:
        return f"character set {charset} came with NDB {since}"
    for row in _facts()["collations"]:
        concerned = row["part"] in f"{collation}_" and charset in row.get("of", (charset,))
        if concerned and release(row["since"]) > version:
            return f"collation {collation} came with NDB {row['since']}"
    return ""


def charset_of_statements(version: NdbVersion) -> str:
    """The character set in which statements are given to a server: that of all letters which it has.

    Clients go by the locale of the host, which is often none: names would have other letters.
    """
    return "utf8mb4" if release(_facts()["charsets"]["utf8mb4"]) <= version else _EVERYWHERE


def described_charsets(version: NdbVersion) -> list[tuple[str, str]]:
    """The character sets that a version has, in the order of SHOW CHARACTER SET, with what they are."""
    since = _facts()["charsets"]
    rows = [(str(name), str(text)) for name, text in _facts()["charsets_described"]["rows"]]
    return [one for one in rows if one[0] not in since or release(since[one[0]]) <= version]


def collation_instead(collation: str, version: NdbVersion) -> str:
    """The nearest collation that a version has: exact ones become the binary one of their character set."""
    charset = charset_of(collation)
    exact = collation.endswith(("_bin", "_as_cs"))
    for one in (charset, _EVERYWHERE):
        nearest = f"{one}_bin" if exact else f"{one}_general_ci"
        if not unknown_collation(nearest, version):
            return nearest
    return collation


def unknown_default(text: str, version: NdbVersion) -> str:
    """Why a version takes not what DEFAULT says; nothing where it does."""
    since = _facts()["expressions"]
    if not text.startswith("(") or release(since) <= version:
        return ""
    return f"DEFAULT {text[:40]}: expressions came with {since}"


def in_no_key(name: str) -> str:
    """Why columns of a type are in no key or index of NDB; nothing where they may be."""
    if COLUMN_TYPES[name].is_blob or name in _facts()["in_no_key"]:
        return f"{name.upper()} columns are in no key or index of NDB"
    return ""


def limits() -> dict[str, int]:
    """What a server of any version takes of a table: see the names in the file of facts."""
    known: dict[str, int] = _facts()["limits"]
    return known
