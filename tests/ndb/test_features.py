"""Every difference between versions is a row of the data, and nothing else compares versions."""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path
from typing import get_type_hints

import pytest

import ndbplan
from ndbplan.ndb.features import Features, features, rows
from ndbplan.ndb.speed_changes import speed_change, speed_changes
from ndbplan.ndb.version import SERIES, NdbVersion, release

CODE = Path(ndbplan.__file__).parent
_ALLOWED = {
    "ndb/features.py",
    "ndb/version.py",
    "ndb/parameters.py",
    "ndb/survival.py",
    "ndb/speed_changes.py",
}
"""The table itself, and data with spans of its own."""
_COMPARES = re.compile(
    r"version\w*(\[:2\])? *(>=|<=|<|>|==|!=) *(\(|NdbVersion|[A-Z][A-Z_]+\b)|[a-z.]*version *(>=|<) *_?[A-Z]"
)


def just_below(first: NdbVersion) -> NdbVersion:
    """The last release before one."""
    if first.patch:
        return NdbVersion(first.major, first.minor, first.patch - 1)
    earlier = [NdbVersion.parse(series) for series in SERIES if NdbVersion.parse(series) < first]
    return earlier[-1]


def test_fields_and_rows_are_the_same() -> None:
    assert list(rows()) == list(Features._fields)
    hints = get_type_hints(Features)
    for name, row in rows().items():
        for value in row["values"].values():
            found = tuple(value) if isinstance(value, list) else value
            kind = hints[name]
            assert isinstance(found, tuple if kind == tuple[int, ...] else kind), name
        assert row["what"]
        assert row["source"]


@pytest.mark.parametrize("name", list(rows()))
def test_a_value_holds_from_its_release_until_the_next(name: str) -> None:
    values = list(rows()[name]["values"].items())
    firsts = [release(text) for text, _ in values]
    assert firsts == sorted(firsts)
    assert values[0][0] == "6.3"
    assert len(values) > 1
    for (_, before), (text, value) in pairwise(values):
        assert before != value
        first = release(text)
        found = getattr(features(first), name)
        assert (list(found) if isinstance(found, tuple) else found) == value
        found = getattr(features(just_below(first)), name)
        # A branch may have had it before: 7.0.9 and 6.3.28.
        assert (list(found) if isinstance(found, tuple) else found) == before


def test_each_version_has_one_object() -> None:
    assert features(NdbVersion.parse("8.4")) is features(NdbVersion.parse("8.4"))


def test_nothing_else_compares_versions() -> None:
    found = [
        f"{path.relative_to(CODE)}: {line.strip()}"
        for path in sorted(CODE.rglob("*.py"))
        if path.relative_to(CODE).as_posix() not in _ALLOWED
        for line in path.read_text(encoding="utf-8").splitlines()
        if _COMPARES.search(line) and "FORMAT_VERSION" not in line
    ]
    assert not found


def test_every_field_is_used() -> None:
    code = "\n".join(p.read_text(encoding="utf-8") for p in CODE.rglob("*.py") if p.name != "features.py")
    changes = {change.feature for change in speed_changes().values()}
    unused = [name for name in Features._fields if f".{name}" not in code and name not in changes]
    assert not unused


def test_a_branch_that_got_a_change_later_has_it_from_there_on() -> None:
    change = speed_change("restart_under_traffic")
    assert change.since == ("6.3.28", "7.0.9")
    for text, has in (("6.3.27", False), ("6.3.28", True), ("7.0.8", False), ("7.0.9", True), ("8.4", True)):
        assert change.is_in(NdbVersion.parse(text)) is has
    assert not speed_change("thirty_two_ldm_threads").is_in(NdbVersion.parse("7.3.2"))
    assert speed_change("thirty_two_ldm_threads").is_in(NdbVersion.parse("7.3.3"))
