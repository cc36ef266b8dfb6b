"""Every data node parameter, in every version, unset and with values of every kind, against a kept table.

The table was written by the functions that read parameters before NodeSettings did. After a change of
resources/ndb/parameters.json `.venv/bin/python tests/configuration/test_readings.py` writes it anew; its diff
is what the change means.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from pathlib import Path

from ndbplan.base.frozen import FrozenMap
from ndbplan.configuration.settings import node_settings
from ndbplan.ndb import parameters as catalogue
from ndbplan.ndb.parameters import Parameter
from ndbplan.ndb.version import SERIES, NdbVersion, release
from ndbplan.plan.plan import EMPTY_PLAN, ClusterParameters, Plan

TABLE = Path(__file__).parent / "readings.txt"


def _versions() -> tuple[str, ...]:
    """Every series and every release in which a parameter comes, goes or gets other values; oldest first."""
    rows = catalogue._entries().values()
    named = {span["from"] for row in rows for span in row["spans"]} | {row["since"] for row in rows}
    named |= {row["removed"] for row in rows if row.get("removed")}
    found = {release(text) for text in named}
    first = [".".join(map(str, release)) for release in found if NdbVersion(*release).series in SERIES]
    return tuple(sorted({*SERIES, *first}, key=NdbVersion.parse))


VERSIONS = _versions()


def _names() -> tuple[str, ...]:
    return tuple(row["name"] for (section, _), row in catalogue._entries().items() if section == "DB")


def _kinds(parameter: Parameter) -> Iterator[tuple[str, int | str | None]]:
    """(kind of value, value as a plan states it) for one parameter of one version."""
    yield "unset", None
    if parameter.is_number or parameter.type == "bool":
        low = 0 if parameter.type == "bool" else (parameter.minimum or 0)
        high = 1 if parameter.type == "bool" else parameter.maximum
        yield "at the minimum", low
        yield "below", low - 1
        yield "at the maximum", 2**40 if high is None else high
        yield "above", 2**64 if high is None else high + 1
        yield "text of a number", f"{parameter.allowed_values[-1] if parameter.allowed_values else low}"
        yield "text with a suffix", "2K"
        yield "text", "plenty"
    else:
        yield "text", parameter.allowed_values[-1] if parameter.allowed_values else "0-3"
        yield "text in other letters", (parameter.allowed_values or ("0-3",))[-1].swapcase()
        yield "refused text", "4-2#"
        yield "number", 7


def _plan(name: str, value: int | str | None, version: str) -> Plan:
    stated = FrozenMap({} if value is None else {name: value})
    return EMPTY_PLAN.replace(parameters=ClusterParameters(data_node=stated), ndb_version=version)


def _reading(name: str, value: int | str | None, version: str) -> str:
    settings = node_settings(_plan(name, value, version))
    return f"{settings.value(name)!r}{' stated' if settings.states(name) else ''}"


def readings() -> str:
    """The table: a parameter, a kind of value, and what is read from which version on."""
    lines = []
    for name in _names():
        by_kind: dict[str, list[tuple[str, str]]] = {}
        for version in VERSIONS:
            parameter = catalogue.parameter("DB", name, NdbVersion.parse(version))
            for kind, value in _kinds(parameter):
                by_kind.setdefault(kind, []).append((version, f"{value!r}: {_reading(name, value, version)}"))
        for kind, found in by_kind.items():
            runs = [(next(same)[0], text) for text, same in groupby(found, key=lambda pair: pair[1])]
            lines.append(f"{name}, {kind}: " + "; ".join(f"{version} {text}" for version, text in runs))
    return "\n".join(lines) + "\n"


def test_every_parameter_is_read_as_the_table_says() -> None:
    kept = TABLE.read_text(encoding="utf-8").splitlines()
    assert readings().splitlines() == kept


if __name__ == "__main__":
    TABLE.write_text(readings(), encoding="utf-8")
