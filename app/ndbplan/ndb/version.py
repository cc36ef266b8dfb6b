"""Versions of NDB Cluster: `6.3` to `9.x`, with or without the patch number."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache, lru_cache
from typing import Any, NamedTuple

from ndbplan.base.errors import UserError
from ndbplan.base.resources import read_json

_LATEST_PATCH = 999
"""Stands for the last patch of a series where none is stated."""
FEATURES_FILE = "ndb/features.json"
SERIES: tuple[str, ...] = tuple(read_json(FEATURES_FILE)["series"])
"""The series that a plan is offered, oldest first."""
_BETWEEN: tuple[str, ...] = tuple(read_json(FEATURES_FILE)["between"])
"""Series of one release that was soon replaced: a plan may be for it, and has what is known by release."""


class BadVersionError(UserError, ValueError):
    """A version text that names no NDB Cluster series."""


class NdbVersion(NamedTuple):
    """A release; compares like the tuple (major, minor, patch). Without a patch: the series' last one."""

    major: int
    minor: int
    patch: int = _LATEST_PATCH

    @classmethod
    def parse(cls, text: str) -> NdbVersion:
        """The version of `8.4`, `7.6.7` or `9.x`, one object for each. Raises BadVersionError."""
        return _parsed(text)

    @property
    def series(self) -> str:
        """`8.4`; where all of a major version are one series, as of 9, `9.x`."""
        whole = f"{self.major}.x"
        return whole if whole in SERIES else f"{self.major}.{self.minor}"

    @property
    def names_series(self) -> bool:
        """Whether it stands for the last release of a series, whichever that is."""
        return self.patch == _LATEST_PATCH

    def __str__(self) -> str:
        return self.series if self.names_series else f"{self.major}.{self.minor}.{self.patch}"


@cache
def release(text: str) -> NdbVersion:
    """The first release that a text names: `7.2` is 7.2.0, `9.x` 9.0.0.

    It may be one of a series that no plan is offered: RequireTls came with 8.3.0.
    """
    major, minor, patch = (0 if part == "x" else int(part) for part in (*text.split("."), "0")[:3])
    return NdbVersion(major, minor, patch)


def series_before(version: NdbVersion) -> tuple[str, ...]:
    """The series that a plan is offered and that are older than a release, oldest first."""
    return tuple(one for one in SERIES if one != version.series and NdbVersion.parse(one) < version)


def series_after(version: NdbVersion) -> tuple[str, ...]:
    """The series that a plan is offered and that are newer than a release, oldest first."""
    return tuple(one for one in SERIES if one != version.series and NdbVersion.parse(one) > version)


def reached(spans: Sequence[Mapping[str, Any]], version: NdbVersion, since: str = "from") -> Any:
    """The last of ascending spans that begins with a version or before it; where none does, the first."""
    return next((span for span in reversed(spans) if release(span[since]) <= version), spans[0])


def in_span(version: NdbVersion, span: Mapping[str, Any]) -> bool:
    """Whether a release lies in a span of series: from `first` on and before `before`, if stated.

    `patches`: of some series the first release that is in it.
    """
    series = version[:2]
    from_patch = span.get("patches", {}).get(version.series)
    if from_patch is not None and version < NdbVersion.parse(from_patch):
        return False
    if "first" in span and series < NdbVersion.parse(span["first"])[:2]:
        return False
    return "before" not in span or series < NdbVersion.parse(span["before"])[:2]


@lru_cache(maxsize=256)
def _parsed(text: str) -> NdbVersion:
    match = re.fullmatch(r"([0-9]{1,2})\.([0-9]{1,2}|x)(?:\.([0-9]{1,3}))?", text.strip())
    if match:
        minor = _LATEST_PATCH if match[2] == "x" else int(match[2])
        version = NdbVersion(int(match[1]), minor, int(match[3]) if match[3] else _LATEST_PATCH)
        if version.series in (*SERIES, *_BETWEEN):
            return version
    raise BadVersionError(
        f"'{text[:40]}' is not an NDB Cluster version that is known ({SERIES[0]} to {SERIES[-1]})",
        where="ndb_version",
        fix=f"use one of {', '.join(SERIES)}, with a patch number if you like (7.6.7)",
    )
