"""Configuration parameters of the product: defaults, ranges and what a change restarts."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

from ndbplan.base.resources import read_json
from ndbplan.ndb.version import NdbVersion

SOURCE_FILE = "ndb/parameters-8.4.8.json"


@dataclass(frozen=True)
class Parameter:
    """One configuration parameter as the product defines it."""

    section: str
    """SYSTEM, COMPUTER, DB (data node), API, MGM, TCP or SHM."""
    name: str
    type: str
    unit: str
    default: int | str | None
    minimum: int | None
    maximum: int | None
    restart: str
    """What a change needs: node, initial_node, system or initial_system."""
    description: str
    note: str
    status: str
    mandatory: bool
    allowed_values: tuple[str, ...]
    history: dict[str, Any]


def _plain(entry: dict[str, Any] | None) -> Any:
    if not isinstance(entry, dict):
        return None
    value = entry.get("value")
    return int(value) if isinstance(value, bool) else value


@cache
def _parameters() -> dict[tuple[str, str], Parameter]:
    rows = read_json(SOURCE_FILE)["parameters"]
    return {
        (row["section"], row["name"].lower()): Parameter(
            section=row["section"],
            name=row["name"],
            type=row["type"],
            unit=row["unit"],
            default=_plain(row["default"]),
            minimum=_plain(row["min"]),
            maximum=_plain(row["max"]),
            restart=row.get("restart", "node"),
            description=row["description"],
            note=row.get("note", ""),
            status=row["status"],
            mandatory=row["mandatory"],
            allowed_values=tuple(str(v) for v in row.get("allowed_values", ())),
            history=row.get("history", {}),
        )
        for row in rows
    }


def parameters(section: str) -> tuple[Parameter, ...]:
    """All parameters of a section, in the product's order."""
    return tuple(p for p in _parameters().values() if p.section == section)


def parameter(section: str, name: str) -> Parameter:
    """One parameter, its name in any case. KeyError when the product has none of that name."""
    return _parameters()[section, name.lower()]


def default(section: str, name: str, version: NdbVersion) -> int | str | None:
    """Default of a parameter in a version; the oldest release listed at or after `version` speaks for it."""
    from ndbplan.base.units import parse_bytes

    entry = parameter(section, name)
    by_version = entry.history.get("default_by_version", {})
    for release in sorted(by_version, key=NdbVersion.parse):
        if NdbVersion.parse(release) >= version:
            raw = str(by_version[release])
            if entry.type in ("string", "enum"):
                return raw
            if raw.lower() in ("true", "false"):
                return int(raw.lower() == "true")
            try:
                return parse_bytes(raw) if entry.unit == "bytes" else int(raw)
            except ValueError:
                return entry.default
    return entry.default
