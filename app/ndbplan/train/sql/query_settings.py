"""What a query asks of the variables of its session.

settings_of(client.variables(cluster)).joined_bytes      # 1024
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple


class Settings(NamedTuple):
    """Of a session, what a query asks for."""

    collation: str
    most_rounds: int
    """Of a recursion; 0: the server knows none."""
    joined_bytes: int
    """How long GROUP_CONCAT may be."""
    quotient_digits: int
    """That a division has behind the point beside those of what it divides."""


def settings_of(values: Mapping[str, str]) -> Settings:
    """Those that the variables of a session state."""
    return Settings(
        values["collation_connection"],
        int(values.get("cte_max_recursion_depth", 0)),
        int(values["group_concat_max_len"]),
        int(values["div_precision_increment"]),
    )
