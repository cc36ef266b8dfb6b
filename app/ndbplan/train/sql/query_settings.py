"""What a query asks of the variables of its session.

settings_of(client.variables(cluster), NdbVersion.parse("8.4.8")).joined_bytes      # 1024
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from ndbplan.ndb.console import form
from ndbplan.ndb.version import NdbVersion


class Settings(NamedTuple):
    """Of a session, what a query asks for."""

    collation: str
    most_rounds: int
    """Of a recursion; 0: the server knows none."""
    joined_bytes: int
    """How long GROUP_CONCAT may be."""
    quotient_digits: int
    """That a division has behind the point beside those of what it divides."""
    refuses_moments: bool
    """What is no moment beside one, not only warned of."""
    packet_bytes: int
    """How long the server lets a text be that a function makes."""
    patterns: str
    """The library of regular expressions: `icu` or `posix`."""
    space_is_called: str
    """What the server calls SPACE() where it warns: `repeat` as long as it is one of blanks (5.6, 5.7)."""
    has_no_zero_day: bool
    """0000-00-00 is no day (NO_ZERO_DATE)."""


def settings_of(values: Mapping[str, str], version: NdbVersion) -> Settings:
    """Those that the variables of a session state, and the release."""
    return Settings(
        values["collation_connection"],
        int(values.get("cte_max_recursion_depth", 0)),
        int(values["group_concat_max_len"]),
        int(values["div_precision_increment"]),
        bool(form(version, "wrong_moments_refused")),
        int(values["max_allowed_packet"]),
        form(version, "regular_expressions"),
        "space" if form(version, "dictionary_of_its_own") else "repeat",
        "NO_ZERO_DATE" in values["sql_mode"].upper().split(","),
    )
