"""Data files with spans of versions, read in every version in which any changes, against a kept table.

A boundary or a value that moves shows in the table. After a change of a file of resources/ndb
`.venv/bin/python tests/ndb/test_data_by_version.py` writes it anew; its difference is what the change means.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import groupby
from pathlib import Path

from ndbplan.base.resources import read_json
from ndbplan.ndb import ndbinfo
from ndbplan.ndb import parameters as catalogue
from ndbplan.ndb.file_space import full_checkpoint_copies
from ndbplan.ndb.survival import rule_of
from ndbplan.ndb.version import SERIES, NdbVersion, release

TABLE = Path(__file__).parent / "data_by_version.txt"
BOUNDARIES = (
    "7.0.9", "7.1.0", "7.2.0", "7.2.1", "7.4.1", "7.4.2", "7.4.10", "7.5.0", "7.6.0", "7.6.4", "8.0.0",
    "8.0.21", "8.0.43", "8.4.8",
)  # fmt: skip
"""Releases around which files other than that of the parameters change, beside those that they name."""


def _versions() -> tuple[str, ...]:
    """Releases that the files name, those before them, and every series; oldest first."""
    rows = read_json(catalogue.SOURCE_FILE)["parameters"]
    named = {span["from"] for row in rows for span in row["spans"]} | {row["since"] for row in rows}
    named |= {row["removed"] for row in rows if row.get("removed")}
    releases = {release(text) for text in (*named, *BOUNDARIES)}
    releases |= {(major, minor, patch - 1) for major, minor, patch in releases if patch}
    texts = {".".join(map(str, release)) for release in releases if NdbVersion(*release).series in SERIES}
    return tuple(sorted({*SERIES, *texts}, key=NdbVersion.parse))


VERSIONS = _versions()


def _runs(what: str, read: Callable[[NdbVersion], str]) -> str:
    """One line: what is read from which version on."""
    found = ((version, read(NdbVersion.parse(version))) for version in VERSIONS)
    runs = [(next(same)[0], text) for text, same in groupby(found, key=lambda pair: pair[1])]
    return f"{what}: " + "; ".join(f"{version} {text}" for version, text in runs)


def _parameter(section: str, name: str, version: NdbVersion) -> str:
    found = catalogue.parameter(section, name, version)
    here = "" if catalogue.knows(section, name, version) else "no, else "
    words = f"{found.restart} {found.status}{' mandatory' if found.mandatory else ''}"
    return f"{here}{found.default!r} in {found.minimum} … {found.maximum}, {words}"


def _rule(version: NdbVersion) -> str:
    found = rule_of(version)
    steps = ", ".join(f"{condition} -> {outcome}" for condition, outcome in found.steps)
    return f"{found.name} {'unread' if found.remark else 'read'} ({steps})"


def _copies(version: NdbVersion) -> str:
    found = full_checkpoint_copies(version)
    return f"{found.value:g} in {found.low:g} … {found.high:g}"


def _ndbinfo_table(name: str, version: NdbVersion) -> str:
    found = ndbinfo.tables_of(version).get(name)
    if found is None:
        return "no"
    columns = zip(found.columns, found.numeric, strict=True)
    return f"{'' if found.certain else 'perhaps '}" + " ".join(
        c if number else f"'{c}'" for c, number in columns
    )


def _resources(version: NdbVersion) -> str:
    if not ndbinfo.tables_of(version):
        return "no"
    found = ndbinfo.resource_rows(version)
    return f"{' '.join(found.names)}, no limit {found.no_limit}, {found.used_pages} {found.used_share}"


def lines() -> Iterator[str]:
    """The table: what is read, and its values with the versions from which they hold."""
    for (section, _), row in catalogue._entries().items():
        name = row["name"]
        yield _runs(f"[{section}] {name}", lambda v, s=section, n=name: _parameter(s, n, v))  # type: ignore[misc]
    yield _runs("survival", _rule)
    yield _runs("full checkpoints kept", _copies)
    for name in sorted({name for v in VERSIONS for name in ndbinfo.tables_of(NdbVersion.parse(v))}):
        yield _runs(f"ndbinfo.{name}", lambda v, n=name: _ndbinfo_table(n, v))  # type: ignore[misc]
    yield _runs("a row of logbuffers is an LDM", lambda v: str(ndbinfo.logbuffers_row_is_an_ldm(v)))
    yield _runs("rows of memoryusage", lambda v: str(ndbinfo.memory_types(v)))
    yield _runs("rows of resources", _resources)


def test_every_version_reads_what_the_table_says() -> None:
    assert list(lines()) == TABLE.read_text(encoding="utf-8").splitlines()


if __name__ == "__main__":
    TABLE.write_text("\n".join(lines()) + "\n", encoding="utf-8")
