"""Ways out for fragments: numbers of partitions that divide the buckets, fixed parts that are too large."""

from __future__ import annotations

from functools import partial

from ndbplan.base.units import how_many
from ndbplan.checks.node_cures import aimed_at_present
from ndbplan.checks.problem import Look, Solution, WaysOut
from ndbplan.checks.solutions import that_mend, ways_out
from ndbplan.edits.growth import add_node_group
from ndbplan.estimate.estimation import Estimation
from ndbplan.plan.tables import Table

_GROUPS_OFFERED = (1, 2, 4)
"""Node groups more that are tried: judgement."""


def numbers_that_divide(buckets: int, partitions: int, groups: int) -> str:
    """Which numbers near to those of a table divide its buckets, in words.

    Each node group has as many partitions of it: groups that do not divide them decide.
    """
    if buckets % groups:
        have, numbers = how_many(groups, "node group"), _around(buckets, groups)
        return f"no number of partitions does on {have}: {numbers} node groups would"
    each = partitions // groups
    numbers = _around(buckets // groups, each)
    return f"have {numbers} partitions in each node group, by the number of LDM threads, instead of {each}"


def _around(number: int, near: int) -> str:
    """The divisors of a number next to another one."""
    fewer = max(n for n in range(1, near + 1) if number % n == 0)
    more = next((n for n in range(near, number + 1) if number % n == 0), fewer)
    return str(more) if fewer == more else f"{fewer} or {more}"


def smaller_fixed_parts(now: Estimation, table: Table, limit_until: str, look: Look) -> WaysOut:
    """More node groups, which hold less each, or a release without the limit."""
    ways = [
        Solution(
            f"Add {how_many(more, 'node group')}",
            "each fragment holds less; the tables are reorganised",
            partial(add_node_group, groups=more),
            buys=True,
        )
        for more in _GROUPS_OFFERED
    ]
    found = that_mend(look, now.plan, ways, "fixed-part-limit", [table.id])[:1]
    newer = [aimed_at_present(f"only up to NDB {limit_until} a fixed part has this limit")]
    newer_found = that_mend(look, now.plan, newer, "fixed-part-limit", [table.id])
    return ways_out((*found, *newer_found), "have many more node groups, or a later NDB from the start")
